"""Reads what was said to people and programs, and complains of what a terminal or a log reader could obey.

    plain_output.py FILE...

Controls (but line breaks), format characters such as those that turn the direction of writing, separators of lines and
paragraphs (but in `.prom`), and what is no UTF-8. In a file that ends in `.json` every line is one object; in `.log`, one event."""

import json
import sys
import unicodedata

LONGEST = 8_000
bad = 0


def complain(path, number, what, line):
    global bad
    bad += 1
    print(f"{path}:{number}: {what}: {line[:200]!r}")


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    for number, raw in enumerate(lines, 1):
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            complain(path, number, "no UTF-8", raw)
            continue
        is_json = path.endswith(".json")
        for character in line:
            category = unicodedata.category(character)
            # Metrics are UTF-8 for one reader, in whose format nothing else can be escaped.
            if category == "Cc" or category in ("Cf", "Zl", "Zp") and not path.endswith(".prom"):
                complain(path, number, f"U+{ord(character):04X}", line)
                break
        if len(line) > LONGEST:
            complain(path, number, f"{len(line)} characters", line)
        if is_json and line:
            try:
                json.loads(line)
            except ValueError as error:
                complain(path, number, f"no JSON ({error})", line)
        if path.endswith(".log") and line and not line.startswith(("time=", "photospool: ")):
            complain(path, number, "no event", line)
sys.exit(1 if bad else 0)
