"""Opens a link of the page in Chromium, without a window, and takes a screenshot of a conversation in each colour scheme.

    tools/screenshots.py LINK CONVERSATION DIRECTORY

Writes page-light.jpg and page-dark.jpg, and prints their paths. CHROMIUM names another browser.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from urllib.parse import quote, urljoin

WIDTH, HEIGHT = 1080, 700
# For an answer of the browser. It takes a second where nothing else runs.
PATIENCE = "60"


class Chromium:
    """A browser that is spoken to over two pipes, in JSON with a zero byte behind each message."""

    def __init__(self, program, profile):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
                   "--hide-scrollbars", "--disable-gpu"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        # It reads descriptor 3 and writes descriptor 4. `timeout` ends a browser that hangs, and so the pipes.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec timeout {PATIENCE} "$0" "$@" 3<&{commands} 4>&{answers}', program, *options],
            pass_fds=[commands, answers], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.rest, self.number, self.session = b"", 0, None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)

    def message(self):
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise EOFError("Chromium ended")
            self.rest += piece
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, after=None, **parameters):
        """The result of a command, once it is there and, with `after`, once this event has come."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        result = None
        while result is None or after:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                result = message["result"]
            elif message.get("method") == after:
                after = None
        return result

    def run(self, script, after=None):
        return self.ask("Runtime.evaluate", after, expression=script, awaitPromise=True)

    def open(self, address):
        self.ask("Page.navigate", "Page.loadEventFired", url=address)

    def screenshot(self, path):
        # Pictures below the screen are loaded later.
        self.run("""Promise.allSettled([...document.images].filter(image => {
            const box = image.getBoundingClientRect()
            return box.bottom > 0 && box.top < innerHeight
        }).map(image => image.decode()))""")
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="jpeg", quality=82)["data"]))

    def end(self):
        try:
            self.ask("Browser.close")
        except (EOFError, OSError):
            pass
        self.process.wait()


def main():
    link, conversation, directory = sys.argv[1:]
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(os.environ.get("CHROMIUM", "chromium"), profile)
        try:
            browser.open(link)
            browser.run("document.querySelector('[data-test=\"login.open\"]').click()", after="Page.loadEventFired")
            for scheme in ["light", "dark"]:
                browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                browser.open(urljoin(link, "/conversation?name=" + quote(conversation, safe="")))
                browser.screenshot(directory / f"page-{scheme}.jpg")
                print(directory / f"page-{scheme}.jpg")
        finally:
            browser.end()


if __name__ == "__main__":
    main()
