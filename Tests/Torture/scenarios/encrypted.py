"""Power cuts while photos and texts go to an encrypted Matrix room. The homeserver lives on: each message is in the room
once and in order, and its member can read it. Every round begins with the same earlier copy of the state directory. The
control does not sync the encrypted event before it is sent, and has to lose it."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import disks
import machine
from machine import a_machine
from scenario import Skip, control, scenario, until_complaint

PYTHON = os.environ.get("PHOTOSPOOL_PYTHON", sys.executable)
SCRIPTS = machine.tree / "Tests/Support/python"
LOST = "is lost from the state directory"


class Script:
    """A script of Tests/Support/python that takes orders."""

    def __init__(self, name, *arguments):
        self.process = subprocess.Popen(
            [PYTHON, str(SCRIPTS / name), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"{self.process.args[1]} ended")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait(machine.PATIENCE)


class Room:
    """An encrypted room of alice, who sends, and bob, who reads, behind a line that can fail."""

    def __init__(self, stack, scratch):
        def begin(name, *arguments, at=False):
            directory = [tempfile.mkdtemp(dir=scratch)] if at else []
            script = Script(name, *directory, *arguments)
            stack.callback(script.end)
            return script

        synapse = begin("synapse.py", at=True)
        facts = synapse.answer()
        self.id = synapse.ask("room", "alice", "bob")["room"]
        path = f"{facts['endpoint']}/_matrix/client/v3/rooms/{urllib.parse.quote(self.id, safe='')}"
        urllib.request.urlopen(urllib.request.Request(
            f"{path}/state/m.room.encryption", json.dumps({"algorithm": "m.megolm.v1.aes-sha2"}).encode(),
            {"Authorization": f"Bearer {facts['alice']}"}, method="PUT"), timeout=60).close()
        self.line = begin("matrix_line.py", facts["endpoint"], at=True)
        self.homeserver = self.line.answer()["endpoint"]
        self.reader = begin("encrypted_reader.py", "mautrix", facts["endpoint"], "bob")
        self.reader.ask("start")
        self.sent, self.heard = [], {"messages": [], "unreadable": []}
        self.token = pathlib.Path(scratch) / "token"
        self.token.write_text(facts["alice"])
        self.token.chmod(0o600)

    @staticmethod
    def is_possible():
        return not subprocess.run([PYTHON, "-c", "import mautrix, nio, synapse"], capture_output=True).returncode

    def settings(self):
        account = {"type": "matrix", "homeserver": self.homeserver, "tokenFile": str(self.token)}
        return json.dumps({
            "store": account, "network": account, "seal": "matrix",
            "delivery": {"backoff": {"first": "10ms", "longest": "200ms"}, "probe": "100ms"},
            "routes": [{"conversation": "family", "network": "matrix", "as": self.id}]})

    def read(self, count):
        """All that a member has read, once there are so many messages, or some seconds later. A reader gets at most 100 at
        once, so it has to read now and then."""
        self.heard = self.reader.ask("read", count)
        return self.heard

    def judge(self, part):
        answer = self.read(2 * len(self.sent))
        if answer["unreadable"]:
            part.complain("LOST", f"{len(answer['unreadable'])} messages cannot be read")
        found = [message["body"] for message in answer["messages"]]
        expected = [body for text in self.sent for body in ("photo.jpg", text)]
        if sorted(found) != sorted(expected):
            part.complain("DUP" if len(found) > len(expected) else "LOST", f"the room has {found[-8:]} at its end")
        elif found != expected:
            part.complain("ORDER", f"the room has {found}")


@contextlib.contextmanager
def a_room(kind):
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="photospool-room.", ignore_cleanup_errors=True))
        if not Room.is_possible():
            raise Skip("Synapse, matrix-nio or mautrix is not installed")
        room = Room(stack, scratch)
        made = stack.enter_context(a_machine(kind, configuration=room.settings() + "\n"))
        # The earlier copy has the device's keys and the account's identity.
        begin(made, room, "first")
        finish(made, "first")
        made.keep()
        yield made, room


def begin(made, room, name):
    made.begin()
    made.drop(name, "family", name, made.photo)
    disks.sync(made.disk.path)
    room.sent.append(name)


def finish(made, name):
    """Runs a daemon until the request has ended and nothing of it is stored; returns why it failed, if it did."""
    outbox = made.spool / "state/matrix/matrix/outbox"
    daemon = made.start()
    daemon.wait_for(daemon.says("event=ready"))
    daemon.wait_for(lambda: any((made.spool / place / name).exists() for place in ("sent", "failed")))
    daemon.wait_for(lambda: not os.listdir(outbox))
    if daemon.stop() != 0:
        raise AssertionError(daemon.text()[-2000:])
    error = made.spool / "failed" / name / "error"
    return error.read_text().strip() if error.exists() else None


def judge(part, made, room, name, where):
    """Has a daemon finish a request, and looks; returns why it failed, if it did."""
    error = finish(made, name)
    if error:
        room.sent.pop()
        part.complain("LOST", f"{name} failed {where}: {error}")
    return error


@scenario("power cut: photo and text to an encrypted room, ext4")
def cut(part):
    with a_room("ext4") as (made, room):
        trace = f"{made.scratch}/trace"

        def once(k):
            name = f"r{k}"
            begin(made, room, name)
            state = made.state()
            pathlib.Path(trace).write_bytes(b"")
            daemon = made.start(**made.under_shim(state, at=k, act="cut", trace=trace))
            daemon.wait_for(daemon.says(f'event="request sent" request={name}'))
            daemon.kill()
            made.disk.lose_power(disks.LOST)
            part.accepted()
            calls = pathlib.Path(trace).read_text(errors="replace").splitlines()
            call = calls[k - 1] if k <= len(calls) else "behind all"
            judge(part, made, room, name, f"after a cut at call {k} ({call})")
            if len(room.sent) % 10 == 0:
                room.judge(part)
            return state.faults > 0

        part.sweep(once, cheap=3)
        for number in range(2):
            cut_when_reserved(part, made, room, f"reserved-{number}")
        room.judge(part)


def cut_when_reserved(part, made, room, name, **environment):
    """Cuts the power when the homeserver has refused a message that is stored for a repetition."""
    begin(made, room, name)
    room.line.ask("refuse", "send/m.room.encrypted")
    daemon = made.start(**environment)
    daemon.wait_for(lambda: room.line.ask("count")["count"] > 0)
    made.disk.cut(disks.LOST)
    daemon.kill()
    made.disk.restart()
    room.line.ask("pass")
    part.fault()
    part.accepted()
    return judge(part, made, room, name, "after a cut behind a refusal")


@control("encrypted event not synced before it is sent", must="LOST")
def without_event_sync(part):
    with a_room("ext4") as (made, room):
        for number in until_complaint(part):
            error = cut_when_reserved(
                part, made, room, f"r{number}", **made.under_shim(made.state(), nosync=".tmp:/outbox"))
            # Nothing else that the missing syncs lose may satisfy the control.
            if error and LOST not in error:
                raise AssertionError(error)
