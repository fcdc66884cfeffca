"""Judges what became of what was sent. Usage: judge.py SENT JOURNAL [OBJECTS]

SENT has a line for each request, in the order of Send: {request, conversation, photos, text}. JOURNAL is sink.py's.
With a directory of objects, each photo's has to be there. Each complaint is one line and begins with its word:

    LOST     was sent and had no effect
    DOUBLE   had its effect more than once
    ORDER    had its effect before what was sent earlier in its conversation
    STRANGE  had an effect and was not sent, or not like this
"""

import collections
import hashlib
import json
import os
import sys


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def messages(request):
    """The messages of a request, in their order: the text is none of a photo's."""
    photos = [("photo", None, number) for number in range(request["photos"])]
    return photos + ([("text", request["text"], 0)] if request["text"] else [])


def judge(sent, journal, objects=None):
    expected, found, owners = {}, {}, {}
    for request in sent:
        line = expected.setdefault(request["conversation"], [])
        line += [(request["request"], *message) for message in messages(request)]
    numbers = collections.Counter()
    for entry in journal:
        what = (entry["conversation"], entry["request"], entry["kind"], entry["text"])
        if owners.setdefault(entry["message"], what) != what:
            yield f"STRANGE the id {entry['message']} is that of {owners[entry['message']]} and of {what}"
        if entry["isEffective"]:
            # The photos of a request look alike from here: they are counted.
            found.setdefault(what[0], []).append((*what[1:], numbers[what]))
            numbers[what] += 1
            if objects and entry["digest"] and not is_whole(f"{objects}/{entry['digest']}", entry["digest"]):
                yield f"LOST the object of a photo of {entry['request']}"
    for conversation in expected.keys() | found.keys():
        wanted, came = expected.get(conversation, []), found.get(conversation, [])
        yield from (f"LOST {conversation} {message}" for message in wanted if message not in came)
        known = {message[:3] for message in wanted}
        for message in came:
            if message not in wanted:
                yield f"{'DOUBLE' if message[:3] in known else 'STRANGE'} {conversation} {message}"
        in_order = [message for message in wanted if message in came]
        in_time = [message for message in came if message in wanted]
        for should, did in zip(in_order, in_time):
            if should != did:
                yield f"ORDER {conversation} {did} came before {should}"
                break


def is_whole(path, digest):
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() == digest


def main():
    sent, journal = read(sys.argv[1]), read(sys.argv[2])
    complaints = list(judge(sent, journal, *sys.argv[3:]))
    print("\n".join(complaints) or f"{sum(entry['isEffective'] for entry in journal)} messages once and in order, "
          f"{len(journal)} attempts that arrived")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
