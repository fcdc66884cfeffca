"""Keeps objects as a homeserver or an S3 service does, and counts what was asked for."""

import hashlib
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ObjectServer:
    def __init__(self, port=0):
        objects, asked, puts, server = {}, [], [], self
        # Bytes a second that it takes; None for as many as come.
        self.rate = None

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                asked.append(self.path)
                body = objects.get(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def do_PUT(self):
                body, length = b"", int(self.headers["Content-Length"])
                while len(body) < length:
                    try:
                        piece = self.rfile.read(min(8192, length - len(body)))
                    except ConnectionError:
                        piece = b""
                    if not piece:
                        return
                    body += piece
                    if server.rate:
                        time.sleep(len(piece) / server.rate)
                objects[self.path] = body
                puts.append(self.path)
                self.answer(200)

            def do_DELETE(self):
                objects.pop(self.path, None)
                self.answer(204)

            def answer(self, status):
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.send_header("x-amz-request-id", "1")
                self.send_header("ETag", '"1"')
                self.end_headers()

        self.objects, self.asked, self.puts = objects, asked, puts
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def slow_down(self, rate):
        """Takes so many bytes a second from now on. Segments and buffers are small, so that a sender notices."""
        self.rate = rate
        self.server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
        self.server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 10)

    def keep(self, body):
        """The address of these bytes."""
        path = "/" + hashlib.sha256(body).hexdigest()
        self.objects[path] = body
        return self.endpoint + path

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
