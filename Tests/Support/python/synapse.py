"""Synapse on loopback, with users alice, bob and dave, who may send as much as they like, and carol, who has Synapse's own
limits. Usage: synapse.py DIRECTORY

Each line on standard input is one order, answered with one line of JSON:

    room USER OTHER    a room of USER's with OTHER in it: {room, alias}
    login USER DEVICE  a new token of that device, which is new unless it is named like another: {token}
    kill               ends Synapse at once
    start              starts it again, as it was left
"""

import base64
import hashlib
import hmac
import itertools
import json
import os
import sys
import urllib.error
import urllib.request

import leash

directory = os.path.abspath(sys.argv[1])
port = leash.free_port()
endpoint = f"http://127.0.0.1:{port}"
SHARED = "only in tests"
# Of rooms.
NUMBERS = itertools.count()
FREE = "{per_second: 10000, burst_count: 10000}"

with open(f"{directory}/homeserver.yaml", "w") as configuration:
    configuration.write(f"""
server_name: localhost
public_baseurl: {endpoint}/
listeners:
  - {{port: {port}, bind_addresses: [127.0.0.1], type: http, tls: false, resources: [{{names: [client, media]}}]}}
database: {{name: sqlite3, args: {{database: {directory}/homeserver.db}}}}
log_config: {directory}/log.yaml
media_store_path: {directory}/media
signing_key_path: {directory}/signing.key
registration_shared_secret: {SHARED}
macaroon_secret_key: {SHARED}
form_secret: {SHARED}
report_stats: false
bcrypt_rounds: 4
trusted_key_servers: []
suppress_key_server_warning: true
presence: {{enabled: false}}
caches: {{sync_response_cache_duration: 0s}}
max_upload_size: 2M
rc_registration: {FREE}
rc_login: {{address: {FREE}, account: {FREE}, failed_attempts: {FREE}}}
rc_joins: {{local: {FREE}, remote: {FREE}}}
rc_invites: {{per_room: {FREE}, per_user: {FREE}, per_issuer: {FREE}}}
rc_room_creation: {FREE}
rc_media_create: {FREE}
""")
with open(f"{directory}/log.yaml", "w") as log:
    log.write(f"""
version: 1
formatters: {{plain: {{format: "%(asctime)s %(levelname)s %(name)s %(message)s"}}}}
handlers: {{file: {{class: logging.FileHandler, filename: {directory}/synapse.log, formatter: plain}}}}
root: {{level: WARNING, handlers: [file]}}
disable_existing_loggers: false
""")

SYNAPSE = [sys.executable, "-m", "synapse.app.homeserver", "-c", f"{directory}/homeserver.yaml"]


def call(method, path, body=None, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(endpoint + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def start():
    leash.start(SYNAPSE, f"{directory}/output.log", cwd=directory)
    leash.until(lambda: call("GET", "/_matrix/client/versions"), seconds=120)


def register(name, is_admin=False):
    nonce = call("GET", "/_synapse/admin/v1/register")["nonce"]
    kind = "admin" if is_admin else "notadmin"
    mac = hmac.new(SHARED.encode(), f"{nonce}\0{name}\0{name}\0{kind}".encode(), hashlib.sha1).hexdigest()
    return call("POST", "/_synapse/admin/v1/register", {
        "nonce": nonce, "username": name, "password": name, "admin": is_admin, "mac": mac})["access_token"]


def room(user, other):
    alias = f"room-{next(NUMBERS)}/é"
    made = call("POST", "/_matrix/client/v3/createRoom", {
        "room_alias_name": alias, "invite": [f"@{other}:localhost"], "preset": "private_chat"}, TOKENS[user])["room_id"]
    call("POST", f"/_matrix/client/v3/rooms/{urllib.request.quote(made, safe='')}/join", {}, TOKENS[other])
    return {"room": made, "alias": f"#{alias}:localhost"}


def login(user, device):
    return {"token": call("POST", "/_matrix/client/v3/login", {
        "type": "m.login.password", "identifier": {"type": "m.id.user", "user": user}, "password": user,
        "device_id": device})["access_token"]}


def obey(line):
    order, *words = line.split()
    return {"room": room, "login": login, "kill": leash.stop, "start": start}[order](*words) or {}


with open(f"{directory}/signing.key", "w") as key:
    key.write(f"ed25519 a_1 {base64.b64encode(os.urandom(32)).decode().rstrip('=')}\n")
start()
admin = register("admin", is_admin=True)
TOKENS = {name: register(name) for name in ["alice", "bob", "carol", "dave"]}
for name in TOKENS.keys() - {"carol"}:
    call("POST", f"/_synapse/admin/v1/users/@{name}:localhost/override_ratelimit",
         {"messages_per_second": 0, "burst_count": 0}, admin)
# The one that all tests share is never told that the last of them is done.
leash.serve({"endpoint": endpoint, **TOKENS}, obey)
