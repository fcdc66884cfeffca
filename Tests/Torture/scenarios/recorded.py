"""Power cuts at every write that reaches the disk. The calls of `send` and the daemon are recorded below the file
system, and the disk is restored to each place of the record, also without some of the writes that were not flushed yet.
The output of programs and network is recorded, too, so that the record holds every promise."""

import json
import os
import pathlib
import sqlite3
import subprocess

import disks
import machine
from machine import a_machine
from recording import KINDS, RecordedDisk
from scenario import Skip, control, scenario
from scenarios.powercut import submitted


def most(part):
    """How many places of one record are judged, and how many with lost writes."""
    return max(4, min(150, part.faults // 130))


class Witness:
    """Compares the promises of a recorded disk with its state after a power cut."""

    def __init__(self, made, part):
        self.made, self.part, self.requests = made, part, []
        self.program = pathlib.Path(made.scratch) / "network"
        self.journal = f"{made.scratch}/journal"
        pathlib.Path(made.configuration).write_text(f"network: {{type: exec, program: {self.program}}}\n")
        self.connect(made.disk.marks)

    def connect(self, journal):
        """The network accepts every repetition of a message and records it there."""
        self.program.write_text(f"#!/bin/sh\nexec cat >> {journal}\n")
        self.program.chmod(0o700)

    def record(self):
        self.made.begin()
        try:
            self.made.disk.record()
        except disks.Refused as refusal:
            raise Skip(str(refusal)) from None

    def send(self, text, **environment):
        """Puts its output into the record: printed lines are promises."""
        with open(self.made.disk.marks, "ab") as marks:
            subprocess.run(
                [machine.PHOTOSPOOL, "send", "--to", "family", "--photo", self.made.photo, "--text", text], check=True,
                env=self.made.environment | environment, cwd=self.made.scratch, stdout=marks, stderr=subprocess.DEVNULL)
        with open(self.made.disk.marks) as marks:
            self.requests.append(marks.read().splitlines()[-1])

    def look(self, count, look):
        """Has `look` see the disk at so many places, and as many with writes that were lost; without a count at those
        where something was promised."""
        self.made.disk.stop()
        self.connect(self.journal)
        recording, chance = self.made.disk.recording, self.part.random
        places = recording.places(chance, count) + recording.losses(chance, count) if count else recording.promises()
        for place in sorted(places, key=lambda place: place.end):
            self.said, self.where = recording.said(place.end), f"after a cut at {place} of {len(recording)}"
            self.part.fault(kind="writes lost" if place.lost else "prefix")
            try:
                self.made.disk.show(place)
                look()
            except (disks.Refused, machine.Refusal, OSError, sqlite3.Error, subprocess.SubprocessError,
                    AssertionError) as error:
                self.part.complain("LOST", f"what was there does not come to its end: {error} {self.where}")

    def promised(self):
        """The requests that `send` printed or the daemon reported as accepted."""
        accepted = [line.split("request=")[1].split()[0] for line in self.said if "event=accepted " in line]
        return [name for name in self.requests if name in self.said or name in accepted]

    def complain(self, word, sentence):
        self.part.complain(word, f"{sentence} {self.where}")

    def judge(self):
        """Runs a daemon until its work is finished."""
        promised, done = self.promised(), 'event="request sent" request='
        self.part.accepted(len(promised))
        for name in [line.partition(done)[2] for line in self.said if done in line]:
            if not (self.made.spool / "sent" / name / "receipt.json").exists():
                self.complain("LOST", f"{name} was called sent and has no receipt")
        pathlib.Path(self.journal).write_bytes(b"")
        self.made.finish()
        before = [json.loads(line) for line in self.said if line.startswith("{")]
        after = [json.loads(line) for line in pathlib.Path(self.journal).read_text().splitlines()]
        sent = {line.split("message=")[1].split()[0] for line in self.said if " event=sent " in line}
        again = [line["message"] for line in after if line["message"] in sent]
        if again:
            self.complain("DUP", f"{again} were sent, and published again")
        effects = {}
        for line in before + after:
            first = effects.setdefault(line["message"], line)
            if any(line.get(member) != first.get(member) for member in ("request", "kind", "text")):
                self.complain("DUP", f"{line['message']} was published as {first} and as {line}")
        self.judge_effects(promised, list(effects.values()))
        for sentence in self.made.left_behind():
            self.complain("CLEAN", sentence)

    def judge_effects(self, promised, effects):
        """A network with keys keeps the first of each message."""
        found = [(line["request"], line["kind"]) for line in effects]
        for what in set(found):
            if found.count(what) > 1:
                self.complain("DUP", f"{what} was published {found.count(what)} times")
        for name in self.requests:
            kinds = [kind for request, kind in found if request == name]
            if kinds != ["photo", "text"] and (name in promised or kinds):
                self.complain("LOST", f"{name} ({'' if name in promised else 'not '}promised) was published as {kinds}")
            if kinds and not (self.made.spool / "sent" / name / "receipt.json").exists():
                self.complain("CLEAN", f"there is no receipt of {name}")
        order = list(dict.fromkeys(request for request, _ in found if request in promised))
        if order != [name for name in promised if name in order]:
            self.complain("ORDER", f"{found}")
        digests = {row["message"]: row["digest"] for row in self.made.ledger("SELECT message, digest FROM messages")}
        store = self.made.spool / "objects"
        for line in effects:
            if line["kind"] == "photo":
                if digests.get(line["message"]) != machine.digest(self.made.photo):
                    self.complain("LOST", f"the photo of {line['request']} is another one")
                name = line["attachment"]["contentDigest"]
                if not (store / name).exists() or machine.digest(store / name) != name:
                    self.complain("LOST", f"the object {name} of {line['request']} is not whole")
        # Objects that were once offered to the network stay, even if another object was offered later.
        kept = self.made.ledger("SELECT object FROM uploads WHERE state IN ('offered', 'published')")
        if set(os.listdir(store)) != {row["object"] for row in kept}:
            self.complain("CLEAN", "the objects are others than the ledger says")


def send(part, kind, count, **settings):
    with a_machine(lambda: RecordedDisk(kind)) as made:
        witness = Witness(made, part)
        witness.record()
        for text in ("first", "second", "third"):
            witness.send(text, **(made.under_shim(made.state(), **settings) if settings else {}))

        def look():
            for name in witness.promised() or [None]:
                submitted(made, part, name, witness.where)
            witness.judge()

        witness.look(count, look)


def deliver(part, kind):
    """`a` was sent durably, `b` only moved into new/, which counts once the daemon says that it is accepted."""
    with a_machine(lambda: RecordedDisk(kind)) as made:
        witness = Witness(made, part)
        witness.record()
        witness.send("from a")
        made.drop("b", "family", "from b", made.photo)
        witness.requests.append("b")
        daemon = made.start(log=made.disk.marks)
        daemon.wait_for(lambda: daemon.text().count('event="request sent"') == 2)
        daemon.stop()
        witness.look(most(part), witness.judge)


for kind in KINDS:
    scenario(f"recorded block writes: send, {kind}")(lambda part, kind=kind: send(part, kind, most(part)))
    scenario(f"recorded block writes: intake to receipt, {kind}", kind=kind)(deliver)


@control("no sync of the photo (send), block writes recorded", must="LOST")
def without_photo_sync(part):
    send(part, "ext4", None, nosync="/photo-00-photo.jpg")
