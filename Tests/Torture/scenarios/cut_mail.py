"""Mails and the disk: a power cut or an error at every call from mail/new/ to the receipt, and at every call of sendmail. What
its agent synced is published once. A mail whose name no agent synced may be lost, until its requests are there."""

import errno
import os
import subprocess
import sys

import disks
import machine
from machine import PHOTOSPOOL, a_machine
from scenario import scenario
from scenarios.errors import ERRORS
from scenarios.powercut import WAYS

RULES = 'mail: {text: body, accept: [{to: "*@photos", conversation: "{local}"}]}\n'
MAKE = machine.tree / "Tests/Support/python/make_mail.py"


def mail_of(made, text):
    return subprocess.run(
        [sys.executable, str(MAKE), "family@photos", "", text, made.photo], check=True, capture_output=True).stdout


def deliver(made, name, data, syncs_name):
    """As Dovecot's agent does, or as the others, which do not sync the directory."""
    path = made.spool / "mail/tmp" / name
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    path.rename(made.spool / "mail/new" / name)
    if syncs_name:
        directory = os.open(made.spool / "mail/new", os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)


def taken(part, kind, way):
    """Cuts the power at every call of the daemon, with one mail whose name is synced and one without."""
    with a_machine(kind, configuration=RULES) as made:
        act, _ = WAYS[way]
        mails = {name: mail_of(made, name) for name in ("synced", "linked")}

        def once(k):
            made.begin()
            state = made.state()
            for name, data in mails.items():
                deliver(made, name, data, name == "synced")
            daemon = made.start(**made.under_shim(state, at=k, act=act))
            daemon.wait_for(lambda: daemon.text().count('event="request sent"') == 2)
            daemon.kill()
            made.disk.lose_power(disks.LOST)
            kept = {"synced"} | {name for name in mails if f"mail={name} " in daemon.text()}
            made.finish()
            part.accepted(len(kept))
            judge(made, part, kept, f"after a cut at call {k}")
            return state.faults > 0

        part.sweep(once)


def judge(made, part, kept, where):
    """Each mail was published once, whole and in order; only those in `kept` have to be there. None has failed."""
    judge_published(made, part, kept, where)
    failed = os.listdir(made.spool / "failed")
    if failed:
        part.complain("LOST", f"failed/ holds {failed} {where}")
    made.judge_leftovers(part, where)


def judge_published(made, part, kept, where):
    came = {}
    for line in made.published("family"):
        came.setdefault(line["request"], []).append(line)
    order = []
    for request, lines in came.items():
        kinds = [line["kind"] for line in lines]
        if kinds != ["photo", "text"]:
            part.complain("DUP" if len(kinds) > 2 else "LOST", f"{request} was published as {kinds} {where}")
            continue
        order.append(lines[1]["text"])
        row = made.ledger(f"SELECT digest FROM messages WHERE message = '{lines[0]['message']}'")[0]
        if row["digest"] != machine.digest(made.photo):
            part.complain("LOST", f"the photo of {order[-1]} is another one {where}")
    for name in kept - set(order):
        part.complain("LOST", f"{name} was not published {where}")
    for name in set(order):
        if order.count(name) > 1:
            part.complain("DUP", f"{name} was published {order.count(name)} times {where}")
    if order != [name for name in ("synced", "linked") if name in order] and len(order) == len(set(order)):
        part.complain("ORDER", f"{order} {where}")


def submitted(part, kind, act, flag):
    """The power goes, or the log stops and sendmail lives, at every call of sendmail: an exit status of 0 is a promise."""
    with a_machine(kind, configuration=RULES) as made:
        data = mail_of(made, "hello")
        body = data.partition(b"\n\n")[2]

        def once(k):
            made.begin()
            state = made.state()
            done = subprocess.run(
                [PHOTOSPOOL, "sendmail", "-i", "family@photos"], input=data, capture_output=True, cwd=made.scratch,
                env=made.environment | made.under_shim(state, at=k, act=act))
            met = state.faults > 0
            # This includes the moment at which it has ended.
            made.disk.lose_power(flag)
            part.accepted(done.returncode == 0)
            files = list((made.spool / "mail/new").iterdir())
            if done.returncode == 0 and len(files) != 1:
                part.complain("LOST", f"sendmail ended with 0, and {files} are there after a fault at call {k}")
            if any(not file.read_bytes().endswith(body) for file in files):
                part.complain("LOST", f"the mail is not whole after a fault at call {k}")
            return met

        part.sweep(once, cheap=20)


def met_errors(part, calls, code, amount):
    with a_machine(configuration=RULES) as made:
        data = mail_of(made, "synced")

        def once(k):
            made.begin()
            state = made.state()
            where = f"after {errno.errorcode[code]} at call {k}"
            deliver(made, "synced", data, True)
            daemon = made.start(**made.under_shim(state, at=k, act=code, calls=calls, **{"for": amount}))
            daemon.outlasts(state, amount, lambda: is_over(made))
            daemon.stop_with_a_reason(part, where)
            state.judge_syncs(part, where)
            part.fault(max(0, state.faults - 1))
            met = state.faults > 0
            made.finish()
            part.accepted()
            judge_failed(made, part, where)
            return met

        part.sweep(once)


def is_over(made):
    return made.is_idle() and (len(made.published("family")) >= 2 or any((made.spool / "failed").iterdir()))


def judge_failed(made, part, where):
    """As `judge`; but a request may have failed for the error, whole and with its reason. If the disk had not confirmed that
    it was dropped, its mail was taken again, and is published by another request."""
    failed = list((made.spool / "failed").iterdir())
    for request in failed:
        photos = [path for path in request.iterdir() if path.name.startswith("photo")]
        is_whole = photos and machine.digest(photos[0]) == machine.digest(made.photo) or (request / "mail").exists()
        if not is_whole or not (request / "error").exists():
            part.complain("LOST", f"{request} failed without its photo or reason {where}")
    if len(failed) > 1:
        part.complain("LOST", f"failed/ holds {failed} {where}")
    if made.published("family") or not failed:
        judge_published(made, part, {"synced"}, where)
    made.judge_leftovers(part, where)


for kind in disks.KINDS:
    for way, (act, flag) in WAYS.items():
        scenario(f"power cut: mail to receipt, {kind}, {way}", parts=2, kind=kind, way=way)(taken)
        scenario(f"power cut: sendmail, {kind}, {way}", kind=kind, act=act, flag=flag)(submitted)
    scenario(f"the log stops, the client lives: sendmail, {kind}", kind=kind, act="log-stops", flag=disks.LOST)(submitted)
for name in ("EIO from a sync", "ENOSPC from a write", "EIO from a removal", "ENOSPC from everything", "EROFS from everything"):
    for way, amount in {"once": 1, "until it is mended": 0}.items():
        calls, code = ERRORS[name]
        scenario(f"errors around a mail: {name}, {way}", calls=calls, code=code, amount=amount)(met_errors)
