"""Where a story delivers to: a receiver of Standard Webhooks at /hook and a store with upload URLs at /upload. /slow is
like /hook, but answers only on an order. Each message takes effect once for its id. Each attempt is one JSON object in
DIRECTORY/journal.jsonl, synced before the answer. Usage: sink.py DIRECTORY SECRET

Each line on standard input is one order, answered with one line of JSON:

    script PLACE:WORD... does this with the next requests to `hook` or `store`, as fault_server.py says, or
                             lost    acts, then resets the connection without a word
                             mute    acts, and never answers
    refuse CONVERSATION [WORD]  does this with every request of that conversation from now on, or nothing of the kind any more
    asked CONVERSATION COUNT SECONDS  until so many of its requests have come, or the time is up: {count}
    held COUNT SECONDS   until COUNT requests to /slow wait for their answers, or the time is up: {count}
    let-go               answers all of them, and those that come
    left                 how many words of the scripts are left: {left}
    keep yes|no          whether connections are kept for a next request, as they are at first
    wait COUNT SECONDS   until COUNT messages have taken effect, or the time is up: {count}
"""

import collections
import json
import os
import sys
import threading
import time
from urllib.parse import parse_qs

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

import fault_server

DIRECTORY, SECRET = sys.argv[1:]
OBJECTS = f"{DIRECTORY}/objects"
SEEN, CHANGED = set(), threading.Condition()
REFUSED, ASKED = {}, collections.Counter()
HELD, IS_SLOW = [0], threading.Event()
IS_SLOW.set()
SCRIPTS, IS_KEPT = {"hook": [], "store": []}, threading.Event()
IS_KEPT.set()


class Sink(fault_server.Connection):
    def scripted(self, place):
        with fault_server.LOCK:
            script = SCRIPTS["hook" if place == "hook" else "store"]
            return script.pop(0) if script else None

    def reply(self, words, query, entry, body):
        if words[0] == "hook":
            conversation = json.loads(body)["data"].get("conversation")
            with CHANGED:
                ASKED[conversation] += 1
                CHANGED.notify_all()
                word, _, text = REFUSED.get(conversation, "hook").partition("?")
            words, query = word.split("/"), {name: values[0] for name, values in parse_qs(text).items()}
        if words[0] == "slow":
            with CHANGED:
                HELD[0] += 1
                CHANGED.notify_all()
                CHANGED.wait_for(lambda: not IS_SLOW.is_set())
                HELD[0] -= 1
            entry = entry | {"target": "/hook"}
        if words[0] in ("reset-reply", "half"):
            # Whose answer begins with success has acted.
            self.act(entry, body)
        if words[0] not in ("hook", "slow", "upload", "objects", "lost", "mute"):
            return super().reply(words, query, entry, body)
        status, answer = self.act(entry, body)
        if words[0] == "lost":
            self.reset()
            return False
        if words[0] == "mute":
            self.wait_for_the_end()
            return False
        is_kept = IS_KEPT.is_set()
        self.answer(status, json.dumps(answer).encode(), [] if is_kept else [("Connection", "close")])
        return is_kept

    def act(self, entry, body):
        path, _, query = entry["target"].partition("?")
        headers = {name.lower(): value for name, value in entry["headers"]}
        if path == "/hook":
            try:
                Webhook(SECRET).verify(body, headers)
            except WebhookVerificationError:
                return 401, {}
            take(headers["webhook-id"], json.loads(body)["data"])
            return 200, {}
        if path == "/upload":
            name = parse_qs(query)["filename"][0]
            url = f"http://{headers['host']}/objects/{name}"
            return 200, {"objectKey": name, "uploadUrl": url, "assetUrl": url}
        return keep(os.path.basename(path), body), {}


def take(message, data):
    with CHANGED:
        line = {
            "time": time.time(), "message": message, "isEffective": message not in SEEN, "request": data["request"],
            "conversation": data["conversation"], "kind": data["kind"], "text": data.get("text"),
            "digest": data.get("attachment", {}).get("contentDigest")}
        JOURNAL.write(json.dumps(line) + "\n")
        JOURNAL.flush()
        os.fsync(JOURNAL.fileno())
        SEEN.add(message)
        CHANGED.notify_all()


def keep(name, body):
    """Puts an object under a name that is free, as `If-None-Match: *` has it."""
    try:
        with open(f"{OBJECTS}/{name}", "xb") as file:
            file.write(body)
        return 200
    except FileExistsError:
        return 412


def obey(order, *words):
    if order == "script":
        with fault_server.LOCK:
            for place, _, word in (word.partition(":") for word in words):
                SCRIPTS[place].append(word)
    elif order == "refuse":
        with CHANGED:
            REFUSED.pop(words[0], None)
            REFUSED.update([words] if words[1:] else [])
    elif order == "asked":
        with CHANGED:
            CHANGED.wait_for(lambda: ASKED[words[0]] >= int(words[1]), float(words[2]))
            return {"count": ASKED[words[0]]}
    elif order == "held":
        with CHANGED:
            CHANGED.wait_for(lambda: HELD[0] >= int(words[0]), float(words[1]))
            return {"count": HELD[0]}
    elif order == "let-go":
        with CHANGED:
            IS_SLOW.clear()
            CHANGED.notify_all()
    elif order == "left":
        with fault_server.LOCK:
            return {"left": sum(len(script) for script in SCRIPTS.values())}
    elif order == "keep":
        (IS_KEPT.set if words[0] == "yes" else IS_KEPT.clear)()
    elif order == "wait":
        with CHANGED:
            CHANGED.wait_for(lambda: len(SEEN) >= int(words[0]), float(words[1]))
            return {"count": len(SEEN)}
    return {}


os.makedirs(OBJECTS)
JOURNAL = open(f"{DIRECTORY}/journal.jsonl", "a")
print(json.dumps({"endpoint": fault_server.listen(Sink)}), flush=True)
for line in sys.stdin:
    print(json.dumps(obey(*line.split())), flush=True)
