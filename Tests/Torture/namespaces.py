"""Network namespaces around one switch, each of which can be cut off, as a computer whose cable is pulled."""

import os
import subprocess
import time

SWITCH = "10.77.0.1"


def run(*words, text=None):
    subprocess.run(words, input=text, check=True, capture_output=True, text=True)


class Namespace:
    """One that lasts until `end()`, or until this process ends."""

    def __init__(self):
        # `cat` ends with its standard input.
        self.holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        own = os.readlink("/proc/self/ns/net")
        end = time.monotonic() + 20
        while self.holder.poll() is None and os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            if time.monotonic() > end:
                break
            time.sleep(0.01)
        self.within = ["nsenter", "--target", str(self.holder.pid), "--net"]
        run(*self.within, "ip", "link", "set", "lo", "up")

    def end(self):
        self.holder.stdin.close()
        self.holder.wait()


class Switch(Namespace):
    """What listens at `SWITCH` is reached from each namespace that is plugged in, there also at 127.0.0.1."""

    def __init__(self):
        super().__init__()
        self.plugged = []
        self.ip("link", "add", "switch", "type", "bridge")
        self.ip("address", "add", f"{SWITCH}/24", "dev", "switch")
        self.ip("link", "set", "switch", "up")

    def ip(self, *words):
        run(*self.within, "ip", *words)

    def plug(self):
        """A new namespace on the switch. Returns it, with its `address`."""
        made = Namespace()
        self.plugged.append(made)
        number = len(self.plugged)
        made.address, made.port = f"10.77.0.{10 + number}", f"port{number}"
        self.ip("link", "add", made.port, "type", "veth", "peer", "name", "line", "netns", str(made.holder.pid))
        self.ip("link", "set", made.port, "master", "switch", "up")
        run(*made.within, "ip", "address", "add", f"{made.address}/24", "dev", "line")
        run(*made.within, "ip", "link", "set", "line", "up")
        run(*made.within, "sysctl", "-qw", "net.ipv4.conf.all.route_localnet=1")
        run(*made.within, "nft", "-f", "-", text=f"""table ip switch {{
  chain out {{ type nat hook output priority 0; oifname "lo" ip daddr 127.0.0.1 dnat to {SWITCH}; }}
  chain source {{ type nat hook postrouting priority 100; oifname "line" masquerade; }}
  chain in {{ type filter hook input priority 0; }}
}}""")
        return made

    def cut(self, namespace):
        self.ip("link", "set", namespace.port, "down")

    def mend(self, namespace):
        self.ip("link", "set", namespace.port, "up")
        run(*namespace.within, "nft", "flush", "chain", "ip", "switch", "in")

    def deafen(self, namespace, others):
        """It hears nothing of the others from now on, though they still hear it."""
        for other in others:
            run(*namespace.within, "nft", "add", "rule", "ip", "switch", "in", "ip", "saddr", other.address, "drop")

    def end(self):
        for namespace in self.plugged:
            namespace.end()
        super().end()


def why_none():
    """Why there can be no namespaces here; nothing where there can."""
    try:
        switch = Switch()
        try:
            switch.plug()
        finally:
            switch.end()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces can be connected here: {getattr(error, 'stderr', None) or error}".strip()
    return None
