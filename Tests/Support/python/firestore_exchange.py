"""A recorded exchange with Google's emulator of Firestore. Usage: firestore_exchange.py DIRECTORY FILE replay|live|record

`replay` takes the recorded requests, in order and no others, and gives the recorded answers. `live` passes all on to the
emulator and compares its answers with the recorded ones, but for times. `record` passes all on and writes the file.
`GET /-` tells what was otherwise than recorded, and how much of the record is left."""

import json
import os
import sys
import threading
import urllib.error
import urllib.request

import fault_server
import firestore_emulator
import leash

DIRECTORY, FILE, MODE = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
TIMES = {"updateTime", "commitTime", "createTime", "readTime", "timestampValue"}
OTHERWISE, LOCK = [], threading.Lock()
RECORD = []
if MODE != "record":
    with open(FILE) as record:
        RECORD = [json.loads(line) for line in record]


def timeless(value):
    if isinstance(value, dict):
        return {name: "a time" if name in TIMES else timeless(member) for name, member in value.items()}
    return [timeless(element) for element in value] if isinstance(value, list) else value


def forward(method, target, headers, body):
    request = urllib.request.Request(
        EMULATOR + target, body if method == "POST" else None,
        {name: headers[name] for name in ("authorization", "content-type") if name in headers}, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class Exchange(fault_server.Connection):
    def one(self, method, target, headers, count):
        headers = {name.lower(): value for name, value in headers}
        body = self.body(int(headers.get("content-length", 0)))
        with LOCK:
            if target == "/-":
                self.answer(200, json.dumps({"otherwise": OTHERWISE, "left": len(RECORD)}).encode())
                return True
            asked = {"method": method, "target": target, "body": json.loads(body) if body else None}
            if MODE == "record":
                status, answer = forward(method, target, headers, body)
                with open(FILE, "a") as record:
                    print(json.dumps({**asked, "status": status, "answer": answer}), file=record)
                self.answer(status, json.dumps(answer).encode())
                return True
            known = RECORD.pop(0) if RECORD else {}
            for name, value in asked.items():
                if known.get(name) != value:
                    OTHERWISE.append(f"{name}: {json.dumps(value)}")
            status, answer = known.get("status", 500), known.get("answer", {})
            if MODE == "live":
                status, answer = forward(method, target, headers, body)
                if (status, timeless(answer)) != (known.get("status"), timeless(known.get("answer"))):
                    OTHERWISE.append(f"answer: {status} {json.dumps(answer)}")
            self.answer(status, json.dumps(answer).encode())
        return True


if MODE != "replay":
    EMULATOR = f"http://{leash.ADDRESS}:{firestore_emulator.start(DIRECTORY)}"
leash.serve({"endpoint": fault_server.listen(Exchange)})
