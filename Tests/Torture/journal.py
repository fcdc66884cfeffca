"""A file of one JSON object a line, each synced before the next step."""

import json
import os


class Journal:
    def __init__(self, path):
        self.path = path
        self.file = open(path, "a")

    def write(self, entry):
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def read(self):
        return read(self.path)


def read(path):
    """The entries of such a file; none where there is none."""
    try:
        with open(path) as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []
