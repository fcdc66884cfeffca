"""Power cuts: at every call of submit, of the way from intake to the receipt, and of a purge; on ext4 and XFS, with the
file system's log lost and with the log kept and the data lost. The controls take a sync away, and have to lose something."""

import os
import pathlib
import subprocess
import sys

import disks
import machine
from machine import a_machine
from scenario import control, scenario, until_complaint
from scenarios import storage

TREE = machine.tree
FINDER = TREE / "Tests/Support/python/find_markers.py"
WAYS = {"log lost": ("cut", disks.LOST), "data lost": ("cut-log", disks.FLUSHED)}


# Submit.


def submitted(made, part, name, where):
    """Checks the promise of `send`: the request is in new/, whole. The name is None without a promise."""
    place = made.spool / "new"
    names = [entry for entry in os.listdir(place)]
    if name and name not in names:
        return part.complain("LOST", f"{name} was accepted and is not in new/ {where}")
    for entry in names:
        found = place / entry / "photo-00-photo.jpg"
        if not found.exists() or machine.digest(found) != machine.digest(made.photo):
            part.complain("LOST", f"the photo of {entry} is not whole {where}")


def submit(part, kind, way, **settings):
    with a_machine(kind) as made:
        act, flag = WAYS[way]

        def once(k):
            made.begin()
            state = made.state()
            name = made.send(**made.under_shim(state, at=k, act=act, **settings))
            met = state.faults > 0
            # This includes the moment at which send has ended.
            made.disk.lose_power(flag)
            part.accepted(name is not None)
            submitted(made, part, name, f"after a cut at call {k}")
            return met

        part.sweep(once)


def just_accepted(part, kind, rounds, **settings):
    """Cuts the power as soon as send has printed the name."""
    with a_machine(kind) as made:
        for number in rounds:
            made.begin()
            name = made.send(**made.under_shim(made.state(), **settings))
            flag = (disks.LOST, disks.FLUSHED)[number % 2]
            made.disk.lose_power(flag)
            part.fault()
            part.accepted()
            submitted(made, part, name, f"after a cut behind it ({flag})")


# The log stops, as after an error in writing it, and the program lives: an exit status of 0 is still a promise.


def log_stops(part, kind, words, place):
    """`words` are a command that ends with a rename into `place`."""
    with a_machine(kind) as made:
        made.spool.parent.joinpath("made/failed/given").mkdir()
        made.spool.parent.joinpath("made/failed/given/to").write_text("family\n")

        def once(k):
            made.begin()
            state = made.state()
            done = made.photospool(
                *(made.photo if word == "PHOTO" else word for word in words),
                environment=made.under_shim(state, at=k, act="log-stops"))
            made.disk.lose_power(disks.LOST)
            part.accepted(done.returncode == 0)
            name = done.stdout.strip().partition(":")[0]
            if done.returncode == 0 and name not in os.listdir(made.spool / place):
                part.complain("LOST", f"{words[0]} ended with 0, and {name} is not in {place}/: the log stopped at call {k}")
            return state.faults > 0

        # There are few.
        part.sweep(once, cheap=part.step)


# From intake to the receipt.


def deliver(part, kind, way):
    """`a` was sent durably, `b` only moved into new/, which counts once the daemon says that it is accepted."""
    with a_machine(kind) as made:
        act, _ = WAYS[way]
        trace = f"{made.scratch}/trace"

        def once(k):
            made.begin()
            state = made.state()
            pathlib.Path(trace).write_bytes(b"")
            first = made.send()
            made.drop("b", "family", "from b", made.photo)
            daemon = made.start(**made.under_shim(state, at=k, act=act, trace=trace))
            daemon.wait_for(lambda: daemon.text().count('event="request sent"') == 2)
            calls = pathlib.Path(trace).read_text(errors="replace").splitlines()
            call = calls[k - 1] if k <= len(calls) else "behind all"
            judge_cut(made, part, daemon, first, disks.LOST, f"after a cut at call {k} ({call})")
            return state.faults > 0

        part.sweep(once)


def accepted_by_daemon(part, kind, rounds, **settings):
    """Cuts the power as soon as the daemon reports that it has accepted a request without syncs."""
    with a_machine(kind) as made:
        for number in rounds:
            made.begin()
            first = made.send()
            made.drop("b", "family", "from b", made.photo)
            daemon = made.start(**made.under_shim(made.state(), **settings))
            daemon.wait_for(daemon.says("event=accepted request=b"))
            flag = (disks.LOST, disks.FLUSHED)[number % 2]
            made.disk.cut(flag)
            part.fault()
            judge_cut(made, part, daemon, first, flag, f"after a cut behind its acceptance ({flag})")


def judge_cut(made, part, daemon, first, flag, where):
    """Cuts the power, if it is still on, and judges the spool after a daemon has finished its work."""
    daemon.kill()
    made.disk.lose_power(flag)
    accepted = "event=accepted request=b" in daemon.text()
    made.finish()
    part.accepted(1 + accepted)
    judge(made, part, first, accepted, where)


