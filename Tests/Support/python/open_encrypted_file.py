"""Opens a Matrix attachment with matrix-nio. Usage: open_encrypted_file.py OBJECT, with the EncryptedFile as JSON on
standard input; the photo's SHA-256 goes to standard output."""

import hashlib
import json
import sys

from nio.crypto.attachments import decrypt_attachment

file = json.load(sys.stdin)
assert file["v"] == "v2" and file["key"]["kty"] == "oct" and file["key"]["alg"] == "A256CTR", "not an attachment of v2"
assert file["key"]["ext"] is True and {"encrypt", "decrypt"} <= set(file["key"]["key_ops"]), "not a key to use"
with open(sys.argv[1], "rb") as sealed:
    photo = decrypt_attachment(sealed.read(), file["key"]["k"], file["hashes"]["sha256"], file["iv"])
print(hashlib.sha256(photo).hexdigest())
