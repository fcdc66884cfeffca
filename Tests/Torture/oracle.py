"""The oracle: judges an idle place whose daemon was stopped in order. Each complaint begins with its word:

    LOST   accepted, and neither published whole, nor failed with a reason, nor taken back, nor purged
    DUP    had an effect more than once, or without a request, or with other contents than the request
    ORDER  had its effect before an earlier request of its conversation, or out of order within its request
    GONE   purged, and still found somewhere
    ALIVE  the daemon ended on its own, or does not finish
    CLEAN  something is left behind, or ledger and files disagree

"Earlier" is judged by one clock: a request came before another if its client knew that it was accepted, or was dead,
before the other's began.
"""

import collections
import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def judge(place, drafts=(), abandoned=False, purged=(), unknown_objects=0):
    """Returns the number of requests accepted since the last judgement, and the complaints.

    `drafts` are names that may lie in draft/; with `abandoned`, partial requests of killed clients may lie in tmp/.
    Nothing may be left of the conversations `purged`. The ledger may lack `unknown_objects` objects."""
    requests = read_clients(place)
    accepted = sum(1 for request in requests.values() if request["accepted"])
    complaints = [f"ALIVE {fault}" for fault in place.faults]
    place.faults = []
    complaints += judge_effects(place, requests, purged)
    complaints += judge_leftovers(place, requests, drafts, abandoned, unknown_objects)
    complaints += judge_ledger(place)
    complaints += judge_gone(place, purged)
    new, place.judged = accepted - place.judged, accepted
    return new, complaints


def read_clients(place):
    """The clients' requests by serial: start, end, whether it was accepted, and its name."""
    requests = {}
    for entry in place.clients.read():
        if entry["what"] == "begin":
            requests[entry["serial"]] = {
                **entry, "end": None, "accepted": False, "request": None, "taken": False, "ahead": False}
            continue
        request = requests[entry["serial"]]
        request["end"] = entry["time"]
        if entry["what"] == "accepted":
            request["accepted"], request["request"] = True, entry["request"]
        elif entry["what"] == "taken":
            request["taken"] = True
        elif entry["what"] == "ahead":
            request["ahead"] = True
        elif entry["what"] == "refused":
            request["fails"] = True
    return requests


def judge_effects(place, requests, purged):
    effects = [entry for entry in place.effects() if entry["isEffective"]]
    texts = {request["text"]: request for request in requests.values()}
    names = {request["request"]: request for request in requests.values() if request["request"]}
    # A photo of a watched folder has neither; its conversation identifies it.
    silent = {request["conversation"]: request for request in requests.values() if request["text"] is None}
    # A killed client reported no name; the text identifies its request.
    for entry in effects:
        if entry["kind"] == "text" and entry["text"] in texts:
            names.setdefault(entry["request"], texts[entry["text"]])
    seen, came = collections.Counter(), collections.defaultdict(list)
    for number, entry in enumerate(effects):
        seen[entry["message"]] += 1
        if seen[entry["message"]] == 2:
            yield f"DUP the message {entry['message']} of {entry['request']} had its effect twice"
        request = names.get(entry["request"]) or silent.get(entry["conversation"])
        if request is None:
            # A request of a killed client may be in progress: only its photos have arrived.
            yield f"DUP nobody dropped {entry['request']}: {entry['kind']} {entry['text'] or ''}"
            continue
        came[request["serial"]].append((number, entry))
        if entry["conversation"] != request["conversation"]:
            yield f"DUP {entry['request']} went to {entry['conversation']}, not to {request['conversation']}"
        if entry["digest"] and not is_whole(f"{place.objects()}/{entry['digest']}", entry["digest"]):
            yield f"LOST the object of a photo of {entry['request']}"
    for serial, request in requests.items():
        if request["conversation"] not in purged:
            yield from judge_request(place, request, [entry for _, entry in came[serial]])
    yield from judge_order(requests, came)


