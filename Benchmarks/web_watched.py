#!/usr/bin/env python3
"""Measures the page while somebody looks at it: memory and wake-ups with streams of events, from a drop to the screen, and the
first paint on a slow phone. And the daemon beside it: its memory, wake-ups and texts a second without a page, with one that
nobody looks at, and with one that is watched. Prints a table.

    make build && .build/browser-python/bin/python Benchmarks/web_watched.py [--texts N] [--pairs N]

PHOTOSPOOL names another program than .build/release/photospool; photospool-web is beside it.
"""

import argparse
import contextlib
import http.client
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import idle
import measure
import web

# When the newest message was seen to be sent, in milliseconds since 1970.
SEEN = """() => {
    window.seen = {}
    new MutationObserver(() => {
        const all = document.querySelectorAll('[data-test="message.meta"]')
        const count = [...all].filter(meta => meta.textContent.includes('Sent')).length
        window.seen[count] ??= performance.timeOrigin + performance.now()
    }).observe(document.querySelector('#timeline'), {subtree: true, childList: true, characterData: true})
}"""
PAINT = """() => new Promise(done => {
    const found = {paint: 0, shift: 0}
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) found.paint = Math.max(found.paint, entry.startTime)
    }).observe({type: 'largest-contentful-paint', buffered: true})
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) found.shift += entry.value
    }).observe({type: 'layout-shift', buffered: true})
    setTimeout(() => done(found), 1000)
})"""


def drain(answer):
    try:
        while answer.read1():
            pass
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        pass


def streams(page, conversation, count):
    """Opens streams and reads what they tell."""
    answers = [page.watch(conversation) for _ in range(count)]
    for answer in answers:
        threading.Thread(target=drain, args=(answer,), daemon=True).start()
    return answers


def resident(page):
    return f"{idle.memory(page.process.pid)['resident'] * 1.048576:.1f}"


def texts(spool, daemon, numbers, count):
    """Texts a second, from the first drop until all have receipts, and texts for a second of the daemon's processor time."""
    sent, spent = spool / "sent", measure.processor_seconds(daemon.pid)
    begin_count, begin = sum(1 for _ in os.scandir(sent)), time.monotonic()
    for number in itertools.islice(numbers, count):
        web.drop(spool, number, "rate")
    measure.wait_until(lambda: sum(1 for _ in os.scandir(sent)) >= begin_count + count, 300, 0.02)
    return count / (time.monotonic() - begin), count / (measure.processor_seconds(daemon.pid) - spent)


@contextlib.contextmanager
def no_page(spool):
    yield


@contextlib.contextmanager
def unwatched(spool):
    page = web.Page(spool)
    yield
    page.stop()


@contextlib.contextmanager
def watched(spool):
    page = web.Page(spool)
    held = streams(page, "rate", 1)
    yield
    del held
    page.stop()


def compare(spool, daemon, numbers, options, beside, without):
    """The texts of a daemon with one page beside it, as a part of those with another: a second, and for its processor time."""
    ratios = []
    for turn in range(options.pairs):
        found = {}
        for page in [beside, without] if turn % 2 else [without, beside]:
            with page(spool):
                found[page] = texts(spool, daemon, numbers, options.texts)
        ratios.append([one / other for one, other in zip(found[beside], found[without])])
    return ", ".join(measure.spread(list(values)) for values in zip(*ratios))


def daemon_alone(spool, daemon, rows):
    """Memory and wake-ups of the daemon, without a page and with one that nobody looks at."""
    found = []
    for page in [no_page, unwatched, no_page]:
        with page(spool):
            time.sleep(idle.PAUSE)
            found.append((idle.memory(daemon.pid)["resident"] * 1.048576, idle.wakeups(daemon.pid, 60)))
    for name, values in zip(["resident, MB", "wake-ups a minute"], zip(*found)):
        rows.append((f"the daemon, idle, {name}: no page, an unwatched one, no page", ", ".join(f"{value:.1f}" for value in values), ""))


