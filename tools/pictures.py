#!/usr/bin/env python3
"""Draws the pictures that `make demo` sends to the page: ranges of hills in mist, one with a lake.

    tools/pictures.py DIRECTORY
"""

import math
import pathlib
import random
import sys

WIDTH, HEIGHT = 800, 600

# Colours from the top of the sky to the horizon, of the nearest hill, and of the sun; the sun's place and radius.
SCENES = {
    "dawn": ((58, 84, 140), (255, 196, 140), (18, 26, 38), (255, 244, 214), (0.68, 0.45, 26), None),
    "lake": ((96, 150, 196), (236, 232, 214), (22, 50, 46), (255, 250, 232), (0.25, 0.28, 22), 0.62),
    "dusk": ((24, 20, 58), (222, 98, 92), (14, 10, 24), (255, 214, 168), (0.4, 0.56, 34), None),
}


def mixed(one, other, part):
    return tuple(a + (b - a) * part for a, b in zip(one, other))


def ridge(chance, base, height):
    """The height of a range in each column: waves, each half as high and twice as dense as the one before."""
    waves = [(2 ** number, chance.uniform(0, 2 * math.pi), height / 1.7 ** number) for number in range(1, 9)]
    return [base + sum(size * math.sin(x / WIDTH * 2 * math.pi * count * 0.7 + phase) for count, phase, size in waves)
            for x in range(WIDTH)]


def drawn(name):
    """The picture's rows of (red, green, blue)."""
    top, horizon, near, sun, (across, down, radius), shore = SCENES[name]
    chance = random.Random(name)
    end = round(HEIGHT * (shore or 1))
    ranges = [ridge(chance, end * (0.5 + 0.11 * number), end * (0.07 + 0.012 * number)) for number in range(4 if shore else 5)]
    rows = []
    for y in range(end):
        row = []
        sky = mixed(top, horizon, min(1, y / (0.72 * end)) ** 1.3)
        for x in range(WIDTH):
            distance = math.hypot(x - across * WIDTH, y - down * end)
            glow = 1 if distance < radius else 0.75 * math.exp(-(distance - radius) / 110)
            colour = mixed(sky, sun, glow)
            for number, heights in enumerate(ranges):
                if y > heights[x]:
                    # Nearer ranges are darker, and mist lies at the foot of each.
                    mist = min(1, (y - heights[x]) / (0.3 * end))
                    depth = (number + 1) / len(ranges)
                    colour = mixed(mixed(horizon, near, 0.25 + 0.75 * depth), horizon, mist * 0.55 * (1.15 - depth))
            row.append(colour)
        rows.append(row)
    for y in range(end, HEIGHT):
        # The lake mirrors what is above it, in ripples that grow towards us.
        far = y - end
        ripple = math.sin(far * far / 90 + far / 3) * far / 14
        row = rows[max(0, min(end - 1, end - 1 - round(far * 1.4 + ripple)))]
        rows.append([mixed(colour, near, 0.2 + 0.25 * far / (HEIGHT - end)) for colour in row])
    return rows


def main():
    place = pathlib.Path(sys.argv[1])
    for name in SCENES:
        grain = random.Random(name)
        pixels = bytearray()
        for row in drawn(name):
            for colour in row:
                light = grain.uniform(-4, 4)
                pixels += bytes(max(0, min(255, round(part + light))) for part in colour)
        (place / f"{name}.ppm").write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + pixels)


if __name__ == "__main__":
    main()
