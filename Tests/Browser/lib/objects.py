"""Keeps objects as a homeserver does, and counts what was asked for."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ObjectServer:
    def __init__(self):
        objects, asked = {}, []

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

        self.objects, self.asked = objects, asked
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def keep(self, body):
        """The address of these bytes."""
        path = "/" + hashlib.sha256(body).hexdigest()
        self.objects[path] = body
        return self.endpoint + path

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
