"""Reads and writes encrypted rooms as a chat app does, with matrix-nio on vodozemac or with mautrix on libolm. It logs in with a new
device, which an identity of the account signs. Usage: encrypted_reader.py nio|mautrix ENDPOINT USER [unsigned]

Each line on standard input is one order, answered with one line of JSON:

    start       the device is ready: {device}
    read COUNT  messages of all rooms since the start, once there are so many: {messages, unreadable}
    recovery    stores the identity's keys in Secret Storage (mautrix only): {key}
    photo ROOM FILE  sends it sealed (mautrix only): {event}
    reset       gives the account another identity that signs the device: {}
    leave       logs the device out: {}
"""

import asyncio
import base64
import hashlib
import json
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nio.crypto.attachments import decrypt_attachment

library, endpoint, name, *options = sys.argv[1:]
user = f"@{name}:localhost"
# Synapse gives no more messages of a room at once.
WHOLE = {"room": {"timeline": {"limit": 100}}}


def call(method, path, body=None, token=None, raw=False):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(endpoint + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read() if raw else json.load(answer)


def unpadded(data):
    return base64.b64encode(data).decode().rstrip("=")


def signed(value, key, key_id):
    text = {name: part for name, part in value.items() if name not in ("signatures", "unsigned")}
    text = json.dumps(text, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    signatures = value.get("signatures", {})
    signatures.setdefault(user, {})[f"ed25519:{key_id}"] = unpadded(key.sign(text))
    return {**value, "signatures": signatures}


def sign_device(token, device):
    """Gives the account an identity that signs the device."""
    keys = {use: Ed25519PrivateKey.generate() for use in ["master", "self_signing", "user_signing"]}
    public = {use: unpadded(key.public_key().public_bytes_raw()) for use, key in keys.items()}
    upload = {}
    for use, text in public.items():
        value = {"user_id": user, "usage": [use], "keys": {f"ed25519:{text}": text}}
        upload[f"{use}_key"] = value if use == "master" else signed(value, keys["master"], public["master"])
    path = "/_matrix/client/v3/keys/device_signing/upload"
    try:
        call("POST", path, upload, token)
    except urllib.error.HTTPError as refusal:
        # To replace an identity takes the password.
        session = json.load(refusal)["session"]
        call("POST", path, {**upload, "auth": {
            "type": "m.login.password", "session": session, "password": name,
            "identifier": {"type": "m.id.user", "user": name}}}, token)
    found = call("POST", "/_matrix/client/v3/keys/query", {"device_keys": {user: []}}, token)
    value = signed(found["device_keys"][user][device], keys["self_signing"], public["self_signing"])
    call("POST", "/_matrix/client/v3/keys/signatures/upload", {user: {device: value}}, token)


def shown(event, content, trust, token):
    facts = {"event": event, "body": content["body"], "trust": trust, "kind": content["msgtype"],
             "width": content.get("info", {}).get("w")}
    file = content.get("file")
    if file:
        media = call("GET", "/_matrix/client/v1/media/download/" + file["url"][6:], token=token, raw=True)
        photo = decrypt_attachment(media, file["key"]["k"], file["hashes"]["sha256"], file["iv"])
        facts["sha256"] = hashlib.sha256(photo).hexdigest()
    return facts


class Nio:
    async def start(self):
        from nio import AsyncClient, AsyncClientConfig
        self.client = AsyncClient(
            endpoint, user, store_path=tempfile.mkdtemp(), config=AsyncClientConfig(encryption_enabled=True))
        await self.client.login(name)
        await self.client.sync(timeout=0)
        await self.client.keys_upload()
        self.token, self.device = self.client.access_token, self.client.device_id

    async def news(self):
        from nio import MegolmEvent
        answer = await self.client.sync(timeout=500, sync_filter=WHOLE)
        if self.client.should_upload_keys:
            await self.client.keys_upload()
        for info in answer.rooms.join.values():
            for event in info.timeline.events:
                if isinstance(event, MegolmEvent):
                    yield event.event_id, None, ""
                elif event.source["type"] == "m.room.message":
                    yield event.event_id, event.source["content"], ""


class Mautrix:
    async def start(self):
        from mautrix.client import Client
        from mautrix.client.state_store import MemoryStateStore
        from mautrix.crypto import MemoryCryptoStore, OlmMachine
        from mautrix.types import TOFUSigningKey

        class Rooms(MemoryStateStore):
            async def find_shared_rooms(self, _):
                return []

        class Keys(MemoryCryptoStore):
            # The library's own cannot change a key.
            async def put_cross_signing_key(self, user_id, usage, key):
                known = self._cross_signing_keys.setdefault(user_id, {})
                known[usage] = TOFUSigningKey(key=key, first=known[usage].first if usage in known else key)

        login = call("POST", "/_matrix/client/v3/login", {
            "type": "m.login.password", "identifier": {"type": "m.id.user", "user": name}, "password": name})
        self.token, self.device = login["access_token"], login["device_id"]
        rooms, store = Rooms(), Keys(name, "only in tests")
        self.client = Client(
            mxid=user, device_id=self.device, base_url=endpoint, token=self.token, state_store=rooms, sync_store=store)
        self.machine = OlmMachine(self.client, store, rooms)
        await self.machine.load()
        await self.machine.share_keys()
        self.client.crypto = None
        self.since = None

    async def news(self):
        from mautrix.types import EncryptedEvent
        answer = await self.client.sync(since=self.since, timeout=500, filter_id=json.dumps(WHOLE))
        await asyncio.gather(*self.client.handle_sync(answer))
        self.since = answer["next_batch"]
        for room, info in answer.get("rooms", {}).get("join", {}).items():
            for event in info["timeline"]["events"]:
                if event["type"] == "m.room.message":
                    yield event["event_id"], event["content"], "plain"
                if event["type"] != "m.room.encrypted":
                    continue
                try:
                    opened = await self.machine.decrypt_megolm_event(EncryptedEvent.deserialize({**event, "room_id": room}))
                    yield event["event_id"], opened.content.serialize(), str(opened["mautrix"]["trust_state"])
                except Exception as error:
                    print(repr(error), file=sys.stderr)
                    yield event["event_id"], None, ""

    async def recovery(self):
        return await self.machine.generate_recovery_key()

    async def photo(self, room, file):
        from mautrix.crypto.attachments import encrypt_attachment
        from mautrix.types import EventType
        with open(file, "rb") as photo:
            data, seal = encrypt_attachment(photo.read())
        upload = urllib.request.Request(f"{endpoint}/_matrix/media/v3/upload", data, {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/octet-stream"})
        with urllib.request.urlopen(upload, timeout=60) as answer:
            seal.url = json.load(answer)["content_uri"]
        content = {
            "msgtype": "m.image", "body": "photo.jpg", "file": seal.serialize(), "info": {"mimetype": "image/jpeg"}}
        path = f"/_matrix/client/v3/rooms/{urllib.parse.quote(room)}"
        members = call("GET", f"{path}/joined_members", token=self.token)["joined"]
        await self.machine.share_group_session(room, list(members))
        event = await self.machine.encrypt_megolm_event(room, EventType.ROOM_MESSAGE, content)
        sent = call("PUT", f"{path}/send/m.room.encrypted/{time.monotonic_ns()}", event.serialize(), self.token)
        return sent["event_id"]


async def main():
    reader = {"nio": Nio, "mautrix": Mautrix}[library]()
    messages, unreadable = [], []
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := (await lines.readline()).decode().split():
        answer = {}
        if line[0] == "start":
            await reader.start()
            if not options:
                sign_device(reader.token, reader.device)
            async for _ in reader.news():
                pass
            answer = {"device": reader.device}
        elif line[0] == "recovery":
            answer = {"key": await reader.recovery()}
        elif line[0] == "photo":
            answer = {"event": await reader.photo(*line[1:])}
        elif line[0] == "reset":
            sign_device(reader.token, reader.device)
        elif line[0] == "leave":
            call("POST", "/_matrix/client/v3/logout", {}, reader.token)
        elif line[0] == "read":
            end = time.monotonic() + 20
            while len(messages) + len(unreadable) < int(line[1]) and time.monotonic() < end:
                async for event, content, trust in reader.news():
                    if content is None:
                        unreadable.append(event)
                    else:
                        messages.append(shown(event, content, trust, reader.token))
            answer = {"messages": messages, "unreadable": unreadable}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
