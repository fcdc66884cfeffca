"""Many at once: daemons that start at the same instant, clients of one conversation, the same key from two clients, and
a purge while everything is on its way."""

import threading

from scenario import scenario

UNAVAILABLE = (69, 75)


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
    place.make()
    place.expected |= set(UNAVAILABLE)
    for round in range(max(2, 200 // part.step // part.parts)):
        place.context = f"round {round}"
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


@scenario("many clients at once, in one conversation and in many")
def clients(part):
    place = part.place()
    place.make()
    place.connect("webhook")
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
    place.make()
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


@scenario("a conversation is purged while it is on its way, and begun again", parts=2)
def purges(part):
    place = part.place()
    place.make()
    place.connect("s3")
    daemon = place.start()
    daemon.ready()
    for round in range(max(2, 60 // part.step // part.parts)):
        place.context = f"round {round}"
        # As much as is in hand at any moment: in tmp/, in new/, in the cache, at the store.
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
    # What is begun again after all that is a conversation like any other.
    again = place.drop("MARKERpurged", 1)
    place.wait_idle(daemon)
    daemon.stop()
    if [entry["kind"] for entry in place.effects() if entry["request"] == again["request"]] != ["photo", "text"]:
        part.complain("LOST", "what was dropped after the purge")
    place.photospool("purge", "MARKERpurged")
    # An object that may have been published is never deleted, also when the purge came in between: in each round one
    # message of the conversation may have been on its way.
    part.judge(place, purged=["MARKERpurged"], unknown_objects=round + 1)


def judge_now(part, place):
    """What a purge leaves, while the daemon runs on."""
    import oracle

    for complaint in oracle.judge_gone(place, ["MARKERpurged"]):
        part.complain(*complaint.split(" ", 1))
