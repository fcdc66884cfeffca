"""The daemon killed at the k-th call, every k, from its start to a request that is filed and an orderly stop; and killed
again at the j-th call of the start after it."""

from scenario import scenario


def swept(part, kind, drop, sockets=False):
    """`drop(place)` drops what is to be delivered."""
    place = part.place(kind)

    def once(k):
        place.begin_anew()
        place.context = f"k={k}"
        drop(place)
        daemon = place.start(**place.killing(k, sockets))
        return part.outlived(place, daemon, k)

    part.sweep(once)


for name, network, photos in (
        ("photo, text, local network", "local", 1), ("photo, text, webhook, upload URLs", "webhook", 1),
        ("two photos, text, webhook, S3", "s3", 2)):
    scenario(
        f"daemon killed at every call: {name}", parts=4, kind=network, sockets=network != "local",
        drop=lambda place, photos=photos: place.drop("family", photos))(swept)


@scenario("daemon killed, and killed again while it recovers", parts=4)
def recovery(part):
    place = part.place("s3")
    # Twenty moments of the way, and every seventh call of the recovery from them.
    moments = [10 + 12 * number for number in range(20)]
    for k in moments[part.number::part.parts] if part.step == 1 else [part.random.choice(moments)]:
        def once(j):
            place.begin_anew()
            place.context = f"k={k}"
            place.drop("family", 1)
            first = place.start(**place.killing(k, sockets=True))
            place.wait_idle(first, or_dead=True)
            if first.stop() != 0:
                part.fault(kind="killed")
            place.context = f"k={k}, j={j}"
            return part.outlived(place, place.start(**place.killing(j, sockets=True)), j)

        # The parts differ in k here.
        part.sweep_alone(once, max(7, part.step))
