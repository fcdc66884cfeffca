"""Mails: the daemon killed at the k-th call from a mail in mail/new/ to its filed request; sendmail killed at its k-th call; and
an agent killed between its link and its unlink."""

import os
import subprocess
import sys

from load import sweep_up
from machine import tree as TREE
from place import PHOTOSPOOL
from scenario import control, scenario
from shared import WIDTHS, photo

RULES = 'mail: {text: body, accept: [{to: "*@photos", conversation: "{local}"}]}\n'
MAKE = TREE / "Tests/Support/python/make_mail.py"


def mailed(part):
    place = part.place()
    place.configure(RULES)
    place.make()
    return place


def mail_of(*entries):
    """A mail for the conversations of the entries, which have the same contents."""
    pictures = [photo(width) for width in entries[0]["widths"]]
    recipients = ", ".join(f"{entry['conversation']}@photos" for entry in entries)
    return subprocess.run(
        [sys.executable, str(MAKE), recipients, "", entries[0]["text"] or "", *pictures], check=True,
        capture_output=True).stdout


def put(place, data, *names):
    """Delivers a mail as Postfix's agent does: a synced file, and a link."""
    for name in names:
        with open(f"{place.spool}/mail/tmp/{name}", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.link(f"{place.spool}/mail/tmp/{name}", f"{place.spool}/mail/new/{name}")
        os.unlink(f"{place.spool}/mail/tmp/{name}")


def deliver(place, conversation, photos=0, again=False, has_id=True):
    """A mail; an agent that is killed before its unlink delivers it `again`."""
    entry = place.begin(conversation, photos)
    data = mail_of(entry)
    if not has_id:
        data = b"".join(line for line in data.splitlines(True) if not line.startswith(b"Message-ID:"))
    put(place, data, *(place.name(entry), f"{place.name(entry)}.again")[:1 + again])
    place.note(entry, "accepted", request=None)
    return entry


def killed(part, place, k):
    """Kills a daemon at its k-th call, and has another one finish and the oracle look. Returns whether it was killed."""
    daemon = place.start(**place.killing(k))
    place.wait_idle(daemon, or_dead=True)
    met = daemon.stop() != 0
    place.settle()
    sweep_up(place)
    part.judge(place)
    return met


@scenario("daemon killed at every call: a mail with a photo", parts=2, again=False)
@scenario("daemon killed at every call: a mail that is delivered again", parts=2, again=True)
def swept(part, again):
    place = mailed(part)

    def once(k):
        place.begin_anew()
        place.context = f"k={k}"
        deliver(place, "family", 1, again)
        return killed(part, place, k)

    part.sweep(once)


@scenario("daemon killed at every call: a mail that becomes several requests", parts=2)
def several(part):
    """Eleven photos for two conversations are four requests. The mail is removed after the last one."""
    place = mailed(part)
    widths = [*WIDTHS, *WIDTHS[:3]]

    def once(k):
        place.begin_anew()
        place.context = f"k={k}"
        # Without a text the conversation tells whose photos these are.
        entries = [place.begin(f"{name}{k}", 0, text=None, widths=widths) for name in "ab"]
        put(place, mail_of(*entries), place.name(entries[0]))
        for entry in entries:
            place.note(entry, "accepted", request=None)
        return killed(part, place, k)

    part.sweep(once)


@scenario("client killed at every call: sendmail", parts=1)
def sendmail(part):
    place = mailed(part)

    def once(k):
        place.context = f"k={k}"
        entry = place.begin(f"c{k % 5}", 1)
        done = subprocess.run(
            [PHOTOSPOOL, "sendmail", "-i", f"{entry['conversation']}@photos"], input=mail_of(entry), capture_output=True,
            env={**place.environment, **place.killing(k)}, cwd=place.path)
        if done.returncode == 0:
            place.note(entry, "accepted", request=None)
        else:
            place.note(entry, "ended", status=done.returncode)
        if done.returncode not in (0, -9):
            part.complain("LOST", f"sendmail ended with {done.returncode} at k={k}: {done.stderr[-300:]}")
        return done.returncode != 0

    part.sweep(once, cheap=20)
    place.settle()
    sweep_up(place)
    part.judge(place)


@control("a mail is taken out of mail/new/", must="LOST")
def removed(part):
    place = mailed(part)
    entry = deliver(place, "family", 1)
    os.unlink(f"{place.spool}/mail/new/{place.name(entry)}")
    part.fault()
    place.settle()
    part.judge(place)


@control("a mail without Message-ID is delivered twice", must="DUP")
def nameless(part):
    place = mailed(part)
    deliver(place, "family", 1, again=True, has_id=False)
    part.fault()
    place.settle()
    part.judge(place)
