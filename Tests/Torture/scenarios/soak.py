"""Everything at once for SOAK_MINUTES: real programs at full load, while clients, janitor and darkroom processes are
killed, the daemon is stopped and goes on, and the network goes wrong, refuses and goes silent. In the first half the
daemon is killed, too; in the second half one daemon lives on, and its memory and ledger are measured."""

import os
import pathlib
import signal
import statistics
import time

import place as places
from load import Load
from scenario import scenario

# A write-ahead log may grow until a reader is done and a checkpoint comes: its own limit, and half as much again.
MOST_LOG = 24 << 20


@scenario("soak", extra=True)
def soak(part):
    seconds = 60 * float(os.environ.get("SOAK_MINUTES", "1"))
    place = part.place("s3")
    place.configure("cache: {inbox: 200kB, total: 200kB}\njanitor: {tmp: 1h, receipts: 20s}\n")
    place.keeps_receipts = False
    load = Load(part, place)
    rates = (0.0, 0.05, 0.2, 0.9)
    before = 0

    def weather(chance, number):
        """A network that alternates between good, faulty and absent."""
        place.order("faults", chance.choice(rates))
        load.over.wait(chance.uniform(1, 6))

    def stop_and_go(chance, number):
        """Stops the daemon for a while, like a suspended machine."""
        load.over.wait(chance.uniform(3, 12))
        daemon = load.daemon
        if daemon and daemon.is_alive():
            daemon.signal(signal.SIGSTOP)
            load.fault("daemon stopped")
            load.over.wait(chance.uniform(0.1, 2))
            daemon.signal(signal.SIGCONT)

    def kill_darkroom(chance, number):
        load.over.wait(chance.uniform(1, 5))
        for process in darkrooms(load.daemon):
            os.kill(process, signal.SIGKILL)
            load.fault("darkroom killed")

    def replace_daemon(chance, number):
        """Kills the daemon now and then until `lives_on`."""
        if time.monotonic() < lives_on:
            load.over.wait(chance.uniform(1, 10))
            load.daemon.signal(signal.SIGCONT)
            load.daemon.kill()
            load.fault("daemon killed")
            load.daemon = place.start()
        else:
            load.over.wait(1)

    begun = time.monotonic()
    lives_on = begun + seconds / 2
    load.daemon = place.start()
    load.daemon.ready()
    load.begin(load.bounded(load.writer), load.bounded(load.writer), load.dropper, load.kill_janitor, weather, stop_and_go,
               kill_darkroom, replace_daemon)
    samples = []
    while time.monotonic() < begun + seconds and not load.over.is_set():
        load.over.wait(1)
        samples.append(sample(load.daemon, place))
        place.published |= offered(place)
    load.end()
    load.daemon.signal(signal.SIGCONT)
    place.order("faults", 0)
    place.wait_idle(load.daemon)
    part.fault(place.order("faults", 0)["faults"] - before, "network")
    if load.daemon.stop() != 0:
        part.complain("ALIVE", "the daemon did not stop in order")
    load.settle()
    place.context = f"after {part.injected} faults"
    part.judge(place)
    # Growth after the warm-up: the first third against the last.
    judge_growth(part, [one for one in samples[len(samples) * 5 // 9:] if one])


def offered(place):
    """The objects that may have been published. Nobody may delete them; the janitor forgets them with the receipts."""
    return {object for object, in place.ledger("SELECT object FROM uploads WHERE state IN ('offered', 'published')")}


def darkrooms(daemon):
    """The darkroom processes of a daemon."""
    found = []
    for process in places.in_session(daemon.process.pid) if daemon else []:
        try:
            if "photospool-darkroom" in pathlib.Path(f"/proc/{process}/cmdline").read_text():
                found.append(process)
        except OSError:
            pass
    return found


def sample(daemon, place):
    """The present size of the daemon and its ledger; nothing while the daemon is being replaced."""
    try:
        process = pathlib.Path(f"/proc/{daemon.process.pid}")
        memory = int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        state = pathlib.Path(f"{place.spool}/state")
        return {
            "memory": memory, "descriptors": len(os.listdir(process / "fd")),
            "ledger": (state / "ledger.sqlite").stat().st_size, "log": (state / "ledger.sqlite-wal").stat().st_size}
    except (OSError, ValueError, IndexError):
        return None


def judge_growth(part, samples):
    if len(samples) < 9:
        part.complain("ALIVE", f"the daemon that lives on was seen {len(samples)} times only")
        return
    third = len(samples) // 3
    for what, allowance in (("memory", 32 << 20), ("descriptors", 24), ("ledger", 4 << 20)):
        first = statistics.median(one[what] for one in samples[:third])
        last = statistics.median(one[what] for one in samples[-third:])
        part.notes[f"{what} first"], part.notes[f"{what} last"] = int(first), int(last)
        if last > first * 1.25 + allowance:
            part.complain("CLEAN", f"{what} grew from {first:.0f} to {last:.0f}")
    most = max(one["log"] for one in samples)
    part.notes["log at most"] = most
    if most > MOST_LOG:
        part.complain("CLEAN", f"the ledger's log grew to {most} bytes")
