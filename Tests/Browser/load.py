"""Clients that want to bring the page down. Its memory stays small, and others are served."""

import os
import random
import resource
import select
import socket
import struct

from clock import Clock
from photographs import photograph
from stage import until

# 64 MB, less what the program itself takes of that in a release. In a debug build that is more.
LIMIT = (64 - 20) * 1_000_000
BOUNDARY = "x" * 20


def test_slow_headers_hold_nobody_up(stage):
    """200 clients that send a byte of their header now and then do not keep others from being served."""
    client, head = started(stage)
    slow = [opened(client, head[: 20 + number % 40]) for number in range(200)]
    for number in range(5):
        for one in slow:
            trickle(one)
        served(stage, client)
    closed(slow)


def test_slow_bodies_hold_nobody_up(stage):
    """200 forms of which only a part comes do not keep others from being served, and leave no file behind."""
    client, _ = started(stage)
    start = post(client, "/conversation?name=family", f"multipart/form-data; boundary={BOUNDARY}", 5_000_000)
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photo"; filename="slow.jpg"\r\n\r\n'.encode()
    slow = [opened(client, start + part + bytes(100 * number)) for number in range(200)]
    for number in range(5):
        for one in slow:
            trickle(one)
        served(stage, client)
    closed(slow)
    until(lambda: not [path for path in (stage.spool / "tmp").iterdir() if path.name != ".order"], "nothing is left")
    assert not stage.failed() and not [path for path in (stage.spool / "new").iterdir() if path.is_dir()]


def test_1000_connections_are_survived(stage):
    """1,000 connections that never finish their header do not keep others from being served, also not when they end."""
    client, head = started(stage)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    many = [opened(client, head[:10]) for _ in range(1000)]
    for end in [lambda: None, lambda: closed(many)]:
        end()
        until(lambda: client.is_up() or stage.web.poll() is not None, "others are served")
        assert stage.web.poll() is None, f"the page ended: {stage.web.poll()}"
        served(stage, client)


def test_an_upload_that_is_cut_off_is_none(stage):
    """A photo, a form or a text whose connection ends before its last byte leaves nothing, whatever way it ends, and is no error
    in the log."""
    client, _ = started(stage)
    multipart = f"multipart/form-data; boundary={BOUNDARY}"
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photo"; filename="cut.jpg"\r\n\r\n'.encode()
    for method, path, kind, begin in [
        ("PUT", "/draft/new/photo?name=family&file=cut.jpg", "image/jpeg", bytes(50_000)),
        ("PUT", "/draft/new/text?name=family", "text/plain", b"half a text"),
        ("POST", "/conversation?name=family", multipart, part + bytes(50_000)),
        ("POST", "/conversation/prefs?name=family", "application/x-www-form-urlencoded", b"auto-reveal=on"),
    ]:
        for end in ["close", "half", "reset"]:
            head = post(client, path, kind, 100_000).replace(b"POST", method.encode(), 1)
            with opened(client, head + begin) as one:
                if end == "half":
                    one.shutdown(socket.SHUT_WR)
                    one.makefile("rb").read()
                elif end == "reset":
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until(lambda: not [path for path in (stage.spool / "tmp").iterdir() if path.name != ".order"], "nothing is left")
    served(stage, client)
    assert not list((stage.spool / "draft").iterdir()) and "auto-reveal: on" not in stage.run("prefs", "family")
    assert not stage.waiting() and not stage.failed() and "level=error" not in stage.text("web.err"), stage.text("web.err")


def test_an_upload_that_stalls_is_ended(stage):
    """A photo or a form of which no byte has come for 30 s is ended, and leaves nothing. One of which a byte comes now and then
    goes on."""
    clock = Clock(stage, "CLOCK_MONOTONIC_OFFSET")
    stage.start_daemon()
    client = stage.client(stage.start_page())
    photo = photograph(stage.directory, "1.jpg", 900, 600).read_bytes()
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="photo"; filename="slow.jpg"\r\n\r\n'.encode()
    form = post(client, "/conversation?name=family", f"multipart/form-data; boundary={BOUNDARY}", 5_000_000)
    put = post(client, "/draft/new/photo?name=family&file=1.jpg", "image/jpeg", len(photo)).replace(b"POST", b"PUT", 1)
    stalled = [opened(client, put + photo[:1000]), opened(client, form + part + photo[:1000])]
    slow = opened(client, put + photo[:2000])

    def sizes():
        try:
            return sorted(path.stat().st_size for path in (stage.spool / "tmp").glob(".web-*"))
        except FileNotFoundError:
            return None

    until(lambda: sizes() == [1000, 2000], "both photos have begun")
    clock.set(20)
    slow.sendall(photo[2000:2010])
    until(lambda: sizes() == [1000, 2010], "a byte has come")
    assert not ended(stalled)
    clock.set(32)
    until(lambda: client.is_up() and ended(stalled) == stalled, "those that stall are ended")
    until(lambda: sizes() == [2010], "nothing is left of them")
    slow.sendall(photo[2010:])
    assert slow.recv(4096).startswith(b"HTTP/1.1 201 ")
    closed([*stalled, slow])
    assert len(list((stage.spool / "draft").iterdir())) == 1 and not stage.published("family") and not stage.failed()


