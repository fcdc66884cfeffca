"""Many at once: daemons that start at the same instant, clients of one conversation, the same key from two clients, and
a purge while everything is in progress."""

import ctypes
import os
import signal
import threading

import oracle
import place as places
from daemon import in_session
from scenario import scenario
from scenarios.stopped import is_stopped

UNAVAILABLE = (69, 75)
# On all machines that Linux added it for at once.
PIDFD_GETFD = 438


def together(*jobs):
    """Runs jobs at the same time; their answers."""
    answers, barrier = [None] * len(jobs), threading.Barrier(len(jobs))

    def run(number, job):
        barrier.wait()
        answers[number] = job()

    threads = [threading.Thread(target=run, args=one) for one in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@scenario("two daemons start at the same instant", parts=2)
def daemons(part):
    place = part.place()
    place.expected |= set(UNAVAILABLE)
    for round in part.rounds(place, 200):
        place.drop("family", 0)
        first, second = place.start(), place.start()
        ready = [daemon.ready() for daemon in (first, second)]
        if sorted(ready) != [False, True]:
            part.complain("ALIVE", f"ready were {ready} in round {round}")
        place.wait_idle(first if ready[0] else second)
        for daemon, is_ready in zip((first, second), ready):
            status = daemon.stop() if is_ready else daemon.wait()
            if not is_ready and status not in UNAVAILABLE:
                part.complain("ALIVE", f"the daemon that came second ended with {status}")
        part.fault(kind="second daemon")
    part.judge(place)


@scenario("a daemon starts beside one that is stopped, and after one that was killed and left a darkroom behind")
def remains(part):
    place = part.place()
    place.expected |= set(UNAVAILABLE)
    for round in part.rounds(place, 50):
        place.drop("family", 1)
        first = place.start()
        place.wait_idle(first)
        # It has the spool, also while it does nothing at all.
        first.signal(signal.SIGSTOP)
        places.until(lambda: is_stopped(first.process), "it is not stopped")
        second = place.start()
        status = second.wait()
        if status not in UNAVAILABLE:
            part.complain("ALIVE", f"beside a daemon that is stopped, another ended with {status}")
        part.fault(kind="second daemon")
        # Its darkrooms do not see it go as long as somebody holds their lines.
        lines = sockets(first.process.pid)
        darkrooms = [one for one in in_session(first.process.pid) if one != first.process.pid]
        first.process.kill()
        first.process.wait()
        if not darkrooms or set(in_session(first.process.pid)) != set(darkrooms):
            part.complain("ALIVE", f"of the darkrooms {darkrooms}, {in_session(first.process.pid)} are left")
        place.drop("family", 1)
        third = place.start()
        place.wait_idle(third)
        if third.stop() != 0:
            part.complain("ALIVE", "beside the darkrooms of one that was killed, a daemon did not stop in order")
        part.fault(kind="killed")
        for line in lines:
            os.close(line)
        first.wait()
    part.judge(place)


def sockets(process):
    """Descriptors of our own of all sockets that a process has."""
    handle, libc = os.pidfd_open(process), ctypes.CDLL(None)
    taken = [libc.syscall(PIDFD_GETFD, handle, int(file), 0) for file in os.listdir(f"/proc/{process}/fd")
             if os.readlink(f"/proc/{process}/fd/{file}").startswith("socket:")]
    os.close(handle)
    return [file for file in taken if file >= 0]


@scenario("many clients at once, in one conversation and in many")
def clients(part):
    place = part.place("webhook")
    daemon = place.start()
    count = max(5, 50 // part.step)
    for conversation in ("one", None):
        together(*(
            lambda number=number: [place.send(conversation or f"c{number}") for _ in range(2)] for number in range(count)))
        together(*(
            lambda number=number: [place.drop(conversation or f"c{number}") for _ in range(20)] for number in range(count)))
    place.wait_idle(daemon)
    daemon.stop()
    part.judge(place)


@scenario("the same key from two clients at once")
def keys(part):
    place = part.place()
    daemon = place.start()
    rounds = max(3, 100 // part.step)
    for number in range(rounds):
        entry = place.begin("family", number % 2, key=f"key-{number}")
        together(lambda: place.send("", entry=entry), lambda: place.send("", entry=entry))
    place.wait_idle(daemon)
    daemon.stop()
    states = dict(place.ledger("SELECT state, count(*) FROM requests GROUP BY state"))
    if states != {"sent": rounds, "duplicate": rounds}:
        part.complain("DUP", f"of {rounds} keys used twice came {states}")
    part.judge(place)


@scenario("one key and two contents from two clients at once")
def conflicts(part):
    place = part.place()
    daemon = place.start()
    rounds = max(3, 100 // part.step)
    for number in range(rounds):
        pair = [place.begin(f"c{number}", photos, key=f"key-{number}") for photos in (0, 1)]
        together(*(lambda entry=entry: place.send("", entry=entry) for entry in pair))
    place.wait_idle(daemon)
    daemon.stop()
    refused = place.ledger(
        "SELECT request, idempotency_key, cause, error FROM requests WHERE state = 'failed' ORDER BY idempotency_key")
    if len(refused) != rounds or len({key for _, key, _, _ in refused}) != rounds:
        part.complain("DUP", f"of {rounds} keys used twice, {len(refused)} requests were refused")
    names = {entry["request"]: entry for entry in place.clients.read() if entry["what"] == "accepted"}
    for name, key, cause, error in refused:
        if cause != "conflict" or f"the id {key} was used by request" not in error:
            part.complain("LOST", f"{name}: {cause}, {error}")
        place.note(names[name], "refused")
    part.judge(place)


@scenario("a conversation is purged while it is on its way, and begun again", parts=2)
def purges(part):
    place = part.place("s3")
    daemon = place.start()
    daemon.ready()
    for round in part.rounds(place, 60):
        # Work in progress in every place: in tmp/, in new/, in the cache, at the store.
        for _ in range(part.random.randrange(1, 8)):
            place.drop("MARKERpurged", 2)
            place.drop("stays", 1)
        place.build(place.begin("MARKERpurged", 1), f"building{round}")
        done = place.photospool("purge", "MARKERpurged")
        if done.returncode != 0:
            part.complain("GONE", f"purge ended with {done.returncode}: {done.stderr}")
        place.wait_idle(daemon)
        part.fault(kind="purged")
        judge_now(part, place)
    # A new conversation of the same name works like any other.
    again = place.drop("MARKERpurged", 1)
    place.wait_idle(daemon)
    daemon.stop()
    if [entry["kind"] for entry in place.effects() if entry["request"] == again["request"]] != ["photo", "text"]:
        part.complain("LOST", "what was dropped after the purge")
    place.photospool("purge", "MARKERpurged")
    # An object that may have been published is never deleted, also when the purge came in between: in each round one
    # message of the conversation may have been on its way.
    part.judge(place, purged=["MARKERpurged"], unknown_objects=round + 1)


@scenario("a conversation is begun again right after its purge, with the same names")
def resurrections(part):
    place = part.place("s3")
    daemon = place.start()
    daemon.ready()
    for round in part.rounds(place, 60):
        old = [place.drop("MARKERpurged", 2, name=f"r{round}-{number}") for number in range(part.random.randrange(1, 8))]
        place.photospool("purge", "MARKERpurged")
        was = len(place.effects())
        part.fault(kind="purged")
        new = [place.drop("MARKERpurged", 1, name=one["request"]) for one in old]
        place.wait_idle(daemon)
        texts = [one["text"] for one in place.effects()[was:] if one["kind"] == "text" and one["isEffective"]]
        # A publish that was in progress at that moment may be recorded a little later.
        late = [text for text in texts[:1] if text in [one["text"] for one in old]]
        if texts[len(late):] != [one["text"] for one in new]:
            part.complain("GONE", f"after the purge came {texts} and not {[one['text'] for one in new]} [{place.context}]")
        kept = place.photospool("photos", "--json").stdout.splitlines()
        if len(kept) != len(new):
            part.complain("GONE", f"{len(kept)} photos are kept of {len(new)} [{place.context}]")
        part.accepted(len(old) + len(new))
    daemon.stop()
    place.photospool("purge", "MARKERpurged")
    # The oracle knows requests by their names, of which there are two each.
    for complaint in (*oracle.judge_gone(place, ["MARKERpurged"]), *oracle.judge_ledger(place)):
        part.complain(*complaint.split(" ", 1))


def judge_now(part, place):
    """Complains of anything that a purge left, while the daemon goes on."""
    for complaint in oracle.judge_gone(place, ["MARKERpurged"]):
        part.complain(*complaint.split(" ", 1))
