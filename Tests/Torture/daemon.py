"""A started daemon, waiting for it, and the processes that it leaves behind."""

import os
import pathlib
import signal
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
PHOTOSPOOL = os.environ.get("PHOTOSPOOL", str(HERE.parent.parent / ".build/debug/photospool"))
# Longer than any step takes on the slowest machine; a step that takes longer is stuck.
PATIENCE = 180.0


def until(question, what, patience=PATIENCE):
    """Waits until a condition holds."""
    end = time.monotonic() + patience
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Stuck(what)
        time.sleep(0.01)


class Stuck(Exception):
    """An awaited condition that never held."""


class Daemon:
    """A daemon that was started, with the log it writes."""

    def __init__(self, place, environment):
        self.place, self.log = place, f"{place.path}/log.{place.starts}"
        place.starts += 1
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(
                [*place.within, PHOTOSPOOL, "run"], env=environment, cwd=place.path, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True)

    def said(self, words):
        with open(self.log, "rb") as log:
            return words.encode() in log.read()

    def is_alive(self):
        return self.process.poll() is None

    def ready(self):
        """Waits until it is ready; false when it ended before."""
        until(lambda: self.said("event=ready") or not self.is_alive(), "the daemon is not ready")
        return self.said("event=ready")

    def stop(self):
        """Stops it in order, once it can, and returns its status."""
        self.ready()
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.wait()

    def signal(self, number):
        try:
            self.process.send_signal(number)
        except ProcessLookupError:
            pass

    def wait(self, patience=PATIENCE):
        """Its status once it has ended: 0, or minus the signal that killed it."""
        try:
            status = self.process.wait(patience)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            self.process.wait()
            raise Stuck("the daemon does not stop") from error
        self.place.ended(self, status)
        return status


def in_session(session):
    """The processes of a session."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[3] == str(session) and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found
