"""Writes a mail with photos to standard output: make_mail.py RECIPIENTS SUBJECT TEXT [PHOTO...]. The Message-ID follows from the
contents, as if a device sent the same mail again."""
import hashlib
import sys
from email.mime.image import MIMEImage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

recipients, subject, text = sys.argv[1:4]
mail = MIMEMultipart()
mail["From"], mail["To"], mail["Subject"] = "cam@cams.home", recipients, subject
mail.attach(MIMEText(text, _charset="utf-8"))
for path in sys.argv[4:]:
    with open(path, "rb") as file:
        photo = MIMEImage(file.read(), _subtype="jpeg")
    photo.add_header("Content-Disposition", "attachment", filename="snapshot.jpg")
    mail.attach(photo)
mail.set_boundary("=" * 15 + hashlib.sha256(" ".join(sys.argv).encode()).hexdigest()[:20] + "==")
mail["Message-ID"] = f"<{hashlib.sha256(mail.as_bytes()).hexdigest()[:32]}@cams.home>"
sys.stdout.buffer.write(mail.as_bytes())
