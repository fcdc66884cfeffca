"""Real disks in trouble, from the k-th call of the daemon on until it is mended: no room, no inodes, no room below the file
system (which the file system learns from blocks that cannot be written), read-only, frozen. The daemon is stopped just
before that call, the trouble begins, and the daemon continues.

It goes on by itself once that is over; or it has ended with a sentence, and the next start finishes what is there. Where
the file system stopped altogether, it is mounted anew first."""

import contextlib
import signal
import socket
import time

import disks
import machine
from machine import a_machine
from scenario import scenario
from scenarios.errors import NAMES, REMOVALS, SYNCS, WRITES, judge, settled

# Closes are left out: none of these troubles affects them.
CALLS = f"{SYNCS},{WRITES},{NAMES},{REMOVALS}"
OVERDUE = "stopping takes too long"


class Trouble:
    """A fault of a disk, and its end."""

    def begin(self, disk):
        disk.fill()

    def end(self, disk):
        disk.empty()

    def is_felt(self, daemon):
        """Whether the daemon has met the fault and logged it."""
        return daemon.complains()


class NoNames(Trouble):
    def begin(self, disk):
        disk.fill_names()


class ReadOnly(Trouble):
    """The effect of an internal error of the file system."""

    def begin(self, disk):
        disk.fail()

    def end(self, disk):
        with contextlib.suppress(disks.Refused):
            disk.remount("rw")


class Frozen(Trouble):
    def begin(self, disk):
        disk.freeze()

    def end(self, disk):
        disk.thaw()

    def is_felt(self, daemon):
        return daemon.hangs()


