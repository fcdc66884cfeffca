"""A server that misbehaves as it is told, by the first word of the path, or for the next requests by `PUT /-/script`
with a JSON list of such words. `GET /-/log` tells what was asked: one object of JSON a request.

    echo               200 and the request's own log entry
    status/CODE        that status and no body; `?retry-after=TEXT` adds the header, as does `?etag=TEXT`, `?s3=Code` an S3 error's body
    html/CODE          that status and a page for people
    redirect           307 to /echo
    stall              takes the request and never answers
    deaf               never even reads the body
    early              403 before the body is read, then the end
    half               promises 1000 bytes, sends 10, and goes silent
    close              closes without a word
    reset              resets the connection after the first bytes of the body
    reset-reply        200, then resets the connection in the middle of the answer
    garbage            something that is no HTTP
    huge               200 and a body without end
    drip               200 and a body that comes a byte at a time, without end
    headers            200 and headers without end
    json               200 and the text of `?text=`; `json/CODE` with that status; `&retry-after=TEXT` adds the header,
                       `&pad=COUNT` puts so many letters in the place of the word PADDING
    once-then/WORD     the answer of WORD on every connection but each one's first request, which is answered as `echo`
"""

import hashlib
import json
import shutil
import socket
import struct
import sys
import threading
from urllib.parse import parse_qs

import leash

LOG, SCRIPT, LOCK = [], [], threading.Lock()
CONNECTIONS = [0]


class Connection:
    def __init__(self, socket_):
        self.socket, self.buffer = socket_, b""
        with LOCK:
            CONNECTIONS[0] += 1
            self.number = CONNECTIONS[0]

    def fill(self):
        piece = self.socket.recv(65536)
        self.buffer += piece
        return bool(piece)

    def head(self):
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                return None
            if self.buffer.startswith(b"\x16\x03"):
                self.socket.sendall(b"HTTP/1.1 400 This is no TLS\r\n\r\n")
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [[name, value.strip()] for name, value in (line.split(":", 1) for line in lines)]
        return method, target, headers

    def body(self, length):
        pieces, missing = [self.buffer[:length]], length - len(self.buffer)
        self.buffer = self.buffer[length:]
        while missing > 0:
            piece = self.socket.recv(65536)
            if not piece:
                return None
            pieces.append(piece[:missing])
            self.buffer = piece[missing:]
            missing -= len(piece)
        return b"".join(pieces)

    def answer(self, status, body=b"", headers=()):
        lines = [f"HTTP/1.1 {status} Told", f"Content-Length: {len(body)}"] + [f"{n}: {v}" for n, v in headers]
        self.socket.sendall("\r\n".join(lines + ["", ""]).encode() + body)

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def wait_for_the_end(self):
        while self.socket.recv(65536):
            pass

    def serve(self):
        requests = 0
        try:
            while (head := self.head()) is not None:
                requests += 1
                if not self.one(*head, requests):
                    break
        except OSError:
            pass
        finally:
            self.socket.close()

    def one(self, method, target, headers, count):
        path, _, query = target.partition("?")
        # A proxy is asked for a whole URL.
        words = path.removeprefix("http://").partition("/")[2].split("/")
        query = {name: values[0] for name, values in parse_qs(query).items()}
        length = int(dict((n.lower(), v) for n, v in headers).get("content-length", 0))
        if words[0] == "-":
            body = self.body(length)
            with LOCK:
                if words[1] == "script":
                    SCRIPT.extend(json.loads(body))
                self.answer(200, json.dumps(LOG).encode() if words[1] == "log" else b"")
            return True
        scripted = self.scripted(words[0])
        if scripted:
            scripted, _, text = scripted.partition("?")
            words = scripted.split("/")
            query = {name: values[0] for name, values in parse_qs(text).items()}
        if words[0] == "once-then":
            words = words[1:] if count > 1 else ["echo"]
        entry = {"method": method, "target": target, "headers": headers, "connection": self.number}
        with LOCK:
            LOG.append(entry)
        if words[0] == "deaf":
            threading.Event().wait()
        if words[0] == "early":
            self.answer(403, b"no", [("Connection", "close")])
            self.socket.shutdown(socket.SHUT_WR)
            self.wait_for_the_end()
            return False
        if words[0] == "reset":
            self.body(min(length, 1000))
            self.reset()
            return False
        body = self.body(length)
        if body is None:
            return False
        entry["bytes"], entry["sha256"] = len(body), hashlib.sha256(body).hexdigest()
        return self.reply(words, query, entry, body)

    def scripted(self, place):
        """The scripted answer to the next request, whatever it asks; None if the request itself decides."""
        with LOCK:
            return SCRIPT.pop(0) if SCRIPT else None

    def reply(self, words, query, entry, body):
        hint = [("Retry-After", query["retry-after"])] if "retry-after" in query else []
        hint += [("ETag", query["etag"])] if "etag" in query else []
        if words[0] == "echo":
            self.answer(200, json.dumps(entry).encode())
        elif words[0] == "status":
            text = b""
            if "s3" in query:
                text = (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{query["s3"]}</Code>'
                        f'<Message>SECRET told in a message</Message><Region>elsewhere-1</Region></Error>').encode()
            self.answer(int(words[1]), b"" if entry["method"] == "HEAD" else text, hint)
        elif words[0] == "html":
            page = b"<!DOCTYPE html><html><body><Code>503</Code>Please sign in</body></html>"
            self.answer(int(words[1]), page, [("Content-Type", "text/html")])
        elif words[0] == "redirect":
            self.answer(307, b"", [("Location", "/echo")])
        elif words[0] == "json":
            text = query.get("text", "").replace("PADDING", "x" * int(query.get("pad", 0)))
            self.answer(int((words + [200])[1]), text.encode(), hint)
        elif words[0] == "stall":
            self.wait_for_the_end()
        elif words[0] == "half":
            self.socket.sendall(b"HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 1000\r\n\r\n0123456789")
            self.wait_for_the_end()
        elif words[0] == "reset-reply":
            self.socket.sendall(b"HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 1000\r\n\r\n0123456789")
            self.reset()
            return False
        elif words[0] == "garbage":
            self.socket.sendall(b"SSH-2.0-nothing\r\n")
            return False
        elif words[0] == "huge":
            self.socket.sendall(b"HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 10000000000\r\n\r\n")
            while True:
                self.socket.sendall(bytes(1 << 16))
        elif words[0] == "drip":
            self.socket.sendall(b"HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 1000000\r\n\r\n")
            while True:
                self.socket.sendall(b" ")
                threading.Event().wait(0.1)
        elif words[0] == "headers":
            self.socket.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                self.socket.sendall(b"X-More: " + b"m" * 1000 + b"\r\n")
        elif words[0] == "close":
            return False
        else:
            self.answer(404)
        return True


def listen(kind=Connection):
    """Serves connections of that kind on a port of its own; the server's URL."""
    listener = socket.create_server((leash.ADDRESS, 0), backlog=128)

    def accept():
        while True:
            connection = kind(listener.accept()[0])
            threading.Thread(target=connection.serve, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"http://{leash.ADDRESS}:{listener.getsockname()[1]}"


def main():
    leash.hold({"endpoint": listen()})
    for directory in sys.argv[1:]:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
