"""Power cuts around a Send of the page: at every call of an upload and its Send, and as soon as the browser has its answer or
sees "Sent". The browser then repeats its Send, as it does when an answer was lost."""

import contextlib
import http.client
import json
import pathlib
import re
import secrets
import subprocess
import time
from urllib.parse import urlsplit

import disks
import machine
from machine import a_machine
from scenario import control, scenario, until_complaint
from scenarios.powercut import WAYS

# The page takes nothing while less than 200 MB are free.
SIZE = 512 << 20
ENDS = (OSError, http.client.HTTPException)


class Browser:
    """A browser with a session, and what it composes for a conversation."""

    def __init__(self, made, conversation="family"):
        self.made, self.port, self.cookie, self.process = made, 0, None, None
        self.conversation, self.text = conversation, "by the page"
        self.key, self.draft = None, None

    def start(self, **environment):
        """Starts the page. Returns whether it answers; it may be killed before."""
        links = pathlib.Path(self.made.scratch) / "links"
        with open(links, "w") as output:
            self.process = subprocess.Popen(
                [machine.PHOTOSPOOL, "web", "--port", str(self.port)], env=self.made.environment | environment,
                cwd=self.made.scratch, stdout=output, stderr=subprocess.DEVNULL)
        self.made.running.append(self.process)
        end = time.monotonic() + machine.PATIENCE
        while self.process.poll() is None:
            if links.read_text().endswith("\n"):
                self.link = urlsplit(links.read_text().strip())
                self.port = self.link.port
                return True
            if time.monotonic() > end:
                raise AssertionError("the page prints no link")
            time.sleep(0.01)
        return False

    @property
    def path(self):
        return f"/conversation?name={self.conversation}"

    def headers(self):
        return {"Host": self.link.netloc, "Origin": f"http://{self.link.netloc}", "Cookie": self.cookie or ""}

    @contextlib.contextmanager
    def stream(self, *views):
        """The open stream of events of these views."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=machine.PATIENCE)
        with contextlib.closing(connection):
            connection.request("GET", f"/events?{'&'.join(f'view={view}' for view in views)}", headers=self.headers())
            yield connection.getresponse()

    def ask(self, method, path, body=None, **headers):
        """Status and answer; 0 for none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=machine.PATIENCE)
        try:
            connection.request(method, path, body, self.headers() | headers)
            answer = connection.getresponse()
            self.cookie = (answer.headers["Set-Cookie"] or self.cookie or "").partition(";")[0]
            return answer.status, answer.read()
        except ENDS:
            return 0, b""
        finally:
            connection.close()

    def compose(self):
        """Uploads the photo into a draft, and sends it with a text. Returns whether the page says that it was taken."""
        self.key, self.draft = secrets.token_hex(8), None
        return self.upload() and self.send()

    def upload(self):
        status, answer = self.ask("POST", f"/draft?name={self.conversation}")
        found = json.loads(answer) if status == 200 else {}
        if status == 200 and not found.get("photos"):
            photo = pathlib.Path(self.made.photo).read_bytes()
            status, answer = self.ask("PUT", f"/draft/new/photo?name={self.conversation}&file=photo.jpg", photo)
            found = json.loads(answer) if status == 201 else {}
        self.draft = found.get("draft")
        return self.draft is not None

    def send(self):
        fields = {"id": self.key, "text": self.text, "draft": self.draft}
        body = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                       for name, value in fields.items())
        status, answer = self.ask(
            "POST", self.path, body + "--x--\r\n", **{"Content-Type": "multipart/form-data; boundary=x"})
        if status == 422:
            # A draft whose upload no sync had kept. The person chooses the photo again.
            self.draft = None
        return status == 303

    def repeat(self):
        """Presses Send until the page says that it was taken."""
        for _ in range(3):
            if (self.draft or self.upload()) and self.send():
                return True
        return False

    def sees_sent(self):
        status, answer = self.ask("GET", self.path)
        return status == 200 and len(re.findall(rb"Sent <time", answer)) > 0

    def kill(self):
        self.process.kill()
        self.process.wait()


