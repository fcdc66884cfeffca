"""Protobuf messages without a schema: read into their fields, and written field by field."""

import collections


class Fields:
    """The fields of a protobuf message, by number, in the order in which they stood."""

    def __init__(self, encoded):
        self.values = collections.defaultdict(list)
        rest = memoryview(encoded)
        while rest:
            tag, rest = self.varint(rest)
            kind = tag & 7
            if kind == 0:
                value, rest = self.varint(rest)
            else:
                length, rest = (8, rest) if kind == 1 else (4, rest) if kind == 5 else self.varint(rest)
                value, rest = bytes(rest[:length]), rest[length:]
            self.values[tag >> 3].append(value)

    @staticmethod
    def varint(rest):
        value = 0
        for index, byte in enumerate(rest):
            value |= (byte & 127) << 7 * index
            if byte < 128:
                return value, rest[index + 1 :]
        raise ValueError("a number without an end")

    def __contains__(self, number):
        return number in self.values

    def all(self, number):
        return [Fields(value) for value in self.values[number]]

    def bytes(self, number):
        return self.values[number][-1] if self.values[number] else b""

    def text(self, number):
        return self.bytes(number).decode()

    def number(self, number):
        return self.values[number][-1] if self.values[number] else 0

    def message(self, number):
        return Fields(self.bytes(number))


def field(number, value):
    """One field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
