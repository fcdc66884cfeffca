"""The daemon killed at the k-th call while it creates documents in Firestore, with photos in a stand-in for Cloud Storage. Google's
own client reads them."""

import contextlib
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import machine
from scenario import Skip, scenario
from scenarios.encrypted import PYTHON, SCRIPTS, Script

EXAMPLE = machine.tree / "etc/examples/firebase.yaml"


class App:
    """An app on Firebase, and another participant of its conversations."""

    def __init__(self, stack):
        def begin(name, *words):
            script = Script(name, *words)
            stack.callback(script.end)
            return script

        scratch = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        firestore = begin("firestore_emulator.py", scratch).answer()
        self.storage = begin("fake_gcs.py", scratch).answer()["endpoint"]
        self.reader = begin("firestore_reader.py", firestore["address"], firestore["project"])
        # The example, with emulators in place of Google: the first key file is the store's, the second the network's.
        text = EXAMPLE.read_text().replace("example-app.appspot.com", "photos").replace("example-app", firestore["project"])
        for emulator in (self.storage, firestore["endpoint"]):
            text = re.sub("keyFile: .*", f'emulator: "{emulator}"', text, count=1)
        self.settings = text

    def read(self, place, conversation):
        """The documents of a conversation, as effects. Their photos are kept as the place's objects."""
        found = self.reader.ask(json.dumps({"do": "read", "conversation": conversation}))["messages"]
        messages = []
        for document in found:
            photo = document["fields"]["photospool"].get("attachment")
            if photo:
                self.fetch(photo, pathlib.Path(place.objects()))
            messages.append((document["id"], document["fields"].get("text"), photo and photo["width"],
                             photo and photo["contentDigest"]))
        return place.as_read(conversation, messages)

    def fetch(self, photo, objects):
        name = urllib.parse.urlsplit(photo["url"]).path.rpartition("/o/")[2]
        # Without a file, the oracle says that the object is lost.
        with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(
                f"{self.storage}/storage/v1/b/photos/o/{name}?alt=media", timeout=60) as answer:
            objects.mkdir(exist_ok=True)
            (objects / photo["contentDigest"]).write_bytes(answer.read())


@scenario("daemon killed at every call: photo, text, Firestore", parts=2)
def killed(part):
    if subprocess.run([PYTHON, str(SCRIPTS / "firestore_emulator.py"), "find"]).returncode:
        raise Skip("the emulator of Firestore is not installed")
    with contextlib.ExitStack() as stack:
        app, place, read = App(stack), part.place(), []
        place.kind = "firestore"
        place.others = lambda: read
        place.configure(app.settings)

        def once(k):
            place.context, conversation = f"k={k}", f"c{k}"
            place.drop(conversation, 1)
            daemon = place.start(**place.killing(k, sockets=True))
            place.wait_idle(daemon, or_dead=True)
            met = daemon.stop() != 0
            place.context += f", {place.call(k)}"
            if met:
                place.settle()
            read.extend(app.read(place, conversation))
            part.judge(place)
            return met

        part.sweep(once, cheap=10)
