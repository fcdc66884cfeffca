"""Writes mutated photos into a directory: `mutate_photos.py DIRECTORY COUNT SEED PHOTO...`

The same photos, seed and count give the same files. Each is named by its number, by what was done to it, and by the
photo that it was made of: 00042-truncate-37-baseline.jpg. The ending is a lie in one of eight.
"""
import os
import random
import struct
import sys
import zlib

PNG = b"\x89PNG\r\n\x1a\n"
CONTAINERS = (b"meta", b"iprp", b"ipco", b"dinf", b"iref", b"iinf", b"moov", b"trak")
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


class Photo:
    def __init__(self, path):
        name, self.ending = os.path.splitext(os.path.basename(path))
        self.name = name[:32]
        with open(path, "rb") as file:
            self.bytes = file.read()


# Where a format keeps its lengths and sizes: (offset, bytes, whether the first byte is the lowest).


def jpeg_fields(data):
    offset = 2
    while offset + 4 <= len(data) and data[offset] == 0xFF:
        marker, length = data[offset + 1], int.from_bytes(data[offset + 2 : offset + 4], "big")
        yield offset + 2, 2, False
        if marker in (0xC0, 0xC1, 0xC2):
            yield from ((offset + 5, 2, False), (offset + 7, 2, False), (offset + 9, 1, False))
            yield from ((offset + 10 + index, 1, False) for index in range(9))
        if marker == 0xC4:
            yield from ((offset + 4 + index, 1, False) for index in range(17))
        if marker == 0xDA:
            yield from ((offset + 4 + index, 1, False) for index in range(length - 2))
            after = data.find(b"\xff\xc4", offset + length), data.find(b"\xff\xda", offset + length)
            offset = min((place for place in after if place > 0), default=len(data))
        else:
            offset += 2 + length


def png_chunks(data):
    offset = len(PNG)
    while offset + 12 <= len(data):
        length = int.from_bytes(data[offset : offset + 4], "big")
        yield offset, length
        offset += 12 + length


def png_fields(data):
    for offset, length in png_chunks(data):
        yield offset, 4, False
        if data[offset + 4 : offset + 8] == b"IHDR":
            yield from ((offset + 8, 4, False), (offset + 12, 4, False))
            yield from ((offset + 16 + index, 1, False) for index in range(5))
        elif length:
            yield offset + 8, min(length, 4), False


def riff_fields(data):
    yield 4, 4, True
    offset = 12
    while offset + 8 <= len(data):
        yield offset + 4, 4, True
        yield from ((offset + 8 + index, 2, True) for index in range(0, 16, 2))
        offset += 8 + (int.from_bytes(data[offset + 4 : offset + 8], "little") + 1 & ~1)


def gif_fields(data):
    yield from ((6, 2, True), (8, 2, True), (10, 1, True), (11, 1, True))
    for offset in range(13, len(data) - 10):
        if data[offset] == 0x2C and data[offset - 1] == 0:
            yield from ((offset + 1 + 2 * index, 2, True) for index in range(4))
            yield from ((offset + 9, 1, True), (offset + 10, 1, True), (offset + 11, 1, True))


def box_fields(data, start=0, end=None):
    offset, end = start, len(data) if end is None else end
    while offset + 8 <= end:
        length, name = int.from_bytes(data[offset : offset + 4], "big"), data[offset + 4 : offset + 8]
        yield offset, 4, False
        if name != b"mdat":
            yield from ((field, 2, False) for field in range(offset + 8, min(offset + max(length, 8), end) - 1, 2))
        if name in CONTAINERS and length > 8:
            inner = {b"meta": 12, b"iref": 12, b"iinf": 14}.get(name, 8)
            yield from box_fields(data, offset + inner, min(offset + length, end))
        if length < 8:
            return
        offset += length


def fields(data):
    if data.startswith(b"\xff\xd8"):
        found = jpeg_fields(data)
    elif data.startswith(PNG):
        found = png_fields(data)
    elif data.startswith(b"RIFF"):
        found = riff_fields(data)
    elif data.startswith(b"GIF"):
        found = gif_fields(data)
    elif data[4:8] == b"ftyp":
        found = box_fields(data)
    else:
        found = ()
    return [field for field in found if field[0] + field[1] <= len(data)]


def with_good_checksums(data):
    """A PNG whose chunks all have the checksum that their bytes ask for, so that what is wrong is found later."""
    if not data.startswith(PNG):
        return data
    data = bytearray(data)
    for offset, length in list(png_chunks(data)):
        end = offset + 8 + length
        if end + 4 <= len(data):
            data[end : end + 4] = struct.pack(">I", zlib.crc32(data[offset + 4 : end]))
    return bytes(data)


# The mutations of a photo. Each returns the new bytes and a word for the name.


