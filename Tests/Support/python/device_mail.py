"""Writes a mail in the structure of a program that mails photos: device_mail.py PROGRAM RECIPIENTS SUBJECT TEXT PHOTO...

PROGRAM is home-assistant, home-assistant-html, motion-eye, frigate-notify or nas."""
import html
import os
import sys
from email import encoders
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.base import MIMEBase
from email.mime.image import MIMEImage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from email.utils import formatdate, make_msgid


def home_assistant(recipients, subject, text, photos, is_page):
    """Its integration `smtp`: `photos` are names and contents. With a page the photos are related to it by their names."""
    if is_page:
        mail = MIMEMultipart("related")
        alternative = MIMEMultipart("alternative")
        images = "".join(f'<img src="cid:{name}">' for name, _ in photos)
        alternative.attach(MIMEText(text, _charset="utf-8"))
        alternative.attach(MIMEText(f"<p>{html.escape(text)}<br>{images}</p>", "html", _charset="utf-8"))
        mail.attach(alternative)
    else:
        mail = MIMEMultipart()
        mail.attach(MIMEText(text))
    for name, content in photos:
        try:
            part = MIMEImage(content)
        except TypeError:
            # Python knows a JPEG by fewer beginnings than there are.
            part = MIMEApplication(content, Name=name)
        if is_page:
            part.add_header("Content-ID", f"<{name}>")
        else:
            part.add_header("Content-Disposition", f'attachment; filename="{name}"')
        mail.attach(part)
    mail["Subject"], mail["To"], mail["From"] = subject, recipients, "Home Assistant <ha@cams.home>"
    mail["X-Mailer"], mail["Date"], mail["Message-Id"] = "Home Assistant", formatdate(), make_msgid(domain="cams.home")
    return mail.as_bytes()


def motion_eye(recipients, subject, text, photos):
    """Its script for mails with pictures of a time span; without a Message-ID."""
    mail = MIMEMultipart()
    mail["From"], mail["To"], mail["Date"], mail["Subject"] = "eye@cams.home", recipients, formatdate(localtime=True), subject
    mail.attach(MIMEText(text))
    for name, content in photos:
        part = MIMEBase("image", "jpeg")
        part.set_payload(content)
        encoders.encode_base64(part)
        part.add_header("Content-Disposition", f'attachment; filename="{name}"')
        mail.attach(part)
    return mail.as_bytes()


def frigate_notify(recipients, subject, text, photos):
    """Its text is a page without a plain one, in quoted-printable, as go-mail writes it."""
    mail = MIMEMultipart()
    mail["Date"], mail["Message-ID"], mail["Subject"] = formatdate(), make_msgid(domain="cams.home"), subject
    mail["User-Agent"] = mail["X-Mailer"] = "go-mail v0.6.2 // https://github.com/wneessen/go-mail"
    mail["From"], mail["To"] = "<frigate@cams.home>", ", ".join(f"<{one.strip()}>" for one in recipients.split(","))
    page = MIMENonMultipart("text", "html", charset="UTF-8")
    page.set_payload(f"<div>{html.escape(text)}</div>")
    encoders.encode_quopri(page)
    mail.attach(page)
    for name, content in photos:
        part = MIMEBase("image", "jpeg", name=name)
        part.set_payload(content)
        encoders.encode_base64(part)
        part.add_header("Content-Disposition", "attachment", filename=name)
        mail.attach(part)
    return mail.as_bytes()


def nas(recipients, subject, text, photos):
    """A recorder of a NAS, as its fields are known: text in base64 beside a page, names of files in encoded words, CRLF."""
    mail = MIMEMultipart()
    mail["From"], mail["To"], mail["Date"] = Header("Überwachung", "utf-8").encode() + " <nas@cams.home>", recipients, formatdate()
    mail["Subject"], mail["X-Priority"] = Header(subject, "utf-8"), "3"
    alternative = MIMEMultipart("alternative")
    alternative.attach(MIMEText(text + "\n", "plain", "utf-8"))
    alternative.attach(MIMEText(f"<html><body><p>{html.escape(text)}</p></body></html>", "html", "utf-8"))
    mail.attach(alternative)
    for name, content in photos:
        encoded = Header(f"Türe {name}", "utf-8").encode()
        part = MIMEBase("application", "octet-stream", name=encoded)
        part.set_payload(content)
        encoders.encode_base64(part)
        part.add_header("Content-Disposition", "attachment", filename=encoded)
        mail.attach(part)
    return mail.as_bytes().replace(b"\n", b"\r\n")


if __name__ == "__main__":
    program, recipients, subject, text = sys.argv[1:5]
    photos = []
    for path in sys.argv[5:]:
        with open(path, "rb") as file:
            photos.append((os.path.basename(path), file.read()))
    others = {"motion-eye": motion_eye, "frigate-notify": frigate_notify, "nas": nas}
    if program in others:
        data = others[program](recipients, subject, text, photos)
    else:
        data = home_assistant(recipients, subject, text, photos, program == "home-assistant-html")
    sys.stdout.buffer.write(data)
