"""A user of the spool's group, 61001, who keeps hands on a request. Usage: kept_request.py SPOOL. Reads orders, a line each, and
answers each with `done`: `drop NAME CONVERSATION` makes a request with a text, keeps its directory open and renames it into new/;
`chmod MODE` changes the mode of that directory, wherever it is now."""

import os
import sys

os.setgroups([61000])
os.setresgid(61001, 61001, 61001)
os.setresuid(61001, 61001, 61001)
os.umask(0o007)
spool = sys.argv[1]
place = None
for line in sys.stdin:
    order, *words = line.split()
    if order == "drop":
        name, conversation = words
        path = f"{spool}/tmp/{name}"
        os.mkdir(path)
        for file, text in (("to", conversation), ("text", name)):
            with open(f"{path}/{file}", "w") as written:
                written.write(f"{text}\n")
        place = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        os.rename(path, f"{spool}/new/{name}")
    elif order == "chmod":
        os.fchmod(place, int(words[0], 8))
    print("done", flush=True)
