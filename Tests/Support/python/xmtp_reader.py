"""A person on XMTP, for tests: a client of libxmtp of its own, which reads what others send.

    xmtp_reader.py HOST:PORT DIR

On standard input it takes one order a line, as JSON, and answers each with one line:

    {"do": "who"}                                 {"inbox": ID, "address": A}
    {"do": "group", "with": ID}                   {"group": HEX}: a new group with that inbox, or with a list of them
    {"do": "appData", "group": HEX, "text": T}    what apps keep with that group
    {"do": "remove", "group": HEX, "member": ID}  removes that inbox from the group
    {"do": "send", "to": HEX, "attachments": [{...}, ...]}   {"message": HEX}: announces photos in a group, several in one message
    {"do": "send", "to": HEX, "text": T}          the same of a text
    {"do": "direct", "with": ID}                  {"group": HEX}: the conversation with that inbox alone
    {"do": "read"}                                {"messages": [...]}: what others have sent, by conversation in order
    {"do": "open", "attachment": {...}}           {"filename", "mimeType", "sha256"}: of the photo that was sent, fetched
        from its URL; or with "object": PATH, from that file
    {"do": "openProfile", "profile": {...}, "key": HEX}   {"sha256"}: of the profile photo of a group with that image key

It ends when standard input does.
"""

import asyncio
import hashlib
import json
import os
import secrets
import sys
import urllib.request

OUTPUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # libxmtp says what it does on standard output
os.environ["RUST_LOG"] = "off"

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from xmtp_bindings import xmtpv3 as xmtp

from protobuf_fields import Fields


def empty(options):
    """Options of which none is set."""
    return options(**{name: None for name in options.__annotations__})


async def register(endpoint, directory):
    key = secrets.token_bytes(32)
    address = xmtp.ethereum_address_from_pubkey(xmtp.ethereum_generate_public_key(key)).lower()
    account = xmtp.FfiIdentifier(identifier=address, identifier_kind=xmtp.FfiIdentifierKind.ETHEREUM)
    api = await xmtp.connect_to_backend(f"http://{endpoint}", None, False, None, None, None, None)
    database = xmtp.DbOptions(
        db=os.path.join(directory, "reader.db3"), encryption_key=secrets.token_bytes(32), max_db_pool_size=None,
        min_db_pool_size=None)
    client = await xmtp.create_client(
        api, api, database, xmtp.generate_inbox_id(account, 1), account, 1, None, xmtp.FfiDeviceSyncMode.DISABLED,
        False, None)
    request = client.signature_request()
    text = await request.signature_text()
    await request.add_ecdsa_signature(xmtp.ethereum_sign_recoverable(text.encode(), key, True))
    await client.register_identity(request)
    return client, address


async def read(client):
    conversations = client.conversations()
    await conversations.sync()
    options = empty(xmtp.FfiListConversationsOptions)
    options.include_duplicate_dms = True
    found = []
    for item in conversations.list(options):
        conversation = item.conversation()
        await conversation.sync()
        for message in conversation.find_enriched_messages(empty(xmtp.FfiListMessagesOptions)):
            if message.sender_inbox_id() != client.inbox_id():
                found.append(described(message))
    return [facts for facts in found if facts["type"] != "group_updated"]


def described(message):
    content, type = message.content(), message.content_type_id()
    facts = {
        "id": message.id().hex(),
        "sender": message.sender_inbox_id(),
        "type": type.type_id,
        "fallback": message.fallback_text() or "",
    }
    if content.is_TEXT():
        facts["text"] = content[0].content
    elif content.is_REMOTE_ATTACHMENT():
        photo = content[0]
        facts["attachment"] = {
            "url": photo.url,
            "contentDigest": photo.content_digest,
            "secret": photo.secret.hex(),
            "salt": photo.salt.hex(),
            "nonce": photo.nonce.hex(),
            "scheme": photo.scheme,
            "contentLength": photo.content_length,
            "filename": photo.filename,
        }
    elif content.is_CUSTOM() and type.authority_id == "convos.org" and type.version_major == 1:
        image = Fields(Fields(content[0].content).bytes(2))
        names = {1: "url", 2: "salt", 3: "nonce"}
        facts["profile"] = {
            names[number]: image.text(1) if number == 1 else image.bytes(number).hex() for number in image.values}
    return facts


