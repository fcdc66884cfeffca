"""Makes photos of every format and kind: `make_formats.py DIRECTORY PHOTO`

PHOTO is a PNG of 320x200 pixels. Those that are to be refused are in DIRECTORY/refused, each with a word of the reason
in its name, before two hyphens."""
import os
import subprocess
import sys

from PIL import Image, ImageOps

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
from gif_codes import gif  # noqa: E402

out, photo = sys.argv[1:]
scratch = f"{out}/scratch"
for folder in (out, f"{out}/refused", scratch):
    os.makedirs(folder, exist_ok=True)
picture = Image.open(photo).convert("RGB")
small = picture.resize((120, 76))


def run(*words):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(str(word) for word in words)}: {result.stderr}")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(name, data):
    with open(f"{out}/{name}", "wb") as file:
        file.write(data)
    return f"{out}/{name}"


def save(name, image, **options):
    image.save(f"{out}/{name}", **options)
    return f"{out}/{name}"


def keep(name, image, **options):
    return save(f"scratch/{name}", image, **options)


def with_alpha():
    veil = Image.linear_gradient("L").rotate(90).resize(picture.size)
    image = picture.copy()
    image.putalpha(veil)
    return image


def jpegs():
    for name, options in {
        "baseline": {}, "full": {"subsampling": 0}, "halved": {"subsampling": 1}, "progressive": {"progressive": True},
        "restart": {"restart_marker_rows": 1}, "best": {"quality": 98},
    }.items():
        save(f"{name}.jpg", picture, **{"quality": 90, **options})
    save("grey.jpg", picture.convert("L"), quality=90)
    run("convert-im6.q16", photo, "-colorspace", "CMYK", "-quality", "92", f"{out}/inks.jpg")
    for orientation in range(2, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        save(f"turned-{orientation}.jpg", picture, quality=90, exif=exif)
    inks = read(f"{out}/inks.jpg")
    marker = inks.index(b"\xff\xee\x00\x0eAdobe")
    jfif = b"\xff\xe0\x00\x20JFIF\0\1\1\0\0\1\0\1\0\0"
    write("inks-hidden.jpg", inks[:2] + jfif + inks[marker : marker + 16] + inks[marker + 16 :])
    progressive = read(save("scratch/scans.jpg", picture, quality=90, progressive=True))
    scans = [place for place in range(len(progressive)) if progressive[place : place + 2] == b"\xff\xda"]
    write("unfinished.jpg", progressive[: scans[4]] + b"\xff\xd9")
    write("no-end.jpg", read(f"{out}/baseline.jpg")[:-2])
    write("comment.jpg", progressive[:2] + b"\xff\xfe\0\0" + progressive[2:])
    whole = bytearray(read(f"{out}/restart.jpg"))
    whole[len(whole) // 2 : len(whole) // 2 + 2] = b"\xff\xd5"
    write("refused/damaged--flipped.jpg", whole)
    write("refused/ends--half.jpg", whole[: len(whole) // 2])


def pngs():
    save("colour.png", picture)
    save("alpha.png", with_alpha())
    save("grey.png", picture.convert("L"))
    save("palette.png", picture.quantize(200))
    run("convert-im6.q16", photo, "-depth", "16", "-define", "png:bit-depth=16", f"{out}/deep.png")
    run("convert-im6.q16", photo, "-interlace", "PNG", f"{out}/interlaced.png")
    write("refused/ends--half.png", read(f"{out}/colour.png")[:4000])


def webps():
    save("lossy.webp", picture, quality=90)
    save("lossless.webp", picture, lossless=True)
    save("alpha.webp", with_alpha(), quality=90)
    save("alpha-lossless.webp", with_alpha(), lossless=True)
    save("moving.webp", picture, save_all=True, append_images=[ImageOps.mirror(picture)], duration=100, quality=90)


def gifs():
    few = picture.quantize(128)
    save("plain.gif", few)
    save("moving.gif", few, save_all=True, append_images=[ImageOps.mirror(picture).quantize(128)], duration=100)
    run("convert-im6.q16", photo, "-interlace", "GIF", f"{out}/interlaced.gif")
    colors = bytes(few.getpalette()[: 3 * 128]).ljust(3 * 128, b"\0")
    indices = few.tobytes()
    write("beyond.gif", gif((300, 150), (0, 0), few.size, indices, colors))
    write("placed.gif", gif((200, 100), (20, 30), few.size, indices, colors))
    write("wide-codes.gif", gif(few.size, (0, 0), few.size, indices, colors, bits=11))
    write("no-screen.gif", gif((0, 0), (0, 0), few.size, indices, colors))
    write("no-colours.gif", gif(picture.size, (0, 0), picture.size, picture.convert("L").tobytes(), b"", bits=8))
    write("refused/pixels--zero.gif", gif((0, 0), (0, 0), (0, 0), b"", colors))
    write("refused/pixels--narrow.gif", gif((9, 9), (0, 0), (0, 9), b"", colors))
    write("refused/65535x65535--giant.gif", gif((65535, 65535), (0, 0), few.size, indices, colors))
    write("refused/ends--half.gif", read(f"{out}/plain.gif")[:9000])


def heic(source, name, *options):
    run("heif-enc", "-p", "preset=ultrafast", "-q", 90, *options, "-o", f"{out}/{name}", source)
    return f"{out}/{name}"


def make(name, kind, *words):
    run(sys.executable, f"{here}/make_heif.py", f"{out}/{name}", kind, *words)


def heics():
    alpha = keep("alpha.png", with_alpha())
    for name, options in {
        "420": (), "422-10": ("-b", 10, "-p", "chroma=422"), "444": ("-p", "chroma=444"), "12": ("-b", 12),
        "rgb": ("-L", "-p", "chroma=444", "--matrix_coefficients=0"),
    }.items():
        heic(photo, f"{name}.heic", *options)
    heic(alpha, "alpha.heic")
    tiles = []
    for top in (0, 128):
        for left in (0, 128, 256):
            tile = Image.new("RGB", (128, 128))
            tile.paste(picture.crop((left, top, min(320, left + 128), min(200, top + 128))))
            tiles.append(heic(keep(f"{left}-{top}.png", tile), f"scratch/{left}-{top}.heic"))
    make("tiles.heic", "grid", "3x2", "320x200", *tiles)
    make("tiles-turned.heic", "grid", "3x2", "320x200", *tiles, "clap=201x131+17+30", "irot=1", "imir=0")
    deep = [heic(tile.replace(".heic", ".png"), f"scratch/deep-{index}.heic", "-b", 10, "-p", "chroma=422")
            for index, tile in enumerate(tiles)]
    make("tiles-10.heic", "grid", "3x2", "320x200", *deep)
    make("overlay.heic", "overlay", "330x210", f"{out}/420.heic")
    make("identity.heic", "identity", f"{out}/420.heic", "irot=1")
    make("thumbnail.heic", "thumbnail", f"{out}/420.heic", heic(keep("small.png", small), "scratch/small.heic"))
    make("full-range.heic", "grid", "1x1", "320x200", f"{out}/420.heic", "nclx=1/13/6/1")
    for kind, word in (("predicted", "predicted"), ("unknown", "tmap"), ("external", "not in the file itself"),
                       ("borrowed", "of other items"), ("sequence", "film"), ("unnamed", "non-existing image")):
        others = [f"{out}/420.heic"] if kind == "predicted" else []
        make(f"refused/{word.replace(' ', '_')}--{kind}.heic", kind, f"{out}/420.heic", *others)
    write("refused/ends--half.heic", read(f"{out}/420.heic")[:3000])
    write("refused/ends--tiles.heic", read(f"{out}/tiles.heic")[:-9])


def avif(source, name, *options):
    run("avifenc", "-s", 9, "--min", 4, "--max", 14, *options, source, f"{out}/{name}")


def avifs():
    alpha = f"{out}/scratch/alpha.png"
    for name, options in {
        "420": ("-y", "420"), "422": ("-y", "422"), "444": ("-y", "444"), "grey": ("-y", "400"),
        "420-10": ("-y", "420", "-d", 10), "444-12": ("-y", "444", "-d", 12),
        "television": ("-y", "420", "-r", "limited"), "television-10": ("-y", "444", "-d", 10, "-r", "limited"),
        "left": ("--irot", 1), "right-mirrored": ("--irot", 3, "--imir", 1), "flipped": ("--imir", 0),
        "cropped": ("--crop", "20,30,200,120"), "bt709": ("--cicp", "1/13/1"), "rgb": ("-y", "444", "--cicp", "1/13/0"),
    }.items():
        avif(photo, f"{name}.avif", *options)
    avif(alpha, "alpha.avif", "-y", "420")
    avif(alpha, "alpha-multiplied.avif", "-y", "444", "-p")
    avif(keep("even.png", picture.resize((384, 256))), "tiles.avif", "-y", "420", "-g", "3x2")
    save("pillow.avif", picture, quality=85)
    save("pillow-alpha.avif", with_alpha(), quality=90)
    save("moving.avif", picture, save_all=True, append_images=[ImageOps.mirror(picture)], duration=100, quality=90)
    run("heif-enc", "-A", "-q", 85, "-o", f"{out}/libheif.avif", photo)
    write("refused/ends--half.avif", read(f"{out}/420.avif")[:2000])


def strangers():
    save("refused/TIFF--plain.tif", picture)
    save("refused/BMP--plain.bmp", picture)
    save("refused/JPEG_2000--plain.jp2", picture)
    save("refused/PDF--plain.pdf", picture)
    write("refused/JPEG_XL--bare.jxl", b"\xff\x0a" + bytes(200))
    write("refused/CR3--raw.cr3", b"\0\0\0\x18ftypcrx \0\0\0\1crx isom" + bytes(200))
    write("refused/MP4--video.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + bytes(200))
    write("refused/HTML--page.jpg", b"<!DOCTYPE html><html>not the photo</html>")
    write("refused/not_an_image--text.jpg", b"only words\n" * 20)


for step in (jpegs, pngs, webps, gifs, heics, avifs, strangers):
    step()
