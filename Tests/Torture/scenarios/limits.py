"""Limits of the process on descriptors, file size or memory: the daemon waits and goes on when they are lifted, or
ends, and the next start finishes the work."""

import signal
import subprocess
import time

import disks
from machine import STATUSES, a_machine
from scenario import scenario
from scenarios.errors import judge, settled

# The limit, its tested values, and the allowed exit statuses. A lack of memory ends a program like a kill.
CRASHES = tuple(-number for number in (signal.SIGABRT, signal.SIGILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTRAP))
# Seconds that a daemon may say nothing until its limit is lifted.
QUIET = 10
LIMITS = {
    "descriptors": ("nofile", range(32, 96), STATUSES),
    "the size of a file": ("fsize", range(0, 800_000, 8192), STATUSES),
    "memory": ("as", range(150_000_000, 1_500_000_000, 27_000_000), STATUSES + CRASHES),
}


def limited(part, limit, values, ends):
    # The daemon raises its soft limit on descriptors by itself.
    which = "" if limit == "nofile" else ":"
    with a_machine() as made:

        def once(value):
            names = made.two_requests()
            disks.sync(made.disk.path)
            daemon = made.start(before=["prlimit", f"--{limit}={value}{which}", "--"], SWIFT_BACKTRACE="enable=no")
            # Without memory for a thread libdispatch tries again and says nothing.
            end = time.monotonic() + QUIET
            daemon.wait_for(lambda: settled(made, names)() or daemon.complains() or time.monotonic() > end)
            lifted = subprocess.run(["prlimit", f"--{limit}=unlimited:" if limit != "nofile" else "--nofile=4096",
                                     "--pid", str(daemon.process.pid)], capture_output=True)
            # In a container, root may not raise a hard limit. The next start then finishes the work.
            if lifted.returncode == 0:
                daemon.wait_for(settled(made, names))
            status = daemon.stop()
            part.notes[f"ended with {status}"] += 1
            where = f"with {limit} {value}"
            if status not in ends:
                part.complain("ALIVE", f"the daemon ended with {status} {where}: {daemon.text()[-300:]}")
            part.fault(kind="limit")
            made.finish()
            part.accepted(2)
            judge(made, part, names, where)

        for value in values[part.random.randrange(part.step) % len(values)::part.step]:
            once(value)


for title, (name, values, ends) in LIMITS.items():
    scenario(f"limit: {title}", limit=name, values=values, ends=ends)(limited)
