#!/usr/bin/env python3
"""photospool-xmtp: connects a photospool daemon to XMTP through libxmtp.

    photospool-xmtp.py --state DIR --key FILE --endpoint HOST:PORT [--plaintext] [--seconds N]

It needs Python 3.11 and the package xmtp-bindings. One process uses one identity: the Ethereum account whose private
key, 64 hexadecimal characters, is the only line of the key file. Only their owner may read the file and the state
directory. The state directory holds libxmtp's database, encrypted under a key derived from the private key. It is part
of the identity: a lost one means a new device, and a copied or restored one must not be used beside or after the other.

One JSON object a line goes each way. Requests run at the same time; the caller sends those of one conversation one
after the other. The end of standard input ends the process. Each request has an `id`, which its answer repeats:

    {"id": 1, "do": "reserve", "conversation": C, "text": T}
    {"id": 1, "do": "reserve", "conversation": C, "attachment": {"url", "contentDigest", "secret", "salt", "nonce",
                                                                 "scheme", "contentLength", "filename"}}
    {"id": 1, "do": "reserve", "conversation": C, "content": BASE64}   already encoded, without a notification
        -> {"reserved": HEX}             the message is stored under that id, and not sent
    {"id": 2, "do": "publish", "reserved": HEX}
        -> {"publishedAt": MS}           and "attachment", for a photo: the published one
    {"id": 3, "do": "check"}             or with "conversation": C
        -> {"inbox": ID, "address": A, "installation": HEX, "reachable": BOOL, "conversation": BOOL, "obstacle": WHY NOT}
           of a registered identity; an error if it cannot be registered
    {"id": 4, "do": "listen", "after": POSITION, "named": [C, ...], "others": BOOL, "wait": SECONDS}
        -> {"heard": [{"conversation": C, "message": HEX, "content": BASE64}, ...], "position": TEXT}
                                         a limited number of received photos, in order of arrival; none after that many
                                         seconds without any
    {"id": 5, "do": "group", "conversation": C}
        -> {"appData": TEXT}             the group's current app data

    {"id": 1, "ok": {...}}  or  {"id": 1, "error": {"cause": WORD, "sentence": TEXT}}

A conversation is `group:ID` with a group's hexadecimal id, `dm:ID` with a person's inbox id, or `dm:0x...` with an
account's address. The identity is registered on first use. After that, reserving messages in known conversations needs
no network. Causes are photospool's. Standard output carries only answers; everything else is on standard error.

A reserved message is published once, whatever is repeated or killed. libxmtp marks it as published when it sees it in
the group. After a kill between sending and mark, publishing again would send a second envelope of the same id:
receivers keep one message, but readers of a stream get both. So a message that this process has not reserved, or has
tried to publish before, is first looked up in the group.

`listen` returns messages of the types remoteStaticAttachment and multiRemoteStaticAttachment as they were encoded: those
of conversations in `named`, under these names, and with `others` those of all conversations. It skips this identity's
own messages and conversations that it has denied. Asking for messages after a position confirms that all earlier ones
are stored; others are repeated. A position is valid for every process with the same state directory. Messages near it
may be repeated.

libxmtp needs more than ten seconds to report an unreachable node, and its pauses grow. So a slow call is given up if
nothing listens at the endpoint, and after a failure the endpoint is tested first. A caller that asks every few seconds
then learns within seconds that the node is back.
"""

import argparse
import asyncio
import base64
import fcntl
import hmac
import json
import math
import os
import re
import socket
import stat
import sys
import threading
import time

LONGEST_REQUEST = 1 << 20
PATIENCE = 1  # seconds for almost every call that the node answers
CONNECT_SECONDS = 4
LONGEST_CONTENT = 1 << 18  # one that is heard; what announces photos has some hundred bytes for each
LONGEST_PART = 1 << 19  # contents of one answer
MOST_HEARD = 64  # messages of one answer
MOST_HISTORY = 1000  # messages that are heard of the time before anybody listened
OVERLAP = 600 * 10**9  # nanoseconds by which this machine's clock may be set back


