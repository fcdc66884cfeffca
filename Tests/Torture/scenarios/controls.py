"""That the oracle can complain: each of these does on purpose what must not be."""

import os
import shutil
import signal

from place import until, write
from scenario import control


def some(part, kind="local", photos=1, count=3):
    place = part.place()
    place.make()
    place.connect(kind)
    for _ in range(count):
        place.drop("family", photos)
    return place


@control("an accepted request is taken out of new/", must="LOST")
def removed(part):
    place = some(part)
    shutil.rmtree(f"{place.spool}/new/r0000002")
    part.fault()
    place.settle()
    part.judge(place)


@control("a network that forgets what it took", must="LOST")
def forgetful(part):
    place = some(part, "webhook")
    place.order("lie", "forget")
    part.fault()
    place.settle()
    part.judge(place)


@control("an object is cut short in the store", must="LOST")
def cut(part):
    place = some(part)
    place.settle()
    name = sorted(os.listdir(place.objects()))[0]
    os.truncate(f"{place.objects()}/{name}", 10)
    part.fault()
    part.judge(place)


@control("a network without idempotency, and answers that are lost", must="DUP")
def repeating(part):
    place = some(part, "webhook", photos=0)
    place.order("lie", "repeat")
    place.order("faults", "0.5")
    daemon = place.start()
    until(lambda: len(place.effects()) > len({entry["message"] for entry in place.effects()}) or place.is_idle()
          and not place.drop("family"), "nothing comes twice")
    place.order("faults", "0")
    place.wait_idle(daemon)
    daemon.stop()
    part.fault()
    part.judge(place)


@control("two requests change places before they are taken", must="ORDER")
def swapped(part):
    place = part.place()
    place.make()
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


@control("a network that keeps messages in another order", must="ORDER")
def mixed(part):
    place = some(part, "webhook", count=4)
    place.order("lie", "swap")
    part.fault()
    place.settle()
    part.judge(place)


@control("something of a purged conversation is kept", must="GONE")
def kept(part):
    place = some(part)
    place.settle()
    place.published = {entry["digest"] for entry in place.effects()}
    text = next(entry["text"] for entry in place.effects() if entry["kind"] == "text")
    place.photospool("purge", "family")
    write(f"{place.spool}/state/notes", text.encode().hex())
    part.fault()
    part.judge(place, purged=["family"])


@control("the daemon crashes by itself", must="ALIVE")
def crashed(part):
    place = some(part)
    daemon = place.start()
    daemon.ready()
    daemon.signal(signal.SIGSEGV)
    daemon.wait()
    part.fault()
    place.settle()
    part.judge(place)


@control("a file is left in the cache", must="CLEAN")
def stray(part):
    place = some(part)
    place.settle()
    os.makedirs(f"{place.spool}/photos/default/family/stray")
    write(f"{place.spool}/photos/default/family/stray/original.jpg", "stray")
    part.fault()
    part.judge(place)


@control("an object is left in the store", must="CLEAN")
def forgotten(part):
    place = some(part)
    place.settle()
    write(f"{place.objects()}/{'0' * 64}", "forgotten")
    part.fault()
    part.judge(place)


@control("a row of the ledger is changed", must="CLEAN")
def changed(part):
    import sqlite3

    place = some(part)
    place.settle()
    with sqlite3.connect(f"{place.spool}/state/ledger.sqlite") as ledger:
        ledger.execute("UPDATE conversations SET waiting = waiting + 1")
    ledger.close()
    part.fault()
    part.judge(place)
