"""Checks what the 300 requests of lib/writers.sh left in a spool: all published, each once, in order, photos before text."""
import collections
import glob
import json
import os
import sys

spool = sys.argv[1]
seen = collections.Counter()
for path in glob.glob(f"{spool}/published/*.jsonl"):
    last = collections.defaultdict(int)
    photos = collections.Counter()
    open_request = None
    for line in open(path):
        message = json.loads(line)
        request = message["request"]
        assert open_request in (None, request), f"{request} in the midst of {open_request}"
        writer, number = (int(part) for part in request[1:].split("-"))
        seen[message["message"]] += 1
        if message["kind"] == "photo":
            photos[request] += 1
            open_request = request
            continue
        open_request = None
        assert message["text"] == f"{writer} {number}", message
        assert last[writer] < number, f"{request} behind {last[writer]}"
        last[writer] = number
        assert photos[request] == (3 if number % 7 == 0 else 0), f"{request} has {photos[request]} photos"
texts = 300
expected = texts + 3 * 4 * (75 // 7)
assert len(seen) == expected, f"{len(seen)} messages instead of {expected}"
assert set(seen.values()) == {1}, [message for message, count in seen.items() if count > 1]
for receipt in glob.glob(f"{spool}/sent/*/receipt.json"):
    assert json.load(open(receipt))["state"] == "sent", receipt
objects = {name for name in os.listdir(f"{spool}/objects")}
referred = {
    json.loads(line)["attachment"]["contentDigest"]
    for path in glob.glob(f"{spool}/published/*.jsonl")
    for line in open(path)
    if '"attachment"' in line
}
assert referred <= objects, "an object is missing"
print(f"{expected} messages once and in order, {len(objects - referred)} objects without a message")