def words(error):
    """An error on one line, without the statistics that libxmtp appends."""
    return " ".join(re.sub("={3,}", " ", str(error).partition("============ Api Stats")[0]).split())


class Failure(Exception):
    """Why a request failed: one of photospool's causes and one sentence."""

    def __init__(self, cause, sentence):
        super().__init__(sentence)
        self.cause, self.sentence = cause, sentence[:500]

    @classmethod
    def of(cls, error, endpoint):
        """The meaning of an error of libxmtp, which has no codes for its node's errors, only words. The log has them."""
        if isinstance(error, Failure):
            return error
        if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
            return cls("timeout", f"the XMTP node at {endpoint} did not answer in time")
        if type(error).__module__ != "xmtp_bindings.xmtpv3":
            return cls("config_error", f"photospool-xmtp and photospool do not understand each other: {error!r}")
        for cause, pattern, sentence in CAUSES:
            if re.search(pattern, words(error), re.IGNORECASE):
                return cls(cause, sentence.format(node=f"the XMTP node at {endpoint}"))
        # Other errors may be temporary: of its database, of a changing group, of a failing node.
        return cls("server_busy", f"libxmtp failed and is asked again: {words(error)}")


CAUSES = [
    ("rate_limited", r"resource.?exhausted|some resource has been exhausted|rate limit|too many requests",
     "{node} asks to be called less often"),
    ("auth_expired", r"unauthenticated|authentication credentials|permission.?denied|does not have permission",
     "{node} refuses this identity; check the key file, and ask the node's operator"),
    ("timeout", r"deadline|timed out|timeout", "{node} did not answer in time"),
    ("network", r"tcp connect|dns error|transport error|connection|unavailable|broken pipe|error trying to connect",
     "no call of {node} went through; check the endpoint, whether it speaks TLS, and this machine's network"),
    ("config_error", r"PRAGMA key|not a database|file is encrypted|inbox.?id mismatch|identity.*mismatch",
     "the XMTP database is of another key; put back the key file that it was made with"),
    ("room_gone", r"group.*not found|conversation.*not found|group is inactive|not a member",
     "this identity is not a member of the XMTP conversation any more; have it added"),
    ("local_storage_full", r"disk is full|no space left", "there is no room for the XMTP database; make some"),
    ("local_storage_error", r"disk I/O error|readonly database|read-only file system",
     "the XMTP database cannot be written; check its disk and permissions"),
    ("rejected", r"too large|message length", "XMTP does not take a message of that size"),
]


def arguments():
    parser = argparse.ArgumentParser(prog="photospool-xmtp")
    parser.add_argument("--state", required=True, metavar="DIR")
    parser.add_argument("--key", required=True, metavar="FILE")
    parser.add_argument("--endpoint", required=True, metavar="HOST:PORT")
    parser.add_argument("--plaintext", action="store_true", help="speak without TLS")
    parser.add_argument("--seconds", type=float, default=45, metavar="N", help="the longest that a request may take")
    return parser.parse_args()


def private_key(path):
    """Reads the account's key from a file that only its owner can read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise Failure("config_error", f"cannot open the key file {path}: {error.strerror}")
    with os.fdopen(file, "rb") as opened:
        status = os.fstat(opened.fileno())
        check_owner(path, status, "the key file")
        if not stat.S_ISREG(status.st_mode):
            raise Failure("config_error", f"{path} is no file, so no key is read from it")
        line = opened.read(200).strip()
    if not re.fullmatch(rb"(0x)?[0-9a-fA-F]{64}", line):
        raise Failure("config_error", f"{path} holds no private key of an Ethereum account: one line of 64 hex digits")
    return bytes.fromhex(line[-64:].decode())


def check_owner(path, status, what):
    if status.st_uid not in (os.geteuid(), 0):
        raise Failure("config_error", f"{what} {path} belongs to another user; chown it")
    if status.st_mode & 0o077:
        raise Failure("config_error", f"{what} {path} is open to others than its owner; `chmod go= {path}`")


class State:
    """The directory of libxmtp's database. One process at a time uses it."""

    def __init__(self, path):
        self.path = path
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
            check_owner(path, os.stat(path), "the state directory")
            self.lock = open(self.file("lock"), "a")
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("conflict", f"another process uses the XMTP state in {path}")
        except OSError as error:
            raise Failure("config_error", f"cannot use the state directory {path}: {error.strerror}")

    def file(self, name):
        return os.path.join(self.path, name)

    def inbox(self):
        """The inbox id of the database; None before it is made."""
        try:
            with open(self.file("inbox")) as file:
                return file.read().strip() or None
        except FileNotFoundError:
            return None

    def set_inbox(self, inbox):
        """Written before the database is made, because libxmtp opens it only with its id and cannot report the id."""
        with open(self.file("inbox.new"), "w") as file:
            file.write(inbox + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.file("inbox.new"), self.file("inbox"))
        directory = os.open(self.path, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)


