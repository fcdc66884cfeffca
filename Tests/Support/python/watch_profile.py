"""Looks all the time at a profile photo as others see it: it has to be there, and its object, too. Usage:

    watch_profile.py local FILE                    the file that the local network publishes the profile in
    watch_profile.py matrix ENDPOINT USER TOKEN    the avatar of a Matrix account

Each line on standard input is one order, answered with one line of JSON:

    must     from now on it has to be there
    may      from now on it may be missing, but what is there has to have its object
    report   what was seen: {looks, faults, seen}; `seen` counts the photos that were seen, one after the other
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

LOCK = threading.Lock()
PAUSE = 0.005
STATE = {"looks": 0, "faults": [], "seen": 0, "last": None, "must": False}


def local(path):
    """The last whole line decides."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        try:
            change = json.loads(line)
        except ValueError:
            # A power cut may tear the last line.
            continue
        return change["attachment"]["url"] if change["kind"] == "profile" else None
    return None


def is_stored(url):
    return os.path.exists(urllib.parse.unquote(url.removeprefix("file://")))


def fetch(url, token):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def avatar(endpoint, user, token):
    try:
        path = f"/_matrix/client/v3/profile/{urllib.parse.quote(user)}/avatar_url"
        return json.loads(fetch(endpoint + path, token)).get("avatar_url") or None
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def is_media(endpoint, url, token):
    try:
        media = fetch(f"{endpoint}/_matrix/client/v1/media/download/{url.removeprefix('mxc://')}", token)
        return media.startswith(b"\xff\xd8\xff") and media.endswith(b"\xff\xd9")
    except urllib.error.HTTPError as error:
        if error.code in (404, 504):
            return False
        raise


if sys.argv[1] == "local":
    look, has_object = lambda: local(sys.argv[2]), is_stored
else:
    endpoint, user, token = sys.argv[2:]
    look, has_object = lambda: avatar(endpoint, user, token), lambda url: is_media(endpoint, url, token)


def watch():
    while True:
        with LOCK:
            must = STATE["must"]
        try:
            url = look()
            fault = None
            if url is None:
                fault = "no profile photo" if must else None
            # Gone may be what has just been replaced: then another one is seen now.
            elif not has_object(url) and look() == url:
                fault = f"{url} is seen and its object is gone"
        except OSError:
            # The homeserver does not answer; a look is one that was answered.
            continue
        with LOCK:
            STATE["looks"] += 1
            if fault and must == STATE["must"]:
                STATE["faults"].append(fault)
            if url and url != STATE["last"]:
                STATE["seen"] += 1
            STATE["last"] = url
        # So that what is watched gets its share of the processor.
        time.sleep(PAUSE)


threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    order = line.strip()
    with LOCK:
        if order in ("must", "may"):
            STATE["must"] = order == "must"
        print(json.dumps({key: STATE[key] for key in ("looks", "faults", "seen")}), flush=True)
