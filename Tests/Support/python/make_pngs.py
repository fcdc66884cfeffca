"""Makes PNGs with zlib, and judges what was prepared of them by ImageMagick, which has libpng.
make_pngs.py make GOOD BROKEN: every colour type, depth, order of rows and transparency, and files with one error each.
make_pngs.py judge GOOD PREPARED: fails where a prepared photo shows another picture than ImageMagick sees in its PNG."""

import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

WIDTH, HEIGHT = 83, 61
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)]
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def header(color: int, depth: int, interlaced: int = 0) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, interlaced))


def pixel(color: int, depth: int, x: int, y: int) -> list[int]:
    """Slow waves, which a JPEG keeps, or levels of a palette."""
    top = (1 << depth) - 1
    across, down = x / (WIDTH - 1), y / (HEIGHT - 1)
    waves = [across, down, (across + down) / 2, 1 - across / 2]
    return [round(waves[channel if color != 4 or channel == 0 else 3] * top) for channel in range(CHANNELS[color])]


def stored(pixels: list[list[int]], depth: int) -> bytes:
    samples = [sample for one in pixels for sample in one]
    if depth == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    bits = "".join(f"{sample:0{depth}b}" for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def filtered(rows: list[bytes], size: int, chance: random.Random) -> bytes:
    made, above = bytearray(), bytes(len(rows[0]))
    for row in rows:
        number = chance.randrange(5)
        made.append(number)
        for index, value in enumerate(row):
            a, b, c = row[index - size] if index >= size else 0, above[index], above[index - size] if index >= size else 0
            paeth = min((a, b, c), key=lambda near: abs(a + b - c - near))
            made.append((value - [0, a, b, (a + b) // 2, paeth][number]) & 255)
        above = row
    return bytes(made)


def picture(color: int, depth: int, interlaced: int, chance: random.Random) -> bytes:
    size = max(1, CHANNELS[color] * depth // 8)
    passes = PASSES if interlaced else [(0, 0, 1, 1)]
    return b"".join(
        filtered([stored([pixel(color, depth, x, y) for x in range(left, WIDTH, right)], depth)
                  for y in range(top, HEIGHT, down)], size, chance)
        for left, top, right, down in passes)


def extras(color: int, depth: int, transparent: bool) -> bytes:
    found = b""
    if color == 3:
        steps = 1 << depth
        found += chunk(b"PLTE", bytes(255 * (index if part != 1 else steps - 1 - index) // (steps - 1)
                                      for index in range(steps) for part in range(3)))
    if transparent:
        levels = pixel(color, depth, WIDTH // 2, HEIGHT // 2)
        found += chunk(b"tRNS", bytes(range(0, 1 << depth)) if color == 3 else struct.pack(f">{len(levels)}H", *levels))
    return found


def make(good: Path, broken: Path) -> None:
    chance = random.Random(7)
    for color, depth in KINDS:
        for interlaced in (0, 1):
            for transparent in (False, True) if color in (0, 2, 3) else (False,):
                data = zlib.compress(picture(color, depth, interlaced, chance), chance.choice([0, 1, 6, 9]))
                place = chance.randrange(len(data))
                name = f"color{color}-depth{depth}{'-interlaced' * interlaced}{'-transparent' * transparent}.png"
                (good / name).write_bytes(
                    header(color, depth, interlaced) + extras(color, depth, transparent) + chunk(b"IDAT", data[:place])
                    + chunk(b"IDAT", b"") + chunk(b"IDAT", data[place:]) + chunk(b"IEND", b""))
    raw = picture(2, 8, 0, chance)
    whole = chunk(b"IDAT", zlib.compress(raw))
    wrong = bytearray(zlib.compress(raw))
    wrong[2] |= 6
    ends = chunk(b"IEND", b"")
    for name, file in {
        "checksum": header(2, 8) + whole[:-1] + bytes([whole[-1] ^ 1]) + ends,
        "cut": (header(2, 8) + whole)[:-200],
        "missing-rows": header(2, 8) + chunk(b"IDAT", zlib.compress(raw[:-1])) + ends,
        "missing-end": header(2, 8) + chunk(b"IDAT", zlib.compress(raw)[:-900]) + ends,
        "filter": header(2, 8) + chunk(b"IDAT", zlib.compress(b"\5" + raw[1:])) + ends,
        "block": header(2, 8) + chunk(b"IDAT", bytes(wrong)) + ends,
        "palette": header(3, 8) + whole + ends,
        "long-palette": header(3, 8) + chunk(b"PLTE", bytes(769)) + whole + ends,
        "two-palettes": header(3, 8) + 2 * chunk(b"PLTE", bytes(3)) + whole + ends,
        "depth": header(2, 4) + whole + ends,
        "color": header(5, 8) + whole + ends,
        "two-headers": header(2, 8) + header(2, 8)[8:] + whole + ends,
        "critical": header(2, 8) + chunk(b"NEWS", b"") + whole + ends,
        "apart": header(2, 8) + chunk(b"IDAT", zlib.compress(raw)[:500]) + chunk(b"tEXt", b"a\0b")
        + chunk(b"IDAT", zlib.compress(raw)[500:]) + ends,
    }.items():
        (broken / f"{name}.png").write_bytes(file)


def judge(good: Path, prepared: Path) -> None:
    from PIL import Image, ImageChops, ImageStat
    for photo in sorted(good.glob("*.png")):
        flat = prepared / "flat.ppm"
        subprocess.run(["convert", photo, "-background", "white", "-flatten", "-depth", "8", flat], check=True)
        seen, made = Image.open(flat).convert("RGB"), Image.open(prepared / f"{photo.stem}.jpg").convert("RGB")
        if made.size != seen.size:
            sys.exit(f"{photo.name} has become {made.size}")
        difference = max(ImageStat.Stat(ImageChops.difference(seen.reduce(4), made.reduce(4))).mean)
        print(f"{photo.name}: {difference:.2f}")
        if difference > 4:
            sys.exit(f"{photo.name} shows another picture: {difference:.1f} levels")


if __name__ == "__main__":
    {"make": make, "judge": judge}[sys.argv[1]](*map(Path, sys.argv[2:]))
