"""`photospool queue --watch` on a terminal of its own. Usage:
watch_queue.py ROWS COLUMNS ENDING PROGRAM [ARGUMENT...]; ENDING is ctrl-c, sigterm or hangup.

Prints one line of JSON: the first picture, the one after the shell command CHANGE has run (if it is set; the picture has to
contain SHOWS), the one on a terminal of half as many rows and a quarter of the columns, and how the program ended."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

rows, columns = int(sys.argv[1]), int(sys.argv[2])
ending, arguments = sys.argv[3], sys.argv[4:]
PATIENCE = 120
END_OF_PICTURE = b"\x1b[J"


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    def __init__(self, keeper):
        self.keeper, self.raw = keeper, b""
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)

    def read(self, seconds):
        if not select.select([self.keeper], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.keeper, 65536)
        except OSError:
            return False
        self.raw += piece
        self.stream.feed(piece)
        return bool(piece)

    def until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.read(0.2)
            if time.monotonic() > deadline:
                sys.exit(f"the terminal never shows {what}: {self.lines()} {self.raw[-500:]!r}")

    def lines_of_last_picture(self):
        """The number of lines of the last complete picture; 0 while one is being drawn."""
        return self.raw.rsplit(b"\x1b[H", 1)[-1].count(b"\r\n") if self.raw.endswith(END_OF_PICTURE) else 0

    def lines(self):
        return [line.rstrip() for line in self.screen.display]


keeper, terminal = pty.openpty()
resize(terminal, rows, columns)
before = termios.tcgetattr(terminal)
child = os.fork()
if child == 0:
    os.setsid()
    # Who runs this may ignore them, and programs inherit that.
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for descriptor in 0, 1, 2:
        os.dup2(terminal, descriptor)
    os.execv(arguments[0], arguments)
view = Terminal(keeper)
view.until(view.lines_of_last_picture, "a picture")
facts = {"shown": view.lines()}
if "CHANGE" in os.environ:
    subprocess.run(["sh", "-c", os.environ["CHANGE"]], check=True, stdout=sys.stderr)
    view.until(lambda: any(os.environ["SHOWS"] in line for line in view.lines()), "the change")
    facts["changed"] = view.lines()

# Pictures of the old size may still be on their way.
view.screen.resize(rows // 2, columns // 4)
resize(terminal, rows // 2, columns // 4)
view.until(lambda: 0 < view.lines_of_last_picture() < rows // 2, "a picture that fits")
facts["resized"] = view.lines()

facts["isUntouched"] = termios.tcgetattr(terminal) == before and b"\x1b[?1049" not in view.raw
if ending == "ctrl-c":
    os.write(keeper, b"\x03")
elif ending == "sigterm":
    os.kill(child, signal.SIGTERM)
elif ending == "hangup":
    os.kill(child, signal.SIGHUP)
deadline = time.monotonic() + PATIENCE
while True:
    view.read(0.05)
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        break
    if time.monotonic() > deadline:
        os.kill(child, signal.SIGKILL)
        sys.exit(f"{ending} does not end it")
facts["status"] = os.waitstatus_to_exitcode(status)
print(json.dumps(facts))