def judge_request(place, request, entries):
    """Complains unless all messages of a request arrived once and in order."""
    wanted = [("photo", width) for width in request["widths"]]
    wanted += [("text", request["text"])] if request["text"] else []
    found = [(entry["kind"], entry["width"] if entry["kind"] == "photo" else entry["text"]) for entry in entries]
    name = request["request"] or f"number {request['serial']}"
    if found == wanted and not request.get("fails"):
        # A mail may have become several requests.
        for name, count in collections.Counter(entry["request"] for entry in entries).items():
            yield from judge_receipt(place, name, count)
        return
    if not found and (request["taken"] or not request["accepted"]):
        return
    if request.get("fails"):
        error = pathlib.Path(f"{place.spool}/failed/{request['request']}/error")
        if not error.exists() or not error.read_text().strip():
            yield f"LOST {name} has no error in failed/"
        if found != wanted[:len(found)] or ("text", request["text"]) in found:
            yield f"ORDER of {name}, which failed, came {found}"
        return
    for what in wanted:
        if what not in found:
            yield f"LOST {what[0]} {what[1]} of {name}" + ("" if request["accepted"] else ", of which other parts came")
    for what, count in collections.Counter(found).items():
        if count > 1 or what not in wanted:
            yield f"DUP {what[0]} {what[1]} of {name} came {count} times"
    if sorted(map(str, found)) == sorted(map(str, wanted)):
        yield f"ORDER {name} came as {found}"


def judge_receipt(place, name, messages):
    try:
        receipt = json.loads(text_of(f"{place.spool}/sent/{name}/receipt.json"))
        states = [(one["state"], bool(one["publishedAt"])) for one in receipt["messages"]]
    except (ValueError, KeyError):
        states = None
    if states != [("sent", True)] * messages and place.keeps_receipts:
        yield f"CLEAN the receipt of {name} says {states} of {messages} messages"


def judge_order(requests, came):
    """Complains if a later request arrived before an earlier one."""
    conversations = collections.defaultdict(list)
    for serial, entries in came.items():
        if entries:
            first, last = entries[0][0], entries[-1][0]
            conversations[requests[serial]["conversation"]].append((first, last, requests[serial]))
    for conversation, found in conversations.items():
        found.sort(key=lambda one: one[0])
        for (_, last, earlier), (first, _, later) in zip(found, found[1:]):
            if first < last:
                yield f"ORDER {conversation}: numbers {earlier['serial']} and {later['serial']} came mixed"
        # The one that was over first, of all that came later.
        over = None
        for _, _, request in reversed(found):
            if over is not None and over["end"] < request["time"]:
                yield f"ORDER {conversation}: number {request['serial']} came before number {over['serial']}"
            if request["end"] is not None and (over is None or request["end"] < over["end"]):
                over = request


def is_whole(path, digest):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest() == digest
    except FileNotFoundError:
        return False