class Node:
    """The node, as far as a socket shows."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        host, _, self.port = endpoint.rpartition(":")
        self.host = host.strip("[]")
        self.turn, self.found, self.is_doubtful = asyncio.Lock(), -math.inf, False

    async def ask(self, work):
        """Awaits `work` as long as the endpoint accepts connections."""
        if self.is_doubtful:
            await self.find("unreachable")
        task = asyncio.ensure_future(work())
        try:
            while not (await asyncio.wait([task], timeout=PATIENCE))[0]:
                try:
                    await self.find("network")
                except Failure:
                    if not task.done():
                        raise
            result = task.result()
            self.is_doubtful = False
            return result
        except BaseException:  # also that the time is up, which ends this task
            self.is_doubtful = True
            raise
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def find(self, cause):
        """Connects, unless it has just done so."""
        async with self.turn:
            if time.monotonic() < self.found + PATIENCE:
                return
            try:
                _, writer = await asyncio.wait_for(asyncio.open_connection(self.host, self.port), CONNECT_SECONDS)
            except socket.gaierror:
                raise Failure(
                    cause, f"the name {self.host} of the XMTP node cannot be looked up; check the endpoint and this "
                    "machine's network") from None
            except OSError:
                raise Failure(
                    cause, f"cannot connect to the XMTP node at {self.endpoint}; check the endpoint and whether the "
                    "node is up") from None
            writer.close()
            self.found = time.monotonic()


class Identity:
    """The client of libxmtp, made and registered on first use."""

    def __init__(self, options, node):
        self.options = options
        self.node = node
        self.turn = asyncio.Lock()
        self.state = self.ready = None

    async def client(self):
        async with self.turn:
            if not self.ready:
                self.ready = await self.open()
            return self.ready

    async def open(self):
        try:
            global xmtp
            from xmtp_bindings import xmtpv3 as xmtp
        except ImportError as error:
            raise Failure("config_error", f"{error}; install the Python package xmtp-bindings for {sys.executable}")
        key = private_key(self.options.key)
        self.state = self.state or State(self.options.state)
        self.address = xmtp.ethereum_address_from_pubkey(xmtp.ethereum_generate_public_key(key)).lower()
        account = xmtp.FfiIdentifier(identifier=self.address, identifier_kind=xmtp.FfiIdentifierKind.ETHEREUM)
        scheme = "http" if self.options.plaintext else "https"
        self.api = await xmtp.connect_to_backend(
            f"{scheme}://{self.options.endpoint}", None, not self.options.plaintext, None, None, None, None)
        inbox = await self.find_inbox(account)
        database = xmtp.DbOptions(
            db=self.state.file("xmtp.db3"), encryption_key=hmac.digest(key, b"photospool: database of XMTP", "sha256"),
            max_db_pool_size=None, min_db_pool_size=None)
        client = await xmtp.create_client(
            self.api, self.api, database, inbox, account, 1, None, xmtp.FfiDeviceSyncMode.DISABLED, True, None)
        request = client.signature_request()
        if request:
            text = await request.signature_text()
            await request.add_ecdsa_signature(xmtp.ethereum_sign_recoverable(text.encode(), key, True))
            await client.register_identity(request)
        return client

    async def find_inbox(self, account):
        """From the network the first time, then from the stored answer."""
        inbox = self.state.inbox()
        if not inbox:
            known = await self.node.ask(lambda: xmtp.get_inbox_id_for_identifier(self.api, account))
            inbox = known or xmtp.generate_inbox_id(account, 1)
        if not self.state.inbox():
            self.state.set_inbox(inbox)
        return inbox


class Conversations:
    """Finds a client's conversations by photospool's names."""

    FORM = re.compile(
        r"(?P<group>group:(?:[0-9a-f]{2}){1,64})|dm:(?P<inbox>[0-9a-f]{64})|dm:(?P<address>0x[0-9a-f]{40})")

    def __init__(self, node):
        self.node = node
        self.inboxes = {}  # by address

    async def find(self, client, name):
        form = self.FORM.fullmatch(name.lower()) if isinstance(name, str) else None
        if not form:
            raise Failure(
                "rejected", f"{name!r:.300} is no conversation of XMTP; write group:ID, dm:INBOX-ID or dm:0xADDRESS")
        found = await (self.group(client, form["group"][6:]) if form["group"] else self.direct(client, form))
        if not found.is_active():
            raise Failure("room_gone", f"this identity is no longer a member of {name}")
        return found

    async def group(self, client, id):
        try:
            return client.conversation(bytes.fromhex(id))
        except xmtp.FfiError:
            # It may be among invitations that were not fetched yet.
            await self.node.ask(client.conversations().sync)
        try:
            return client.conversation(bytes.fromhex(id))
        except xmtp.FfiError:
            raise Failure("room_gone", f"this identity is not a member of the XMTP group {id}; have it added") from None

    async def direct(self, client, form):
        inbox = form["inbox"] or await self.inbox(client, form["address"])
        try:
            return client.dm_conversation(inbox)
        except xmtp.FfiError:
            await self.node.ask(lambda: self.check_inbox(client, inbox))
            options = xmtp.FfiCreateDmOptions(message_disappearing_settings=None)
            return await self.node.ask(lambda: client.conversations().find_or_create_dm(inbox, options))

    @staticmethod
    async def check_inbox(client, inbox):
        """Checked here, because libxmtp also makes conversations with inboxes that do not exist."""
        try:
            await client.addresses_from_inbox_id(True, [inbox])
        except xmtp.FfiError as error:
            if "Missing identity update" not in str(error):
                raise
            raise Failure("room_gone", f"nobody has the XMTP inbox {inbox}") from None

    async def inbox(self, client, address):
        if address not in self.inboxes:
            account = xmtp.FfiIdentifier(identifier=address, identifier_kind=xmtp.FfiIdentifierKind.ETHEREUM)
            found = await self.node.ask(lambda: client.find_inbox_id(account))
            if not found:
                raise Failure("room_gone", f"the account {address} has no inbox on XMTP")
            self.inboxes[address] = found
        return self.inboxes[address]


def encoded(request):
    """The content of a message, with a fallback text unless it was given encoded."""
    if "content" in request:
        return base64.b64decode(request["content"], validate=True)
    if "text" in request:
        return xmtp.encode_text(request["text"])
    photo = request["attachment"]
    return xmtp.encode_remote_attachment(
        xmtp.FfiRemoteAttachment(
            url=photo["url"], content_digest=photo["contentDigest"], secret=bytes.fromhex(photo["secret"]),
            salt=bytes.fromhex(photo["salt"]), nonce=bytes.fromhex(photo["nonce"]), scheme=photo["scheme"],
            content_length=photo["contentLength"], filename=photo["filename"]))


def attachment(content):
    """The photo of a message, or None."""
    try:
        photo = xmtp.decode_remote_attachment(content)
    except xmtp.FfiError:
        return None
    if not photo.secret:  # the decoder takes a text, too
        return None
    return {
        "url": photo.url,
        "contentDigest": photo.content_digest,
        "secret": photo.secret.hex(),
        "salt": photo.salt.hex(),
        "nonce": photo.nonce.hex(),
        "scheme": photo.scheme,
        "contentLength": photo.content_length,
        "filename": photo.filename,
    }


def is_photo(content):
    """Whether a content may announce photos; the type in the database decides exactly."""
    return b"emoteStaticAttachment" in content[:4096]


class Bell:
    """Rings for a photo in libxmtp's stream, and at its end. libxmtp calls it on its own threads."""

    def __init__(self):
        self.loop, self.rung, self.closer, self.has_ended = asyncio.get_running_loop(), asyncio.Event(), None, False

    def on_message(self, message):
        if is_photo(message.content):
            self.loop.call_soon_threadsafe(self.rung.set)

    def on_error(self, error):
        print("stream:", words(error)[:500], file=sys.stderr, flush=True)

    def on_close(self):
        self.loop.call_soon_threadsafe(self.end)

    def end(self):
        self.has_ended = True
        self.rung.set()


