"""Hosts of a cluster and their servers that are killed, stopped, burned and emptied."""

import os
import shutil
import signal

import place as places
import namespaces
from cluster import Cluster
from scenario import Skip, control, scenario
from scenarios.stopped import STOP, is_stopped


def cluster(part, works, switch=None):
    if not os.path.exists(os.path.join(os.path.dirname(places.sys.executable), "nats-server")):
        raise Skip("nats-server is not installed")
    return Cluster(part, works, switch)


@scenario("cluster: a host that relays and owns dies at every call and every send, and restarts", parts=4)
def killed(part):
    made = cluster(part, "wr")
    owner, other = made.hosts
    running = other.start()

    def once(k):
        owner.context = f"k={k}"
        owner.drop("family", 1)
        other.drop("family", 1)
        daemon = owner.start(**owner.killing(k, sockets=True))
        places.until(lambda: not daemon.is_alive() or owner.is_idle() and other.is_idle(), "it is neither idle nor dead")
        met = daemon.stop() != 0
        owner.context += f", {owner.call(k)}"
        if met:
            daemon = owner.start()
            made.settle({owner: daemon, other: running})
            daemon.stop()
        part.judge(owner)
        return met

    part.sweep(once, dear=5)
    other.context = "after all kills of the other host"
    running.stop()
    part.judge(other)


@scenario("cluster: a host stopped at every call and every send, replaced, and continued", parts=4)
def replaced(part):
    made = cluster(part, "wwr")
    sleeper, heir, camera = made.hosts
    running = {host: host.start() for host in (heir, camera)}

    def once(k):
        sleeper.context = f"k={k}"
        daemon = sleeper.start(**sleeper.killing(k, sockets=True), **STOP)
        sleeper.drop("family", 1)
        for number in range(4):
            camera.drop(f"c{number}", number % 2)
        places.until(lambda: is_stopped(daemon.process) or sleeper.is_idle() and camera.is_idle(), "it is not stopped")
        met = is_stopped(daemon.process)
        for number in range(4):
            camera.drop(f"c{number}")
        camera.wait_idle(running[camera])
        daemon.signal(signal.SIGCONT)
        made.settle({sleeper: daemon, **running})
        daemon.signal(signal.SIGTERM)
        # Its k-th call may be one of those of its end.
        places.until(lambda: is_stopped(daemon.process) or not daemon.is_alive(), "it does not end")
        daemon.signal(signal.SIGCONT)
        daemon.wait()
        sleeper.context += f", {sleeper.call(k)}"
        part.judge(sleeper)
        return met

    part.sweep(once, dear=20)
    for host, daemon in running.items():
        host.context = "after all stops of the other host"
        daemon.stop()
        part.judge(host)


class Storm:
    """Hosts under load, and what happens to them and to their servers, one thing after the other."""

    KINDS = ("kill host", "kill host", "stop host", "kill", "stop", "kill all", "empty")

    def __init__(self, part, switch=None):
        self.part, self.made = part, cluster(part, "www", switch)
        self.daemons = {}

    def load(self):
        for host in self.daemons:
            for _ in range(4):
                host.drop(f"c{self.part.random.randrange(6)}", self.part.random.choice((0, 0, 0, 1)))

    def start(self):
        for host in self.made.hosts:
            self.daemons[host] = host.start()

    def kill_host(self):
        host = self.part.random.choice(self.made.hosts)
        self.daemons[host].kill()
        self.load()
        self.daemons[host] = host.start()

    def stop_host(self):
        """Suspended until others have published what waits on them."""
        host = self.part.random.choice(self.made.hosts)
        self.daemons[host].signal(signal.SIGSTOP)
        self.load()
        self.wait_for_others(host)
        self.daemons[host].signal(signal.SIGCONT)

    def wait_for_others(self, host):
        for other in self.made.hosts:
            if other is not host:
                other.wait_idle(self.daemons[other])

    def servers(self, *orders):
        number = self.part.random.choice("123")
        for order in orders:
            self.made.nats(order.replace("N", number))
            self.load()
        self.made.nats("whole")

    def one(self):
        kind = self.part.random.choice(self.KINDS)
        self.do(kind)
        self.part.fault(kind=kind)

    def do(self, kind):
        {"kill host": self.kill_host, "stop host": self.stop_host,
         "kill": lambda: self.servers("kill N", "start N"), "stop": lambda: self.servers("stop N", "continue N"),
         "kill all": lambda: self.servers("kill all", "start all"),
         "empty": lambda: self.servers("empty N", "start N")}[kind]()

    def judge(self):
        self.made.settle(self.daemons)
        for daemon in self.daemons.values():
            daemon.stop()
        self.made.judge(f"after {self.part.injected} faults")