def judge_leftovers(place, requests, drafts, abandoned, unknown_objects):
    spool = place.spool
    for name in ("new", "cur", "cancel", "purge", "draft", "state/trash", "mail/new", "mail/cur"):
        allowed = set(drafts) if name == "draft" else set()
        for entry in sorted(set(listing(f"{spool}/{name}")) - allowed):
            yield f"CLEAN {name}/{entry} is left"
    for entry in sorted(set(listing(f"{spool}/tmp")) - {".order"}):
        if not abandoned:
            yield f"CLEAN tmp/{entry} is left"
    failing = {request["request"] for request in requests.values() if request.get("fails")}
    for entry in sorted(set(listing(f"{spool}/failed")) - failing):
        yield f"LOST failed/{entry}: {text_of(f'{spool}/failed/{entry}/error')}"
    for entry in listing(f"{spool}/sent"):
        receipt = text_of(f"{spool}/sent/{entry}/receipt.json")
        try:
            state = json.loads(receipt)["state"]
        except (ValueError, KeyError):
            state = None
        if listing(f"{spool}/sent/{entry}") != ["receipt.json"] or state not in ("sent", "duplicate", "cancelled"):
            yield f"CLEAN sent/{entry} holds {listing(f'{spool}/sent/{entry}')}, state {state}"
    # A program may be killed in the middle of its last line.
    for call in text_of(f"{place.path}/trace").split("\n")[:-1]:
        path = call.partition(" ")[2].partition(" ")[0]
        if path.startswith("/") and not path.startswith((f"{place.root}/", f"{place.path}/")):
            yield f"CLEAN a file outside the spool was written: {call}"
    for name in listing(f"{spool}/state"):
        if name.endswith("-wal") and os.path.getsize(f"{spool}/state/{name}") > 0:
            yield f"CLEAN the ledger's log was not emptied when the daemon stopped: state/{name}"
    # Objects that may have been published are never deleted, and no others remain.
    kept = {object for object, in place.ledger("SELECT object FROM uploads WHERE state IN ('offered', 'published')")}
    kept |= {entry["digest"] for entry in place.effects()} | place.published
    # A store that only gives upload URLs cannot be told to delete.
    unknown = [name for name in listing(place.objects()) if place.kind != "webhook" and name not in kept]
    for name in unknown if len(unknown) > unknown_objects else []:
        yield f"CLEAN the object {name} belongs to nobody"


def judge_ledger(place):
    try:
        for answer, in place.ledger("PRAGMA integrity_check"):
            if answer != "ok":
                yield f"CLEAN the ledger is damaged: {answer}"
        for row in place.ledger("PRAGMA foreign_key_check"):
            yield f"CLEAN the ledger's {row[0]} speak of rows that are not there"
        yield from judge_counts(place)
        yield from judge_cache(place)
    except sqlite3.DatabaseError as error:
        yield f"CLEAN the ledger cannot be read: {error}"


def judge_counts(place):
    for state, count in place.ledger("""
            SELECT state, count(*) FROM messages
            WHERE draft = 0 AND state NOT IN ('sent', 'failed', 'cancelled') GROUP BY state"""):
        yield f"CLEAN {count} messages are still {state}"
    for waiting, in place.ledger("SELECT count(*) FROM conversations WHERE waiting <> 0"):
        if waiting:
            yield f"CLEAN {waiting} conversations are said to wait"


def judge_cache(place):
    rows = set()
    for path, original, thumbnail in place.ledger("SELECT path, cached_bytes, cached_thumbnail_bytes FROM photos"):
        rows |= {f"{path}/original.jpg"} if original else set()
        rows |= {f"{path}/thumbnail.jpg", f"{path}/blurred.jpg"} if thumbnail else set()
    files = {str(path.relative_to(place.spool)): path.stat().st_size
             for path in pathlib.Path(f"{place.spool}/photos").rglob("*") if not path.is_dir()}
    for path in sorted(rows - files.keys()):
        yield f"CLEAN the ledger has {path}, and the cache has not"
    for path in sorted(files.keys() - rows):
        yield f"CLEAN the cache has {path}, and the ledger has not"
    for total, in place.ledger("SELECT bytes FROM cache_total"):
        if total != sum(files.values()):
            yield f"CLEAN the cache is said to take {total} bytes, and takes {sum(files.values())}"


def judge_gone(place, purged):
    if not purged:
        return
    texts = [*purged, *(entry["text"] for entry in place.clients.read() if entry.get("conversation") in purged)]
    done = subprocess.run(
        [sys.executable, str(HERE.parent / "Support/python/find_markers.py"), place.spool, *place.secrets, "--", *texts],
        capture_output=True, text=True)
    if done.returncode:
        yield f"GONE {(done.stdout or done.stderr)[:400]}"


def listing(path):
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []


def text_of(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return "nothing"