def truncate(photo, others, dice, turn):
    # 37 has no factor in common with 100: every hundredth comes, and the first ones are far apart.
    percent = turn * 37 % 100
    return photo.bytes[: len(photo.bytes) * percent // 100], str(percent)


def change_bytes(photo, others, dice, turn):
    data, count = bytearray(photo.bytes), (1, 8, 64)[turn % 3]
    # In half of them near the beginning, where the headers are.
    span = len(data) if dice.random() < 0.5 else min(len(data), 1024)
    for _ in range(count if data else 0):
        data[dice.randrange(span)] = dice.randrange(256)
    return (with_good_checksums(data) if dice.random() < 0.7 else bytes(data)), str(count)


def change_run(photo, others, dice, turn):
    data, count = bytearray(photo.bytes), (1, 8, 64)[turn % 3]
    start = dice.randrange(max(1, len(data) - count))
    data[start : start + count] = dice.randbytes(len(data[start : start + count]))
    return with_good_checksums(data), str(count)


def flip_bits(photo, others, dice, turn):
    data, count = bytearray(photo.bytes), dice.choice((1, 2, 5, 20))
    for _ in range(count if data else 0):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return (with_good_checksums(data) if dice.random() < 0.7 else bytes(data)), str(count)


def swap_header(photo, others, dice, turn):
    other, count = dice.choice(others), dice.choice((2, 4, 8, 12, 16, 32, 64, 256))
    return other.bytes[:count] + photo.bytes[count:], other.name


def drop_block(photo, others, dice, turn):
    start, count = block(photo, dice)
    return photo.bytes[:start] + photo.bytes[start + count :], str(count)


def double_block(photo, others, dice, turn):
    start, count = block(photo, dice)
    return photo.bytes[: start + count] + photo.bytes[start:], str(count)


def clear_block(photo, others, dice, turn):
    start, count = block(photo, dice)
    data = photo.bytes[:start] + bytes(count) + photo.bytes[start + count :]
    return with_good_checksums(data), str(count)


def block(photo, dice):
    start = dice.randrange(len(photo.bytes) or 1)
    return start, min(len(photo.bytes) - start, dice.choice((1, 4, 16, 64, 256, 1024, 4096)))


def change_lengths(photo, others, dice, turn):
    data, found = bytearray(photo.bytes), fields(photo.bytes)
    word = "none"
    for offset, count, is_little in dice.sample(found, min(len(found), dice.choice((1, 1, 1, 2, 3)))):
        number = 0 if dice.random() < 0.3 else (1 << 8 * count) - 1 if dice.random() < 0.5 else dice.choice(NUMBERS)
        word = f"{offset}-{number & (1 << 8 * count) - 1:x}"
        data[offset : offset + count] = (number & (1 << 8 * count) - 1).to_bytes(count, "little" if is_little else "big")
    return with_good_checksums(data), word


def change_numbers(photo, others, dice, turn):
    data, offset = bytearray(photo.bytes), dice.randrange(max(1, min(len(photo.bytes), 1024)))
    count = dice.choice((1, 2, 4))
    number = dice.choice(NUMBERS) & (1 << 8 * count) - 1
    data[offset : offset + count] = number.to_bytes(count, "big")[: len(data) - offset]
    return with_good_checksums(data), f"{offset}-{number:x}"


def join(photo, others, dice, turn):
    other = dice.choice(others)
    return photo.bytes + other.bytes, other.name


def splice(photo, others, dice, turn):
    other = dice.choice(others)
    place = dice.randrange(len(photo.bytes) + 1)
    return photo.bytes[:place] + other.bytes[dice.randrange(len(other.bytes) + 1) :], other.name


def fill(photo, others, dice, turn):
    count = (0, 1, 2, 12, 4096, 100_000)[turn % 6]
    return (bytes(count), b"\xff" * count, photo.bytes[:4] + bytes(count), dice.randbytes(count))[turn // 6 % 4], str(count)


def leave(photo, others, dice, turn):
    return photo.bytes, "nothing"


WAYS = (
    [truncate] * 12
    + [change_bytes] * 6
    + [change_lengths] * 6
    + [flip_bits] * 3
    + [change_run] * 2
    + [swap_header, drop_block, double_block, clear_block] * 2
    + [change_numbers, change_numbers, join, splice, fill, leave]
)


def main():
    directory, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    photos = [Photo(path) for path in sys.argv[4:]]
    ways = random.Random(seed).sample(WAYS, len(WAYS))
    turns = {}
    os.makedirs(directory, exist_ok=True)
    for number in range(count):
        dice = random.Random(f"{seed}:{number}")
        # Every photo meets every way, and neighbours meet different ones.
        round, place = divmod(number, len(photos))
        photo, way = photos[place], ways[(round + 7 * place) % len(ways)]
        turn = turns[way, place] = turns.get((way, place), -1) + 1
        data, word = way(photo, photos, dice, turn)
        ending = photo.ending if dice.random() < 0.875 else dice.choice(photos).ending
        name = f"{number:05d}-{way.__name__.replace('_', '-')}-{word}-{photo.name}{ending}"
        with open(os.path.join(directory, name), "wb") as file:
            file.write(data)


main()
