"""Makes mails as devices and programs build them, adds those of Python's own tests, and writes what Python's `email` finds
in each: corpus.py DIRECTORY."""
import email
import email.policy
import hashlib
import json
import pathlib
import random
import sys
from email.header import Header
from email.message import EmailMessage
from email.mime.base import MIMEBase
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email import encoders
from email.utils import parseaddr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support/python"))
import device_mail

chance = random.Random(32)
BEGINNINGS = {
    "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF\0", "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "gif": b"GIF89a",
    "webp": b"RIFF\x10\0\0\0WEBPVP8 ", "heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "jpeg-com": b"\xff\xd8\xff\xfe\0\x04ab",
}


def image(kind=None):
    return BEGINNINGS[kind or chance.choice(sorted(BEGINNINGS))] + chance.randbytes(chance.randrange(6000, 9000))


def attached(maintype, subtype, content, **disposition):
    part = MIMEBase(maintype, subtype)
    part.set_payload(content)
    encoders.encode_base64(part)
    part.add_header("Content-Disposition", "attachment", **disposition)
    return part


def home_assistant(is_page):
    photos = [("door.jpg", image("jpeg")), ("yard.jpg", image("jpeg")), ("com.jpg", image("jpeg-com"))]
    return device_mail.home_assistant(
        "family@photos.home", "Door: Bewegung 🚪", "Somebody is at the door", photos, is_page)


def motion_eye():
    photos = [(f"12-00-0{number}.jpg", image("jpeg")) for number in range(8)]
    return device_mail.motion_eye(
        "cam-garden@photos.home", "motionEye: motion detected by \"Garten\"", "Motion has been detected", photos)


def frigate_notify():
    return device_mail.frigate_notify("cam-yard@photos.home", "Frigate Alert: Höfli", "Person <b>", [("snapshot.jpg", image("jpeg"))])


def nas():
    return device_mail.nas("family@photos.home", "Bewegung an der Türe", "Kamera 1: Bewegung", [("1.jpg", image("jpeg"))])


def modern():
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Grüße aus Zürich, ありがとう", "Zoë <zoe@example.org>", "a@b, C <c@d>"
    mail.set_content("Schöne Grüße\n")
    for name in ("Übersicht über den Garten hinter dem Haus an einem sehr langen Tag im November.jpg", "二.png"):
        mail.add_attachment(image(), maintype="image", subtype="jpeg", filename=name)
    return mail.as_bytes()


def camera(boundary_twice=False, closing=True, ending="\r\n", label="image/jpeg", space=""):
    """As the firmware of cameras writes it: by hand."""
    import base64
    lines = [
        "From: cam@192.0.2.7", "To: <cam-door@photos.home>", "Subject: =?gb2312?B?0sa2r9Xss+I=?=", "MIME-Version: 1.0",
        f"Content-Type: multipart/mixed;{ending}\tboundary=\"----=_Part_0\"{space}", "", "This is a multi-part message.", ""]
    parts = [["Content-Type: text/plain; charset=gb2312", "Content-Transfer-Encoding: 7bit", "", "Alarm: 1", ""]]
    for number in range(3):
        encoded = base64.encodebytes(image("jpeg")).decode().splitlines()
        parts.append([
            f"Content-Type: {label}; name=\"{number}.jpg\"", "Content-Transfer-Encoding: BASE64",
            f"Content-Disposition: attachment; filename=\"{number}.jpg\"", "", *encoded, ""])
    for part in parts:
        lines += ["------=_Part_0" + space] * (2 if boundary_twice else 1) + part
    if closing:
        lines += ["------=_Part_0--", "epilogue"]
    return ending.join(lines).encode()


def forwarded():
    inner = email.message_from_bytes(motion_eye())
    mail = MIMEMultipart()
    mail["Subject"], mail["From"], mail["To"] = "Fwd: motion", "me@home", "family@photos.home"
    mail.attach(MIMEText("See below"))
    mail.attach(MIMEMessage(inner))
    return mail.as_bytes()


