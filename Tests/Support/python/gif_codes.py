"""GIFs with any numbers in their headers."""
import struct


def parts(data):
    return b"".join(bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255)) + b"\0"


def codes(indices, bits):
    """Each index as a code of its own, with the table cleared before the codes become wider."""
    clear, width, pending, count = 1 << bits, bits + 1, 0, 0
    out = bytearray()

    def put(code):
        nonlocal pending, count
        pending |= code << count
        count += width
        while count >= 8:
            out.append(pending & 255)
            pending >>= 8
            count -= 8

    room = (1 << width) - clear - 2
    for place, index in enumerate(indices):
        if place % max(1, room - 1) == 0:
            put(clear)
        put(index)
    put(clear + 1)
    if count:
        out.append(pending & 255)
    return bytes(out)


def gif(screen, place, size, indices, colors, bits=7):
    """`colors` is the table of the screen: three bytes each, a power of two of them, or none."""
    width = max(0, (len(colors) // 3).bit_length() - 2)
    head = b"GIF89a" + struct.pack("<HHBBB", *screen, (0x80 | width) if colors else 0, 0, 0) + colors
    frame = b"," + struct.pack("<HHHHB", *place, *size, 0) + bytes([bits]) + parts(codes(indices, bits))
    return head + frame + b";"
