"""A client that opens a file of its requests for writing over and over while they are being taken. Usage: opening_writer.py SPOOL
REQUESTS. Each is done with when it has left new/."""

import os
import sys
import time

spool, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    path = f"{spool}/tmp/opening-{number}"
    os.mkdir(path)
    for name, text in (("to", "opening"), ("text", "hello")):
        with open(f"{path}/{name}", "w") as file:
            file.write(f"{text}\n")
    place = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.rename(path, f"{spool}/new/opening-{number}")
    end = time.monotonic() + 0.06
    while time.monotonic() < end:
        # Those that ask whether somebody writes it hold a lease meanwhile, which this breaks.
        try:
            os.close(os.open("text", os.O_WRONLY | os.O_NONBLOCK, dir_fd=place))
        except OSError:
            pass
    os.close(place)
print("done")
