# read_code TEXT: the text of the QR code in the lines of a terminal: light letters on a dark ground.
read_code() {
  "$python" - "$1" code.png <<'PYTHON'
import sys
from PIL import Image
lines = [line for line in open(sys.argv[1], encoding="utf-8").read().splitlines() if set(line) <= set("█▀▄ ") and line]
image = Image.new("L", (len(lines[0]), 2 * len(lines)), 0)
for row, line in enumerate(lines):
    for column, letter in enumerate(line):
        for half, letters in enumerate(["█▀", "█▄"]):
            if letter in letters:
                image.putpixel((column, 2 * row + half), 255)
image.resize((image.width * 8, image.height * 8), Image.NEAREST).save(sys.argv[2])
PYTHON
  zbarimg -q --raw --nodbus code.png
}
