"""The recording network: a webhook at /hook, a store with upload URLs at /upload, and an S3 service's bucket at
/objects. Each accepted request is synced to DIRECTORY/journal.jsonl before the answer. Usage: network.py DIRECTORY SEED

Each line on standard input is one order, answered with one line of JSON:

    faults RATE    of so many requests (0 to 1) one goes wrong in a way that chance chooses; answers how many did so far
    lie WORD       from now on: forget (says 200 and keeps nothing), repeat (knows no idempotency key), lose (acts and
                   resets), swap (keeps every second message before the one that came ahead of it), nothing
"""

import functools
import json
import os
import pathlib
import random
import sys
import threading
import time
from urllib.parse import parse_qs

import journal

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support/python"))

import fault_server

# After a broken connection the daemon pauses the destination, so most faults are answers.
FAULTS = ("500", "503", "429", "408", "425") * 6 + ("hang-up", "half", "late") + ("lost",) * 4


class Network:
    def __init__(self, directory, seed):
        self.objects = f"{directory}/objects"
        os.makedirs(self.objects, exist_ok=True)
        self.journal = journal.Journal(f"{directory}/journal.jsonl")
        self.lock, self.seen = threading.Lock(), set()
        self.random, self.rate, self.injected = random.Random(seed), 0.0, 0
        self.lie, self.kept_back = "nothing", None

    def fault(self):
        """The fault of the next request; mostly None."""
        with self.lock:
            if self.random.random() >= self.rate:
                return None
            self.injected += 1
            return self.random.choice(FAULTS)

    def publish(self, message, data):
        with self.lock:
            attachment = data.get("attachment") or {}
            entry = {
                "time": time.time(), "message": message, "isEffective": message not in self.seen, "kind": data["kind"],
                "request": data["request"], "conversation": data["conversation"], "inbox": data["inbox"],
                "text": data.get("text"), "digest": attachment.get("contentDigest"), "width": attachment.get("width")}
            if self.lie == "forget":
                return
            if self.lie == "repeat":
                entry["isEffective"] = True
            self.seen.add(message)
            if self.lie == "swap" and self.kept_back is None:
                self.kept_back = entry
                return
            self.journal.write(entry)
            if self.kept_back:
                self.journal.write(self.kept_back)
                self.kept_back = None

    def keep(self, name, body):
        """An object under a name that is free, as `If-None-Match: *` has it."""
        try:
            with open(f"{self.objects}/{name}", "xb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            return 200
        except FileExistsError:
            return 412

    def act(self, method, target, headers, body):
        path, _, query = target.partition("?")
        name = os.path.basename(path)
        if path == "/hook":
            self.publish(headers["webhook-id"], json.loads(body)["data"])
            return 200, b"{}"
        if path == "/upload":
            name = parse_qs(query)["filename"][0]
            url = f"http://{headers['host']}/objects/{name}"
            return 200, json.dumps({"objectKey": name, "uploadUrl": url, "assetUrl": url}).encode()
        if method == "PUT":
            return self.keep(name, body), b""
        if method == "DELETE":
            try:
                os.unlink(f"{self.objects}/{name}")
            except FileNotFoundError:
                pass
            return 204, b""
        return 404, b""


class Connection(fault_server.Connection):
    def __init__(self, network, connection):
        super().__init__(connection)
        self.network = network

    def one(self, method, target, headers, _):
        headers = {name.lower(): value for name, value in headers}
        fault = self.network.fault()
        if fault == "half":
            self.reset()
            return False
        if headers.get("expect") == "100-continue":
            self.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.body(int(headers.get("content-length", 0)))
        if body is None or fault == "hang-up":
            return False
        if fault and fault.isdigit():
            self.answer(int(fault), headers=[("Retry-After", "0")] if fault == "429" else [])
            return True
        status, answer = self.network.act(method, target, headers, body)
        if fault == "lost" or self.network.lie == "lose":
            self.reset()
            return False
        if fault == "late":
            # Longer than others, so that answers come in another order than requests.
            time.sleep(0.3)
        self.answer(status, answer, [("ETag", '"e"')])
        return True


def main():
    network = Network(*sys.argv[1:])
    print(json.dumps({"endpoint": fault_server.listen(functools.partial(Connection, network))}), flush=True)
    for line in sys.stdin:
        order, word = line.split()
        if order == "faults":
            network.rate = float(word)
        elif order == "lie":
            network.lie = word
        print(json.dumps({"faults": network.injected}), flush=True)


if __name__ == "__main__":
    main()
