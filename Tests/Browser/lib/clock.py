"""The clock of the programs of a test, which a test sets forward."""

import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "Torture/clock.c"


class Clock:
    """`CLOCK_OFFSET` is the wall clock, `CLOCK_MONOTONIC_OFFSET` the one that times are measured with."""

    def __init__(self, stage, name):
        library, offset = stage.directory / "clock.so", stage.directory / "offset"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        offset.write_bytes(bytes(8))
        self.file = open(offset, "r+b", buffering=0)
        stage.environment |= {"LD_PRELOAD": str(library), name: str(offset)}

    def set(self, seconds):
        self.file.seek(0)
        self.file.write(seconds.to_bytes(8, sys.byteorder))
