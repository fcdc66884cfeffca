"""The vocabulary of the tests: a scratch directory with a spool, a daemon, a page, browsers and photographs."""

import ctypes
import json
import os
import pathlib
import signal
import subprocess
import time
from urllib.parse import quote, urlsplit

from playwright.sync_api import Error

from client import Client
from objects import ObjectServer

ROOT = pathlib.Path(__file__).resolve().parents[3]
PHOTOSPOOL = os.environ.get("PHOTOSPOOL", str(ROOT / ".build/debug/photospool"))
PICTURES = ROOT / ".build/browser"
VIEWS = {"phone": (390, 844), "tablet": (1024, 1366), "desk": (1440, 900)}
SCHEMES = ["light", "dark"]


def until(question, what, seconds=30):
    """Asks until the answer is true, for events that no browser and no line tells. Returns the answer."""
    end = time.monotonic() + seconds
    while not (answer := question()):
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.02)
    return answer


def size(picture):
    """The pixels of a picture, once it is there."""
    picture.scroll_into_view_if_needed()
    picture.evaluate("image => image.decode()")
    return picture.evaluate("image => [image.naturalWidth, image.naturalHeight]")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Stage:
    def __init__(self, scratch, browser):
        self.directory, self.browser = pathlib.Path(scratch), browser
        self.spool = self.directory / "spool"
        self.environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
            "HOME": scratch, "XDG_CONFIG_HOME": scratch, "PHOTOSPOOL_SPOOL": str(self.spool)}
        self.program = [PHOTOSPOOL]
        self.daemon, self.web, self.address = None, None, None
        self.started, self.contexts, self.requests, self.violations, self.servers = [], [], [], [], []
        # Other origins that a test asks on purpose.
        self.elsewhere = []

    # Programs

    def start(self, *words, log):
        with open(self.directory / log, "ab") as output, open(self.directory / f"{log}.err", "ab") as errors:
            process = subprocess.Popen([*self.program, *words], env=self.environment, cwd=self.directory, stdout=output,
                                       stderr=errors, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.started.append(process)
        return process

    def configure(self, settings):
        (self.directory / "photospool.yaml").write_text(settings)
        self.environment["PHOTOSPOOL_CONFIG"] = str(self.directory / "photospool.yaml")

    def program_as_network(self, settings=""):
        """A program gets what is sent, line by line in the file `delivered`. It refuses the kinds of messages that the
        file `refused` names."""
        program = self.directory / "network"
        program.write_text(f"""#!/bin/sh
cd '{self.directory}' && read -r line
for kind in $(cat refused 2> /dev/null); do
  case $line in *'"kind":"'$kind'"'*) echo 'The account may not write there' >&2; exit 77 ;; esac
done
printf '%s\\n' "$line" >> delivered
""")
        program.chmod(0o755)
        self.configure(f"network: {{type: exec, program: {program}}}\n{settings}")

    def refuse(self, *kinds):
        (self.directory / "refused").write_text(" ".join(kinds))

    def delivered(self):
        """The kinds of messages that the program got, in order."""
        return [line["kind"] for line in self.lines()]

    def lines(self):
        """What the program got."""
        return [json.loads(line) for line in self.text("delivered").splitlines()]

    def text(self, file):
        path = self.directory / file
        return path.read_text() if path.exists() else ""

    def start_daemon(self):
        (self.directory / "run.err").unlink(missing_ok=True)
        self.daemon = self.start("run", log="run")
        until(lambda: "event=ready" in self.text("run.err") or self.daemon.poll() is not None, "the daemon is ready")
        assert self.daemon.poll() is None, self.text("run.err")

    def stop_daemon(self):
        self.daemon.terminate()
        assert self.daemon.wait(30) == 0, self.text("run.err")

    def start_page(self, *options):
        """Starts the page. Returns the link that was printed."""
        (self.directory / "web").unlink(missing_ok=True)
        self.web = self.start("web", *options, log="web")
        until(lambda: "\n" in self.text("web") or self.web.poll() is not None, "the page prints a link")
        link = self.text("web").strip()
        assert link, self.text("web.err")
        self.address = urlsplit(link).netloc
        until(lambda: self.client().is_up(), "the page answers")
        return link

    def run(self, *words, status=0):
        """A command's output."""
        done = subprocess.run([*self.program, *words], env=self.environment, cwd=self.directory, capture_output=True, text=True)
        assert done.returncode == status, f"{words}: {done.returncode} {done.stderr}"
        return done.stdout

    def link(self, *options):
        return self.run("web", "link", *options).strip()

    def memory(self):
        """The largest resident size of the page's process in bytes, without the pages of its files."""
        lines = pathlib.Path(f"/proc/{self.web.pid}/status").read_text().splitlines()
        kilobytes = {words[0]: int(words[1]) for words in map(str.split, lines) if words[0] in ("VmHWM:", "RssFile:")}
        return (kilobytes["VmHWM:"] - kilobytes["RssFile:"]) * 1024

    # Requests and drops

    def published(self, conversation):
        file = self.spool / "published" / f"{conversation}.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def sent(self):
        """How many requests are sent."""
        return sum(path.name != ".order" for path in (self.spool / "sent").iterdir())

    def texts(self, conversation):
        """What was published, in order: a text as it is, a photo as `photo`."""
        return [line.get("text", line["kind"]) for line in self.published(conversation)]

    def waiting(self):
        """Messages that are not sent yet."""
        return [json.loads(line) for line in self.run("queue", "--json").splitlines()]

    def failed(self):
        """Names of failed requests."""
        return sorted(path.name for path in (self.spool / "failed").iterdir() if path.is_dir())

    def drop(self, name, to, text=None, photos=(), sender=None):
        """A request as any shell script drops it."""
        directory = self.spool / "tmp" / name
        directory.mkdir()
        for file, contents in [("to", to), ("text", text), ("from", sender)]:
            if contents is not None:
                (directory / file).write_text(contents + "\n")
        for number, photo in enumerate(photos):
            (directory / f"photo-{number}.jpg").write_bytes(photo.read_bytes())
        directory.rename(self.spool / "new" / name)

    def start_receiving(self):
        """Starts a daemon that fetches from this computer. Returns the server of the objects."""
        self.configure("receiving: {allowPrivate: true}\n")
        self.start_daemon()
        return self.object_server()

    def object_server(self):
        self.servers.append(ObjectServer())
        return self.servers[-1]

    def receive(self, server, name, conversation, photo, sender="@anna:example.org", inbox=None):
        """A photo of somebody, as a bridge drops it. The server keeps the bytes."""
        content = {"msgtype": "m.image", "body": "photo.jpg", "url": server.keep(photo.read_bytes()),
                   "info": {"mimetype": "image/jpeg", "size": photo.stat().st_size}}
        event = {"type": "m.room.message", "event_id": "$" + name, "sender": "@x:example.org", "content": content}
        directory = self.spool / "incoming" / "tmp" / name
        directory.mkdir()
        for file, contents in [("from-conversation", conversation), ("message", name), ("sender", sender),
                               ("inbox", inbox), ("attachment", json.dumps(event))]:
            if contents is not None:
                (directory / file).write_text(contents)
        directory.rename(self.spool / "incoming" / "new" / name)

    def received(self):
        """Photos of others, by the id on their network."""
        lines = self.run("photos", "--received", "--json").splitlines()
        return {photo["remote"]: photo for photo in map(json.loads, lines)}

    def wait_for_state(self, name, state):
        return until(lambda: (photo := self.received().get(name)) and photo["state"] == state and photo,
                     f"{name} is {state}")

    # Browsers and clients

    def open(self, link=None, view="desk", scheme="light", javascript=True, cookies=None, **options):
        """A tab, logged in by the link or with a client's cookie. Everything that it asks for is watched."""
        width, height = VIEWS[view]
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=javascript,
            has_touch=view != "desk", **options)
        context.set_default_timeout(15_000)
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("console", self.listen)
        self.contexts.append(context)
        if cookies:
            name, value = cookies.split("=", 1)
            context.add_cookies([{"name": name, "value": value, "url": self.url("/")}])
        tab = context.new_page()
        if link:
            tab.goto(link)
            tab.get_by_test_id("login.open").click()
            tab.get_by_test_id("list.rows").or_(tab.get_by_test_id("problem.main")).first.wait_for(state="attached")
        return tab

    def listen(self, message):
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.violations.append(message.text)

    def url(self, path, name=None):
        return f"http://{self.address}{path}" + ("" if name is None else "?name=" + quote(name, safe=""))

    def client(self, link=None, **options):
        """Plain HTTP, with a session if there is a link."""
        client = Client(self.address, **options)
        if link:
            client.log_in(link)
        return client

    def picture(self, tab, name):
        """A screenshot to look at, with the pictures that are to be seen on it."""
        tab.evaluate("""() => Promise.allSettled([...document.images].filter(image => {
            const box = image.getBoundingClientRect()
            return box.bottom > 0 && box.top < innerHeight
        }).map(image => image.decode()))""")
        PICTURES.mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=PICTURES / f"{name}.png")

    # The end

    def check(self):
        """What holds in every test: no violation of the policy, and no request to another host."""
        assert not self.violations, self.violations
        elsewhere = [url for url in self.requests if not url.startswith((f"http://{self.address}/", "data:", "about:", *self.elsewhere))]
        assert not elsewhere, f"requests to another host: {elsewhere}"

    def keep_pages(self):
        """What the tabs of a failed test show, beside its other files."""
        for number, tab in enumerate(tab for context in self.contexts for tab in context.pages):
            try:
                (self.directory / f"tab-{number}.html").write_text(f"<!-- {tab.url} -->\n{tab.content()}")
                tab.screenshot(path=self.directory / f"tab-{number}.png")
            except Error:
                pass

    def end(self):
        for context in self.contexts:
            context.close()
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        for server in self.servers:
            server.stop()
