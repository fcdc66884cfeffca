"""Watched folders and the disk: a power cut or an error at every call of `photospool watch`, with each fate of a sent file. A
photo that its camera synced is published once, and the folder holds what it should."""

import errno
import os
import pathlib
import shutil

import disks
import machine
from machine import Daemon, a_machine
from scenario import control, scenario, until_complaint
from scenarios.errors import ERRORS
from scenarios.powercut import WAYS


class Watched:
    """A machine with a folder that is watched, on the disk of the spool."""

    def __init__(self, made, after):
        self.made, self.after = made, after
        self.folder = pathlib.Path(made.disk.path) / "hot"
        self.lists = pathlib.Path(made.disk.path) / "lists"
        existing = ", existing: send" if after == "keep" else ""
        pathlib.Path(made.configuration).write_text(
            f"watch: [{{folder: {self.folder}, conversation: family, after: {after}, quiet: 100ms{existing}}}]\n")

    def begin(self):
        """A photo that the camera has synced, as its name."""
        for place in (self.folder, self.lists):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        self.made.begin()
        shutil.copyfile(self.made.photo, self.folder / "a.jpg")
        disks.sync(self.made.disk.path)

    def watch(self, environment={}):
        return Daemon(self.made, {"STATE_DIRECTORY": str(self.lists)} | environment, verb="watch")

    def is_over(self):
        if self.after == "keep":
            return any("\nwatch." in path.read_text() for path in self.lists.rglob("*.sent"))
        return not [name for name in os.listdir(self.folder) if name != ".sent"]

    def finish(self, part, where):
        """Watches and runs without faults, and judges."""
        again = self.watch()
        again.wait_for(self.is_over)
        if not again.is_alive():
            part.complain("ALIVE", f"watch ended {where}: {again.text()[-300:]}")
        again.kill()
        self.made.finish()
        part.accepted()
        kinds = [line["kind"] for line in self.made.published("family")]
        if kinds != ["photo"]:
            part.complain("DUP" if kinds else "LOST", f"{kinds} were published {where}")
        for row in self.made.ledger("SELECT digest FROM messages"):
            if row["digest"] != machine.digest(self.made.photo):
                part.complain("LOST", f"another photo was published {where}")
        self.judge_folder(part, where)
        self.made.judge_leftovers(part, where)

    def judge_folder(self, part, where):
        stays = {"move": self.folder / ".sent" / "a.jpg", "keep": self.folder / "a.jpg"}.get(self.after)
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        if found != ([stays] if stays else []):
            part.complain("GONE", f"the folder holds {found} {where}")
        elif stays and machine.digest(stays) != machine.digest(self.made.photo):
            part.complain("LOST", f"the photo of the folder is another one {where}")


def cut(part, kind, way, after):
    with a_machine(kind) as made:
        watched = Watched(made, after)
        act, flag = WAYS[way]

        def once(k):
            watched.begin()
            state = made.state()
            doomed = watched.watch(made.under_shim(state, at=k, act=act))
            doomed.wait_for(watched.is_over)
            doomed.kill()
            made.disk.lose_power(flag)
            watched.finish(part, f"after a cut at call {k}")
            return state.faults > 0

        part.sweep(once)


def met_errors(part, calls, code, amount, after):
    with a_machine() as made:
        watched = Watched(made, after)

        def once(k):
            watched.begin()
            state = made.state()
            where = f"after {errno.errorcode[code]} at call {k}"
            troubled = watched.watch(made.under_shim(state, at=k, act=code, calls=calls, **{"for": amount}))
            troubled.outlasts(state, amount, watched.is_over)
            if not troubled.is_alive():
                troubled.judge_end(part, where)
            troubled.kill()
            state.judge_syncs(part, where)
            part.fault(max(0, state.faults - 1))
            watched.finish(part, where)
            return state.faults > 0

        part.sweep(once)


@control("no sync of the photo (watch)", must="LOST")
def without_photo_sync(part):
    with a_machine("ext4") as made:
        watched = Watched(made, "delete")
        for number in until_complaint(part):
            watched.begin()
            doomed = watched.watch(made.under_shim(made.state(), nosync="/photo-00-a.jpg"))
            doomed.wait_for(doomed.says("a file was sent"))
            doomed.kill()
            made.disk.lose_power((disks.LOST, disks.FLUSHED)[number % 2])
            part.fault()
            watched.finish(part, "without a sync of its photo")


for after in ("move", "delete", "keep"):
    for kind in disks.KINDS:
        for way in WAYS:
            scenario(f"power cut: watch, {after}, {kind}, {way}", kind=kind, way=way, after=after)(cut)
    for name in ("EIO from a sync", "ENOSPC from a write", "EIO from a removal", "ENOSPC from everything", "EROFS from everything"):
        for way, amount in {"once": 1, "until it is mended": 0}.items():
            calls, code = ERRORS[name]
            scenario(
                f"errors around watch: {after}, {name}, {way}", calls=calls, code=code, amount=amount, after=after)(met_errors)
