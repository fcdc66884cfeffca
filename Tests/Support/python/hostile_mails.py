"""Makes mails that are meant to hurt a parser: hostile_mails.py DIRECTORY [BYTES]. The largest have as many
BYTES, by default as many as a mail may have. Prints for each its name and a part of the sentence that refuses it, or `taken` if
it is only odd."""
import base64
import json
import pathlib
import sys

HEAD = "From: a@b\nTo: family@photos.home\n"
LIMIT = int(sys.argv[2]) if len(sys.argv) > 2 else 40_000_000
# JPEGs of one pixel would be decoration; this is the beginning of one, as every photo has it.
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(6000)).decode()


def multipart(boundary, parts, type_="mixed"):
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f"{HEAD}Content-Type: multipart/{type_}; boundary={boundary}\n\n{body}--{boundary}--\n"


def deep(kind):
    if kind == "rfc822":
        return HEAD + "Content-Type: message/rfc822\n\n" * 20_000
    return HEAD + "".join(f"Content-Type: multipart/mixed; boundary=b{number}\n\n--b{number}\n" for number in range(20_000))


def near_boundaries():
    """Lines that differ from 19 boundaries in their last byte."""
    stem = "b" * 198
    text = HEAD
    for number in range(19):
        text += f"Content-Type: multipart/mixed; boundary={stem}{chr(97 + number)}x\n\n--{stem}{chr(97 + number)}x\n"
    line = f"--{stem}zx\n"
    return text + "\n" + line * ((LIMIT - len(text) - 10) // len(line))


def folded_headers():
    """As many folded fields as fit, each in as many lines as a header may have."""
    part = "X: a\n" + (" " + "a" * 62 + "\n") * 990 + "\ntext"
    return multipart("x", [part] * (LIMIT // (len(part) + 5) - 1))


def long_texts(type_):
    part = f"Content-Type: {type_}; charset=gb18030\n\n" + ("&lt;<b>a " * 8 + "\n") * 3_500
    return multipart("x", [part] * (LIMIT // (len(part) + 5) - 1))


MAILS = {
    "multiparts-20000-deep": (lambda: deep("multipart"), "levels of parts; the limit is 20"),
    "mails-20000-deep": (lambda: deep("rfc822"), "levels of parts; the limit is 20"),
    "parts-1000000": (lambda: multipart("x", [""] * 1_000_000), "parts or more; the limit is 1000"),
    "header-lines-2000000": (lambda: HEAD + "A: b\n" * 2_000_000, "lines of header; the limit is 1000"),
    "colons-99999": (lambda: "To: " + ":" * 99_999 + "\n\n", "bytes of header fields"),
    "one-line": (lambda: HEAD + "\n" + "a" * (LIMIT - 1_000), "bytes in a line; the limit is 1048576"),
    "received-60": (lambda: "Received: x\n" * 60 + HEAD + "\n", "fields Received; the limit is 50"),
    "recipients-3000": (lambda: "To: " + ",".join(f"a{number}@b" for number in range(3_000)) + "\n\n", "recipients; the limit is 100"),
    "images-200": (lambda: multipart("x", [f"Content-Transfer-Encoding: base64\n\n{JPEG}"] * 200), "images or more; the limit is 100"),
    "words-5000": (lambda: "Subject: " + "=?a?q?b?= " * 5_000 + "\n\n", "encoded words in a field; the limit is 100"),
    "open-words": (lambda: "Subject: " + "=?a?q? " * 9_000 + "\n\nx", "taken"),
    "pieces-3000": (
        lambda: HEAD + "Content-Type: image/jpeg;" + ";".join(f" name*{number}=a" for number in range(3_000)) + "\n\n",
        "pieces of a parameter or more; the limit is 100"),
    "boundary-60000": (lambda: HEAD + "Content-Type: multipart/mixed; boundary=" + "b" * 60_000 + "\n\n", "bytes of boundary; the limit is 200"),
    "near-boundaries": (near_boundaries, "taken"),
    "folded-headers": (folded_headers, "taken"),
    "texts": (lambda: long_texts("text/plain"), "taken"),
    "pages": (lambda: long_texts("text/html"), "taken"),
    "empty-lines-uuencoded": (
        lambda: HEAD + "Content-Type: text/plain\nContent-Transfer-Encoding: x-uuencode\n\n" + "\n" * (LIMIT - 1_000), "taken"),
    "short-rows-uuencoded": (
        lambda: HEAD + "Content-Type: text/plain\nContent-Transfer-Encoding: x-uuencode\n\n" + "!a\n" * (LIMIT // 3 - 100), "taken"),
    "uuencodes": (lambda: HEAD + "\n" + "begin 644 a\nend\n" * (LIMIT // 17), "taken"),
    "quoted-blanks": (
        lambda: HEAD + "Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n"
        + (" " * 99_999 + "\n") * (LIMIT // 100_001), "taken"),
    "open-tags": (lambda: HEAD + "Content-Type: text/html\n\n" + ("<a " * 30_000 + "\n") * (LIMIT // 90_100), "taken"),
    "entities": (lambda: HEAD + "Content-Type: text/html\n\n" + ("&" * 99_999 + "\n") * (LIMIT // 100_001), "taken"),
    "marks": (lambda: HEAD + "Content-Type: text/plain; charset=utf-8\n\na" + ("\u0301" * 49_999 + "\n") * (LIMIT // 100_001), "taken"),
}

if __name__ == "__main__":
    place = pathlib.Path(sys.argv[1])
    for name, (make, _) in MAILS.items():
        (place / f"{name}.eml").write_bytes(make().encode())
    print(json.dumps({name: sentence for name, (_, sentence) in MAILS.items()}))
