"""Makes oriented-1.jpg to oriented-8.jpg in a directory: one picture of 320x200 with four different corners, stored so
that EXIF's orientation of that number turns it upright. The orientation itself is written by the caller."""
import sys

from PIL import Image

upright = Image.new("RGB", (320, 200), "grey")
for box, colour in (
    ((0, 0, 80, 50), "red"),
    ((240, 0, 320, 50), "lime"),
    ((0, 150, 80, 200), "blue"),
    ((240, 150, 320, 200), "yellow"),
):
    upright.paste(colour, box)
# The transposition that undoes what the orientation asks for.
stored = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
for orientation, transposition in stored.items():
    picture = upright if transposition is None else upright.transpose(transposition)
    picture.save(f"{sys.argv[1]}/oriented-{orientation}.jpg", quality=92)
