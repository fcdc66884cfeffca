"""Clients killed at the k-th call, every k. A request that was not accepted is whole or absent; one that is sent again
with its key is published once."""

from load import sweep_up
from scenario import scenario


@scenario("client killed at every call: send, text", parts=2, photos=0, key=False)
@scenario("client killed at every call: send, two photos, text", parts=2, photos=2, key=False)
@scenario("client killed at every call, and sent again with its key", parts=2, photos=1, key=True)
def swept(part, photos, key):
    place = part.place()
    # Only the clients are tested here: no daemon runs meanwhile, and one start accepts everything.

    def once(k, turn):
        place.context = f"k={k}"
        entry = place.send(f"c{k % 5}", photos, key and f"key-{turn}-{k}", place.killing(k))
        if entry["status"] not in (0, -9):
            part.complain("LOST", f"send ended with {entry['status']} at k={k}")
        if key and entry["status"] != 0:
            again = place.send("", environment={}, entry=entry)
            if again["status"] != 0:
                part.complain("LOST", f"what was killed at k={k} cannot be sent again: {again['status']}")
        return entry["status"] != 0

    # Four times the way, so that one start of the daemon judges more.
    for turn in range(4 if part.step == 1 else 1):
        part.sweep(lambda k: once(k, turn), cheap=20)
    place.settle()
    sweep_up(place)
    part.judge(place)


@scenario("client killed at every call: mkdir, cp, mv in shell", parts=2)
def shell(part):
    place = part.place()

    def once(k):
        place.context = f"k={k}"
        return place.drop_in_shell(f"c{k % 5}", place.killing(k))["status"] != 0

    for _ in range(40 if part.step == 1 else 1):
        part.sweep(once, cheap=20)
    place.settle()
    sweep_up(place)
    part.judge(place)
