"""`photospool queue --watch` on a terminal of its own, and what a person does there. Usage:
watch_queue.py ROWS COLUMNS ENDING PROGRAM [ARGUMENT...]; ENDING is q, ctrl-c, sigterm or hangup.

Prints one line of JSON: what a terminal shows once it shows something, what it shows after it was made half as large,
what is left at the end, whether the terminal's settings are as before, and how the program ended."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte

rows, columns = int(sys.argv[1]), int(sys.argv[2])
ending, arguments = sys.argv[3], sys.argv[4:]
PATIENCE = 120


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    """What pyte makes of the output. It has no second screen, so that this one keeps what stood on the first."""

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

    def lines(self):
        return [line.rstrip() for line in self.screen.display]


keeper, terminal = pty.openpty()
resize(terminal, rows, columns)
before = termios.tcgetattr(terminal)
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for descriptor in 0, 1, 2:
        os.dup2(terminal, descriptor)
    os.execv(arguments[0], arguments)
view = Terminal(keeper)
view.until(lambda: any("q ends" in line for line in view.lines()), "its heading")
view.until(lambda: b"\x1b[J" in view.raw, "a whole picture")
facts = {
    "shown": view.lines(), "hides": view.raw.startswith(b"\x1b[?1049h\x1b[?25l"),
    "isRaw": not termios.tcgetattr(terminal)[3] & termios.ICANON,
}

# Half as large: nothing may stand below, and the next picture is of that size.
drawn = view.raw.count(b"\x1b[J")
view.screen.resize(rows // 2, columns // 2)
resize(terminal, rows // 2, columns // 2)
view.until(lambda: view.raw.count(b"\x1b[J") > drawn + 1, "the next picture")
last = view.raw.rsplit(b"\x1b[H", 2)[1]
facts["resized"] = view.lines()
facts["linesAfterResize"] = last.count(b"\r\n") + 1

mark = len(view.raw)
if ending == "q":
    os.write(keeper, b"q")
elif ending == "ctrl-c":
    os.write(keeper, b"\x03")
elif ending == "sigterm":
    os.kill(child, signal.SIGTERM)
elif ending == "hangup":
    os.kill(child, signal.SIGHUP)
while True:
    view.read(0.05)
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        break
while view.read(0.2):
    pass
facts["end"] = view.raw[mark:].rsplit(b"\x1b[J", 1)[-1].decode()
facts["restored"] = termios.tcgetattr(terminal) == before
facts["status"] = os.waitstatus_to_exitcode(status)
print(json.dumps(facts))
