"""Makes photos that are small to store and dear to decode: `make_bombs.py DIRECTORY JPEG WEBP HEIC`

The last three are ordinary photos: a baseline JPEG, a lossy WebP and a HEIC. cjpeg has to be there."""
import os
import struct
import subprocess
import sys
import zlib

directory = sys.argv[1]
baseline, lossy, heic = (open(path, "rb").read() for path in sys.argv[2:5])


def write(name, *parts):
    with open(os.path.join(directory, name), "wb") as file:
        for part in parts:
            file.write(part)


def claiming(jpeg, width, height):
    frame = jpeg.find(b"\xff\xc0\x00\x11")
    return jpeg[: frame + 5] + struct.pack(">HH", height, width) + jpeg[frame + 9 :]


def with_scans(jpeg, count):
    """The last scan again and again: each one goes over all coefficients."""
    start, end = jpeg.rfind(b"\xff\xda"), jpeg.rfind(b"\xff\xd9")
    scans = jpeg.count(b"\xff\xda")
    return jpeg[:end] + jpeg[start:end] * (count - scans) + jpeg[end:]


def jpeg_with_exif(entries, next_directory):
    """A directory that claims 65,535 entries, and one that is its own successor."""
    room = min(entries, (65_533 - 20) // 12)
    body = b"II*\0" + struct.pack("<IH", 8, entries) + struct.pack("<HHII", 0x112, 3, 1, 6) * room
    body = b"Exif\0\0" + body + struct.pack("<I", next_directory)
    return baseline[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + baseline[2:]


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width, height, colour, interlace, *chunks):
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IEND", b"")


def packed(piece, count):
    compressor = zlib.compressobj(1)
    return b"".join([compressor.compress(piece) for _ in range(count)] + [compressor.flush()])


def gif_with_frames(count):
    screen = struct.pack("<HHBBB", 64, 64, 0x80, 0, 0) + bytes((0, 0, 0, 255, 255, 255))
    # Pixels of two colours as codes of three bits, with a clear code before each pair.
    codes, bits, filled = bytearray(), 0, 0
    for code in [4, 0, 1] * (64 * 64 // 2) + [5]:
        bits |= code << filled
        filled += 3
        while filled >= 8:
            codes.append(bits & 255)
            bits, filled = bits >> 8, filled - 8
    codes.append(bits & 255)
    blocks = b"".join(bytes((len(codes[at : at + 255]),)) + codes[at : at + 255] for at in range(0, len(codes), 255))
    frame = b"\x21\xf9\x04\0\x01\0\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 64, 64, 0) + b"\x02" + blocks + b"\0"
    # All whole but the first are of one pixel, to stay below the size of a photo.
    small = b"\x21\xf9\x04\0\x01\0\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
    return b"GIF89a" + screen + frame + small * (count - 1) + b"\x3b"


def webp_claiming(width, height):
    start = lossy.find(b"\x9d\x01\x2a")
    return lossy[: start + 3] + struct.pack("<HH", width, height) + lossy[start + 7 :]


def box(name, *parts):
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + name + body


def boxes(data, offset=0):
    while offset + 8 <= len(data):
        length = struct.unpack(">I", data[offset : offset + 4])[0]
        yield data[offset + 4 : offset + 8], data[offset + 8 : offset + length]
        offset += length


def located(places, distance, added):
    """iloc with four-byte offsets, as heif-enc writes it, for a file whose data lie further back, and for further items
    that all have the file's first bytes."""
    places = bytearray(places)
    version, count = places[0], struct.unpack(">H", places[6:8])[0]
    assert places[4] == 0x44 and version < 2, "an iloc of another kind"
    offset = 8
    for _ in range(count):
        base = offset + (6 if version == 1 else 4)
        start = base + (places[5] >> 4)
        extents = struct.unpack(">H", places[start : start + 2])[0]
        for extent in range(extents):
            at = start + 2 + 8 * extent
            places[at : at + 4] = struct.pack(">I", struct.unpack(">I", places[at : at + 4])[0] + distance)
        offset = start + 2 + 8 * extents
    places[6:8] = struct.pack(">H", count + added)
    between = bytes((4 if version == 1 else 2) + (places[5] >> 4))
    for number in range(added):
        places += struct.pack(">H", 1000 + number) + between + struct.pack(">HII", 1, 0, 16)
    return bytes(places)


def heic_with_items(count):
    """Further items, each of which describes the picture."""
    added = b"".join(box(b"infe", b"\2\0\0\1" + struct.pack(">HH", 1000 + n, 0) + b"Exif\0") for n in range(count))
    links = b"".join(box(b"cdsc", struct.pack(">HHH", 1000 + n, 1, 1)) for n in range(count))
    distance, top = 0, list(boxes(heic))

    def rebuilt(name, body):
        if name == b"iinf":
            return box(name, body[:4], struct.pack(">H", struct.unpack(">H", body[4:6])[0] + count), body[6:], added)
        if name == b"iloc":
            return box(name, located(body, distance, count))
        return box(name, body)

    def meta():
        old = next(body for name, body in top if name == b"meta")
        return box(b"meta", old[:4], *(rebuilt(*inner) for inner in boxes(old, 4)), box(b"iref", b"\0\0\0\0", links))

    distance = len(meta()) - next(len(body) + 8 for name, body in top if name == b"meta")
    return b"".join(meta() if name == b"meta" else box(name, body) for name, body in top)


def large_jpeg(side, *options):
    """A large square that is all there."""
    file = os.path.join(directory, "large.jpg")
    with subprocess.Popen(["cjpeg", "-quality", "60", *options, "-outfile", file], stdin=subprocess.PIPE) as process:
        process.stdin.write(b"P6 %d %d 255\n" % (side, side))
        for y in range(side):
            process.stdin.write(bytes((y * 255 // side, 128, 255 - y * 255 // side)) * side)
    with open(file, "rb") as contents:
        jpeg = contents.read()
    os.unlink(file)
    return jpeg


write("claims-65500x65500.jpg", claiming(baseline, 65_500, 65_500))
write("claims-10000x10000.jpg", claiming(baseline, 10_000, 10_000))
write("claims-1x65500.jpg", claiming(baseline, 1, 65_500))
twelve_megapixels = large_jpeg(3500, "-progressive")
write("scans-406.jpg", with_scans(twelve_megapixels, 406))
write("scans-100.jpg", with_scans(twelve_megapixels, 100))
write("legal-100-megapixels.jpg", large_jpeg(10_000))
write("legal-progressive.jpg", large_jpeg(10_000, "-progressive"))
write("exif-65535.jpg", jpeg_with_exif(65_535, 0))
write("exif-loop.jpg", jpeg_with_exif(1, 8))
picture = chunk(b"IDAT", packed(bytes(97), 32))
write("text-100-megabytes.png", png(32, 32, 2, 0, chunk(b"zTXt", b"a\0\0" + packed(bytes(1 << 20), 100)), picture))
write("profile-100-megabytes.png", png(32, 32, 2, 0, chunk(b"iCCP", b"a\0\0" + packed(bytes(1 << 20), 100)), picture))
write("texts-500.png", png(32, 32, 2, 0, chunk(b"zTXt", b"a\0\0" + packed(bytes(1 << 20), 4)) * 500, picture))
black = packed(bytes(29_998), 10_000)
write("claims-9999x9999.png", png(9999, 9999, 2, 0, chunk(b"IDAT", black[: len(black) // 100])))
write("legal-9999x9999.png", png(9999, 9999, 2, 0, chunk(b"IDAT", black)))
write("interlaced-9999x9999.png", png(9999, 9999, 2, 1, chunk(b"IDAT", black)))
write("frames-10000.gif", gif_with_frames(10_000))
write("claims-16383x16383.webp", webp_claiming(16_383, 16_383))
write("items-5000.heic", heic_with_items(5000))
write("items-1900.heic", heic_with_items(1900))
