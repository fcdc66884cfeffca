"""Prints an image key as the Convos app keeps it with a group: `pack_image_key.py KEY`, the key in hex."""
import base64
import sys
import zlib

metadata = b"\x0a\x03tag" + b"\x12\x22\x0a\x20" + bytes(32) + b"\x22\x20" + bytes.fromhex(sys.argv[1])
packed = b"\x1f" + len(metadata).to_bytes(4, "big") + zlib.compress(metadata)
print(base64.urlsafe_b64encode(packed).decode().rstrip("="))
