"""Opens the photos of `published/*.jsonl` lines on standard input with an independent implementation.

For every line: fetches the object, checks length and digest, derives the key, decrypts, decodes the inner content with
XMTP's own bindings, and prints one JSON object with what came out. The object of a photo without keys is the photo. With
a directory as argument the photos are written there as MESSAGE.jpg.
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
    """The file name, type and bytes of a photo."""
    with urllib.request.urlopen(attachment["url"]) as reply:
        object = reply.read()
    assert len(object) == attachment["contentLength"], "contentLength differs"
    assert hashlib.sha256(object).hexdigest() == attachment["contentDigest"], "contentDigest differs"
    keys = [attachment.get(name) for name in ("secret", "salt", "nonce")]
    if keys == [None, None, None]:
        return attachment["filename"], attachment["mimeType"], object
    secret, salt, nonce = (bytes.fromhex(key) for key in keys)
    assert (len(secret), len(salt), len(nonce)) == (32, 32, 12), "a key has the wrong length"
    key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"").derive(secret)
    inner = xmtpv3.decode_attachment(AESGCM(key).decrypt(nonce, object, None))
    assert inner.filename == attachment["filename"], "filename differs"
    assert inner.mime_type == attachment["mimeType"], "mimeType differs"
    return inner.filename, inner.mime_type, inner.content


for line in sys.stdin:
    message = json.loads(line)
    if message["kind"] != "photo":
        continue
    filename, mime_type, content = opened(message["attachment"])
    facts = {
        "message": message["message"],
        "filename": filename,
        "mimeType": mime_type,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    print(json.dumps(facts))
    if len(sys.argv) > 1:
        with open(os.path.join(sys.argv[1], message["message"] + ".jpg"), "wb") as photo:
            photo.write(content)
