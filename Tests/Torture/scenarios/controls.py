"""Negative controls for the oracle: each breaks a promise on purpose."""

import os
import shutil
import signal
import sqlite3

from place import until, write
from scenario import control


def misdeed(name, must, network="local", photos=1, count=3, when="before"):
    """A control that does something to a place with some requests, `before` a daemon takes them or `after` all is done. It
    answers with what the oracle is to expect."""
    def register(do):
        def run(part):
            place = part.place(network)
            for _ in range(count):
                place.drop("family", photos)
            if when == "after":
                place.settle()
            expected = do(place) or {}
            part.fault()
            if when == "before":
                place.settle()
            part.judge(place, **expected)

        control(name, must)(run)

    return register


@misdeed("an accepted request is taken out of new/", must="LOST")
def removed(place):
    shutil.rmtree(f"{place.spool}/new/r0000002")


@misdeed("a network that forgets what it took", must="LOST", network="webhook")
def forgetful(place):
    place.order("lie", "forget")


@misdeed("an object is cut short in the store", must="LOST", when="after")
def cut(place):
    name = sorted(os.listdir(place.objects()))[0]
    os.truncate(f"{place.objects()}/{name}", 10)


@misdeed("a network without idempotency, and answers that are lost", must="DUP", network="webhook", photos=0)
def repeating(place):
    place.order("lie", "repeat")
    place.order("faults", "0.5")
    daemon = place.start()
    until(lambda: len(place.effects()) > len({entry["message"] for entry in place.effects()}) or place.is_idle()
          and not place.drop("family"), "nothing comes twice")
    place.order("faults", "0")
    place.wait_idle(daemon)
    daemon.stop()


@control("two requests change places before they are taken", must="ORDER")
def swapped(part):
    place = part.place()
    first, second = place.begin("family", 0), place.begin("family", 0)
    place.build(first, "one")
    place.build(second, "two")
    # The client says that it moved the first one first.
    place.note(first, "accepted", request="one")
    other = place.begin("family", 0)
    place.build(other, "three")
    os.rename(f"{place.spool}/tmp/three", f"{place.spool}/new/three")
    place.note(other, "accepted", request="three")
    daemon = place.start()
    place.wait_idle(daemon)
    for name, entry in (("one", None), ("two", second)):
        os.rename(f"{place.spool}/tmp/{name}", f"{place.spool}/new/{name}")
        if entry:
            place.note(entry, "accepted", request=name)
    place.wait_idle(daemon)
    daemon.stop()
    part.fault()
    part.judge(place)


@misdeed("a network that keeps messages in another order", must="ORDER", network="webhook", count=4)
def mixed(place):
    place.order("lie", "swap")


@misdeed("something of a purged conversation is kept", must="GONE", when="after")
def kept(place):
    place.published = {entry["digest"] for entry in place.effects()}
    text = next(entry["text"] for entry in place.effects() if entry["kind"] == "text")
    place.photospool("purge", "family")
    write(f"{place.spool}/state/notes", text.encode().hex())
    return {"purged": ["family"]}


@misdeed("the daemon crashes by itself", must="ALIVE")
def crashed(place):
    daemon = place.start()
    daemon.ready()
    daemon.signal(signal.SIGSEGV)
    daemon.wait()


@misdeed("a file is left in the cache", must="CLEAN", when="after")
def stray(place):
    os.makedirs(f"{place.spool}/photos/default/family/stray")
    write(f"{place.spool}/photos/default/family/stray/original.jpg", "stray")


@misdeed("an object is left in the store", must="CLEAN", when="after")
def forgotten(place):
    write(f"{place.objects()}/{'0' * 64}", "forgotten")


@misdeed("a row of the ledger is changed", must="CLEAN", when="after")
def changed(place):
    with sqlite3.connect(f"{place.spool}/state/ledger.sqlite") as ledger:
        ledger.execute("UPDATE conversations SET waiting = waiting + 1")
    ledger.close()
