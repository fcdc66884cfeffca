"""A client that keeps its hands on requests after they were accepted, as one of the spool's users. Usage: late_changes.py SPOOL
SECRET PHOTO CONVERSATION

Drops requests for the conversation, which is held, and waits until each is taken. Then it changes the photo of `late-written`
through a descriptor that it kept, has that of `late-linked` change places with a link to the secret, and removes that of `late-removed`.
It takes all permissions from the directories of `late-closed` and, but for one, `late-write-only`, and from the photo of `late-file`;
and those of writing from the directory of `late-read-only`, whose conversation is CONVERSATION-read. It prints that it is done."""

import os
import shutil
import sys
import time

spool, secret, photo, conversation = sys.argv[1:]
os.umask(0o007)


def drop(name):
    goal = f"{conversation}-read" if name == "late-read-only" else conversation
    path = f"{spool}/tmp/{name}"
    os.mkdir(path)
    with open(f"{path}/to", "w") as to:
        to.write(f"{goal}\n")
    shutil.copyfile(photo, f"{path}/photo.jpg")
    place = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    file = os.open("photo.jpg", os.O_RDWR, dir_fd=place)
    os.rename(path, f"{spool}/new/{name}")
    return place, file


kept = {name: drop(name) for name in (
    "late-written", "late-linked", "late-removed", "late-closed", "late-write-only", "late-file", "late-read-only")}
end = time.monotonic() + 60
while any(os.path.lexists(f"{spool}/new/{name}") for name in kept):
    if time.monotonic() > end:
        sys.exit("the requests were never taken")
    time.sleep(0.01)
os.pwrite(kept["late-written"][1], b"late", os.fstat(kept["late-written"][1]).st_size // 2)
os.unlink("photo.jpg", dir_fd=kept["late-linked"][0])
os.symlink(f"{secret}/photo.jpg", "photo.jpg", dir_fd=kept["late-linked"][0])
os.unlink("photo.jpg", dir_fd=kept["late-removed"][0])
os.fchmod(kept["late-file"][1], 0)
for name, mode in (("late-closed", 0), ("late-write-only", 0o220), ("late-read-only", 0o550)):
    os.fchmod(kept[name][0], mode)
print("done")
