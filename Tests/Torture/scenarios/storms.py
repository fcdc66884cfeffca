"""Chance under load: clients, daemon and janitor killed at random calls while a network goes wrong; and a network that
goes wrong most of the time."""

from load import Load
from scenario import scenario

# The number of faults between two judgements of the oracle.
ROUND = 400


def rounds(part, place, begin):
    """Rounds of load until the part has injected its quota; the oracle judges after each."""
    while part.injected < part.quota:
        goal = min(part.quota, part.injected + ROUND)
        load = Load(part, place)
        before = place.order("faults", place.rate)["faults"]

        def injected():
            return part.injected + place.order("faults", place.rate)["faults"] - before

        begin(load)
        while injected() < goal and not load.over.wait(0.2):
            pass
        load.end()
        part.fault(place.order("faults", 0)["faults"] - before, "network")
        load.settle()
        place.context = f"after {part.injected} faults"
        if not part.judge(place):
            return


@scenario("random kills of clients, daemon and janitor under load, and network faults", parts=8, weight=0.45)
def kills(part):
    place = part.place("s3")
    place.rate = 0.1
    place.configure("cache: {inbox: 60kB, total: 60kB}\n")
    rounds(part, place, lambda load: load.begin(
        load.writer, load.writer, load.writer, load.kill_daemon, load.kill_janitor))


@scenario("network: errors, hang-ups, lost and late answers to most requests", parts=4, weight=0.55)
def network(part):
    place = part.place(part.random.choice(("s3", "webhook")))
    place.rate = 0.7

    def begin(load):
        load.daemon = place.start()
        load.begin(load.dropper, load.dropper, lambda chance, number: (
            load.over.wait(chance.uniform(2, 10)), restart(load)))

    def restart(load):
        load.daemon.kill()
        load.fault("daemon killed")
        load.daemon = place.start()

    def end_round(load):
        load.daemon.kill()

    rounds(part, place, lambda load: (begin(load), patch(load, end_round)))


def patch(load, also):
    """Has the end of the load do something more, before anything is settled."""
    end = load.end

    def both():
        end()
        also(load)

    load.end = both
