"""A relay of XMTP's protocol (version 3) for tests, on a free port of loopback. It stores and forwards, and verifies
nothing: neither signatures nor groups.

On standard input it takes one order a line, as JSON, and answers each with one line:

    {"do": "endpoint"}                     {"endpoint": "127.0.0.1:PORT"}
    {"do": "hold", "when": "before"}       from now on, what is sent to a group waits before it is stored; or "after" it
                                           was stored, with the answer
    {"do": "held"}                         answers once a call waits
    {"do": "release"}                      lets those go on that wait, and holds no more
    {"do": "drop"}                         refuses those that wait, and holds no more
    {"do": "refuse", "status": "UNAVAILABLE"}   answers every call with that status; null: no more
    {"do": "down"}, {"do": "up"}           stops listening, and listens again on the same port
    {"do": "stored", "group": "HEX"}       {"stored": N}: application messages of that group

It ends when standard input does.
"""

import asyncio
import collections
import json
import struct
import sys
import time

import grpc

from protobuf_fields import Fields, field


class MLS:
    """Reads the few places of RFC 9420's structures that a relay has to know."""

    def __init__(self, encoded, start):
        self.encoded, self.place = encoded, start

    def vector(self):
        """A vector of bytes, whose length is one of QUIC's numbers."""
        size = 1 << (self.encoded[self.place] >> 6)
        length = int.from_bytes(self.encoded[self.place : self.place + size], "big") & ((1 << 8 * size - 2) - 1)
        self.place += size + length
        return self.encoded[self.place - length : self.place]

    def byte(self):
        self.place += 1
        return self.encoded[self.place - 1]

    @classmethod
    def group(cls, message):
        """The group that a message belongs to, and whether it is a commit."""
        _version, form = struct.unpack(">HH", message[:4])
        reader = cls(message, 4)
        group = reader.vector()
        reader.place += 8  # the epoch
        if form != 2:  # not private: the sender and authenticated data come first
            reader.place += 4 if reader.byte() in (1, 2) else 0
            reader.vector()
        return group, reader.byte() == 3

    @classmethod
    def installation(cls, key_package):
        """The key that names the installation that made a key package."""
        reader = cls(key_package, 4)
        reader.vector()
        reader.vector()
        return reader.vector()


class Relay:
    """The stored state, and one method per call of the protocol. All stored things share one sequence of numbers."""

    def __init__(self):
        self.last = 0
        self.identities = collections.defaultdict(list)  # by inbox: (number, time, update)
        self.inboxes = {}  # by address
        self.key_packages = {}  # by installation
        self.messages = collections.defaultdict(list)  # by group: (number, message)
        self.welcomes = collections.defaultdict(list)  # by installation: (number, welcome)
        self.application = collections.Counter()  # by group
        self.news = asyncio.Condition()
        self.gate = Gate()

    def next(self):
        self.last += 1
        return self.last

    async def tell(self):
        async with self.news:
            self.news.notify_all()

    # IdentityApi

    async def PublishIdentityUpdate(self, request, context):
        encoded = request.bytes(1)
        update = Fields(encoded)
        inbox = update.text(3)
        self.identities[inbox].append((self.next(), time.time_ns(), encoded))
        for action in update.all(1):
            for created in action.all(1):
                self.inboxes[created.text(1).lower()] = inbox
            for added in action.all(2):
                self.inboxes[added.message(1).text(1).lower()] = inbox
            for revoked in action.all(3):
                self.inboxes.pop(revoked.message(1).text(1).lower(), None)
        return b""

    async def GetIdentityUpdates(self, request, context):
        answer = b""
        for wanted in request.all(1):
            inbox, since = wanted.text(1), wanted.number(2)
            log = b"".join(
                field(2, field(1, number) + field(2, moment) + field(3, update))
                for number, moment, update in self.identities[inbox]
                if number > since)
            answer += field(1, field(1, inbox) + log)
        return answer

    async def GetInboxIds(self, request, context):
        answer = b""
        for wanted in request.all(1):
            inbox = self.inboxes.get(wanted.text(1).lower())
            known = field(2, inbox) if inbox else b""
            answer += field(1, field(1, wanted.bytes(1)) + known + field(3, wanted.number(2)))
        return answer

    # MlsApi

    async def UploadKeyPackage(self, request, context):
        package = request.message(1).bytes(1)
        self.key_packages[MLS.installation(package)] = package
        return b""

    async def FetchKeyPackages(self, request, context):
        packages = (self.key_packages.get(key) for key in request.values[1])
        return b"".join(field(1, field(1, package) if package else b"") for package in packages)

    async def SendGroupMessages(self, request, context):
        await self.gate.wait("before", context)
        for sent in request.all(1):
            version = sent.message(1)
            data = version.bytes(1)
            group, is_commit = MLS.group(data)
            number = self.next()
            stored = field(1, number) + field(2, time.time_ns()) + field(3, group) + field(4, data)
            stored += field(5, version.bytes(2)) + field(6, version.number(3)) + field(7, int(is_commit))
            self.messages[group].append((number, field(1, stored)))
            self.application[group] += not is_commit
        await self.tell()
        await self.gate.wait("after", context)
        return b""

    async def SendWelcomeMessages(self, request, context):
        for sent in request.all(1):
            kind = 1 if 1 in sent else 2  # a welcome, or a pointer to one
            version = sent.message(kind)
            installation, number = version.bytes(1), self.next()
            stored = field(1, number) + field(2, time.time_ns()) + field(3, installation)
            stored += field(4, version.bytes(2)) + field(5, version.bytes(3)) + field(6, version.number(4))
            if kind == 1:
                stored += field(7, version.bytes(7))
            self.welcomes[installation].append((number, field(kind, stored)))
        await self.tell()
        return b""

    async def QueryGroupMessages(self, request, context):
        return self.page(self.messages[request.bytes(1)], request.message(2))

    async def QueryWelcomeMessages(self, request, context):
        return self.page(self.welcomes[request.bytes(1)], request.message(2))

    @staticmethod
    def page(rows, wanted):
        direction, limit, cursor = wanted.number(1), wanted.number(2) or 100, wanted.number(3)
        if direction == 2:
            rows = [row for row in reversed(rows) if not cursor or row[0] < cursor]
        else:
            rows = [row for row in rows if row[0] > cursor]
        following = rows[limit - 1][0] if len(rows) > limit else 0
        found = b"".join(field(1, row[1]) for row in rows[:limit])
        return found + field(2, field(1, direction) + field(2, limit) + field(3, following))

    async def GetNewestGroupMessage(self, request, context):
        newest = (self.messages[group][-1:] for group in request.values[1])
        return b"".join(field(1, field(1, rows[0][1]) if rows else b"") for rows in newest)

    async def BatchPublishCommitLog(self, request, context):
        return b""

    async def BatchQueryCommitLog(self, request, context):
        return b"".join(field(1, field(1, wanted.bytes(1))) for wanted in request.all(1))

    async def SubscribeGroupMessages(self, request, context):
        async for message in self.follow(request, context, self.messages):
            yield message

    async def SubscribeWelcomeMessages(self, request, context):
        async for welcome in self.follow(request, context, self.welcomes):
            yield welcome

    async def follow(self, request, context, rows):
        """Sends everything after the cursors, then new messages as they arrive."""
        await context.send_initial_metadata((("subscribed", "true"),))  # clients wait for it
        cursors = {wanted.bytes(1): wanted.number(2) for wanted in request.all(1)}
        while True:
            async with self.news:
                waiting = [(key, row) for key in cursors for row in rows[key] if row[0] > cursors[key]]
                if not waiting:
                    await self.news.wait()
            for key, (number, encoded) in waiting:
                cursors[key] = number
                yield encoded

    # MigrationApi

    async def FetchD14nCutover(self, request, context):
        return field(1, 2**62)  # the time of the move to another protocol: never


