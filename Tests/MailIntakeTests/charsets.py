"""Writes a mail in each charset, in its subject and its body, and the texts: charsets.py DIRECTORY."""
import base64
import json
import pathlib
import sys

OTHERS = {
    "koi8-r": "koi8-r", "koi8-u": "koi8-u", "gb18030": "gb18030", "gb2312": "gb2312", "gbk": "gbk", "big5": "big5",
    "shift_jis": "cp932", "euc-jp": "euc-jp", "iso-2022-jp": "iso-2022-jp", "euc-kr": "cp949", "utf-16": "utf-16",
    "tis-620": "tis-620", "windows-874": "cp874", "macintosh": "mac-roman", "iso-8859-8-i": "iso8859-8",
    "utf-7": "utf-7", "utf-8": "utf-8", "us-ascii": "ascii",
}
WORDS = {
    "gb18030": "移动侦测 \U0001f6aa", "gb2312": "移动侦测", "gbk": "移动偵測", "big5": "門前有人", "cp932": "玄関の写真①",
    "euc-jp": "玄関の写真", "iso-2022-jp": "玄関の写真", "cp949": "현관 사진 똠", "utf-16": "Tür 🚪", "utf-7": "Tür & Tor", "utf-8": "Tür 🚪",
    "ascii": "door",
}
NAMES = {f"iso-8859-{number}": f"iso8859-{number}" for number in range(1, 17) if number != 12}
NAMES |= {f"windows-{number}": f"cp{number}" for number in range(1250, 1259)} | OTHERS
place = pathlib.Path(sys.argv[1])
texts = {}
for name, codec in NAMES.items():
    letters = bytes(range(0xA1, 0x100)).decode(codec, "ignore") if codec not in WORDS else ""
    # All letters of a charset of one byte; the last one may wait for a mark that combines with it.
    text = WORDS.get(codec) or "".join(letter for letter in letters if letter.isalpha())
    encoded = base64.b64encode(text.encode(codec)).decode()
    (place / f"{name}.eml").write_text(
        f"To: a@b\nSubject: =?{name.upper()}?B?{encoded}?=\nContent-Type: text/plain; charset=\"{name}\"\n"
        f"Content-Transfer-Encoding: base64\n\n{encoded}\n")
    texts[name] = text
(place / "texts.json").write_text(json.dumps(texts))
