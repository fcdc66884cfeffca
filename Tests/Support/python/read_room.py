"""Reads a Matrix room with matrix-nio, as a chat app would: prints one JSON object for each message, oldest first, with
the photo as a hexadecimal digest where there is one. Usage: read_room.py HOMESERVER USER TOKEN ROOM"""

import asyncio
import hashlib
import json
import sys

from nio import AsyncClient, DownloadError, MessageDirection, RoomMessagesError, SyncError
from nio.crypto.attachments import decrypt_attachment


async def downloaded(client, url):
    answer = await client.download(url)
    if isinstance(answer, DownloadError):
        sys.exit(f"{url} cannot be fetched: {answer}")
    return answer


async def events_of(client, room):
    """All events of the room, oldest first. A homeserver gives no more than a page of them at once."""
    now = await client.sync(timeout=0)
    if isinstance(now, SyncError):
        sys.exit(f"cannot read: {now}")
    events, start = [], now.next_batch
    while start:
        page = await client.room_messages(room, start, direction=MessageDirection.back, limit=100)
        if isinstance(page, RoomMessagesError):
            sys.exit(f"cannot read: {page}")
        events = page.chunk[::-1] + events
        start = page.end if page.chunk else None
    return events


async def main(homeserver, user, token, room):
    client = AsyncClient(homeserver, user)
    client.access_token, client.user_id = token, user
    try:
        for event in await events_of(client, room):
            content = event.source["content"]
            facts = {"event": event.event_id, "sender": event.sender, "content": json.dumps(content)}
            if content.get("msgtype") == "m.text":
                print(json.dumps(facts | {"kind": "text", "body": content["body"]}))
            elif content.get("msgtype") == "m.image":
                file = content.get("file")
                media = await downloaded(client, file["url"] if file else content["url"])
                photo = media.body
                if file:
                    photo = decrypt_attachment(photo, file["key"]["k"], file["hashes"]["sha256"], file["iv"])
                print(json.dumps(facts | {
                    "kind": "sealed photo" if file else "photo", "sha256": hashlib.sha256(photo).hexdigest(),
                    "type": media.content_type, "name": media.filename or ""}))
    finally:
        await client.close()


asyncio.run(main(*sys.argv[1:]))
