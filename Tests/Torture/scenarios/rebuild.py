"""`photospool rebuild` killed at the k-th call that changes the disk, and run again: after a daemon that was killed anywhere on
the way of a request, and whose ledger is damaged or gone. Published messages are not published again."""

import os
import random

from scenario import scenario


def gone(ledger):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(ledger + end):
            os.unlink(ledger + end)


def truncated(ledger):
    os.truncate(ledger, os.path.getsize(ledger) // 2)


def zeroed(ledger):
    with open(ledger, "r+b") as file:
        file.write(bytes(4096))


DAMAGES = (gone, truncated, zeroed)


@scenario("rebuild killed at every call, and run again", parts=2)
def rebuild(part):
    place = part.place()

    def once(k):
        chance = random.Random(f"{part.seed} {k}")
        place.drop("family", 1)
        first = place.start(**place.killing(chance.randrange(60, 250)))
        place.wait_idle(first, or_dead=True)
        first.stop()
        ledger = f"{place.spool}/state/ledger.sqlite"
        damage = chance.choice(DAMAGES) if os.path.exists(ledger) else gone
        damage(ledger)
        place.context = f"k={k}, {damage.__name__}"
        was_killed = part.killed_and_again(place, k, "rebuild")
        place.settle()
        # The new ledger does not know an object that was uploaded and not published.
        part.judge(place, unknown_objects=place.serial)
        return was_killed

    part.sweep(once, cheap=3)