class Ear:
    """Listens. A stream puts messages into libxmtp's database, from where they are returned by their time of arrival
    there."""

    def __init__(self, node, conversations):
        self.node, self.conversations = node, conversations
        self.bell = self.turn = None
        self.told = {}  # by id of a message: when it came, of those that whoever asks has kept
        self.offered = (None, {})  # the position behind what was told last, and that

    async def listen(self, client, after, named, others, wait):
        self.turn = turn = object()
        if self.offered[0] and after == self.offered[0]:
            self.told |= self.offered[1]
        self.offered = (None, {})
        names = await self.names(client, named)
        end = time.monotonic() + wait
        while True:
            if not self.bell or self.bell.has_ended:
                await self.begin(client)
            bell = self.bell
            bell.rung.clear()
            heard = await self.heard(client, after, names, others)
            # The former caller is gone; this one gets its messages.
            if turn is not self.turn:
                return {"heard": [], "position": after or self.position(0)}
            if heard:
                return self.tell(after, heard)
            try:
                await asyncio.wait_for(bell.rung.wait(), end - time.monotonic())
            except asyncio.TimeoutError:
                return {"heard": [], "position": after or self.position(0)}
            if bell.has_ended:
                raise Failure("network", f"the XMTP node at {self.node.endpoint} has ended the stream of messages")

    async def begin(self, client):
        """Starts the stream before it reads earlier messages, so that none is missed in between."""
        consent = [xmtp.FfiConsentState.ALLOWED, xmtp.FfiConsentState.UNKNOWN]
        bell = Bell()

        async def open():
            bell.closer = await client.conversations().stream_all_messages(bell, consent)
            await bell.closer.wait_for_ready()

        try:
            await self.node.ask(open)
            await self.node.ask(lambda: client.conversations().sync_all_conversations(consent))
        except BaseException:
            if bell.closer:
                bell.closer.end()
            raise
        self.bell = bell

    async def names(self, client, named):
        """Conversation ids by name. Unknown names are left out."""
        names = {}
        for name in named:
            form = Conversations.FORM.fullmatch(name.lower())
            if not form:
                continue
            try:
                found = form["group"] or "dm:" + (form["inbox"] or await self.conversations.inbox(client, form["address"]))
            except Failure as failure:
                if failure.cause != "room_gone":
                    raise
                continue
            names.setdefault(found, name)
        return names

    async def heard(self, client, after, names, others):
        """The messages after a position that were not returned yet: (time of arrival, conversation, message)."""
        start = self.time(after)
        self.told = {id: moment for id, moment in self.told.items() if moment > start - OVERLAP}
        options = empty(xmtp.FfiListConversationsOptions)
        options.consent_states = [xmtp.FfiConsentState.ALLOWED, xmtp.FfiConsentState.UNKNOWN]
        options.include_duplicate_dms = False
        found = []
        for item in client.conversations().list(options):
            conversation = item.conversation()
            name = self.name(conversation)
            if name in names or others:
                # Limits memory, whatever the number of conversations.
                found = self.next(after, found) if len(found) > 2 * MOST_HISTORY else found
                found += [(message.inserted_at_ns, names.get(name, name), message)
                          for message in await self.photos(client, conversation, start if after else None)]
        return self.next(after, found)

    @staticmethod
    def next(after, found):
        """The next ones in order: the earliest, or the latest of those before listening began."""
        found.sort(key=lambda one: (one[0], one[2].sequence_id))
        return found[:MOST_HEARD] if after else found[-MOST_HISTORY:]

    async def photos(self, client, conversation, start):
        options = empty(xmtp.FfiListMessagesOptions)
        options.content_types = [xmtp.FfiContentType.REMOTE_ATTACHMENT, xmtp.FfiContentType.MULTI_REMOTE_ATTACHMENT]
        options.exclude_sender_inbox_ids = [client.inbox_id()]
        options.sort_by = xmtp.FfiSortBy.INSERTED_AT
        if start is None:
            options.direction, options.limit = xmtp.FfiDirection.DESCENDING, MOST_HISTORY
        else:
            options.direction, options.limit = xmtp.FfiDirection.ASCENDING, MOST_HEARD + len(self.told)
            options.inserted_after_ns = start - OVERLAP
        return [message for message in await conversation.find_messages(options) if message.id not in self.told]

    @staticmethod
    def name(conversation):
        if conversation.conversation_type() == xmtp.FfiConversationType.DM:
            return f"dm:{conversation.dm_peer_inbox_id()}"
        return f"group:{conversation.id().hex()}"

    def tell(self, after, heard):
        """The next part, which counts as stored once the caller asks for what follows it."""
        told, answer, size, latest = {}, [], 0, self.time(after)
        for moment, name, message in heard[:MOST_HEARD]:
            content = message.content
            if len(content) > LONGEST_CONTENT:
                print(f"a message in {name} that announces photos has {len(content)} bytes and is passed over",
                      file=sys.stderr, flush=True)
            elif size + len(content) > LONGEST_PART:
                break
            else:
                size += len(content)
                answer.append({"conversation": name, "message": message.id.hex(), "sender": message.sender_inbox_id,
                               "content": base64.b64encode(content).decode()})
            told[message.id] = moment
            latest = max(latest, moment)
        self.offered = (self.position(latest), told)
        return {"heard": answer, "position": self.offered[0]}

    @staticmethod
    def position(moment):
        """A text that differs for each position, even at the same time."""
        return f"{moment}/{os.urandom(8).hex()}"

    @staticmethod
    def time(position):
        found = re.fullmatch(r"(\d{1,19})/[0-9a-f]{16}", position or "")
        return int(found[1]) if found else 0