def test_streams_of_events_are_limited(stage):
    """The sixty-fifth stream of events is refused with a sentence. When one ends, there is room for another."""
    client, head = started(stage)
    streams = [opened(client, head.replace(b"GET /", b"GET /events?view=list", 1)) for _ in range(64)]
    assert all(stream.recv(4096).startswith(b"HTTP/1.1 200 ") for stream in streams)
    refused = client.get("/events?view=list")
    assert refused.status == 429 and "Close some" in refused.text, f"{refused.status} {refused.text}"
    served(stage, client)
    streams.pop().close()
    until(lambda: client.get("/events?view=list").status == 200, "there is room again")
    closed(streams)


def test_100_mb_of_fields_are_refused(stage):
    """100 MB of fields, in one field or in many, in a form of either kind, are refused and not kept in memory."""
    client, _ = started(stage)
    field = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n'
    multipart = f"multipart/form-data; boundary={BOUNDARY}"
    chunk = b"y" * 65_536
    many = "".join(field % number + "y" * 4000 + "\r\n" for number in range(16)).encode()
    plain = "application/x-www-form-urlencoded"
    for path, content_type, begin, more in [
        ("/conversation?name=family", multipart, (field % 0).encode(), chunk),
        ("/conversation?name=family", multipart, b"", many),
        ("/conversation?name=family", multipart, b"", chunk),
        ("/conversation?name=family", multipart, f"--{BOUNDARY}\r\n".encode(), chunk),
        ("/conversation?name=family", multipart, (field % 0).encode().replace(b'"f0"', b'"text"'), chunk),
        ("/conversation/prefs?name=family", plain, b"fetch=", chunk),
        ("/conversation/prefs?name=family", plain, b"", b"a=b&" * 9999),
        ("/login/x", plain, b"", chunk), ("/logout", plain, b"", chunk), ("/photo/x/reveal", plain, b"", chunk),
    ]:
        status = flood(client, path, content_type, begin, more, 100_000_000)
        assert status is None or status < 500, f"{path}: {status}"
        assert stage.memory() < LIMIT, f"{path} {begin[:30]}: {stage.memory()} bytes"
        if client.get("/").status == 401:
            client.log_in(stage.link())
    served(stage, client)
    assert not stage.failed() and not stage.waiting()


def test_a_form_of_many_parts_is_refused(stage):
    """Fields of different names, each small, are not collected; and a giant number of requests is no number."""
    client, _ = started(stage)
    many = {f"field{number}": "y" * 100 for number in range(1000)}
    assert client.send("family", "hello", **many).status == 413
    for count in (9223372036854775807, 10**30, 0, -1):
        assert client.post("/queue/retry", f"count={count}").status == 400, count
    assert not stage.waiting() and stage.web.poll() is None


def test_photos_are_taken_in_little_memory(stage):
    """Forms with ten photos of 10 MB each need no memory for them."""
    client, _ = started(stage)
    photo = photograph(stage.directory, "1.jpg", 900, 600).read_bytes()
    photo += bytes(9_990_000 - len(photo))
    stage.stop_daemon()
    for number in range(2):
        assert client.send("family", f"{number}", photos=[("large.jpg", photo)] * 10).status == 303
    assert stage.memory() < LIMIT, stage.memory()


