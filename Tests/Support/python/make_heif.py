"""Puts coded pictures together into one HEIF file: `make_heif.py OUT KIND ARGUMENT...`

    grid COLUMNSxROWS WIDTHxHEIGHT TILE...  one picture of tiles, row by row
    overlay WIDTHxHEIGHT PHOTO              a picture at the upper left of a canvas of another size
    identity PHOTO                          a derived picture that is the same as the coded one
    external PHOTO                          a coded picture without data of its own
    borrowed PHOTO                          a coded picture whose data are a part of another item's
    predicted PHOTO OTHER                   a picture that is predicted from another one
    thumbnail PHOTO SMALL                   the primary picture is the thumbnail of the first
    described NUMBER PHOTO                  a picture with so many items of metadata
    unknown PHOTO                           a derived picture of a kind that nobody knows
    sequence PHOTO                          a film without a still picture
    unnamed PHOTO                           a file whose primary picture is not in it
    empty                                   a file without pictures

Further arguments are properties of the primary picture, in this order: `irot=1`, `imir=0`, `clap=WxH+X+Y`,
`nclx=1/13/6/0`. The photos are HEIC or AVIF files of one picture each, by heif-enc or avifenc.
"""
import struct
import sys

CODED = (b"hvc1", b"av01")


def box(name, contents):
    return struct.pack(">I", 8 + len(contents)) + name + contents


def full_box(name, contents, version=0, flags=0):
    return box(name, struct.pack(">I", version << 24 | flags) + contents)


def boxes(data):
    offset = 0
    while offset + 8 <= len(data):
        size = int.from_bytes(data[offset : offset + 4], "big") or len(data) - offset
        yield data[offset + 4 : offset + 8], data[offset + 8 : offset + size]
        offset += size


