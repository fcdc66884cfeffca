"""A co-process that answers its first request with the file `answer` of its state directory, and then nothing."""

import pathlib
import sys

state = pathlib.Path(sys.argv[sys.argv.index("--state") + 1])
sys.stdin.readline()
print((state / "answer").read_text(), flush=True)
sys.stdin.read()