def judge(made, part, first, is_accepted, where):
    lines = made.published("family")
    expected = [(first, "photo"), (first, "text")]
    found = [(line["request"], line["kind"]) for line in lines]
    for what in set(found):
        if found.count(what) > 1:
            part.complain("DUP", f"{what} was published {found.count(what)} times {where}")
    if [what for what in found if what[0] == first] != expected:
        part.complain("LOST", f"{first} was sent and {found} published {where}")
    others = [what for what in found if what[0] != first]
    if others not in ([("b", "photo"), ("b", "text")], []) or (is_accepted and not others):
        part.complain("LOST", f"b ({'accepted' if is_accepted else 'not accepted'}) was published as {others} {where}")
    if is_accepted and others and found[:2] != expected:
        part.complain("ORDER", f"{found} {where}")
    photos = {(line["request"], made.ledger(f"SELECT digest FROM messages WHERE message = '{line['message']}'")[0]["digest"])
              for line in lines if line["kind"] == "photo"}
    for request, digest in photos:
        if digest != machine.digest(made.photo):
            part.complain("LOST", f"the photo of {request} is another one {where}")
    for request in {what[0] for what in found}:
        if not (made.spool / "sent" / request / "receipt.json").exists():
            part.complain("CLEAN", f"there is no receipt of {request} {where}")
    objects = {line["attachment"]["contentDigest"] for line in lines if line["kind"] == "photo"}
    for name in objects:
        path = made.spool / "objects" / name
        if not path.exists() or machine.digest(path) != name:
            part.complain("LOST", f"the object {name} is not whole {where}")
    if set(os.listdir(made.spool / "objects")) != objects:
        part.complain("CLEAN", f"objects are left {where}")
    made.judge_leftovers(part, where)


# Just after the commit of `sent`.


def just_sent(part, kind, rounds, unsynced=None):
    """With a network that takes a message as often as it is told. The power goes when the daemon says that it is sent; or
    at one sync after the other of the file `unsynced`, which does nothing and succeeds."""
    with a_machine(kind) as made:
        program = pathlib.Path(made.scratch) / "network"
        journal = pathlib.Path(made.scratch) / "journal"
        program.write_text(f"#!/bin/sh\ncat >> {journal}\n")
        program.chmod(0o700)
        pathlib.Path(made.configuration).write_text(f"network: {{type: exec, program: {program}}}\n")

        def lie(number):
            return {"nosync": unsynced, "calls": "unsynced", "at": number + 1, "act": "log-stops"} if unsynced else {}

        for number in rounds:
            made.begin()
            journal.write_bytes(b"")
            name = made.send()
            daemon = made.start(**made.under_shim(made.state(), **lie(number)))
            # In turn after the photo, and after the text.
            daemon.wait_for(lambda: daemon.text().count("event=sent") > number % 2 or unsynced and daemon.complains())
            # Not what it says later: a sync that is under way while the file system is shut down may be answered as if
            # there had been time for it.
            sent = daemon.text().count("event=sent")
            made.disk.cut(disks.LOST)
            daemon.kill()
            if unsynced:
                # The power went before.
                sent = daemon.text().count("event=sent")
            made.disk.restart()
            part.fault()
            part.accepted()
            try:
                made.finish()
            except machine.Refusal as refusal:
                part.complain("LOST", f"what the ledger knew of {name}: {refusal}")
                continue
            lines = journal.read_text().splitlines()
            messages = [line.split('"')[3] for line in lines]
            again = [message for message in messages[:sent] if messages.count(message) > 1]
            if again:
                part.complain("DUP", f"{again} of {name} were sent, and published again")
            if len(set(messages)) != 2:
                part.complain("LOST", f"{len(set(messages))} of 2 messages of {name} were published")


# Purge.


def purge(part, kind, way):
    with a_machine(kind) as made:
        act, _ = WAYS[way]
        fill(made)

        def once(k):
            made.begin()
            state = made.state()
            daemon = made.start(**made.under_shim(state, at=k, act=act))
            daemon.wait_for(lambda: daemon.says("event=ready")() and not os.listdir(made.spool / "purge"))
            if daemon.is_alive():
                daemon.kill()
            made.disk.lose_power(disks.LOST)
            made.finish()
            judge_purged(made, part, f"after a cut at call {k} of the purge")
            return state.faults > 0

        part.sweep(once)


def judge_purged(made, part, where):
    """Complains if anything from `fill` is left that no other conversation uses."""
    done = subprocess.run(
        [sys.executable, FINDER, made.spool, made.photo, "--", "MARKERCONVERSATION", "MARKERTEXT"],
        capture_output=True, text=True)
    if done.returncode:
        part.complain("GONE", f"{done.stdout[:500]} {where}")
    if [line["kind"] for line in made.published("other")] != ["photo", "text"]:
        part.complain("LOST", f"what others have is gone {where}")
    made.judge_leftovers(part, where)


