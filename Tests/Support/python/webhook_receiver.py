"""A receiver of Standard Webhooks, which verifies what it gets with the standardwebhooks library. Usage:
webhook_receiver.py DIRECTORY SECRET

`GET /` tells what it got so far: one object of JSON for each request, with the library's word on it and the body."""

import json
import sys
import threading

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

import fault_server
import leash

SECRET, GOT, LOCK = sys.argv[2], [], threading.Lock()


class Receiver(fault_server.Connection):
    def one(self, method, target, headers, count):
        headers = {name.lower(): value for name, value in headers}
        body = self.body(int(headers.get("content-length", 0)))
        if method == "GET":
            with LOCK:
                self.answer(200, json.dumps(GOT).encode())
            return True
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
        self.answer(204 if verdict == "verified" else 401)
        return True


leash.hold({"endpoint": fault_server.listen(Receiver)})
