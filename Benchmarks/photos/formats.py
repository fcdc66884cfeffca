"""Makes photographs of every format from Debian's wallpapers, the same ones each time. Existing files stay.
Usage: formats.py DIRECTORY

Beside each picture, NAME.png is what its files were encoded from. Those of 12 megapixels have the noise of a camera where
they still fit into ten million bytes. Larger ones are enlarged and have none. NAME.source tells the file and its picture."""

import subprocess
import sys
from pathlib import Path

import numpy
from PIL import Image

from grid import write_grid

Image.MAX_IMAGE_PIXELS = None
WALLPAPERS = Path("/usr/share/backgrounds")
PICTURES = {
    # Name: wallpaper, size, noise in levels, and the radius of a blur that lets a lossless file fit.
    "12": ("picosdeeuropa_by_Aitzol_Berasategi", (4000, 3000), 3, 0),
    "12-quiet": ("sunset_by_Aitzol_Berasategi", (4000, 3000), 0, 0),
    "5-quiet": ("picosdeeuropa_by_Aitzol_Berasategi", (2700, 2025), 0, 0),
    "48": ("seeding_by_Clements_Engelhardt", (8000, 6000), 0, 0),
    "100": ("sunset_by_Aitzol_Berasategi", (12240, 8160), 0, 0),
    "100-smooth": ("sunset_by_Aitzol_Berasategi", (12240, 8160), 0, 24),
}


def picture(name: str, directory: Path) -> tuple[Image.Image, Path]:
    """The picture, and the PNG that it is kept in."""
    path = directory / f"{name}.png"
    if path.exists():
        image = Image.open(path)
        image.load()
        return image, path
    wallpaper, size, noise, blur = PICTURES[name]
    image = Image.open(WALLPAPERS / f"{wallpaper}.jpg").convert("RGB")
    if blur:
        image = image.reduce(blur)
    image = image.resize(size, Image.Resampling.BICUBIC)
    if noise:
        levels = numpy.asarray(image, numpy.float32)
        levels = levels + numpy.random.default_rng(1).normal(0, noise, levels.shape).astype(numpy.float32)
        image = Image.fromarray(levels.round().clip(0, 255).astype(numpy.uint8))
    partial = directory / "partial.png"
    image.save(partial, compress_level=1)
    partial.rename(path)
    return image, path


def sixteen_bits(image: Image.Image, path: Path) -> Path:
    """The picture as a PNG of 16 bits, from which heif-enc makes ten."""
    made = path.with_name(path.stem + "-16.ppm")
    levels = numpy.asarray(image, numpy.uint16) * 257
    made.write_bytes(b"P6 %d %d 65535\n" % image.size + levels.astype(">u2").tobytes())
    subprocess.run(["convert", made, made.with_suffix(".png")], check=True)
    made.unlink()
    return made.with_suffix(".png")


def heif(source: Path, target: Path, *options: str) -> None:
    subprocess.run(["heif-enc", source, "-o", target, *options], check=True, stdout=subprocess.DEVNULL)


HEVC, AV1 = ("-q", "55", "-p", "preset=ultrafast"), ("-A", "-q", "60", "-p", "speed=9")


def tiled(image: Image.Image, target: Path, depth: int, side: int = 512) -> None:
    """Tiles as telephones have them."""
    def encode(tile: Image.Image, into: Path) -> None:
        png = into.with_suffix(".png")
        tile.save(png, compress_level=1)
        heif(sixteen_bits(tile, png) if depth > 8 else png, into, *HEVC)
    write_grid(image, target, side, encode)


FILES = {
    # Name: picture, ending, and its encoder.
    "baseline-12": ("12", "jpg", lambda i, s, t: i.save(t, quality=92, subsampling="4:2:0")),
    "baseline-48": ("48", "jpg", lambda i, s, t: i.save(t, quality=90, subsampling="4:2:2")),
    "baseline-100": ("100", "jpg", lambda i, s, t: i.save(t, quality=85, subsampling="4:2:0")),
    "progressive-12": ("12", "jpg", lambda i, s, t: i.save(t, quality=92, subsampling="4:2:0", progressive=True)),
    "progressive-48": ("48", "jpg", lambda i, s, t: i.save(t, quality=90, subsampling="4:2:0", progressive=True)),
    "progressive-100": ("100", "jpg", lambda i, s, t: i.save(t, quality=85, subsampling="4:2:0", progressive=True)),
    "heic-tiles-12": ("12", "heic", lambda i, s, t: tiled(i, t, 8)),
    "heic-tiles-12-10bit": ("12-quiet", "heic", lambda i, s, t: tiled(i, t, 10)),
    "heic-piece-12": ("12", "heic", lambda i, s, t: heif(s, t, *HEVC)),
    "heic-tiles-100": ("100", "heic", lambda i, s, t: tiled(i, t, 8, 1024)),
    "heic-piece-100": ("100", "heic", lambda i, s, t: heif(s, t, *HEVC)),
    "avif-12": ("12", "avif", lambda i, s, t: heif(s, t, *AV1)),
    "avif-12-10bit": ("12-quiet", "avif", lambda i, s, t: heif(sixteen_bits(i, s), t, *AV1)),
    "avif-100": ("100", "avif", lambda i, s, t: heif(s, t, *AV1)),
    "png-5": ("5-quiet", "png", lambda i, s, t: i.save(t, compress_level=9)),
    "png-12": ("12-quiet", "png", lambda i, s, t: i.save(t, compress_level=6)),
    "png-100": ("100-smooth", "png", lambda i, s, t: i.save(t, compress_level=9)),
    "webp-12": ("12", "webp", lambda i, s, t: i.save(t, quality=88, method=2)),
    "webp-48": ("48", "webp", lambda i, s, t: i.save(t, quality=80, method=1)),
    "webp-100": ("100", "webp", lambda i, s, t: i.save(t, quality=75, method=1)),
    "webp-lossless-5": ("5-quiet", "webp", lambda i, s, t: i.save(t, lossless=True, quality=20, method=1)),
    "webp-lossless-12": ("12-quiet", "webp", lambda i, s, t: i.save(t, lossless=True, quality=20, method=1)),
}


def make(directory: Path) -> None:
    """Makes the files; NAME.source names the file and its picture."""
    (directory / "pictures").mkdir(parents=True, exist_ok=True)
    for name, (which, ending, encode) in FILES.items():
        photo, partial = directory / f"{name}.{ending}", directory / f"partial.{ending}"
        (directory / f"{name}.source").write_text(f"{photo.name} {which}.png\n")
        if photo.exists():
            continue
        image, source = picture(which, directory / "pictures")
        encode(image, source, partial)
        if partial.stat().st_size > 10_000_000:
            sys.exit(f"{name} has {partial.stat().st_size} bytes, more than photospool takes")
        partial.rename(photo)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
