"""Drops what no good client drops, as one of the spool's users. Usage: hostile_spool.py SPOOL SECRET SECONDS

SECRET is a directory outside of the spool that the daemon can read and this user cannot: no byte of it may ever come into
the spool. Prints how often what lies in new/ changed places with a link."""

import ctypes
import os
import socket
import stat
import sys
import time

spool, secret, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
EXCHANGE = 2
libc = ctypes.CDLL(None, use_errno=True)
os.umask(0o007)


def request(place, name, text=b"hello\n", photo=None):
    path = f"{spool}/{place}/{name}"
    os.mkdir(path)
    for file, contents in (("to", b"hostile\n"), ("text", text), ("photo.jpg", photo)):
        if contents is not None:
            with open(f"{path}/{file}", "wb") as written:
                written.write(contents)
    return path


def send(name, new=None):
    os.rename(f"{spool}/tmp/{name}", f"{spool}/new/{new or name}")


def exchange(one, other):
    return libc.renameat2(-100, one.encode(), -100, other.encode(), EXCHANGE) == 0


# Directly in new/: entries of every kind but directories, and names of every kind.
os.mkfifo(f"{spool}/new/fifo")
with open(f"{spool}/new/file", "w") as file:
    file.write("no request\n")
os.symlink(secret, f"{spool}/new/link")
os.symlink("nowhere", f"{spool}/new/dangling")
socket.socket(socket.AF_UNIX).bind(f"{spool}/new/socket")
os.mkdir(f"{spool}/new/empty")
for number, name in enumerate((b"line\nbreak", b"\x1b]0;title\x07", b"\xff\xfe", b"n" * 255, b"..hidden", b"-rf", "\u202egpj.cat".encode())):
    request("tmp", f"name-{number}")
    os.rename(f"{spool}/tmp/name-{number}".encode(), f"{spool}/new/".encode() + name)
request("tmp", "closed")
os.chmod(f"{spool}/tmp/closed", 0o200)
send("closed")
# The daemon cannot move these either: one has an invalid request name, the other a name that is not UTF-8.
for name in (b"-closed", b"\xfe\xfe"):
    request("tmp", "closing")
    os.chmod(f"{spool}/tmp/closing", 0o200)
    os.rename(f"{spool}/tmp/closing".encode(), f"{spool}/new/".encode() + name)

# In a request.
for kind, make in {
        "linked": lambda path: os.symlink(f"{secret}/photo.jpg", path),
        "itself": lambda path: os.symlink("photo.jpg", path),
        "piped": os.mkfifo,
        "directory": os.mkdir,
        "sparse": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40),
        "ledger": lambda path: os.symlink(f"{spool}/state/ledger.sqlite", path)}.items():
    make(request("tmp", kind) + "/photo.jpg")
    send(kind)
path = request("tmp", "many")
for number in range(3000):
    open(f"{path}/photo-{number}", "w").close()
send("many")
path = request("tmp", "deep")
start = os.getcwd()
os.chdir(path)
for _ in range(300):
    os.mkdir("d")
    os.chdir("d")
os.chdir(start)
send("deep")

# Swaps the inspected entry with a link, over and over: the request itself, and a file in it.
rounds = swaps = 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    rounds += 1
    outside = f"{spool}/tmp/link-{rounds}"
    inside = request("tmp", f"swap-{rounds}", photo=b"not a photo")
    os.symlink(secret, outside)
    os.symlink(f"{secret}/photo.jpg", f"{inside}/photo-link")
    send(f"swap-{rounds}")
    moved = f"{spool}/new/swap-{rounds}"
    for _ in range(200):
        swaps += exchange(moved, outside)
        swaps += exchange(f"{moved}/photo.jpg", f"{moved}/photo-link")
    # The kernel keeps links to files that this user must not read.
    for left in (outside, f"{spool}/new/swap-{rounds}"):
        if os.path.islink(left):
            os.unlink(left)
print(swaps)