class Partitions(Storm):
    """The same hosts and servers, in namespaces whose lines are cut while they work, and mended."""

    KINDS = ("host", "deaf host", "server", "deaf server", "kill host")

    def do(self, kind):
        if kind == "kill host":
            self.kill_host()
            return
        made, switch = self.made, self.made.switch
        host, server = self.part.random.choice(made.hosts), self.part.random.choice(made.server_spaces)
        others = [space for space in made.server_spaces if space is not server]
        cut = host.space if "host" in kind else server
        self.load()
        if "deaf" in kind:
            switch.deafen(cut, others if cut is server else made.server_spaces)
        else:
            switch.cut(cut)
        self.load()
        if cut is server:
            for one in made.hosts:
                one.wait_idle(self.daemons[one])
        else:
            self.wait_for_others(host)
        switch.mend(cut)
        made.nats("whole")


def weather(part, storm):
    while part.injected < part.quota and not part.complaints:
        storm.start()
        for _ in range(min(10, part.quota - part.injected)):
            storm.load()
            storm.one()
        storm.judge()


@scenario("cluster: hosts and servers die, stop and are emptied under load", parts=2, weight=0.05)
def storm(part):
    weather(part, Storm(part))


def switch():
    if lacking := namespaces.why_none():
        raise Skip(lacking)
    return namespaces.Switch()


@scenario("cluster: lines of hosts and servers are cut under load", parts=2, weight=0.02)
def partitions(part):
    weather(part, Partitions(part, switch()))


@scenario("cluster: the server of a host hears nothing of the others", parts=10)
def deaf(part):
    made = cluster(part, "ww", switch())
    host, other = made.hosts
    daemons = {one: one.start() for one in made.hosts}
    # Servers make the queue together, with the first request.
    other.drop("family")
    other.wait_idle(daemons[other])
    server = places.until(lambda: made.server_of(host), "the host is not connected")
    made.switch.deafen(server, [space for space in made.server_spaces if space is not server])
    part.fault(kind="deaf server")
    host.drop("family", 1)
    other.drop("family")
    made.settle(daemons)
    made.switch.mend(server)
    made.nats("whole")
    for daemon in daemons.values():
        daemon.stop()
    made.judge("after its server was cut off")


@scenario("cluster: an origin burns once its requests are relayed", parts=2)
def burned(part):
    made = cluster(part, "rww")
    origin, *others = made.hosts
    daemons = {host: host.start() for host in others}
    for _ in part.rounds(origin, 40):
        origin.make()
        daemon = origin.start()
        dropped = [origin.drop(f"c{number % 3}", number % 2) for number in range(6)]
        places.until(lambda: len(origin.relayed()) == 6, "they are not relayed")
        daemon.kill()
        shutil.rmtree(origin.spool)
        part.fault(kind="burned")
        part.accepted(6)
        wanted = [(entry["request"], kind) for entry in dropped
                  for kind in ["photo"] * len(entry["widths"]) + ["text"]]

        def came():
            names = {entry["request"] for entry in dropped}
            return [entry for entry in origin.effects() if entry["isEffective"] and entry["request"] in names]

        try:
            places.until(lambda: len(came()) >= len(wanted), "they do not come")
        except places.Stuck:
            part.complain("LOST", f"of {len(wanted)} relayed messages {len(came())} came [{origin.context}]")
            break
        for number in range(3):
            conversation = f"c{number}"
            names = {entry["request"] for entry in dropped if entry["conversation"] == conversation}
            found = [(entry["request"], entry["kind"]) for entry in came() if entry["conversation"] == conversation]
            if found != [one for one in wanted if one[0] in names]:
                part.complain("ORDER", f"{conversation} came as {found} [{origin.context}]")
    for host, daemon in daemons.items():
        host.wait_idle(daemon)
        daemon.stop()
        part.judge(host)


@control("cluster: a network that knows no ids, and an owner that dies after it published", must="DUP")
def repeating(part):
    made = cluster(part, "wr")
    owner, camera = made.hosts
    made.order("lie", "repeat")
    running = camera.start()
    for number in range(20):
        if any(complaint.startswith("DUP") for complaint in part.complaints):
            break
        daemon = owner.start()
        before = len(camera.effects())
        for _ in range(5):
            camera.drop("family")
        # At a moment when a message is published and its end is not yet known.
        places.until(lambda: len(camera.effects()) > before + number % 5, "nothing is published")
        daemon.kill()
        part.fault()
        daemon = owner.start()
        camera.wait_idle(running)
        daemon.stop()
        camera.context = f"kill {number}"
        running.stop()
        part.judge(camera)
        running = camera.start()
