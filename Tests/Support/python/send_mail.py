"""Gives the mail from standard input to an SMTP server, as devices do: send_mail.py HOST SENDER RECIPIENT..."""
import smtplib
import sys

host, sender, *recipients = sys.argv[1:]
with smtplib.SMTP(host, timeout=60) as server:
    server.sendmail(sender, recipients, sys.stdin.buffer.read())
