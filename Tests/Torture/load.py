"""Full load with faults: clients, daemon and janitor are killed, stopped and started again, darkrooms die, and the
network answers at random."""

import math
import os
import signal
import threading
import time


class Load:
    """Runs until `enough()` holds, then finishes all work without faults."""

    def __init__(self, part, place, writers=3):
        self.part, self.place, self.writers = part, place, writers
        self.over, self.threads, self.daemon = threading.Event(), [], None
        self.lock, self.failures = threading.Lock(), []

    def begin(self, *loops):
        for number, loop in enumerate(loops):
            # Another chance in every round, so that no key comes twice.
            chance = self.part.chance(f"{number} {self.part.injected}")
            thread = threading.Thread(target=self.guard, args=(loop, chance, number))
            thread.start()
            self.threads.append(thread)

    def guard(self, loop, chance, number):
        """Runs a loop; a failure ends all loops and is reported."""
        try:
            while not self.over.is_set():
                loop(chance, number)
        except Exception as failure:
            self.failures.append(failure)
            self.over.set()

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def fault(self, kind):
        with self.lock:
            self.part.fault(kind=kind)

    # MARK: clients

    def writer(self, chance, number):
        """One request to one of the writer's own conversations, in one of the ways that requests are dropped."""
        conversation, photos = f"c{number}-{chance.randrange(4)}", chance.choice((0, 0, 1, 3))
        key = f"k{number}-{chance.getrandbits(64)}"
        way = chance.random()
        if way < 0.2:
            self.place.drop(conversation, photos)
        elif way < 0.22:
            self.place.drop(conversation, 0, bad=True)
        elif way < 0.5:
            self.place.send(conversation, photos, key)
        elif way < 0.85:
            environment = self.place.killing(chance.randrange(1, 14), who=f".{number}")
            if self.place.drop_in_shell(conversation, environment)["status"] != 0:
                self.fault("client killed")
        else:
            entry = self.place.send(
                conversation, photos, key, self.place.killing(chance.randrange(1, 26 + 4 * photos), who=f".{number}"))
            if entry["status"] == -signal.SIGKILL:
                self.fault("client killed")
                if chance.random() < 0.5:
                    self.place.send("", entry=entry)

    def is_behind(self):
        return len(os.listdir(f"{self.place.spool}/cur")) + len(os.listdir(f"{self.place.spool}/new")) > 400

    def bounded(self, writer):
        """A writer that waits while the daemon is behind, so that no backlog grows."""

        def write(chance, number):
            if self.is_behind():
                self.over.wait(0.05)
            else:
                writer(chance, number)

        return write

    def dropper(self, chance, number):
        """As many requests as a shell can make, to many conversations; not more than the daemon keeps up with."""
        if self.is_behind():
            time.sleep(0.05)
        else:
            self.place.drop(f"c{number}-{chance.randrange(40)}", int(chance.random() < 0.1))

    # MARK: programs

    def kill_daemon(self, chance, number):
        """A daemon that is killed at one of its next calls, soon or late."""
        k = round(math.exp(chance.uniform(math.log(5), math.log(3000))))
        daemon = self.place.start(**self.place.killing(k, sockets=True, who=".daemon"))
        end = time.monotonic() + chance.uniform(1, 8)
        while daemon.is_alive() and time.monotonic() < end and not self.over.is_set():
            time.sleep(0.01)
        if daemon.is_alive():
            daemon.kill()
        else:
            daemon.wait()
        self.fault("daemon killed")

    def kill_janitor(self, chance, number):
        """One pass of the janitor; one of ten may finish, so that receipts are forgotten."""
        k = round(math.exp(chance.uniform(math.log(5), math.log(400))))
        deadly = self.place.killing(k, who=".janitor") if chance.random() < 0.9 else {}
        done = self.place.photospool("janitor", environment=deadly)
        if done.returncode == -signal.SIGKILL:
            self.fault("janitor killed")
        elif done.returncode != 0:
            self.part.complain("ALIVE", f"the janitor ended with {done.returncode}: {done.stderr[-200:]}")
        self.over.wait(chance.uniform(0, 0.5))

    # MARK: the end

    def settle(self):
        """Finishes all work without faults, and removes leftovers of killed clients."""
        if self.place.server:
            self.place.order("faults", 0)
        self.place.settle()
        sweep_up(self.place)


def sweep_up(place):
    """Has the janitor remove leftovers of killed clients, which are old enough after a second here."""
    end = time.monotonic() + 60
    settings = f"{place.path}/photospool.yaml"
    with open(settings) as file:
        kept = file.read()
    with open(settings, "w") as file:
        others = [line for line in kept.splitlines() if not line.startswith("janitor:")]
        file.write("\n".join([*others, "janitor: {tmp: 1s}", ""]))
    while any(name != ".order" for name in os.listdir(f"{place.spool}/tmp")) and time.monotonic() < end:
        place.photospool("janitor")
        time.sleep(0.1)
    with open(settings, "w") as file:
        file.write(kept)
