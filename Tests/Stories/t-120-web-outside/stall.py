"""Asks for a photo over HTTP/2 and takes nothing of it: first with one stream of a connection, then with all."""

import socket
import ssl
import sys
import time

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import StreamEnded, StreamReset

port, name, path, cookie = sys.argv[1:]


class Browser:
    def __init__(self):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", int(port)))
        self.socket = context.wrap_socket(raw, server_hostname=name.split(":")[0])
        assert self.socket.selected_alpn_protocol() == "h2"
        self.http = H2Connection(H2Configuration())
        self.http.initiate_connection()
        self.flush()

    def flush(self):
        self.socket.sendall(self.http.data_to_send())

    def ask(self, path):
        stream = self.http.get_next_available_stream_id()
        self.http.send_headers(stream, [
            (":method", "GET"), (":scheme", "https"), (":authority", name), (":path", path), ("cookie", cookie)], True)
        self.flush()
        return stream

    def events(self):
        """What comes, until the connection ends. Windows are never enlarged."""
        while data := self.socket.recv(1 << 16):
            yield from self.http.receive_data(data)
            self.flush()


def is_held(browser):
    """Whether a process still has the page's end of the connection. A closed one with bytes that nobody takes has none."""
    ours = browser.socket.getsockname()[1]
    for line in open("/proc/net/tcp"):
        words = line.split()
        if words[1].endswith(f":{int(port):04X}") and words[2].endswith(f":{ours:04X}"):
            return words[9] != "0"
    return False


# The streams have large windows, and nobody reads the socket: the kernel's buffers fill.
deaf = Browser()
deaf.http.increment_flow_control_window((1 << 31) - 1 - 65535)
deaf.http.update_settings({4: (1 << 31) - 1})
deaf.flush()
for _ in range(60):
    deaf.ask(path)

# The stream's window is full after 64 KiB, and stays so. Another stream of the connection is answered.
slow = Browser()
slow.http.increment_flow_control_window(1 << 24)
stalled, health = slow.ask(path), slow.ask("/healthz")
answered = reset = False
for event in slow.events():
    if isinstance(event, StreamEnded):
        assert event.stream_id == health, "the photo fits into the window"
        answered = True
    reset = reset or isinstance(event, StreamReset) and event.stream_id == stalled
    if reset:
        break
assert answered and reset, (answered, reset)
# A stream beyond these is refused.
assert slow.http.remote_settings.max_concurrent_streams == 100

end = time.monotonic() + 150
while is_held(deaf):
    assert time.monotonic() < end, "it holds the connection"
    time.sleep(0.2)