class Photo:
    """The primary picture of a file: its data and its properties."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.brand = dict(boxes(data))[b"ftyp"]
        meta = dict(boxes(dict(boxes(data))[b"meta"][4:]))
        item = int.from_bytes(meta[b"pitm"][4:6], "big")
        self.type = self.type_of(item, meta[b"iinf"])
        self.data = b"".join(data[start : start + size] for start, size in self.extents(item, meta[b"iloc"]))
        properties = dict(boxes(meta[b"iprp"]))
        every = [box(name, contents) for name, contents in boxes(properties[b"ipco"])]
        self.properties = [every[index - 1] for index in self.indices(item, properties[b"ipma"])]

    @staticmethod
    def type_of(item, contents):
        for name, entry in boxes(contents[6:]):
            if name == b"infe" and int.from_bytes(entry[4:6], "big") == item:
                return entry[8:12]
        raise ValueError("no primary picture")

    @staticmethod
    def extents(item, contents):
        version, sizes, bases = contents[0], contents[4], contents[5]
        length, base = sizes & 15, bases >> 4
        offset = 8
        for _ in range(int.from_bytes(contents[6:8], "big")):
            number = int.from_bytes(contents[offset : offset + 2], "big")
            offset += (6 if version else 4)
            start = int.from_bytes(contents[offset : offset + base], "big")
            offset += base
            count = int.from_bytes(contents[offset : offset + 2], "big")
            offset += 2
            for _ in range(count):
                place = int.from_bytes(contents[offset : offset + (sizes >> 4)], "big")
                offset += sizes >> 4
                size = int.from_bytes(contents[offset : offset + length], "big")
                offset += length
                if number == item:
                    yield start + place, size

    @staticmethod
    def indices(item, contents):
        offset = 8
        for _ in range(int.from_bytes(contents[4:8], "big")):
            number, count = int.from_bytes(contents[offset : offset + 2], "big"), contents[offset + 2]
            found = contents[offset + 3 : offset + 3 + count]
            if number == item:
                return [index & 127 for index in found]
            offset += 3 + count
        return []

    @property
    def size(self):
        extent = next(found for found in self.properties if found[4:8] == b"ispe")
        return struct.unpack(">II", extent[12:20])


class File:
    """Items are numbered from 1 on."""

    def __init__(self, brand):
        self.brand, self.items, self.references, self.primary = brand, [], [], 1
        # The items whose data are those of the item that they refer to.
        self.borrowers = set()

    def add(self, kind, data, properties, is_hidden=False):
        self.items.append((kind, data, properties, is_hidden))
        return len(self.items)

    def add_photo(self, photo, is_hidden=False, data=True):
        return self.add(photo.type, photo.data if data else None, list(photo.properties), is_hidden)

    def refer(self, kind, start, *ends):
        self.references.append((kind, start, ends))

    def meta(self, start):
        """The box `meta`, when the data of the items begin at `start`."""
        every = []
        associations = locations = entries = b""
        located = [item for item in self.items if item[1] is not None]
        for number, (kind, data, properties, is_hidden) in enumerate(self.items, 1):
            entries += full_box(b"infe", struct.pack(">HH", number, 0) + kind + b"\0", 2, int(is_hidden))
            found = []
            for one in properties:
                if one not in every:
                    every.append(one)
                found.append(every.index(one) + 1)
            needed = (b"hvcC", b"av1C", b"irot", b"imir", b"clap")
            marked = [0x8000 | index if every[index - 1][4:8] in needed else index for index in found]
            associations += struct.pack(f">HB{len(marked)}H", number, len(marked), *marked)
            if data is not None:
                is_borrowed = number in self.borrowers
                locations += struct.pack(
                    ">HHHHII", number, 2 if is_borrowed else 0, 0, 1, 0 if is_borrowed else start, len(data))
                start += len(data)
        references = b"".join(
            box(kind, struct.pack(f">HH{len(ends)}H", first, len(ends), *ends)) for kind, first, ends in self.references)
        count = struct.pack(">I", len(self.items))
        return full_box(b"meta", full_box(b"hdlr", bytes(4) + b"pict" + bytes(13))
            + full_box(b"pitm", struct.pack(">H", self.primary))
            + full_box(b"iinf", struct.pack(">H", len(self.items)) + entries)
            + (full_box(b"iref", references) if references else b"")
            + box(b"iprp", box(b"ipco", b"".join(every)) + full_box(b"ipma", count + associations, 0, 1))
            + full_box(b"iloc", struct.pack(">HH", 0x4400, len(located)) + locations, 1))

    @property
    def bytes(self):
        head = box(b"ftyp", self.brand)
        size = len(self.meta(0))
        data = b"".join(item[1] or b"" for item in self.items)
        return head + self.meta(len(head) + size + 8) + box(b"mdat", data)


def extent(size):
    return full_box(b"ispe", struct.pack(">II", *size))


def numbers(text):
    return tuple(int(number) for number in text.split("x"))


def colors(photo):
    return [found for found in photo.properties if found[4:8] in (b"colr", b"pixi")]


def grid(layout, size, *paths):
    photos = [Photo(path) for path in paths]
    file, (columns, rows), size = File(photos[0].brand), numbers(layout), numbers(size)
    properties = [extent(size)] + colors(photos[0])
    file.add(b"grid", struct.pack(">BBBBII", 0, 1, rows - 1, columns - 1, *size), properties)
    file.refer(b"dimg", 1, *(file.add_photo(photo, is_hidden=True) for photo in photos))
    return file


def overlay(size, path):
    photo, size = Photo(path), numbers(size)
    file = File(photo.brand)
    data = struct.pack(">BB4H", 0, 0, 0xFFFF, 0, 0, 0xFFFF) + struct.pack(">HHhh", *size, 0, 0)
    file.add(b"iovl", data, [extent(size)])
    file.refer(b"dimg", 1, file.add_photo(photo, is_hidden=True))
    return file


def identity(path):
    photo = Photo(path)
    file = File(photo.brand)
    file.add(b"iden", None, [extent(photo.size)])
    file.refer(b"dimg", 1, file.add_photo(photo, is_hidden=True))
    return file


def external(path):
    photo = Photo(path)
    file = File(photo.brand)
    file.add_photo(photo, data=False)
    return file


def borrowed(path):
    photo = Photo(path)
    file = File(photo.brand)
    file.add_photo(photo)
    file.borrowers.add(1)
    file.refer(b"iloc", 1, file.add_photo(photo, is_hidden=True))
    return file


def unnamed(path):
    photo = Photo(path)
    file = File(photo.brand)
    file.add_photo(photo)
    file.primary = 2
    return file


def predicted(path, other):
    photo = Photo(path)
    file = File(photo.brand)
    file.add_photo(photo)
    file.refer(b"pred", 1, file.add_photo(Photo(other), is_hidden=True))
    return file


def thumbnail(path, small):
    photo = Photo(path)
    file = File(photo.brand)
    file.refer(b"thmb", file.add_photo(Photo(small)), file.add_photo(photo))
    return file


def described(number, path):
    photo = Photo(path)
    file = File(photo.brand)
    file.add_photo(photo)
    for _ in range(int(number)):
        file.refer(b"cdsc", file.add(b"Exif", photo.data[:16], []), 1)
    return file


def unknown(path):
    photo = Photo(path)
    file = File(photo.brand)
    file.add(b"tmap", b"\0" * 16, [extent(photo.size)])
    file.refer(b"dimg", 1, file.add_photo(photo, is_hidden=True))
    return file


class Plain:
    def __init__(self, data):
        self.bytes, self.items = data, [(None, None, [], False)]


def sequence(path):
    return Plain(box(b"ftyp", b"msf1\0\0\0\0msf1hevc") + box(b"moov", bytes(100)) + box(b"mdat", Photo(path).data))


def empty():
    return File(b"mif1\0\0\0\0mif1heic")


def rational(*values):
    return struct.pack(f">{2 * len(values)}i", *(part for value in values for part in (value, 2)))


def property_of(text, size):
    name, _, value = text.partition("=")
    if name in ("irot", "imir"):
        return box(name.encode(), bytes([int(value)]))
    if name == "nclx":
        primaries, transfer, matrix, is_full = (int(number) for number in value.split("/"))
        return box(b"colr", b"nclx" + struct.pack(">HHHB", primaries, transfer, matrix, is_full << 7))
    window, x, y = value.split("+")
    width, height = numbers(window)
    return box(b"clap", rational(2 * width, 2 * height, 2 * int(x) + width - size[0], 2 * int(y) + height - size[1]))


def main():
    out, kind, *rest = sys.argv[1:]
    added = [argument for argument in rest if "=" in argument.rsplit("/", 1)[0] or argument.startswith("nclx=")]
    make = {function.__name__: function for function in (
        grid, overlay, identity, external, borrowed, predicted, thumbnail, described, unknown, sequence, unnamed,
        empty)}[kind]
    file = make(*(argument for argument in rest if argument not in added))
    if added:
        properties = file.items[0][2]
        size = next(struct.unpack(">II", found[12:20]) for found in properties if found[4:8] == b"ispe")
        if any(text.startswith("nclx=") for text in added):
            properties[:] = [found for found in properties if found[4:8] != b"colr"]
        properties += [property_of(text, size) for text in added]
    with open(out, "wb") as output:
        output.write(file.bytes)


main()
