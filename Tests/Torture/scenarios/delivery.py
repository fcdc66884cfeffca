"""The daemon killed at the k-th call, every k, from its start to a request that is filed and an orderly stop; and killed
again at the j-th call of the start after it."""

from scenario import scenario


def swept(part, kind, drop, sockets=False):
    """`drop(place)` drops what is to be delivered."""
    place = part.place()
    place.make()
    place.connect(kind)

    def once(k):
        place.context = f"k={k}"
        drop(place)
        daemon = place.start(**place.killing(k, sockets))
        place.wait_idle(daemon, or_dead=True)
        status = daemon.stop()
        place.context = f"k={k}, {place.call(k)}"
        if status != 0:
            place.settle()
        part.judge(place)
        return status != 0

    part.sweep(once)


@scenario("daemon killed at every call: photo, text, local network", parts=4)
def local(part):
    swept(part, "local", lambda place: place.drop("family", 1))


@scenario("daemon killed at every call: photo, text, webhook, upload URLs", parts=4)
def webhook(part):
    swept(part, "webhook", lambda place: place.drop("family", 1), sockets=True)


@scenario("daemon killed at every call: two photos, text, webhook, S3", parts=4)
def s3(part):
    swept(part, "s3", lambda place: place.drop("family", 2), sockets=True)


@scenario("daemon killed, and killed again while it recovers", parts=4)
def recovery(part):
    place = part.place()
    place.make()
    place.connect("s3")
    # Twenty moments of the way, and every seventh call of the recovery from them.
    moments = [10 + 12 * number for number in range(20)]
    for k in moments[part.number::part.parts] if part.step == 1 else [part.random.choice(moments)]:
        def once(j):
            place.context = f"k={k}"
            place.drop("family", 1)
            first = place.start(**place.killing(k, sockets=True))
            place.wait_idle(first, or_dead=True)
            if first.stop() != 0:
                part.fault(kind="killed")
            second = place.start(**place.killing(j, sockets=True))
            place.wait_idle(second, or_dead=True)
            status = second.stop()
            place.context = f"k={k}, j={j}, {place.call(j)}"
            if status != 0:
                place.settle()
            part.judge(place)
            return status != 0

        # The parts differ in k here.
        step = max(7, part.step)
        j = 1 + part.random.randrange(step)
        while once(j):
            part.fault(kind="killed")
            j += step
