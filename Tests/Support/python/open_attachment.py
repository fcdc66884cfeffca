"""Opens the photos of `published/*.jsonl` lines on standard input with an independent implementation.

For every line: fetches the object, checks length and digest, derives the key, decrypts, decodes the inner content with
XMTP's own bindings, and prints one JSON object with what came out. With a directory as argument the photos are written
there as MESSAGE.jpg.
"""
import hashlib
import json
import os
import sys
import urllib.request

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from xmtp_bindings import xmtpv3


def opened(attachment):
    with urllib.request.urlopen(attachment["url"]) as reply:
        sealed = reply.read()
    assert len(sealed) == attachment["contentLength"], "contentLength differs"
    assert hashlib.sha256(sealed).hexdigest() == attachment["contentDigest"], "contentDigest differs"
    secret, salt, nonce = (bytes.fromhex(attachment[name]) for name in ("secret", "salt", "nonce"))
    key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"").derive(secret)
    return xmtpv3.decode_attachment(AESGCM(key).decrypt(nonce, sealed, None))


for line in sys.stdin:
    message = json.loads(line)
    if message["kind"] != "photo":
        continue
    content = opened(message["attachment"])
    facts = {
        "message": message["message"],
        "filename": content.filename,
        "mimeType": content.mime_type,
        "bytes": len(content.content),
        "sha256": hashlib.sha256(content.content).hexdigest(),
    }
    print(json.dumps(facts))
    if len(sys.argv) > 1:
        with open(os.path.join(sys.argv[1], message["message"] + ".jpg"), "wb") as photo:
            photo.write(content.content)