def empty(options):
    """Options of libxmtp, all unset."""
    return options(**{name: None for name in options.__annotations__})


class Work:
    """The verbs of requests, one method each."""

    def __init__(self, options):
        self.node = Node(options.endpoint)
        self.identity = Identity(options, self.node)
        self.conversations = Conversations(self.node)
        self.ear = Ear(self.node, self.conversations)
        self.fresh = set()  # reserved by this process, and not tried to publish yet

    async def reserve(self, request):
        client = await self.identity.client()
        conversation = await self.conversations.find(client, request["conversation"])
        reserved = conversation.prepare_message(encoded(request), "content" not in request).hex()
        self.fresh.add(reserved)
        return {"reserved": reserved}

    async def publish(self, request):
        client = await self.identity.client()
        id = bytes.fromhex(request["reserved"])
        message = self.message(client, id)
        if not self.is_published(message):
            await self.node.ask(lambda: self.send(client, message))
            message = self.message(client, id)
            if not self.is_published(message):
                raise Failure("server_busy", "the XMTP node has not taken the message")
        photo = attachment(message.content)
        return {"publishedAt": message.sent_at_ns // 1_000_000, **({"attachment": photo} if photo else {})}

    async def send(self, client, message):
        conversation, reserved = client.conversation(message.conversation_id), message.id.hex()
        if reserved not in self.fresh:
            # It may be published; the group knows, and this sets the mark.
            await conversation.sync()
        self.fresh.discard(reserved)
        # Does nothing once it is marked.
        try:
            await conversation.publish_stored_message(message.id)
        except xmtp.FfiError as error:
            if "SyncFailedToWait" not in str(error):
                raise
            # This error hides the node's answer. Another question may show it.
            await client.fetch_own_inbox_updates_count(True)
            raise Failure("server_busy", "the XMTP node answers, and does not take the message now") from None

    @staticmethod
    def message(client, id):
        try:
            return client.message(id)
        except xmtp.FfiError as error:
            if "not found" not in str(error):
                raise
            raise Failure(
                "rejected", f"the XMTP database does not know the reserved message {id.hex()}: it was restored from a "
                "backup or begun anew; look in the conversation whether the message is there, then retry or cancel"
            ) from None

    @staticmethod
    def is_published(message):
        return message.delivery_status == xmtp.FfiDeliveryStatus.PUBLISHED

    async def group(self, request):
        client = await self.identity.client()
        name = request["conversation"]
        conversation = await self.conversations.find(client, name)
        if conversation.conversation_type() != xmtp.FfiConversationType.GROUP:
            raise Failure("rejected", f"{name} is no group of XMTP; write group:ID")
        await self.node.ask(conversation.sync)
        return {"appData": conversation.app_data()}

    async def listen(self, request):
        client = await self.identity.client()
        return await self.ear.listen(
            client, request.get("after"), request["named"], request["others"], min(request["wait"], 25))

    async def check(self, request):
        client = await self.identity.client()
        facts = {
            "inbox": client.inbox_id(),
            "address": self.identity.address,
            "installation": client.installation_id().hex(),
            "reachable": True,
        }
        try:
            await self.node.ask(lambda: client.fetch_own_inbox_updates_count(True))
        except Exception as error:
            print("check:", words(error), file=sys.stderr, flush=True)
            facts["reachable"] = False
        if "conversation" in request:
            try:
                await self.conversations.find(client, request["conversation"])
                facts["conversation"] = True
            except Failure as failure:
                print("check:", words(failure), file=sys.stderr, flush=True)
                facts["conversation"], facts["obstacle"] = False, failure.sentence
        return facts


class Service:
    """Reads requests, runs them, and writes answers."""

    VERBS = {"reserve", "publish", "listen", "check", "group"}

    def __init__(self, options, output):
        self.output, self.seconds, self.work = output, options.seconds, Work(options)
        self.running = set()

    async def run(self, lines):
        while True:
            request = json.loads(await lines.get())
            task = asyncio.create_task(self.serve(request))
            self.running.add(task)
            task.add_done_callback(self.running.discard)

    async def serve(self, request):
        try:
            if request["do"] not in self.VERBS:
                raise Failure("config_error", f"{request['do']!r:.100} is nothing that photospool-xmtp does")
            method = getattr(self.work, request["do"])
            self.answer(request["id"], ok=await asyncio.wait_for(method(request), self.seconds))
        except Exception as error:
            print(f"{request['do']}: {type(error).__name__}: {words(error)}", file=sys.stderr, flush=True)
            failure = Failure.of(error, self.work.node.endpoint)
            self.answer(request["id"], error={"cause": failure.cause, "sentence": failure.sentence})

    def answer(self, id, **what):
        self.output.write(json.dumps({"id": id, **what}, separators=(",", ":")) + "\n")
        self.output.flush()


def end():
    """Ends the process at once, whatever libxmtp does; a kill is harmless, too."""
    os._exit(0)


def read_requests(loop, lines):
    """Runs on its own thread, so that nothing delays it, and because standard input may share its flags with standard
    output and must stay blocking."""
    try:
        with os.fdopen(0, "rb", closefd=False) as requests:
            while (line := requests.readline(LONGEST_REQUEST)).endswith(b"\n"):
                loop.call_soon_threadsafe(lines.put_nowait, line)
        if line:
            print("a request has no end, or is too long", file=sys.stderr, flush=True)
    finally:
        # The caller may have died, so that reading or standard error fails. If this process lived on, no other could use
        # the state.
        end()


async def serve(options, output):
    lines = asyncio.Queue()
    thread = threading.Thread(target=read_requests, args=(asyncio.get_running_loop(), lines), daemon=True)
    thread.start()
    await Service(options, output).run(lines)


def main():
    options = arguments()
    os.umask(0o077)
    os.environ.setdefault("RUST_LOG", "warn")
    # libxmtp logs to standard output.
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    asyncio.run(serve(options, output))


if __name__ == "__main__":
    main()
