"""The vocabulary of the tests: programs in a scratch directory, requests, photos of others, and browsers."""

import json
import os

from playwright.sync_api import Error

from objects import ObjectServer
from programs import ROOT, Programs, until

PICTURES = ROOT / ".build/browser"
VIEWS = {"phone": (390, 844), "tablet": (1024, 1366), "desk": (1440, 900)}
SCHEMES = ["light", "dark"]


def press(tab, what):
    """Presses a button or a link, by its name or itself, that leads to another page, and waits until that page is loaded. Before,
    a reload or another address would stop it."""
    with tab.expect_navigation():
        (tab.get_by_test_id(what) if isinstance(what, str) else what).click()


def enter(tab):
    """The same by the Enter key, where the focus is."""
    with tab.expect_navigation():
        tab.keyboard.press("Enter")


def say(tab, text):
    """Sends a text with what is in the composer."""
    tab.get_by_test_id("composer.text").fill(text)
    tab.get_by_test_id("composer.send").click()


def has_left(tab):
    """Whether what was sent here has left the browser. Before that, another page would stop it."""
    return tab.get_by_test_id("conversation.pending").locator("li").count() == 0


def size(picture):
    """The pixels of a picture, once it is there."""
    picture.scroll_into_view_if_needed()
    picture.evaluate("image => image.decode()")
    return picture.evaluate("image => [image.naturalWidth, image.naturalHeight]")


class Stage(Programs):
    def __init__(self, scratch, browser):
        super().__init__(scratch)
        self.browser = browser
        self.contexts, self.requests, self.violations, self.servers = [], [], [], []
        # Other origins that a test asks on purpose.
        self.elsewhere = []

    # Requests and drops

    def published(self, conversation):
        file = self.spool / "published" / f"{conversation}.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def are_sent(self, count, conversation="family"):
        """Whether so many messages are published, and nothing waits: a message is published before the ledger says so."""
        return len(self.published(conversation)) == count and not self.waiting()

    def accepted(self):
        """Names of requests that wait and that the daemon has accepted, so that pages show them."""
        return sorted({line["request"] for line in self.waiting() if line["acceptedAt"]})

    def sent(self):
        """How many requests have a receipt. It is written after the ledger says that they are sent."""
        return sum(path.name != ".order" for path in (self.spool / "sent").iterdir())

    def texts(self, conversation):
        """What was published, in order: a text as it is, a photo as `photo`."""
        return [line.get("text", line["kind"]) for line in self.published(conversation)]

    def waiting(self):
        """Messages that are not sent yet, also of requests that are not accepted yet."""
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

    def object_server(self, port=0):
        self.servers.append(ObjectServer(port))
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
        context.set_default_timeout(60_000)
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("console", self.listen)
        self.contexts.append(context)
        if cookies:
            name, value = cookies.split("=", 1)
            context.add_cookies([{"name": name, "value": value, "url": self.url("/")}])
        tab = context.new_page()
        # The browser hears a moment late that somebody listens, and a key before that opens a dialog of its own.
        tab.on("filechooser", lambda chooser: None)
        if link:
            tab.goto(link)
            press(tab, "login.open")
        return tab

    def log_in(self, **options):
        """Starts a daemon and a page. Returns a tab that is logged in."""
        self.start_daemon()
        return self.open(self.start_page(), **options)

    def compose(self, tab, conversation="family"):
        """Opens a conversation, and waits until its composer lives."""
        tab.goto(self.url("/conversation", conversation))
        tab.locator("form.composer.live").wait_for()

    def listen(self, message):
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.violations.append(message.text)

    def picture(self, tab, name):
        """A screenshot to look at, with the pictures that are to be seen on it. Nobody looks under CI."""
        tab.evaluate("""() => Promise.allSettled([...document.images].filter(image => {
            const box = image.getBoundingClientRect()
            return box.bottom > 0 && box.top < innerHeight
        }).map(image => image.decode()))""")
        if "CI" in os.environ:
            return
        PICTURES.mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=PICTURES / f"{name}.png")

    # The end

    def check(self):
        """What holds in every test: no violation of the policy, and no request to another host."""
        assert not self.violations, self.violations
        known = (f"{self.origin}/", f"blob:{self.origin}/", "data:", "about:", *self.elsewhere)
        elsewhere = [url for url in self.requests if not url.startswith(known)]
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
        self.end_programs()
        for server in self.servers:
            server.stop()
