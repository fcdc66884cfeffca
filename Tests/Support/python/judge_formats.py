"""Judges what was made of photos: `judge_formats.py DIRECTORY PREPARED REFUSALS`

Pillow and libvips open each photo of DIRECTORY. A photo that one of them opens is prepared, in the same size and with
the same picture as the one, or as both where they agree. Each in DIRECTORY/refused is refused, for the reason in its
name; if one of them opens it although its format is taken, the reason is among OPENED. REFUSALS has a line for each refused photo: its path, a colon, and the reason."""
import os
import subprocess
import sys

import pillow_heif
from PIL import Image, ImageOps

pillow_heif.register_heif_opener()
directory, prepared, refusals = sys.argv[1:]
TAKEN = ("jpg", "png", "webp", "gif", "heic", "avif")
# They show what is there of a photo that is cut off or damaged, an empty or endless canvas, and the wrong one of two pictures.
OPENED = ("ends", "damaged", "pixels", "65535x65535", "predicted")
faults = []


def on_white(image):
    if "A" in image.getbands() or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image)
        image = paper
    return image.convert("RGB")


def by_pillow(path):
    with Image.open(path) as image:
        return on_white(ImageOps.exif_transpose(image))


def by_vips(path):
    turned, plain, seen = (f"{prepared}/{name}" for name in ("turned.v", "plain.v", "seen.png"))
    steps = (["autorot", path, turned], ["colourspace", turned, plain, "srgb"], ["copy", plain, f"{seen}[strip]"])
    for step in steps:
        result = subprocess.run(["vips", *step], capture_output=True, text=True)
        if result.returncode:
            raise OSError(result.stderr.strip())
    with Image.open(seen) as image:
        return on_white(image)


def lab(image):
    def light(level):
        level /= 255
        return level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4

    def root(value):
        return value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116

    lights = [light(level) for level in range(256)]
    data = image.tobytes()
    for at in range(0, len(data), 3):
        red, green, blue = (lights[level] for level in data[at : at + 3])
        x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505)
        y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
        z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089)
        yield 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(first, second):
    """The mean difference of colour (CIE 1976) of two pictures, at 80 pixels across."""
    size = (80, max(1, 80 * first.height // first.width))
    pairs = list(zip(lab(first.resize(size, Image.BOX)), lab(second.resize(size, Image.BOX))))
    return sum(sum((a - b) ** 2 for a, b in zip(*pair)) ** 0.5 for pair in pairs) / len(pairs)


def peers(path):
    seen = {}
    for name, opener in (("Pillow", by_pillow), ("libvips", by_vips)):
        try:
            seen[name] = opener(path)
        except Exception as error:
            seen[name] = str(error).replace("\n", " ")[:60]
    return seen


def results():
    with open(refusals) as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file)


def judge(name, reasons):
    path = f"{directory}/{name}"
    if path in reasons:
        return faults.append(f"{name} was refused: {reasons[path]}")
    ours = by_pillow(f"{prepared}/{name}.jpg")
    seen = peers(path)
    pictures = {peer: image for peer, image in seen.items() if not isinstance(image, str)}
    words = [f"{peer}: {image}" for peer, image in seen.items() if isinstance(image, str)]
    same = {peer: image for peer, image in pictures.items() if image.size == ours.size}
    if pictures and not same:
        faults.append(f"{name} is {ours.size}, for others {[image.size for image in pictures.values()]}")
    agree = len(same) < 2 or difference(*same.values()) < 3
    for peer, image in same.items():
        distance = difference(ours, image)
        words.append(f"{peer} {distance:.2f}")
        if distance >= 3 and agree:
            faults.append(f"{name} differs by {distance:.2f} from {peer}")
    print(f"{name}: {ours.width}x{ours.height}, {', '.join(words)}{'' if agree else ' (they differ)'}")
    return [peer for peer in same if difference(ours, same[peer]) < 3]


def judge_refused(name, reasons):
    word, reason = os.path.basename(name).split("--")[0].replace("_", " "), reasons.get(f"{directory}/{name}")
    opened = [peer for peer, image in peers(f"{directory}/{name}").items() if not isinstance(image, str)]
    print(f"{name}: {reason}{f' (opened by {opened})' if opened else ''}")
    if reason is None or word not in reason:
        faults.append(f"{name}: {reason}")
    if opened and name.rsplit(".", 1)[1] in TAKEN and word not in OPENED:
        faults.append(f"{name} is refused, and {opened} open it: {reason}")


def main():
    reasons, agreed = results(), {}
    names = sorted(name for name in os.listdir(directory) if os.path.isfile(f"{directory}/{name}"))
    for name in names:
        if len(judge(name, reasons) or []) == 2:
            ending = name.rsplit(".", 1)[1]
            agreed[ending] = agreed.get(ending, 0) + 1
    refused = sorted(os.listdir(f"{directory}/refused"))
    for name in refused:
        judge_refused(f"refused/{name}", reasons)
    print(f"{len(names)} photos, of which Pillow and libvips show the same: {agreed}; {len(refused)} refused")
    if len(names) < 60 or any(agreed.get(ending, 0) < 4 for ending in TAKEN):
        faults.append("too few photos were judged")
    sys.exit("\n".join(faults) or None)


main()
