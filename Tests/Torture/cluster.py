"""Hosts that share a queue on three NATS servers, and publish to one recording network.

Each host is a place with a journal of its own, so that the oracle judges it by itself: its requests, their effects, their
receipts. Requests and texts bear the host's name, since the network hears of all."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import journal
import namespaces
import place as places

HERE = pathlib.Path(__file__).resolve().parent
SECRET = "a secret of a cluster for the torture, 32 and more"


class Host(places.Place):
    def __init__(self, cluster, name, works):
        # Short: its control socket has a path of about 100 bytes at most.
        path = os.path.join(cluster.path, name)
        os.mkdir(path)
        self.cluster, self.host, self.works = None, name, works
        super().__init__(path, None, cluster.part)
        self.make()
        self.cluster, self.kind = cluster, "webhook"
        for file, text in (("hook.secret", "whsec_" + "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0"), ("cluster.secret", SECRET),
                           ("cluster.token", cluster.facts["token"])):
            with open(os.open(f"{path}/{file}", os.O_WRONLY | os.O_CREAT, 0o600), "w") as secret:
                secret.write(text)
        self.configure()

    def configure(self, text=""):
        if not self.cluster:
            return super().configure(text)
        self.server, self.facts = self.cluster.network, self.cluster.network_facts
        super().configure(text + f"""
cluster:
  servers: "{self.cluster.facts['servers']}"
  secretFile: cluster.secret
  tokenFile: cluster.token
  work: {'true' if self.works else 'false'}
""")

    def name(self, entry):
        return f"{self.host}{entry['serial']:07}"

    def text(self, serial):
        return f"{self.host}: text number {serial}."

    def effects(self):
        found = journal.read(f"{self.cluster.path}/journal.jsonl")
        return [entry for entry in found if entry["request"].startswith(self.host)]

    def objects(self):
        return f"{self.cluster.path}/objects"

    def relayed(self):
        """The requests whose messages are all in the queue."""
        return {name for name, in self.ledger(
            "SELECT request FROM requests WHERE id IN (SELECT request_id FROM messages GROUP BY request_id"
            " HAVING min(state IN ('relayed', 'sent')) = 1)")}

    def connect(self, kind):
        raise NotImplementedError("all hosts of a cluster share its network")


class Cluster:
    def __init__(self, part, works, switch=None):
        """With a host for each letter of `works`: w works, r only relays. With a switch, each host and each server is in a
        namespace that can be cut off."""
        self.part, self.switch, self.server_spaces = part, switch, []
        self.path = tempfile.mkdtemp(prefix="ps-c.")
        at = []
        if switch:
            self.server_spaces = [switch.plug() for _ in range(3)]
            at = ["at=" + ",".join(f"{space.holder.pid}:{space.address}" for space in self.server_spaces)]
        self.servers = self.begin_script(HERE.parent / "Support/python/nats_servers.py", f"{self.path}/nats", *at)
        self.facts = json.loads(self.servers.stdout.readline())
        self.network = self.begin_script(HERE / "network.py", self.path, str(part.seed))
        # The hosts of a switch reach it at their own loopback.
        self.network_facts = json.loads(self.network.stdout.readline().replace(namespaces.SWITCH, "127.0.0.1"))
        self.hosts = [Host(self, letter, work == "w") for letter, work in zip("abcdef", works)]
        for host in self.hosts if switch else []:
            host.space = switch.plug()
            host.within = host.space.within
        part.places.append(self)

    # `Part` asks each place for these two at its end.
    @property
    def root(self):
        return self.path

    @property
    def context(self):
        return self.hosts[0].context

    def begin_script(self, script, directory, *arguments):
        os.makedirs(directory, exist_ok=True)
        within, environment = [], os.environ
        if self.switch:
            within, environment = self.switch.within, environment | {"TEST_SERVERS_ADDRESS": namespaces.SWITCH}
        return subprocess.Popen(
            [*within, sys.executable, str(script), directory, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True, env=environment)

    def nats(self, order):
        """Gives an order to the servers, as nats_servers.py lists them."""
        return self.ask(self.servers, order)

    def order(self, *words):
        """Gives an order to the recording network."""
        return self.ask(self.network, " ".join(map(str, words)))

    @staticmethod
    def ask(script, line):
        script.stdin.write(line + "\n")
        script.stdin.flush()
        return json.loads(script.stdout.readline())

    def server_of(self, host):
        """The namespace of the server to which a host is connected; None for none."""
        connections = subprocess.run([*host.within, "ss", "-tnH", "state", "established"], check=True, capture_output=True,
                                     text=True).stdout
        return next((space for space in self.server_spaces if f" {space.address}:" in connections), None)

    def settle(self, daemons):
        """Waits until nothing is left to do on any host."""
        for host, daemon in daemons.items():
            host.wait_idle(daemon)

    def judge(self, context):
        for host in self.hosts:
            host.context = f"{context}, host {host.host}"
            self.part.judge(host)

    def end(self):
        for host in self.hosts:
            host.end()
        # They end their servers with their standard input.
        for script in (self.servers, self.network):
            script.stdin.close()
            try:
                script.wait(20)
            except subprocess.TimeoutExpired:
                script.send_signal(signal.SIGTERM)
                script.wait()
        if self.switch:
            self.switch.end()
