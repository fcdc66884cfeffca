"""A receiver of Standard Webhooks on loopback, which verifies what it gets with the standardwebhooks library. Usage:
webhook_receiver.py DIRECTORY SECRET

`GET /` tells what it got so far: one object of JSON for each request, with the library's word on it and the body."""

import http.server
import json
import os
import sys
import threading

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

SECRET, GOT, LOCK = sys.argv[2], [], threading.Lock()


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        with LOCK:
            self.answer(200, json.dumps(GOT).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            Webhook(SECRET).verify(body, headers)
            verdict = "verified"
        except WebhookVerificationError as error:
            verdict = str(error)
        with LOCK:
            GOT.append({
                "verdict": verdict, "id": headers["webhook-id"], "timestamp": headers["webhook-timestamp"],
                "signature": headers["webhook-signature"], "contentType": headers["content-type"],
                "body": body.decode()})
        self.answer(204 if verdict == "verified" else 401, b"")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"endpoint": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
# Until the test is done with it, however it ends.
while os.read(0, 4096):
    pass
