"""Files that all places share: photos, and the preloaded libraries."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# The photos of requests: the width tells them apart wherever they come out.
WIDTHS = range(40, 48)
BUILT = {}


def photo(width):
    """A small photo that is so many pixels wide."""
    return f"{shared()}/{width}.jpg"


def killpoint():
    """The library that kills a program at its k-th call."""
    return f"{shared()}/killpoint.so"


def clock():
    """The library that shifts the wall clock of a program."""
    return f"{shared()}/clock.so"


def shared():
    """The directory with what all places use; made by the first, or by the one who started this process."""
    if "directory" not in BUILT:
        directory = os.environ["TORTURE_SHARED"]
        if not os.path.exists(f"{directory}/ready"):
            build(directory)
        BUILT["directory"] = directory
    return BUILT["directory"]


def build(directory):
    from PIL import Image

    for name in ("killpoint", "clock"):
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", f"{directory}/{name}.so", str(HERE / f"{name}.c"), "-ldl"], check=True)
    for width in WIDTHS:
        Image.effect_noise((width, 32), 60).convert("RGB").save(f"{directory}/{width}.jpg", quality=90)
    pathlib.Path(f"{directory}/ready").touch()
