"""A chat app with a device of its own that encrypts: matrix-nio on vodozemac. Usage: encrypted_client.py HOMESERVER USER TOKEN
DEVICE ROOM STORE

Each line on standard input is one order, answered with one line of JSON:

    begin           publishes the device's keys: {}
    text TEXT       sends it: {event}
    photo FILE      uploads it sealed, and sends it: {event}
    read TEXT       reads until that text was sent: {isRead}
    rotate          begins a new session with the next message: {}
    forget          loses all sessions, with devices and of rooms: {}
    hostile COUNT   sends events that look encrypted and are not: {}
    to-device COUNT DEVICE  sends that many messages to a device of bob's that nothing can open: {}
"""

import asyncio
import base64
import json
import os
import secrets
import sys
import time

from nio import AsyncClient, AsyncClientConfig, RoomMessageText, RoomSendResponse
from nio.crypto import GroupSessionStore, SessionStore
from nio.crypto.attachments import encrypt_attachment

homeserver, user, token, device, room, store = sys.argv[1:]


async def say(client, content):
    await client.sync(timeout=0)
    if client.should_query_keys:
        await client.keys_query()
    sent = await client.room_send(room, "m.room.message", content, ignore_unverified_devices=True)
    if not isinstance(sent, RoomSendResponse):
        sys.exit(f"nothing is sent: {sent}")
    return {"event": sent.event_id}


async def photo(client, path):
    with open(path, "rb") as photo:
        plain = photo.read()
    # The client's own upload may answer before it knows the keys.
    sealed, keys = encrypt_attachment(plain)
    answer = await client.send("POST", "/_matrix/media/v3/upload", sealed, {
        "Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"})
    if answer.status != 200:
        sys.exit(f"{path} is not taken: {answer.status}")
    return await say(client, {
        "msgtype": "m.image", "body": "photo.jpg", "file": {**keys, "url": (await answer.json())["content_uri"]},
        "info": {"mimetype": "image/jpeg", "size": len(plain)}})


async def read(client, text):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        answer = await client.sync(timeout=500)
        if client.should_upload_keys:
            await client.keys_upload()
        for info in answer.rooms.join.values():
            if any(isinstance(event, RoomMessageText) and event.body == text for event in info.timeline.events):
                return {"isRead": True}
    return {"isRead": False}


def forget(client):
    client.olm.session_store = SessionStore()
    client.olm.inbound_group_store = GroupSessionStore()
    client.olm.outbound_group_sessions.clear()


async def raw(client, method, path, body):
    answer = await client.send(method, path, json.dumps(body), {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    if answer.status != 200:
        sys.exit(f"{path}: {answer.status} {await answer.text()}")


def noise(count):
    return base64.b64encode(secrets.token_bytes(count)).decode().rstrip("=")


async def hostile(client, count):
    for number in range(count):
        await raw(client, "PUT", f"/_matrix/client/v3/rooms/{room}/send/m.room.encrypted/hostile{number}", {
            "algorithm": "m.megolm.v1.aes-sha2", "session_id": noise(32), "sender_key": noise(32), "device_id": "X",
            "ciphertext": base64.b64encode(b"\3\x08\1\x12\x20" + secrets.token_bytes(104)).decode().rstrip("=")})


async def to_device(client, count, target):
    for number in range(count):
        await raw(client, "PUT", f"/_matrix/client/v3/sendToDevice/m.room.encrypted/noise{secrets.token_hex(8)}", {
            "messages": {"@bob:localhost": {target: {
                "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": noise(32),
                "ciphertext": {noise(32): {"type": 0, "body": noise(300)}}}}}})


async def main():
    os.makedirs(store, exist_ok=True)
    client = AsyncClient(
        homeserver, user, device_id=device, store_path=store, config=AsyncClientConfig(encryption_enabled=True))
    client.restore_login(user, device, token)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while line := (await reader.readline()).decode():
            order, *words = line.rstrip("\n").split(" ", 2)
            answer = {}
            if order == "begin":
                await client.sync(timeout=0, full_state=True)
                if client.should_upload_keys:
                    await client.keys_upload()
            elif order == "text":
                answer = await say(client, {"msgtype": "m.text", "body": " ".join(words)})
            elif order == "photo":
                answer = await photo(client, words[0])
            elif order == "rotate":
                client.invalidate_outbound_session(room)
            elif order == "read":
                answer = await read(client, " ".join(words))
            elif order == "forget":
                forget(client)
            elif order == "hostile":
                await hostile(client, int(words[0]))
            elif order == "to-device":
                await to_device(client, int(words[0]), words[1])
            print(json.dumps(answer), flush=True)
    finally:
        await client.close()


asyncio.run(main())
