"""A hostile server of photos over TLS, and an honest one beside it.

    hostile_server.py DIRECTORY HOSTILE HONEST

HOSTILE and HONEST are addresses of this machine. Both answer on one port; the certificate, which is its own authority, is
good for both. The honest one serves DIRECTORY/objects; the first word of the path names the behaviour of the hostile one, a
method of `Hostile` or a redirect. Redirects lead to a third listener, on the loopback address: nobody should ever
connect there.

Each line on standard input asks for one line of JSON: `most`, the bytes of the longest answer of each kind until the
client closed it; `asked`, the number of requests of each kind; `strangers`, the number of connections to loopback;
`open`, the connections that are open now. It ends when standard input does.
"""

import asyncio
import collections
import gzip
import json
import os
import socket
import ssl
import struct
import subprocess
import sys

directory, hostile, honest = sys.argv[1:]
objects = os.path.join(directory, "objects")
BOMB = gzip.compress(bytes(1 << 24), 9) * 64  # 1 GB
BLOCK = bytes(1 << 16)


class Counts:
    def __init__(self):
        self.most, self.asked = collections.Counter(), collections.Counter()
        self.strangers = self.open = 0


class Reply:
    """One connection, and how much went out on it."""

    def __init__(self, writer, counts, kind):
        self.writer, self.counts, self.kind, self.sent = writer, counts, kind, 0

    async def write(self, text):
        if self.writer.is_closing():
            raise ConnectionResetError
        self.writer.write(text if isinstance(text, bytes) else text.encode())
        await self.writer.drain()
        await asyncio.sleep(0)  # nobody else would have a turn while the client takes all
        self.sent += len(text)
        self.counts.most[self.kind] = max(self.counts.most[self.kind], self.sent)

    async def head(self, status, *lines):
        await self.write("".join(line + "\r\n" for line in (f"HTTP/1.1 {status} told", "Connection: close", *lines, "")))

    async def all(self, status, body, *lines):
        await self.head(status, f"Content-Length: {len(body)}", *lines)
        await self.write(body)

    async def elsewhere(self, location):
        await self.all(302, b"elsewhere", f"Location: {location}")

    async def forever(self):
        await asyncio.Event().wait()


