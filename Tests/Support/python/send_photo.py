"""Seals a photo as another program would, and writes what a bridge drops for it.

Usage: send_photo.py OBJECTS URL DIRECTORY, with lines `NAME CONVERSATION KIND PHOTO [CHANGE...]` on standard input. For each,
DIRECTORY/NAME is made as for `incoming/new/`; the message's id is the name.

KIND is `json` (the attachment of the `local` network; sealed by Python's cryptography), `xmtp` (encoded by XMTP's own
bindings, sealed by cryptography), `matrix` (an event; sealed by matrix-nio), `plain` (a Matrix event without a seal) or
`several` (two photos in one XMTP message). The sealed object goes into the directory OBJECTS under its SHA-256; its address is URL and that name.

Changes: `tampered` (a bit of the object), `digest`, `key`, `length`, `short-key`, `type` (the inner content is a text),
`sender=NAME` (a file `sender`; escapes as in JSON),
`deflated`, `raw-deflated`, `bomb` (the inner content is packed), `url=URL` (with NAME for the object's name).
"""

import base64
import hashlib
import json
import os
import secrets
import sys
import zlib

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nio.crypto.attachments import encrypt_attachment
from xmtp_bindings import xmtpv3

from protobuf_fields import field

objects, url, directory = sys.argv[1:]
changes, photo_bytes = [], b""


def envelope(type_, content, parameters=(), packed=None):
    """XMTP's EncodedContent, written by hand where the bindings refuse."""
    text = field(1, field(1, b"xmtp.org") + field(2, type_.encode()) + field(3, 1))
    for name, value in parameters:
        text += field(2, field(1, name.encode()) + field(2, value.encode()))
    return text + field(4, content) + (b"" if packed is None else field(5, packed))


def store(sealed, name):
    if "tampered" in changes:
        sealed = bytes([sealed[0] ^ 1]) + sealed[1:]
    with open(os.path.join(objects, name), "wb") as file:
        file.write(sealed)
    for change in changes:
        if change.startswith("url="):
            return change[4:].replace("NAME", name)
    return f"{url}/{name}"


def inner():
    parameters = [("filename", "photo.jpg"), ("mimeType", "image/jpeg")]
    if "type" in changes:
        return envelope("text", b"no photo")
    if "deflated" in changes:
        return envelope("attachment", zlib.compress(photo_bytes), parameters, 0)
    if "raw-deflated" in changes:
        return envelope("attachment", zlib.compress(photo_bytes, wbits=-15), parameters, 0)
    if "bomb" in changes:
        return envelope("attachment", zlib.compress(bytes(1 << 28)), parameters, 0)
    attachment = xmtpv3.FfiAttachment(filename="photo.jpg", mime_type="image/jpeg", content=photo_bytes)
    return xmtpv3.encode_attachment(attachment)


def remote():
    secret, salt, nonce = secrets.token_bytes(32), secrets.token_bytes(32), secrets.token_bytes(12)
    key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"").derive(secret)
    sealed = AESGCM(key).encrypt(nonce, inner(), None)
    digest = hashlib.sha256(sealed).hexdigest()
    address = store(sealed, digest)
    if "digest" in changes:
        digest = hashlib.sha256(b"another").hexdigest()
    if "key" in changes:
        secret = secrets.token_bytes(32)
    if "short-key" in changes:
        secret = secret[:31]
    length = 1 << 40 if "length" in changes else len(sealed)
    return {"url": address, "contentDigest": digest, "secret": secret.hex(), "salt": salt.hex(), "nonce": nonce.hex(),
            "scheme": "https://", "contentLength": length, "filename": "photo.jpg"}


def announced(facts):
    return xmtpv3.FfiRemoteAttachment(
        url=facts["url"], content_digest=facts["contentDigest"], secret=bytes.fromhex(facts["secret"]),
        salt=bytes.fromhex(facts["salt"]), nonce=bytes.fromhex(facts["nonce"]), scheme=facts["scheme"],
        content_length=min(facts["contentLength"], 0xFFFFFFFF), filename=facts["filename"])


def several(facts):
    return xmtpv3.encode_multi_remote_attachment(
        xmtpv3.FfiMultiRemoteAttachment(attachments=[announced(one) for one in facts]))


def matrix():
    sealed, keys = encrypt_attachment(photo_bytes)
    name = hashlib.sha256(sealed).hexdigest()
    file = {**keys, "url": store(sealed, name)}
    if "digest" in changes:
        file["hashes"] = {"sha256": base64.b64encode(bytes(32)).decode().rstrip("=")}
    if "key" in changes:
        file["key"]["k"] = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    if "short-key" in changes:
        file["key"]["k"] = base64.urlsafe_b64encode(secrets.token_bytes(31)).decode().rstrip("=")
    return {"msgtype": "m.image", "body": "photo.jpg", "file": file,
            "info": {"mimetype": "image/jpeg", "size": len(photo_bytes)}}


def event(content):
    return json.dumps({"type": "m.room.message", "event_id": "$event", "sender": "@bob:example.org", "content": content})


def attachment(kind):
    match kind:
        case "json":
            return json.dumps(remote()).encode()
        case "xmtp":
            return xmtpv3.encode_remote_attachment(announced(remote()))
        case "several":
            return several([remote(), remote()])
        case "matrix":
            return event(matrix()).encode()
        case "plain":
            address = store(photo_bytes, hashlib.sha256(photo_bytes).hexdigest())
            return event({"msgtype": "m.image", "body": "photo.jpg", "url": address}).encode()
    raise SystemExit(f"no kind {kind}")


for line in sys.stdin:
    message, conversation, kind, photo, *changes = line.split()
    with open(photo, "rb") as file:
        photo_bytes = file.read()
    os.mkdir(os.path.join(directory, message))
    senders = [json.loads(f'"{change[7:]}"') for change in changes if change.startswith("sender=")]
    for name, contents in [("from-conversation", conversation.encode()), ("message", message.encode()),
                           ("attachment", attachment(kind)), *(("sender", sender.encode()) for sender in senders)]:
        with open(os.path.join(directory, message, name), "wb") as file:
            file.write(contents)
