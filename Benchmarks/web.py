#!/usr/bin/env python3
"""Measures the page against its goals: first bytes, cold start, weights, uploads, photos out, memory and wake-ups. The spool
is filled by the real programs. Prints a table.

    make build && .build/bench-python/bin/python Benchmarks/web.py [--conversations N] [--messages N] [--requests N]

PHOTOSPOOL names another program than .build/release/photospool; photospool-web is beside it.
"""

import argparse
import http.client
import multiprocessing
import os
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import idle
import measure
from measure import PHOTOSPOOL

PHOTOS = Path("/usr/share/backgrounds")
PIECE = b"x" * 9_000_000
# How long photos are asked for.
SECONDS = 3


class Page:
    """A page on a spool, and a session. `tls` is the certificate of a page for other computers, which the file `config` names."""

    def __init__(self, spool, *options, config=None, tls=None):
        self.environment = os.environ | {"PHOTOSPOOL_SPOOL": str(spool), "HOME": str(spool.parent)}
        if config:
            self.environment["PHOTOSPOOL_CONFIG"] = str(config)
        self.tls = ssl.create_default_context(cafile=tls) if tls else None
        self.process = subprocess.Popen([PHOTOSPOOL, "web", *options], env=self.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.link = self.process.stdout.readline().strip()
        link = urlsplit(self.link)
        self.name, self.host, self.port, self.cookie = link.netloc, link.hostname, link.port, None
        measure.wait_until(lambda: self.status("/healthz") == 204, 30)
        self.cookie = self.ask("POST", link.path).headers["Set-Cookie"].split(";")[0]

    def headers(self):
        origin = f"{'https' if self.tls else 'http'}://{self.name}"
        return {"Host": self.name, "Origin": origin} | ({"Cookie": self.cookie} if self.cookie else {})

    def connection(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if self.tls:
            connection.connect()
            connection.sock = self.tls.wrap_socket(connection.sock, server_hostname=self.host)
        return connection

    def ask(self, method, path, body=None, connection=None, **headers):
        connection = connection or self.connection()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, self.headers() | headers)
        answer = connection.getresponse()
        answer.bytes = answer.read()
        return answer

    def status(self, path):
        try:
            return self.ask("GET", path).status
        except OSError:
            return 0

    def first_bytes(self, path, count):
        """Milliseconds from a request to the first byte of its answer, on one connection."""
        connection, times = self.connection(), []
        for _ in range(count):
            begin = time.monotonic()
            connection.request("GET", path, headers=self.headers())
            answer = connection.getresponse()
            times.append((time.monotonic() - begin) * 1000)
            assert answer.status == 200, f"{path}: {answer.status}"
            answer.read()
        return times

    def watch(self, conversation):
        """An open stream of events. Returns its answer."""
        connection = self.connection()
        connection.request("GET", f"/events?view=list&view=conversation:{conversation}", headers=self.headers())
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        return answer

    def stop(self):
        self.process.terminate()
        self.process.wait()


def drop(spool, number, to, photo=None):
    measure.drop(spool, f"m{number}", to, None if photo else f"Message {number}", photo)


def fill(spool, conversations, messages):
    """Texts in many conversations and one long one, and photos; all sent."""
    environment = os.environ | {"PHOTOSPOOL_SPOOL": str(spool)}
    with open(spool.parent / "log", "wb") as log:
        daemon = subprocess.Popen([PHOTOSPOOL, "run"], env=environment, stdout=subprocess.DEVNULL, stderr=log)
    measure.wait_until(lambda: b"event=ready" in (spool.parent / "log").read_bytes(), 60)
    for number in range(conversations):
        drop(spool, number, f"c{number:04}")
    for number in range(conversations, conversations + messages):
        drop(spool, number, "long")
    photos = sorted(PHOTOS.glob("*.jpg"))[:4]
    for number, photo in enumerate(photos):
        drop(spool, conversations + messages + number, "photos", photo)
    total = conversations + messages + len(photos)
    measure.wait_until(lambda: sum(1 for _ in os.scandir(spool / "sent")) >= total, 600, 0.2)
    return daemon


def cold(spool, page, count=15):
    """Milliseconds from the start of the process to the first answer of `/`, as systemd starts it."""
    times = []
    for _ in range(count):
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", page.port))
        listening.listen(16)

        client = socket.create_connection(("127.0.0.1", page.port))
        request = f"GET / HTTP/1.1\r\nHost: {page.name}\r\nCookie: {page.cookie}\r\n\r\n"
        client.sendall(request.encode())
        number = listening.fileno()
        script = f'LISTEN_PID=$$ LISTEN_FDS=1 exec "{Path(PHOTOSPOOL).parent}/photospool-web" 3<&{number}'
        client.settimeout(30)
        begin = time.monotonic()
        process = subprocess.Popen(["/bin/bash", "-c", script], env=page.environment, pass_fds=[number],
                                   stderr=subprocess.DEVNULL)
        answer = client.recv(12)
        assert answer == b"HTTP/1.1 200", f"the page answers {answer}"
        times.append((time.monotonic() - begin) * 1000)
        process.kill()
        process.wait()
        client.close()
        listening.close()
    return times


def fetch(port, request, size, seconds, results):
    """How many answers of `size` bytes one connection takes."""
    connection = socket.create_connection(("127.0.0.1", port))
    buffer, count, end = bytearray(1 << 20), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        connection.sendall(request)
        left = size
        while left > 0:
            left -= connection.recv_into(buffer, min(len(buffer), left))
        count += 1
    results.put(count / seconds)


def photos_out(page, path, clients=4, seconds=SECONDS):
    """Answers a second over several connections, and bytes of a photo."""
    request = f"GET {path} HTTP/1.1\r\nHost: {page.name}\r\nCookie: {page.cookie}\r\n\r\n".encode()
    connection = socket.create_connection(("127.0.0.1", page.port))
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(1 << 16)
    head = answer.index(b"\r\n\r\n") + 4
    length = int(re.search(rb"(?i)content-length: (\d+)", answer)[1])
    results = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=fetch, args=(page.port, request, head + length, seconds, results))
               for _ in range(clients)]
    for worker in workers:
        worker.start()
    total = sum(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    return total, length


def peak_memory(page):
    """The most memory that was resident, in MB."""
    status = Path(f"/proc/{page.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) * 1.024 / 1000


def put(page, count=9):
    """MB/s of photos by PUT into a draft."""
    connection, begin = page.connection(), time.monotonic()
    for number in range(count):
        answer = page.ask("PUT", f"/draft/new/photo?name=uploads&file={number}.jpg", PIECE, connection)
        assert answer.status == 201, answer.bytes
    return count * len(PIECE) / 1e6 / (time.monotonic() - begin)


def multipart(page, count=10):
    """MB/s of photos in one form."""
    body = b"".join(
        f'--b\r\nContent-Disposition: form-data; name="photo"; filename="{number}.jpg"\r\n\r\n'.encode() + PIECE + b"\r\n"
        for number in range(count))
    body += f'--b\r\nContent-Disposition: form-data; name="id"\r\n\r\n{secrets.token_hex(8)}\r\n--b--\r\n'.encode()
    begin = time.monotonic()
    answer = page.ask("POST", "/conversation?name=forms", body, Content_Type="multipart/form-data; boundary=b")
    assert answer.status == 303, answer.status
    return len(body) / 1e6 / (time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=10_000, help="of the long conversation")
    parser.add_argument("--requests", type=int, default=300, help="for each first byte")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="photospool-web."))
    spool, daemon, page, rows = scratch / "spool", None, None, []
    try:
        daemon = fill(spool, options.conversations, options.messages)
        page = Page(spool)
        time.sleep(idle.PAUSE)
        resident = idle.memory(page.process.pid)
        rows.append(("resident, idle, MB", f"{resident['resident'] * 1.048576:.1f}", "25"))
        rows.append(("wake-ups a second, idle", f"{idle.wakeups(page.process.pid, 20) / 60:.1f}", "6"))
        for name, path in [("first byte of /", "/"), ("first byte of a long conversation", "/conversation?name=long")]:
            page.first_bytes(path, 20)
            begin = measure.processor_seconds(page.process.pid)
            times = page.first_bytes(path, options.requests)
            spent = (measure.processor_seconds(page.process.pid) - begin) / options.requests * 1000
            rows.append((f"{name}, ms: p50, p99",
                         f"{measure.percentile(times, 0.5):.1f}, {measure.percentile(times, 0.99):.1f}", "p99 20"))
            rows.append((f"{name}, processor time, ms", f"{spent:.1f}", ""))
        text = page.ask("GET", "/").bytes
        sheet = re.search(rb'"(/static/[^"]*\.css)"', text)[1].decode()
        rows.append(("weight of /, and of the style sheet, kB",
                     f"{len(text) / 1000:.1f}, {len(page.ask('GET', sheet).bytes) / 1000:.1f}", "40, 16"))
        photo = re.search(rb"/photo/([0-9a-z]+)/", page.ask("GET", "/conversation?name=photos").bytes)[1].decode()
        begin = measure.processor_seconds(page.process.pid)
        rate, size = photos_out(page, f"/photo/{photo}/original")
        spent = (measure.processor_seconds(page.process.pid) - begin) / (rate * SECONDS) * 1000
        rows.append((f"photos out a second, of {size / 1000:.0f} kB", f"{rate:.0f}", "3000 of 300 kB"))
        rows.append(("a photo out, processor time, ms", f"{spent:.2f}", ""))
        measure.end(daemon)
        for name, upload, goal in [("PUT", put, "200, 4"), ("a form", multipart, "80, 4")]:
            # The peak begins anew at what is resident now.
            Path(f"/proc/{page.process.pid}/clear_refs").write_text("5")
            before, rate = peak_memory(page), upload(page)
            rows.append((f"upload by {name}, MB/s, and what it adds to the most memory, MB",
                         f"{rate:.0f}, {peak_memory(page) - before:.1f}", goal))
        page.stop()
        times = cold(spool, page)
        rows.append(("process to first answer, ms", measure.spread(times, 0), "150"))
        page = None
    finally:
        measure.end(daemon, page and page.process)
        shutil.rmtree(scratch, ignore_errors=True)
    measure.show_goals("web", rows)


if __name__ == "__main__":
    main()