class Hostile:
    def __init__(self, stranger):
        self.redirects = {
            "to-loopback": f"https://127.0.0.1:{stranger}/", "to-mapped": f"https://[::ffff:127.0.0.1]:{stranger}/",
            "to-name": f"https://localhost:{stranger}/", "to-metadata": "https://169.254.169.254/latest/meta-data/",
            "to-plain": f"http://{honest}/", "to-file": "file:///etc/passwd"}

    def answer(self, kind, reply, rest, headers):
        if kind in self.redirects:
            return reply.elsewhere(self.redirects[kind])
        return getattr(self, kind.replace("-", "_"))(reply, rest, headers)

    async def endless(self, reply, rest, headers):
        await reply.head(200)
        while True:
            await reply.write(BLOCK)

    async def endless_chunks(self, reply, rest, headers):
        await reply.head(200, "Transfer-Encoding: chunked")
        while True:
            await reply.write(b"10000\r\n" + BLOCK + b"\r\n")

    async def ten_gigabytes(self, reply, rest, headers):
        await reply.head(200, "Content-Length: 10000000000")
        while True:
            await reply.write(BLOCK)

    async def endless_page(self, reply, rest, headers):
        await reply.head(403)
        while True:
            await reply.write(BLOCK)

    async def endless_head(self, reply, rest, headers):
        await reply.write("HTTP/1.1 200 told\r\n")
        while True:
            await reply.write("X-Again: and again, and again, and again\r\n" * 100)

    async def endless_continue(self, reply, rest, headers):
        while True:
            await reply.write("HTTP/1.1 100 Continue\r\n\r\n" * 100)

    async def packed(self, reply, rest, headers):
        await reply.all(200, BOMB, "Content-Encoding: gzip")

    async def loop(self, reply, rest, headers):
        await reply.elsewhere("/loop/x")

    async def chain(self, reply, rest, headers):
        await reply.elsewhere("/chain/" + "x" * (len(rest) + 100))

    async def truncated(self, reply, rest, headers):
        await reply.head(200, "Content-Length: 200000", 'ETag: "one"')
        await reply.write(bytes(1000))

    async def another_part(self, reply, rest, headers):
        if "range" in headers:
            await reply.all(206, bytes(1000), "Content-Range: bytes 0-999/200000", 'ETag: "one"')
        else:
            await self.truncated(reply, rest, headers)

    async def part_unasked(self, reply, rest, headers):
        await reply.all(206, bytes(1000), "Content-Range: bytes 199000-199999/200000")

    async def dripping(self, reply, rest, headers):
        await reply.head(200, "Content-Length: 200000")
        while True:
            await reply.write(b"x")
            await asyncio.sleep(0.3)

    async def dripping_head(self, reply, rest, headers):
        await reply.write("HTTP/1.1 200 told\r\nX-Slow: ")
        while True:
            await reply.write(b"x")
            await asyncio.sleep(0.3)

    async def silent(self, reply, rest, headers):
        await reply.forever()

    async def stops(self, reply, rest, headers):
        await reply.head(200, "Content-Length: 200000")
        await reply.write(bytes(1000))
        await reply.forever()

    async def garbage(self, reply, rest, headers):
        await reply.write(os.urandom(100_000))

    async def closes(self, reply, rest, headers):
        pass

    async def resets(self, reply, rest, headers):
        line = reply.writer.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        reply.writer.transport.abort()

    async def never(self, reply, rest, headers):
        await reply.all(503, b"<html>not now</html>", "Retry-After: 86400000")

    async def nothing(self, reply, rest, headers):
        await reply.all(200, b"")

    async def not_modified(self, reply, rest, headers):
        await reply.head(304)


async def request(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
    _, kind, rest = head[0].split(" ")[1].split("/", 2)
    return kind, rest, headers


async def main():
    os.makedirs(objects)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem",
         "-out", "authority.pem", "-subj", "/CN=a test", "-addext", f"subjectAltName=IP:{hostile},IP:{honest}"],
        cwd=directory, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(os.path.join(directory, "authority.pem"), os.path.join(directory, "key.pem"))
    counts = Counts()

    async def stranger(reader, writer):
        counts.strangers += 1
        writer.close()

    nobody = await asyncio.start_server(stranger, "127.0.0.1", 0)
    harm = Hostile(nobody.sockets[0].getsockname()[1])

    async def serve(reader, writer):
        counts.open += 1
        try:
            kind, rest, headers = await request(reader)
            counts.asked[kind] += 1
            reply = Reply(writer, counts, kind)
            if kind == "objects":
                with open(os.path.join(objects, os.path.basename(rest)), "rb") as file:
                    await reply.all(200, file.read(), 'ETag: "one"')
            elif writer.get_extra_info("sockname")[0] == hostile:
                answer = asyncio.ensure_future(harm.answer(kind, reply, rest, headers))
                # The client may disconnect before the answer ends.
                gone = asyncio.ensure_future(reader.read())
                await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
                for task in (answer, gone):
                    task.cancel()
                await asyncio.gather(answer, gone, return_exceptions=True)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            pass
        finally:
            counts.open -= 1
            writer.transport.abort() if writer.is_closing() else writer.close()

    server = await asyncio.start_server(serve, hostile, 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    await asyncio.start_server(serve, honest, port, ssl=context)
    print(json.dumps({
        "hostile": f"https://{hostile}:{port}", "honest": f"https://{honest}:{port}", "objects": objects,
        "authority": os.path.join(directory, "authority.pem")}), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(vars(counts)), flush=True)
    os._exit(0)


asyncio.run(main())
