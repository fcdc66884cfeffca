"""The wall clock jumps by up to 300 days, forth and back: between two requests of one conversation, while the daemon
works, and while it is killed."""

import struct

from load import sweep_up
from scenario import scenario

DAY = 86_400


@scenario("the wall clock jumps while requests are dropped, published, and the daemon is killed", parts=2)
def jumps(part):
    place = part.place("s3")
    # A message older than its lifetime fails, so the lifetime exceeds every jump.
    place.configure("delivery: {lifetime: 365d, probe: 100ms, mending: 1s, backoff: {first: 5ms, longest: 50ms}}\n")
    offset = f"{place.path}/offset"

    def jump():
        """A time within 150 days of now, so that no message seems older than its lifetime."""
        days = part.random.choice((-150, -1, 0, 0, 1, 150))
        with open(offset, "r+b") as file:
            file.write(struct.pack("l", days * DAY))
        part.fault(kind="clock jumped")

    with open(offset, "wb") as file:
        file.write(bytes(8))
    place.environment |= {"CLOCK_OFFSET": offset, "LD_PRELOAD": place.clock()}
    for round in part.rounds(place, 100):
        # While no daemon runs, `send` needs no clock for its order.
        for _ in range(3):
            place.send("family", part.random.choice((0, 1)))
            jump()
        daemon = place.start()
        for _ in range(4):
            place.drop("friends", 1)
            jump()
            place.send("family")
        if part.random.random() < 0.5:
            daemon.kill()
            part.fault(kind="killed")
            jump()
            daemon = place.start()
        place.wait_idle(daemon)
        daemon.stop()
    sweep_up(place)
    part.judge(place)
