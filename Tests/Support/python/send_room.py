"""Sends photos into a Matrix room with matrix-nio, as a chat app would: what it uploads, and announces with the keys that it
answers. Usage: send_room.py HOMESERVER USER TOKEN ROOM KIND=PHOTO...

KIND is `plain` or `sealed`. Prints the id of each event.
"""

import asyncio
import os
import sys

from nio import AsyncClient, RoomSendResponse, UploadResponse
from PIL import Image


async def main(homeserver, user, token, room, *photos):
    client = AsyncClient(homeserver, user)
    client.access_token, client.user_id = token, user
    try:
        for photo in photos:
            kind, path = photo.split("=", 1)
            answer, keys = await client.upload(
                lambda *_: path, content_type="image/jpeg", filename=os.path.basename(path), encrypt=kind == "sealed",
                filesize=os.path.getsize(path))
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
