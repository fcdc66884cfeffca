"""Writes a HEIC of tiles (ISO/IEC 23008-12, derived item `grid`) from tiles that heif-enc encodes."""

import struct
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from PIL import Image


def box(name: bytes, *contents: bytes) -> bytes:
    body = b"".join(contents)
    return struct.pack(">I4s", 8 + len(body), name) + body


def full(name: bytes, *contents: bytes, version: int = 0, flags: int = 0) -> bytes:
    return box(name, struct.pack(">I", version << 24 | flags), *contents)


def contents(file: bytes, name: bytes) -> bytes:
    """What is in the first box of a name, at any depth."""
    place = file.index(name)
    size, = struct.unpack(">I", file[place - 4:place])
    return file[place + 4:place - 4 + size]


def write_grid(image: Image.Image, target: Path, side: int, encode: Callable[[Image.Image, Path], None]) -> None:
    across, down = -(-image.width // side), -(-image.height // side)
    count = across * down

    def tile(index: int) -> bytes:
        left, top = index % across * side, index // across * side
        # Beyond the edge the last pixels are repeated.
        part = image.crop((left, top, min(left + side, image.width), min(top + side, image.height)))
        whole = part.resize((side, side), Image.Resampling.NEAREST) if part.size != (side, side) else part
        if whole is not part:
            whole.paste(part, (0, 0))
        path = Path(scratch) / f"{index}.heic"
        encode(whole, path)
        return path.read_bytes()

    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        files = list(pool.map(tile, range(count)))
    hevc = {contents(file, b"hvcC") for file in files}
    if len(hevc) != 1:
        raise ValueError("the tiles have different headers")
    data = [contents(file, b"mdat") for file in files]
    # As heif-enc encodes: sRGB, BT.601, full range.
    colors = box(b"colr", b"nclx", struct.pack(">HHHB", 1, 13, 6, 0x80))
    # Items 1 to `count` are tiles, the next one is the grid; its description lies in `idat`.
    grid = struct.pack(">BBBBII", 0, 1, down - 1, across - 1, image.width, image.height)
    items = b"".join(
        full(b"infe", struct.pack(">HH4s", item + 1, 0, b"hvc1" if item < count else b"grid"), b"\0", version=2)
        for item in range(count + 1))
    properties = box(
        b"ipco", box(b"hvcC", hevc.pop()), full(b"ispe", struct.pack(">II", side, side)),
        full(b"ispe", struct.pack(">II", image.width, image.height)), colors)
    uses = b"".join(struct.pack(">HB3B", item + 1, 3, 0x81, 2, 4) for item in range(count))
    uses += struct.pack(">HB2B", count + 1, 2, 3, 4)

    def meta(start: int) -> bytes:
        places, offset = b"", start
        for item, bytes_ in enumerate(data):
            places += struct.pack(">HHHHII", item + 1, 0, 0, 1, offset, len(bytes_))
            offset += len(bytes_)
        places += struct.pack(">HHHHII", count + 1, 1, 0, 1, 0, len(grid))
        return full(
            b"meta", full(b"hdlr", struct.pack(">I4s12sB", 0, b"pict", b"", 0)), full(b"pitm", struct.pack(">H", count + 1)),
            full(b"iinf", struct.pack(">H", count + 1), items),
            full(b"iloc", struct.pack(">BBH", 0x44, 0, count + 1), places, version=1),
            full(b"iref", box(b"dimg", struct.pack(f">HH{count}H", count + 1, count, *range(1, count + 1)))),
            box(b"iprp", properties, full(b"ipma", struct.pack(">I", count + 1), uses)), box(b"idat", grid))

    kind = box(b"ftyp", b"heic", struct.pack(">I", 0), b"mif1heic")
    start = len(kind) + len(meta(0)) + 8
    target.write_bytes(kind + meta(start) + box(b"mdat", *data))
