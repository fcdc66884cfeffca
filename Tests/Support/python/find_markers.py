"""Looks for markers in the names and bytes of all files below a directory: raw, as hex and as base64 in each of its
three positions. Usage: find_markers.py DIRECTORY [FILE_WITH_BYTES...] -- [TEXT...]. Prints what it finds; fails when it
finds something."""

import base64
import os
import sys

arguments = sys.argv[1:]
split = arguments.index("--")
directory, files, texts = arguments[0], arguments[1:split], arguments[split + 1:]

markers = {text: text.encode() for text in texts}
for name in files:
    with open(name, "rb") as file:
        data = file.read()
    # Pieces of the scan, as photos share the tables before it.
    scan = data.index(b"\xff\xda") + 14
    for part in (1, 2, 3):
        start = scan + (len(data) - scan) * part // 4
        markers[f"{name}@{start}"] = data[start:start + 24]

needles = {}
for name, marker in markers.items():
    needles[f"{name}, raw"] = marker
    needles[f"{name}, hex"] = marker.hex().encode()
    needles[f"{name}, HEX"] = marker.hex().upper().encode()
    for offset in range(3):
        text = base64.b64encode(bytes(offset) + marker).rstrip(b"=")
        # The first and last characters hold bits of the neighbours.
        needles[f"{name}, base64 {offset}"] = text[(offset * 4 + 2) // 3 + (offset > 0):-2]

found = 0
for path, directories, names in os.walk(directory):
    for name in directories + names:
        full = os.path.join(path, name)
        haystacks = {"name": os.fsencode(name)}
        if name in names and os.path.isfile(full) and not os.path.islink(full):
            with open(full, "rb") as file:
                haystacks["bytes"] = file.read()
        for what, haystack in haystacks.items():
            for needle, value in needles.items():
                count = haystack.count(value)
                if count:
                    found += count
                    print(f"{full}: {count} times {needle} in its {what}")
sys.exit(1 if found else 0)
