"""Requests without an event are found: those that arrive between the watch and the first scan, and those on file
systems that report no changes of their lower layer."""

import contextlib
import signal

import disks
from scenario import Skip, scenario
from scenarios.stopped import until_met

# Nothing else finds what the watch and the first look miss.
ONE_LOOK = "intake: {rescan: 1h, settle: 300ms}\n"
# Where the daemon stands when they arrive: before the watch on new/, behind it, before the look, and in the middle of it.
MOMENTS = (
    ("inotify_add_watch {}/new", 1), ("inotify_add_watch {}/draft", 1), ("inotify_add_watch {}/state/fence", 1),
    ("fdopendir {}/new", 1), ("readdir {}/new", 20))


@scenario("1,000 requests arrive between the watch and the first look")
def between(part):
    place = part.place()
    place.configure(ONE_LOOK)
    count = max(30, 1000 // part.step)
    for call, k in MOMENTS:
        place.context = f"stopped at call {k} of {call}"
        for number in range(count):
            place.drop(f"c{number % 7}")
        daemon = place.start(**place.stopping(k, call.format(place.spool)))
        if not until_met(daemon.process, place.is_idle):
            part.complain("ALIVE", f"the daemon never came there [{place.context}]")
        for number in range(count):
            place.drop(f"c{number % 7}")
        part.fault(kind="stopped")
        daemon.signal(signal.SIGCONT)
        place.wait_idle(daemon)
        daemon.stop()
        part.judge(place)


def unheard(part, make_disk):
    """Requests are dropped past the mount, without an event for the daemon, which is killed meanwhile."""
    with contextlib.ExitStack() as stack:
        try:
            disk = stack.enter_context(make_disk())
        except disks.Refused as refusal:
            raise Skip(str(refusal)) from None
        place = part.place(directory=disk.path)

        def past_the_mount(*what):
            here, place.spool = place.spool, f"{disk.below}/spool"
            try:
                return place.drop(*what)
            finally:
                place.spool = here

        def once(k):
            place.context = f"k={k}"
            past_the_mount("unheard", 1)
            daemon = place.start(**place.killing(k))
            # A look that finds nothing is over, and no event comes from here on.
            daemon.ready()
            past_the_mount("unheard", 1)
            place.send("heard", 1)
            return part.outlived(place, daemon, k, mend=lambda: past_the_mount("unheard"))

        part.sweep(once, dear=20)


for name, make_disk in {"an overlay": disks.Overlay, "FUSE": disks.Bound}.items():
    scenario(f"nothing is told of what arrives: {name}", make_disk=make_disk)(unheard)
