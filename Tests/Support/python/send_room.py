"""Sends photos into a Matrix room with matrix-nio, as a chat app would.
Usage: send_room.py HOMESERVER USER TOKEN ROOM KIND=PHOTO...

KIND is `plain` or `sealed`. Prints the id of each event.
"""

import asyncio
import os
import sys

from nio import AsyncClient, RoomSendResponse, UploadResponse
from nio.crypto.attachments import encrypt_attachment
from PIL import Image


async def main(homeserver, user, token, room, *photos):
    client = AsyncClient(homeserver, user)
    client.access_token, client.user_id = token, user
    try:
        for photo in photos:
            kind, path = photo.split("=", 1)
            with open(path, "rb") as file:
                data, keys = file.read(), None
            # The client's own upload may answer before it knows the keys.
            if kind == "sealed":
                data, keys = encrypt_attachment(data)
            answer, _ = await client.upload(
                lambda *_: data, content_type="application/octet-stream" if keys else "image/jpeg",
                filename=os.path.basename(path), filesize=len(data))
            if not isinstance(answer, UploadResponse):
                sys.exit(f"{path} is not taken: {answer}")
            width, height = Image.open(path).size
            content = {
                "msgtype": "m.image", "body": os.path.basename(path),
                "info": {"mimetype": "image/jpeg", "size": os.path.getsize(path), "w": width, "h": height}}
            if keys:
                content["file"] = {**keys, "url": answer.content_uri}
            else:
                content["url"] = answer.content_uri
            sent = await client.room_send(room, "m.room.message", content)
            if not isinstance(sent, RoomSendResponse):
                sys.exit(f"{path} is not sent: {sent}")
            print(sent.event_id)
    finally:
        await client.close()


asyncio.run(main(*sys.argv[1:]))
