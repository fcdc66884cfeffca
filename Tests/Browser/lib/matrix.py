"""A homeserver on loopback, with alice and bob, from Tests/Support/python/synapse.py."""

import json
import os
import subprocess
import urllib.request
from urllib.parse import quote

from programs import ROOT, die_with_parent

PYTHON = os.environ.get("PHOTOSPOOL_PYTHON", str(ROOT / ".build/python/bin/python"))


class Homeserver:
    def __init__(self, directory):
        directory.mkdir()
        self.process = subprocess.Popen(
            [PYTHON, str(ROOT / "Tests/Support/python/synapse.py"), str(directory)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.facts = json.loads(self.process.stdout.readline())
        self.endpoint = self.facts["endpoint"]
        self.process.stdin.write("room alice bob\n")
        self.process.stdin.flush()
        room = json.loads(self.process.stdout.readline())
        self.room, self.alias = room["room"], room["alias"]

    def settings(self):
        """A store and a network there, which listens as bob with the token of a file `token`."""
        return (f"store: {{type: matrix, homeserver: '{self.endpoint}', tokenFile: token}}\n"
                f"network: {{type: matrix, homeserver: '{self.endpoint}', tokenFile: token, listen: true}}\n"
                f"seal: matrix\nroutes: [{{conversation: family, network: matrix, as: '{self.alias}'}}]\n")

    def call(self, method, path, body, kind="application/json"):
        """A request of alice's client."""
        request = urllib.request.Request(f"{self.endpoint}/_matrix/{path}", body, method=method, headers={
            "Authorization": f"Bearer {self.facts['alice']}", "Content-Type": kind})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def upload(self, body):
        """The address of these bytes in the media repository."""
        return self.call("POST", "media/v3/upload", body, "application/octet-stream")["content_uri"]

    def say(self, name, content):
        """Alice's client sends it to the room."""
        path = f"client/v3/rooms/{quote(self.room, safe='')}/send/m.room.message/{name}"
        return self.call("PUT", path, json.dumps(content).encode())["event_id"]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