def screen(spool, page, numbers, rows):
    # Only the tests of the browser have it.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                                             args=["--no-sandbox"] if os.geteuid() == 0 else [])
        name, value = page.cookie.split("=", 1)
        cookie = {"name": name, "value": value, "url": f"http://{page.name}/"}
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
        context.add_cookies([cookie])
        tab = context.new_page()
        tab.goto(f"http://{page.name}/conversation?name=screen")
        tab.locator("form.composer.live").wait_for()
        tab.evaluate(SEEN)
        times = []
        for count, number in enumerate(itertools.islice(numbers, 40), 1):
            begin = time.time() * 1000
            web.drop(spool, number, "screen")
            while not (seen := tab.evaluate("count => window.seen[count]", count)):
                pass
            times.append(seen - begin)
        rows.append(("from a drop to the screen, ms: p50, p95",
                     f"{measure.percentile(times, 0.5):.0f}, {measure.percentile(times, 0.95):.0f}", "p95 350"))
        context.close()
        paints, shifts = [], []
        for _ in range(9):
            context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
            context.add_cookies([cookie])
            tab = context.new_page()
            context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": 4})
            tab.goto(f"http://{page.name}/conversation?name=photos")
            found = tab.evaluate(PAINT)
            paints.append(found["paint"])
            shifts.append(found["shift"])
            context.close()
        rows.append(("largest paint, phone, processor four times slower, ms", measure.spread(paints, 0), "800"))
        rows.append(("layout shift", f"{max(shifts):.3f}", "0"))
        browser.close()


def with_tls(spool, rows):
    """Memory of a page for other computers, with a stream."""
    place = spool.parent
    with web.socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=photos.test", "-addext", "subjectAltName=DNS:photos.test", "-keyout", place / "key.pem",
                    "-out", place / "page.pem"], check=True, stderr=subprocess.DEVNULL)
    config = place / "tls.yaml"
    config.write_text(f"web: {{certificate: page.pem, key: key.pem, names: 'photos.test:{port}'}}\n")
    page = web.Page(spool, "--address", "0.0.0.0", "--port", str(port), config=config, tls=str(place / "page.pem"))
    try:
        held = streams(page, "long", 1)
        time.sleep(idle.PAUSE)
        rows.append(("resident, with a stream over TLS, MB", resident(page), "35"))
        del held
    finally:
        page.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=3000, help="of each turn")
    parser.add_argument("--pairs", type=int, default=5, help="turns with a page and without it")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="photospool-watched."))
    spool, daemon, page, rows = scratch / "spool", None, None, []
    numbers = itertools.count(1_000_000)
    try:
        daemon = web.fill(spool, 100, 500)
        page = web.Page(spool)
        held = streams(page, "long", 1)
        time.sleep(idle.PAUSE)
        rows.append(("resident, with a stream, MB", resident(page), "25"))
        rows.append(("wake-ups a second, with a stream", f"{idle.wakeups(page.process.pid, 20) / 60:.1f}", "6"))
        held += streams(page, "long", 49)
        time.sleep(5)
        rows.append(("resident, with 50 streams, MB", resident(page), "32"))
        page.stop()
        with_tls(spool, rows)
        texts(spool, daemon, numbers, options.texts)
        for name, beside, without in [("a stream, of those without", watched, unwatched),
                                      ("a page that nobody looks at, of those without a page", unwatched, no_page)]:
            rows.append((f"texts with {name} ({options.pairs} pairs): a second, for the daemon's processor time",
                         compare(spool, daemon, numbers, options, beside, without), "0.98"))
        daemon_alone(spool, daemon, rows)
        page = web.Page(spool)
        screen(spool, page, numbers, rows)
    finally:
        measure.end(daemon, page and page.process)
        shutil.rmtree(scratch, ignore_errors=True)
    measure.show_goals("web-watched", rows)


if __name__ == "__main__":
    main()