def encoded(order):
    """A content as libxmtp itself encodes it."""
    if "text" in order:
        return xmtp.encode_text(order["text"])
    photos = [xmtp.FfiRemoteAttachment(
        url=photo["url"], content_digest=photo["contentDigest"], secret=bytes.fromhex(photo["secret"]),
        salt=bytes.fromhex(photo["salt"]), nonce=bytes.fromhex(photo["nonce"]), scheme=photo["scheme"],
        content_length=photo["contentLength"], filename=photo["filename"]) for photo in order["attachments"]]
    if len(photos) == 1:
        return xmtp.encode_remote_attachment(photos[0])
    return xmtp.encode_multi_remote_attachment(xmtp.FfiMultiRemoteAttachment(attachments=photos))


def fetched(attachment):
    """Over TLS, from a host that the authorities of SSL_CERT_FILE vouch for."""
    assert attachment["url"].startswith("https://") and attachment.get("scheme", "https://") == "https://", "no https://"
    with urllib.request.urlopen(attachment["url"], timeout=30) as answer:
        return answer.read()


def opened(path, attachment):
    object = fetched(attachment) if path is None else open(path, "rb").read()
    assert len(object) == attachment["contentLength"], "contentLength differs"
    assert hashlib.sha256(object).hexdigest() == attachment["contentDigest"], "contentDigest differs"
    secret, salt, nonce = (bytes.fromhex(attachment[name]) for name in ("secret", "salt", "nonce"))
    key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"").derive(secret)
    inner = xmtp.decode_attachment(AESGCM(key).decrypt(nonce, object, None))
    digest = hashlib.sha256(inner.content).hexdigest()
    return {"filename": inner.filename, "mimeType": inner.mime_type, "sha256": digest}


def opened_profile(profile, group):
    """As the members' app does it: the bare photo, under a key that the group's image key gives."""
    object = fetched(profile)
    salt, nonce = (bytes.fromhex(profile[name]) for name in ("salt", "nonce"))
    key = HKDF(algorithm=SHA256(), length=32, salt=salt, info=b"ConvosImageV1").derive(group)
    return {"sha256": hashlib.sha256(AESGCM(key).decrypt(nonce, object, None)).hexdigest()}


async def main():
    client, address = await register(sys.argv[1], sys.argv[2])
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        answer = {}
        match order["do"]:
            case "who":
                answer = {"inbox": client.inbox_id(), "address": address}
            case "group":
                options = empty(xmtp.FfiCreateGroupOptions)
                members = order["with"] if isinstance(order["with"], list) else [order["with"]]
                group = await client.conversations().create_group(members, options)
                answer = {"group": group.id().hex()}
            case "appData":
                await client.conversation(bytes.fromhex(order["group"])).update_app_data(order["text"])
            case "remove":
                await client.conversation(bytes.fromhex(order["group"])).remove_members([order["member"]])
            case "direct":
                options = xmtp.FfiCreateDmOptions(message_disappearing_settings=None)
                dm = await client.conversations().find_or_create_dm(order["with"], options)
                answer = {"group": dm.id().hex()}
            case "send":
                options = xmtp.FfiSendMessageOpts(should_push=True)
                message = await client.conversation(bytes.fromhex(order["to"])).send(encoded(order), options)
                answer = {"message": message.hex()}
            case "read":
                answer = {"messages": await read(client)}
            case "open":
                answer = opened(order.get("object"), order["attachment"])
            case "openProfile":
                answer = opened_profile(order["profile"], bytes.fromhex(order["key"]))
        print(json.dumps(answer), file=OUTPUT, flush=True)
    os._exit(0)


asyncio.run(main())