def troubled(part, make_disk, trouble, once_more=None):
    """With `once_more`, the daemon is asked to stop in the middle of it, in so many rounds at most."""
    with a_machine(make_disk) as made:

        def once(k):
            made.disk.forgive()
            names = made.two_requests()
            disks.sync(made.disk.path)
            made.disk.trim()
            state = made.state()
            daemon = made.start(**made.under_shim(state, at=k, act="stop", calls=CALLS))
            daemon.wait_for(lambda: state.faults or settled(made, names)())
            # Calls of the shutdown are not counted here.
            state.mend()
            where = f"after call {k}"
            if state.faults:
                suffer(made, daemon, trouble, names, asks_to_stop=once_more is not None)
            end(made, part, daemon, names, where)
            # Every other round mounts the disk anew, which drops the kernel's cached state.
            if made.disk.image and (k % 2 or not made.disk.is_writable()):
                made.disk.restart()
            state.judge_syncs(part, where)
            finish(made, part)
            part.accepted(2)
            judge(made, part, names, where)
            return state.faults > 0

        if once_more is None:
            part.sweep(once, dear=3)
        else:
            for _ in range(max(1, min(once_more, once_more * part.faults // 20_000))):
                part.fault(once(part.random.randrange(50, 150)))


def suffer(made, daemon, trouble, names, asks_to_stop):
    """The daemon is stopped at its call. Trouble comes, lasts until it is felt, and goes."""
    trouble.begin(made.disk)
    try:
        daemon.listens()
        daemon.process.send_signal(signal.SIGCONT)
        daemon.wait_for(lambda: trouble.is_felt(daemon) or settled(made, names)())
        # Before it is ready, the signal ends it like a kill.
        if asks_to_stop and daemon.says("event=ready")():
            daemon.process.terminate()
            daemon.wait_for(lambda: OVERDUE in daemon.text())
    finally:
        trouble.end(made.disk)


def end(made, part, daemon, names, where):
    """Expects that all work finishes by itself, or that the daemon ends and says why."""
    if made.disk.is_writable() and OVERDUE not in daemon.text():
        daemon.wait_for(settled(made, names))
    elif OVERDUE in daemon.text():
        part.notes["stop cut off"] += 1
    daemon.stop_with_a_reason(part, where)


def finish(made, part):
    """Restarts the daemon up to three times: the first sync may report an old write error, which ends the daemon."""
    for _ in range(3):
        try:
            return made.finish()
        except machine.Refusal as refusal:
            last = refusal
            part.notes["started again"] += 1
    raise last


def slow(part):
    """With slow syncs, conversations do not wait for one another's photos, and all work finishes."""
    with a_machine() as made:
        made.begin()
        state = made.state()
        daemon = made.start(**made.under_shim(state, delay=300, calls=SYNCS))
        names = [f"r{number}" for number in range(6)]
        for name in names:
            made.drop(name, f"conversation-{name}", name, made.photo)
        daemon.wait_for(settled(made, names))
        daemon.stop_with_a_reason(part, "on a slow disk")
        part.fault(state.calls, kind="slow sync")
        made.finish()
        for name in names:
            part.accepted()
            if [line["kind"] for line in made.published(f"conversation-{name}")] != ["photo", "text"]:
                part.complain("LOST", f"{name} on a slow disk")


class Manager:
    """A service manager that ends a daemon which gives no sign of life for so many seconds."""

    def __init__(self, path, patience):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)
        self.environment = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(patience * 1_000_000)}
        self.patience, self.signs, self.last = patience, 0, time.monotonic()

    def until(self, daemon, what):
        def holds():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if self.socket.recv(4096).startswith((b"WATCHDOG=1", b"READY=1")):
                        self.signs, self.last = self.signs + 1, time.monotonic()
            if time.monotonic() - self.last > self.patience:
                daemon.process.send_signal(signal.SIGABRT)
            return what()

        daemon.wait_for(holds)


def watched(part):
    """Each sync takes a second, and much is to be taken in: no service manager takes the daemon for dead, and the messages
    of a conversation do not wait for all that another one has."""
    with a_machine() as made:
        made.begin()
        state = made.state()
        names = [f"long-{number}" for number in range(14)] + [f"short-{number}" for number in range(6)]
        conversations = {name: "long" if name.startswith("long") else name for name in names}
        made.photospool("hold", *set(conversations.values()))
        for name, conversation in conversations.items():
            made.drop(name, conversation, name)
        manager = Manager(f"{made.scratch}/notify", 40)
        daemon = made.start(**made.under_shim(state, delay=1000, calls=SYNCS), **manager.environment)
        manager.until(daemon, lambda: not any((made.spool / "new").glob("*-*")))
        made.photospool("release", *set(conversations.values()))
        manager.until(daemon, settled(made, names))
        if manager.signs < 2:
            part.complain("ALIVE", "there was no sign of life")
        daemon.stop_with_a_reason(part, "on a slow disk")
        part.fault(kind="slow sync")
        made.finish()
        part.accepted(len(names))
        texts = [line["text"] for line in made.published("long")]
        if texts != names[:14]:
            part.complain("LOST", f"of {names[:14]} came {texts}")
        last = made.published("long")[-1]["publishedAt"]
        for name in names[14:]:
            if [line["text"] for line in made.published(name) if line["publishedAt"] < last] != [name]:
                part.complain("ORDER", f"{name} waited for all of another conversation")


# Rows: the disk, and what happens to it.
TROUBLES = {
    "no room, tmpfs": (lambda: disks.Disk("tmpfs", "size=32m"), Trouble),
    "no room, ext4": (lambda: disks.Disk("ext4"), Trouble),
    "no room, XFS": (lambda: disks.Disk("xfs"), Trouble),
    "no inodes, tmpfs": (lambda: disks.Disk("tmpfs", "size=64m,nr_inodes=600"), NoNames),
    "no inodes, ext4": (lambda: disks.Disk("ext4", make_options=("-N", "600")), NoNames),
    "no room below ext4": (lambda: disks.ThinDisk("ext4"), Trouble),
    "no room below ext4, nor for its log": (lambda: disks.ThinDisk("ext4", log=False), Trouble),
    "no room below XFS": (lambda: disks.ThinDisk("xfs"), Trouble),
    "read-only, ext4": (lambda: disks.Disk("ext4", "errors=remount-ro"), ReadOnly),
    "frozen, ext4": (lambda: disks.Disk("ext4"), Frozen),
    "frozen, XFS": (lambda: disks.Disk("xfs"), Frozen),
}
for name, (make_disk, trouble) in TROUBLES.items():
    scenario(f"disk in trouble: {name}", parts=2, make_disk=make_disk, trouble=trouble())(troubled)
scenario(
    "disk in trouble: frozen, and the daemon asked to stop", make_disk=lambda: disks.Disk("ext4"), trouble=Frozen(),
    once_more=20)(troubled)
scenario("disk in trouble: slow syncs")(slow)
scenario("disk in trouble: slow syncs, and a service manager that watches")(watched)
