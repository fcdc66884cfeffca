"""Fails unless every JPEG named is the picture of make_oriented.py, upright."""
import sys

from PIL import Image

for path in sys.argv[1:]:
    picture = Image.open(path).convert("RGB")
    assert picture.size == (320, 200), (path, picture.size)
    for point, colour in (
        ((20, 12), (255, 0, 0)),
        ((300, 12), (0, 255, 0)),
        ((20, 188), (0, 0, 255)),
        ((300, 188), (255, 255, 0)),
    ):
        found = picture.getpixel(point)
        assert all(abs(a - b) < 24 for a, b in zip(found, colour)), (path, point, found)
