"""Photographs: real ones of Debian's package lomiri-wallpapers-16.04, and made ones of a wanted shape."""

import pathlib

from PIL import Image

LIBRARY = pathlib.Path("/usr/share/backgrounds")


def photograph(directory, name, width, height, of="Dragonfly_by_Bolly.jpg"):
    """A real photograph, cropped to this size."""
    with Image.open(LIBRARY / of) as image:
        # JPEG can be decoded smaller, but not smaller than this.
        image.draft("RGB", (width, height))
        ratio = max(width / image.width, height / image.height)
        image = image.convert("RGB").resize((round(image.width * ratio) + 1, round(image.height * ratio) + 1))
    path = directory / name
    image.crop((0, 0, width, height)).save(path, quality=85)
    return path