class Gate:
    """Where a test stops what is sent to a group, or refuses whatever is asked."""

    def __init__(self):
        self.when = None
        self.status = None
        self.held = asyncio.Event()
        self.goes_on = asyncio.Future()

    async def wait(self, when, context):
        if self.when == when:
            goes_on = self.goes_on
            self.held.set()
            # A client that goes away does not end the wait for the others.
            if not await asyncio.shield(goes_on):
                await context.abort(grpc.StatusCode.UNAVAILABLE, "dropped by the test")

    async def refuse(self, context):
        if self.status:
            await context.abort(getattr(grpc.StatusCode, self.status), "refused by the test")

    def hold(self, when):
        self.when, self.held, self.goes_on = when, asyncio.Event(), asyncio.Future()

    def release(self, goes_on):
        self.when = None
        self.goes_on.set_result(goes_on)


class Calls(grpc.GenericRpcHandler):
    """Finds the method of a call by the last part of its name; no description of the protocol is compiled in."""

    def __init__(self, relay):
        self.relay = relay

    def service(self, details):
        name = details.method.rpartition("/")[2]
        method = getattr(self.relay, name, None)
        if not name[0].isupper() or not method:
            print("not known:", details.method, file=sys.stderr, flush=True)
            return None
        if name.startswith("Subscribe"):
            return grpc.unary_stream_rpc_method_handler(method, Fields)

        async def answer(request, context):
            await self.relay.gate.refuse(context)
            return await method(request, context)

        return grpc.unary_unary_rpc_method_handler(answer, Fields)


async def listen(relay, port):
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Calls(relay),))
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    return server, port


async def main():
    relay = Relay()
    server, port = await listen(relay, 0)
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        order = json.loads(line)
        answer = {}
        match order["do"]:
            case "endpoint":
                answer = {"endpoint": f"127.0.0.1:{port}"}
            case "hold":
                relay.gate.hold(order["when"])
            case "held":
                await relay.gate.held.wait()
            case "release":
                relay.gate.release(True)
            case "drop":
                relay.gate.release(False)
            case "refuse":
                relay.gate.status = order["status"]
            case "down":
                await server.stop(None)
            case "up":
                server, _ = await listen(relay, port)
            case "stored":
                answer = {"stored": relay.application[bytes.fromhex(order["group"])]}
        print(json.dumps(answer), flush=True)
    await server.stop(None)


asyncio.run(main())
