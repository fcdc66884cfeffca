"""Makes photos that are small to store and dear to decode: `make_bombs.py DIRECTORY JPEG`

The last is an ordinary baseline JPEG. cjpeg has to be there."""
import os
import struct
import subprocess
import sys
import zlib

directory, path = sys.argv[1:]
with open(path, "rb") as file:
    baseline = file.read()


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


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width, height, colour, interlace, *chunks):
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IEND", b"")


def packed(piece, count):
    compressor = zlib.compressobj(1)
    return b"".join([compressor.compress(piece) for _ in range(count)] + [compressor.flush()])


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


write("claims-10000x10000.jpg", claiming(baseline, 10_000, 10_000))
write("claims-1x65500.jpg", claiming(baseline, 1, 65_500))
twelve_megapixels = large_jpeg(3500, "-progressive")
write("scans-406.jpg", with_scans(twelve_megapixels, 406))
write("scans-100.jpg", with_scans(twelve_megapixels, 100))
write("legal-100-megapixels.jpg", large_jpeg(10_000))
write("legal-progressive.jpg", large_jpeg(10_000, "-progressive"))
picture = chunk(b"IDAT", packed(bytes(97), 32))
write("texts-500.png", png(32, 32, 2, 0, chunk(b"zTXt", b"a\0\0" + packed(bytes(1 << 20), 4)) * 500, picture))
black = packed(bytes(29_998), 10_000)
write("claims-9999x9999.png", png(9999, 9999, 2, 0, chunk(b"IDAT", black[: len(black) // 100])))
write("legal-9999x9999.png", png(9999, 9999, 2, 0, chunk(b"IDAT", black)))
write("interlaced-9999x9999.png", png(9999, 9999, 2, 1, chunk(b"IDAT", black)))