def fill(made):
    """A conversation with something of every kind, ordered to be purged, beside another one."""
    made.begin()
    daemon = made.start()
    daemon.wait_for(daemon.says("event=ready"))
    other = made.photo
    made.take_photo()
    made.drop("other", "other", "stays", other)
    os.rename(made.photo, f"{made.scratch}/marked.jpg")
    made.photo = f"{made.scratch}/marked.jpg"
    made.drop("sent", "MARKERCONVERSATION", "MARKERTEXT", made.photo)
    daemon.wait_for(lambda: daemon.text().count('event="request sent"') == 2)
    made.photospool("hold", "MARKERCONVERSATION")
    made.drop("waiting", "MARKERCONVERSATION", "MARKERTEXT", made.photo)
    daemon.wait_for(daemon.says("event=accepted request=waiting"))
    daemon.stop()
    made.drop("late", "MARKERCONVERSATION", "MARKERTEXT", made.photo)
    (made.spool / "purge/please").write_text("MARKERCONVERSATION\n")
    made.keep()


# A new version.


def migrate(part, kind, way):
    """Cuts the power during the upgrade of an earlier ledger, which is one transaction."""
    with a_machine(kind) as made:
        act, _ = WAYS[way]
        made.begin()
        daemon = made.start()
        daemon.wait_for(daemon.says("event=ready"))
        made.drop("sent", "family", "a", made.photo)
        daemon.wait_for(daemon.says('event="request sent"'))
        made.photospool("hold", "family")
        made.drop("waiting", "family", "b", made.photo)
        daemon.wait_for(daemon.says("event=accepted request=waiting"))
        assert daemon.stop() == 0, daemon.text()
        newest = made.ledger(storage.SCHEMA)
        version = storage.EARLIER[part.number]
        storage.take_back(made.spool / "state/ledger.sqlite", version)
        made.keep()

        def once(k):
            made.begin()
            state = made.state()
            daemon = made.start(**made.under_shim(state, at=k, act=act))
            daemon.wait_for(daemon.says("event=ready"))
            daemon.kill()
            made.disk.lose_power(disks.LOST)
            where = f"after a cut at call {k} of what follows {version}"
            daemon = made.start()
            daemon.wait_for(daemon.says("event=ready"))
            daemon.stop()
            made.photospool("release", "family")
            made.finish()
            if made.ledger(storage.SCHEMA) != newest:
                part.complain("CLEAN", f"the ledger is not the newest {where}")
            if [line["request"] for line in made.published("family")] != ["sent", "sent", "waiting", "waiting"]:
                part.complain("LOST", f"{made.published('family')} {where}")
            made.judge_leftovers(part, where)
            part.accepted(2)
            return state.faults > 0

        # The parts have versions of their own, and each takes its calls alone: all of them of the first one.
        part.sweep_alone(once, part.step * (1, 4)[part.number], kind=None)


# The rows.

LAST = {
    "send": (["send", "--to", "family", "--photo", "PHOTO", "--text", "hello"], "new"),
    "send --draft": (["send", "--draft", "--to", "family", "--photo", "PHOTO"], "draft"),
    "retry": (["retry", "given"], "new"),
}

for kind in disks.KINDS:
    for command, (words, goal) in LAST.items():
        scenario(f"the log stops, the client lives: {command}, {kind}", kind=kind, words=words, place=goal)(log_stops)
    for way in WAYS:
        scenario(f"power cut: send, {kind}, {way}", kind=kind, way=way)(submit)
        scenario(f"power cut: intake to receipt, {kind}, {way}", parts=2, kind=kind, way=way)(deliver)
        scenario(
            f"power cut: an earlier ledger is brought up to date, {kind}, {way}", parts=2, kind=kind, way=way)(migrate)
        scenario(f"power cut: purge, {kind}, {way}", kind=kind, way=way)(purge)
    scenario(f"power cut: just accepted, {kind}")(
        lambda part, kind=kind: just_accepted(part, kind, range(max(4, min(100, part.faults // 200)))))
    scenario(f"power cut: just accepted by the daemon, {kind}")(
        lambda part, kind=kind: accepted_by_daemon(part, kind, range(max(4, min(50, part.faults // 400)))))
    scenario(f"power cut: just sent, {kind}")(
        lambda part, kind=kind: just_sent(part, kind, range(max(4, min(50, part.faults // 400)))))


@control("no sync of the photo (send)", must="LOST")
def without_photo_sync(part):
    just_accepted(part, "ext4", until_complaint(part), nosync="/photo-00-photo.jpg")


@control("no sync of new/ (send)", must="LOST")
def without_new_sync(part):
    # Both places of the rename: the sync of one keeps the other, too.
    just_accepted(part, "ext4", until_complaint(part), nosync="/new:/tmp")


@control("no sync of the photo (intake)", must="LOST")
def without_intake_sync(part):
    accepted_by_daemon(part, "ext4", until_complaint(part), nosync="/photo.jpg")


# The sync of new/ has none: on file systems with one log, as these two, the ledger's next sync keeps the rename, too.


@control("the ledger's log is not synced (synchronous NORMAL)", must="DUP")
def without_ledger_sync(part):
    # Each sync of the log in turn does nothing and is the last before the power cut; one of them commits `sent`.
    just_sent(part, "ext4", until_complaint(part), unsynced="/ledger.sqlite-wal")