class Scene:
    """A machine whose network keeps a journal on the disk without faults, and a browser with a session."""

    def __init__(self, made, part):
        self.made, self.part = made, part
        self.journal = pathlib.Path(made.scratch) / "journal"
        program = pathlib.Path(made.scratch) / "network"
        program.write_text(f"#!/bin/sh\nexec cat >> {self.journal}\n")
        program.chmod(0o700)
        pathlib.Path(made.configuration).write_text(f"network: {{type: exec, program: {program}}}\n")
        self.browser = Browser(made)
        made.begin()
        assert self.browser.start() and self.browser.ask("POST", self.browser.link.path)[0] == 303
        self.browser.kill()
        made.keep()

    def begin(self):
        self.made.begin()
        self.journal.write_bytes(b"")

    def lines(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def judge(self, promised, sent, where):
        """After a power cut: what was promised is published; what the person saw as sent is not published again. A
        repeated Send has everything published, and nothing twice."""
        self.part.accepted(promised)
        try:
            if promised:
                self.made.finish()
                self.look(sent, where)
            assert self.browser.start(), "the page does not start"
            if not self.browser.repeat():
                return self.part.complain("LOST", f"a repeated Send is refused {where}")
            self.browser.kill()
            self.made.finish()
            self.look(sent, f"{where}, and a repeated Send")
        except (machine.Refusal, AssertionError) as fault:
            return self.part.complain("LOST", f"what was sent does not come to its end: {fault} {where}")
        # The page removes those itself: when a link is made after the 10 minutes of the one before.
        for path in (self.made.spool / "state/web").rglob(".*.tmp"):
            path.unlink()
        self.made.judge_leftovers(self.part, where)

    def look(self, sent, where):
        lines = self.lines()
        again = [line["message"] for line in lines if line["message"] in sent
                 and sum(other["message"] == line["message"] for other in lines) > 1]
        if again:
            self.part.complain("DUP", f"{again} were seen as sent, and published again {where}")
        # A network with keys keeps the first of each message.
        kinds = list({line["message"]: line["kind"] for line in lines}.values())
        if len(kinds) > 2:
            self.part.complain("DUP", f"{kinds} were published {where}")
        elif kinds != ["photo", "text"]:
            self.part.complain("LOST", f"{kinds} were published {where}")


def composed(part, kind, way):
    with a_machine(lambda: disks.Disk(kind, size=SIZE)) as made:
        scene = Scene(made, part)
        act, flag = WAYS[way]

        def once(k):
            scene.begin()
            state = made.state()
            promised = scene.browser.start(**made.under_shim(state, at=k, act=act)) and scene.browser.compose()
            met = state.faults > 0
            scene.browser.kill()
            made.disk.lose_power(flag)
            scene.judge(promised, [], f"after a cut at call {k} of the page")
            return met

        part.sweep(once, cheap=20)


def answered(part, kind, rounds, **settings):
    """In turn without a daemon, as soon as the browser has its answer; and with one, as soon as it sees "Sent"."""
    with a_machine(lambda: disks.Disk(kind, size=SIZE)) as made:
        scene = Scene(made, part)
        for number in rounds:
            scene.begin()
            daemon = made.start() if number % 2 else None
            if daemon:
                daemon.wait_for(daemon.says("event=ready"))
            promised = scene.browser.start(**made.under_shim(made.state(), **settings)) and scene.browser.compose()
            sent = []
            if daemon:
                daemon.wait_for(scene.browser.sees_sent)
                sent = [line["message"] for line in scene.lines()[:1]]
            flag = disks.LOST
            made.disk.cut(flag)
            scene.browser.kill()
            if daemon:
                daemon.kill()
            made.disk.restart()
            part.fault()
            scene.judge(promised, sent, f"after a cut behind {'Sent' if daemon else 'the answer'}")


for kind in disks.KINDS:
    for way in WAYS:
        scenario(f"power cut: upload and Send of the page, {kind}, {way}", kind=kind, way=way)(composed)
    scenario(f"power cut: just answered by the page, {kind}")(
        lambda part, kind=kind: answered(part, kind, range(max(2, min(50, part.faults // 400)))))


@control("no sync of new/ (page)", must="LOST")
def without_new_sync(part):
    # Both places of the rename: the sync of one keeps the other, too.
    answered(part, "ext4", (2 * number for number in until_complaint(part)), nosync="/new:/draft")
