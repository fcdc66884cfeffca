"""Another participant, with Google's client of Firestore. Usage: firestore_reader.py ADDRESS PROJECT

Takes orders, one object of JSON a line, and answers each with one:
    {"do": "read", "conversation": C}              its messages by the field `timestamp`, and its own fields
    {"do": "listen", "conversation": C}            begins to listen; answers with the first snapshot
    {"do": "heard", "text": T}                     waits for that text; the time it was heard at
    {"do": "set", "path": P, "fields": {…}}        writes a document
    {"do": "create", "conversation": C, "id": I}   the name of the error with which the client may not create it again"""

import json
import os
import sys
import threading
import time

os.environ["FIRESTORE_EMULATOR_HOST"] = sys.argv[1]

from google.api_core import exceptions  # noqa: E402: the client reads the variable
from google.cloud import firestore  # noqa: E402

client = firestore.Client(project=sys.argv[2])
heard, changed = {}, threading.Condition()


def messages(conversation):
    return client.collection("conversations", conversation, "messages")


def plain(fields):
    return json.loads(json.dumps(fields, default=lambda value: value.isoformat()))


def listen(snapshot, changes, _):
    with changed:
        for change in changes:
            heard.setdefault(change.document.to_dict().get("text"), time.time())
        heard.setdefault("", time.time())
        changed.notify_all()


def wait_for(text):
    with changed:
        changed.wait_for(lambda: text in heard, timeout=60)
        return heard.get(text)


def obey(order):
    if order["do"] == "read":
        found = messages(order["conversation"]).order_by("timestamp").get()
        return {
            "messages": [{"id": each.id, "fields": plain(each.to_dict())} for each in found],
            "conversation": plain(client.document("conversations", order["conversation"]).get().to_dict() or {})}
    if order["do"] == "listen":
        obey.watch = messages(order["conversation"]).on_snapshot(listen)
        return {"at": wait_for("")}
    if order["do"] == "heard":
        return {"at": wait_for(order["text"])}
    if order["do"] == "set":
        client.document(order["path"]).set(order["fields"])
        return {}
    try:
        messages(order["conversation"]).document(order["id"]).create({"text": "again"})
        return {"error": ""}
    except exceptions.GoogleAPICallError as error:
        return {"error": type(error).__name__}


for line in sys.stdin:
    print(json.dumps(obey(json.loads(line))), flush=True)
os._exit(0)