def single(label):
    part = MIMEBase(*label.split("/"))
    part["Subject"], part["From"], part["To"] = "Snapshot", "cam@home", "family@photos.home"
    part.set_payload(image("jpeg"))
    encoders.encode_base64(part)
    return part.as_bytes()


def uuencoded():
    import binascii
    content = image("jpeg")
    rows = [binascii.b2a_uu(content[start:start + 45]).decode() for start in range(0, len(content), 45)]
    head = "From: dvr@home\nTo: family@photos.home\nSubject: dvr\nContent-Type: image/jpeg; name=a.jpg\n"
    return (head + "Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a.jpg\n" + "".join(rows) + "`\nend\n").encode()


def random_tree(depth=0):
    kind = chance.random()
    if depth < 4 and (depth == 0 or kind < 0.3):
        part = MIMEMultipart(chance.choice(["mixed", "mixed", "related", "alternative", "parallel"]))
        for _ in range(chance.randrange(0, 4)):
            part.attach(random_tree(depth + 1))
        return part
    if kind < 0.6:
        part = MIMEBase(*chance.choice(["image/jpeg", "image/pjpeg", "application/octet-stream", "text/plain", "x/y"]).split("/"))
        part.set_payload(image() if chance.random() < 0.8 else chance.randbytes(3000))
        (encoders.encode_base64 if chance.random() < 0.7 else encoders.encode_quopri)(part)
        if chance.random() < 0.5:
            part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", "Ä" * chance.randrange(1, 90)))
        return part
    return MIMEText(chance.choice(["short", "", "Grüße\n" * 20, "--\n---x\n"]), chance.choice(["plain", "html"]), "utf-8")


def random_mail():
    mail = random_tree()
    mail["From"], mail["To"] = "a@b.example", "family@photos.home"
    mail["Subject"] = Header(chance.choice(["plain", "Größe", "写真 " * 30]), "utf-8")
    data = mail.as_bytes()
    return data.replace(b"\n", b"\r\n") if chance.random() < 0.5 else data


KNOWN = {"jpeg", "png", "gif", "webp", "heic"}


def sniff(content):
    if content[:2] == b"\xff\xd8" or content[:6] in (b"GIF87a", b"GIF89a") or content[:6] == b"\x89PNG\r\n":
        return True
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP" or content[4:12] == b"ftypheic"


def judged(data):
    mail = email.message_from_bytes(data, policy=email.policy.compat32)
    leaves = [part for part in mail.walk() if not part.is_multipart()]
    contents = [part.get_payload(decode=True) or b"" for part in leaves]
    subject = str(email.header.make_header(email.header.decode_header(mail["Subject"]))) if mail["Subject"] else ""
    return {
        "images": [hashlib.sha256(content).hexdigest() for content in contents if sniff(content)],
        "subject": " ".join(subject.split()), "sender": parseaddr(mail["From"])[1],
    }


mails = {
    "home-assistant-html": home_assistant(True), "home-assistant": home_assistant(False), "motion-eye": motion_eye(),
    "frigate-notify": frigate_notify(), "nas": nas(), "modern": modern(), "camera": camera(), "camera-doubled": camera(boundary_twice=True), "camera-open": camera(closing=False),
    "camera-lf": camera(ending="\n"), "camera-octets": camera(label="application/octet-stream"),
    "camera-text": camera(label="text/plain"), "camera-blanks": camera(space="  "), "forwarded": forwarded(),
    "single": single("image/jpeg"), "single-octets": single("application/octet-stream"), "uuencoded": uuencoded(),
}
mails |= {f"random-{number:03}": random_mail() for number in range(150)}
# Debian has them in libpython3.11-testsuite.
tests = pathlib.Path("/usr/lib/python3.11/test/test_email/data")
mails |= {f"python-{path.stem}": path.read_bytes() for path in tests.glob("msg_*.txt")}
place = pathlib.Path(sys.argv[1])
for name, data in mails.items():
    (place / f"{name}.eml").write_bytes(data)
(place / "judged.json").write_text(json.dumps({name: judged(data) for name, data in mails.items()}))
