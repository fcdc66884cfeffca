"""Gives the files of a directory away, as the first words of the path say. Usage: object_server.py DIRECTORY

    plain/NAME          with an entity tag; parts of it where they are asked for
    untagged/NAME       without a tag; always all of it
    cut/N/NAME          closes the connection after N bytes, unless it is asked for a part
    changed/N/NAME      the same, and has another object under another tag when it is asked for a part
    wrong-part/N/NAME   the same, and gives the first bytes when it is asked for a part
    after/N/NAME        404 for the first N requests
    status/CODE         that status with a page; `?retry-after=TEXT` adds the header
    endless/CODE        that status and a body without end
    claims/N            promises N bytes and begins to send them
    short/NAME          promises more than it sends
    drip/NAME           a byte a second
    packed              a gzip that would become 1 GB, called so
    redirect/N/PATH     N redirects, then PATH
    to                  a redirect to `?url=`
    loop                a redirect to itself
    _matrix/…/NAME      as a homeserver that knows one token; NAME may be `to-loopback`, or `elsewhere-` and a name, which
                        are redirects

GET /-/log tells what was asked, as a JSON list; /-/forget begins a new one.
"""

import gzip
import hashlib
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import leash

directory, log, seen, lock = sys.argv[1], [], {}, threading.Lock()
bomb = gzip.compress(bytes(1 << 24), 9) * 64


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, length, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def all(self, status, body, **headers):
        self.head(status, len(body), **headers)
        self.wfile.write(body)

    def object(self, name):
        with open(os.path.join(directory, name), "rb") as file:
            return file.read()

    def part(self, body, tag, start=None):
        """All of it, or the part that is asked for."""
        asked = self.headers.get("Range", "")
        if not asked.startswith("bytes=") or self.headers.get("If-Range", tag) != tag:
            return self.all(200, body, ETag=tag)
        first = int(asked[6:].rstrip("-"))
        if first >= len(body):
            return self.all(416, b"")
        first = first if start is None else start
        self.all(206, body[first:], ETag=tag, Content_Range=f"bytes {first}-{len(body) - 1}/{len(body)}")

    def do_GET(self):
        url = urlparse(self.path)
        words = url.path.strip("/").split("/")
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if words[0] == "-":
            with lock:
                body = json.dumps(log).encode()
                if words[1] == "forget":
                    log.clear()
            return self.all(200, body)
        with lock:
            log.append({"path": self.path, "headers": dict(self.headers.items())})
            seen[self.path] = count = seen.get(self.path, 0) + 1
        try:
            self.answer(words, query, count)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self, words, query, count):
        tag = '"%s"' % hashlib.sha256(words[-1].encode()).hexdigest()[:16]
        match words:
            case ["plain", name]:
                self.part(self.object(name), tag)
            case ["untagged", name]:
                self.all(200, self.object(name))
            case ["cut", n, name] | ["changed", n, name] | ["wrong-part", n, name]:
                body = self.object(name)
                if "Range" not in self.headers:
                    self.head(200, len(body), ETag=tag)
                    self.wfile.write(body[: int(n)])
                    self.close_connection = True
                elif words[0] == "changed":
                    self.all(200, body, ETag='"another"')
                else:
                    self.part(body, tag, 0 if words[0] == "wrong-part" else None)
            case ["odd-tag", n, name]:
                self.head(200, len(self.object(name)), ETag='"a\x01\x7f\xe9b"')
                self.wfile.write(self.object(name)[: int(n) if count == 1 else None])
                self.close_connection = True
            case ["after", n, name]:
                if count <= int(n):
                    self.all(404, b"not yet")
                else:
                    self.part(self.object(name), tag)
            case ["status", code]:
                hint = {"Retry_After": query["retry-after"]} if "retry-after" in query else {}
                self.all(int(code), b"<html>told</html>", **hint)
            case ["endless", code]:
                self.send_response(int(code))
                self.end_headers()
                while True:
                    self.wfile.write(bytes(1 << 16))
            case ["claims", n]:
                self.head(200, int(n))
                for _ in range(1000):
                    self.wfile.write(bytes(1 << 16))
                self.close_connection = True
            case ["short", name]:
                body = self.object(name)
                self.head(200, len(body) + 10)
                self.wfile.write(body)
                self.close_connection = True
            case ["drip", name]:
                body = self.object(name)
                self.head(200, len(body))
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(1)
            case ["packed"]:
                self.all(200, bomb, Content_Encoding="gzip")
            case ["redirect", n, *rest]:
                path = "/".join(rest) if n == "1" else f"redirect/{int(n) - 1}/" + "/".join(rest)
                self.all(302, b"elsewhere", Location="/" + path)
            case ["to"]:
                self.all(307, b"elsewhere", Location=query["url"])
            case ["loop"]:
                self.all(302, b"", Location="/loop")
            case ["_matrix", "client", "v1", "media", "download", _, name]:
                if self.headers.get("Authorization") != "Bearer secret-token":
                    self.all(401, b"{}")
                elif name == "to-loopback":
                    self.all(307, b"", Location="https://127.0.0.1:1/x")
                elif name.startswith("elsewhere-"):
                    self.all(307, b"", Location="/plain/" + name.removeprefix("elsewhere-"))
                else:
                    self.part(self.object(name), tag)
            case _:
                self.all(404, b"")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
leash.hold({"endpoint": f"http://127.0.0.1:{server.server_port}", "directory": directory})