def test_broken_forms_are_refused(stage):
    """Forms that are cut off, mutated or nonsense are answered with 4xx or sent as what they are. None breaks the page."""
    client, _ = started(stage)
    stage.stop_daemon()
    chosen, delimiter = random.Random(35), f"\r\n--{BOUNDARY}".encode()
    good, content_type = b"", f"multipart/form-data; boundary={BOUNDARY}"
    for name, value in [("id", "the-same-key"), ("text", "fine"), ('photo"; filename="1.jpg', "no photo")]:
        good += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    good += f"--{BOUNDARY}--\r\n".encode()
    for number in range(600):
        body = bytearray(good)
        for _ in range(chosen.randrange(1, 6)):
            place = chosen.randrange(len(body))
            match chosen.randrange(4):
                case 0: body[place] = chosen.randrange(256)
                case 1: del body[place:place + chosen.randrange(1, 40)]
                case 2: body[place:place] = good[chosen.randrange(len(good)):][:60]
                case 3: body[place:place] = chosen.choice([b"\r\n", b'"', b";", b"\0", b"--", delimiter])
            if not body:
                body = bytearray(b"-")
        status = client.post("/conversation?name=family", bytes(body), Content_Type=content_type).status
        assert status in (303, 400, 409, 413, 422), f"{number} {status}: {bytes(body)}"
    for wrong in ["", "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=" + "x" * 71,
                  "multipart/mixed; boundary=x", "text/plain", "application/x-www-form-urlencoded"]:
        assert client.post("/conversation?name=family", good, Content_Type=wrong).status in (400, 415), wrong
    assert client.post("/conversation?name=family", b"", Content_Type=content_type).status == 400
    assert stage.memory() < LIMIT and stage.web.poll() is None


def test_hostile_requests_are_survived(stage):
    """Requests that are no HTTP, or too large, end their own connection and no other."""
    client, head = started(stage)
    host = f"Host: {client.address}\r\n".encode()
    for request in [
        os.urandom(5000), b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000,
        b"GET / HTTP/1.1\r\nA: " + b"x" * 1_000_000, b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 10_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST / HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /logout HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        b"GET /%00%ff%fe?name=%ff%c0%80&name=%00 HTTP/1.1\r\n" + host + b"\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\n" + host + b"\r\n",
        b"GET /static/../../../etc/passwd HTTP/1.1\r\n" + host + b"\r\n", b"OPTIONS * HTTP/1.1\r\n" + host + b"\r\n",
        b"CONNECT evil.example:80 HTTP/1.1\r\n" + host + b"\r\n", b"TRACE / HTTP/1.1\r\n" + host + b"\r\n",
    ]:
        answer = said(client, request)
        assert b"root:" not in answer and not answer.startswith(b"HTTP/1.1 5"), f"{request[:60]}: {answer[:200]}"
        assert stage.memory() < LIMIT
    served(stage, client)


def started(stage):
    """A page with a daemon. Returns a client with a session, and the bytes of a good request."""
    stage.start_daemon()
    client = stage.client(stage.start_page())
    return client, f"GET / HTTP/1.1\r\nHost: {client.address}\r\nCookie: {client.cookie}\r\n\r\n".encode()


def served(stage, client):
    """Others are served, and the page's process has little memory."""
    answer = client.get("/")
    assert answer.status == 200, answer.status
    assert stage.memory() < LIMIT, stage.memory()


def opened(client, first):
    one = socket.create_connection(("127.0.0.1", client.port), timeout=15)
    one.sendall(first)
    return one


def ended(connections):
    """Those that the page has closed."""
    return [one for one in connections if select.select([one], [], [], 0)[0] and not one.recv(4096, socket.MSG_PEEK)]


def trickle(one):
    try:
        one.sendall(b"x")
    except OSError:
        pass


def closed(connections):
    for one in connections:
        one.close()


def post(client, path, content_type, length):
    return (f"POST {path} HTTP/1.1\r\nHost: {client.address}\r\nOrigin: http://{client.address}\r\n"
            f"Cookie: {client.cookie}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n").encode()


def flood(client, path, content_type, begin, more, length):
    """Sends so many bytes, until the page has enough. Returns the status; None if the connection was closed."""
    with opened(client, post(client, path, content_type, length) + begin) as one:
        sent = len(begin)
        try:
            while sent < length:
                sent += one.send(more[: length - sent])
        except OSError:
            pass
        try:
            answer = one.recv(4096)
        except OSError:
            return None
    return int(answer.split(b" ", 2)[1]) if answer else None


def said(client, request):
    """The answer to these bytes, if there is one before the connection ends."""
    with opened(client, b"") as one:
        try:
            one.sendall(request)
            one.shutdown(socket.SHUT_WR)
            return one.makefile("rb").read()
        except OSError:
            return b""
