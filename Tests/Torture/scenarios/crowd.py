"""A crowd of requests, so many that one sync of their file system stands for the syncs of all, and of all their receipts:
the power goes at every other call, the daemon is killed at every call, and that one sync fails."""

import errno
import json
import os

import disks
from machine import a_machine
from scenario import control, scenario, until_complaint
from scenarios.delivery import swept
from scenarios.errors import AMOUNTS

CONVERSATIONS = 3
# Some wait to be published, several of a conversation in one commit. Repetitions of the first end at once, together.
REQUESTS = [f"r{number:02}" for number in range(18)]
REPETITIONS = [f"repeated{number}" for number in range(18)]


def drop(made):
    for number, name in enumerate(REQUESTS):
        made.drop(name, f"c{number % CONVERSATIONS}", name, key=name)
    for name in REPETITIONS:
        made.drop(name, "c0", REQUESTS[0], key=REQUESTS[0])


def begin(made, **fault):
    """Drops the crowd and starts a daemon whose disk has the fault."""
    made.begin()
    state = made.state()
    drop(made)
    return state, made.start(**made.under_shim(state, **fault))


def is_filed(daemon):
    """Whether the daemon has reported the end of all of them."""
    return lambda: sum(daemon.text().count(f'event="request {state}"') for state in ("sent", "duplicate")) == len(
        REQUESTS + REPETITIONS)


def said(text, name):
    return f"event=accepted request={name} " in text


def judge(made, part, text, where, failed=()):
    """Every request that the daemon reported as accepted has a receipt and was published once and in order. The others
    left nothing incomplete. For a failed request, its first repetition is sent in its own turn."""
    for number in range(CONVERSATIONS):
        mine = REQUESTS[number::CONVERSATIONS]
        found = [line["text"] for line in made.published(f"c{number}")]
        if len(found) != len(set(found)):
            part.complain("DUP", f"{found} {where}")
        if [name for name in found if name not in failed] != [name for name in mine if name in found and name not in failed]:
            part.complain("ORDER", f"{found} {where}")
        missing = [name for name in mine if said(text, name) and name not in found]
        if missing:
            part.complain("LOST", f"{missing} were accepted and not published {where}")
    for name in REQUESTS + REPETITIONS:
        path = made.spool / "sent" / name / "receipt.json"
        if not path.exists():
            if said(text, name):
                part.complain("CLEAN", f"there is no receipt of {name} {where}")
            continue
        try:
            receipt = json.loads(path.read_text())
        except ValueError:
            receipt = {}
        if receipt.get("state") not in ("sent", "duplicate") or os.listdir(path.parent) != [path.name]:
            part.complain("CLEAN", f"the receipt of {name} is {receipt}, beside {os.listdir(path.parent)} {where}")
    made.judge_leftovers(part, where)
    part.accepted(sum(said(text, name) for name in REQUESTS + REPETITIONS))


def cut(part, kind, act):
    with a_machine(kind) as made:
        trace = f"{made.scratch}/calls"

        def once(k):
            state, daemon = begin(made, at=k, act=act, trace=trace)
            daemon.wait_for(is_filed(daemon))
            text = daemon.text()
            daemon.kill()
            made.disk.lose_power(disks.LOST)
            made.finish()
            judge(made, part, text, f"after a cut at call {k}")
            return state.faults > 0

        part.sweep(once, dear=2)
        with open(trace) as calls:
            assert any(call.startswith("syncfs ") for call in calls), "no file system was synced at once"


def failing(part, code, amount):
    with a_machine() as made:

        def once(k):
            state, daemon = begin(made, at=k, act=code, calls="syncfs", **{"for": amount})
            daemon.wait_for(lambda: is_filed(daemon)() or (amount == 0 and state.faults > 2))
            state.mend()
            daemon.wait_for(is_filed(daemon))
            text, status = daemon.text(), daemon.stop()
            where = f"after {errno.errorcode[code]} from sync {k} of the file system"
            if status != 0:
                part.complain("ALIVE", f"the daemon ended with {status} {where}")
            state.judge_syncs(part, where)
            judge(made, part, text, where)
            part.fault(max(0, state.faults - 1))
            return state.faults > 0

        # There are few.
        assert part.sweep(once, cheap=part.step), "no file system was synced at once"


def unconfirmed(part):
    """The sync of the file system succeeds, and one file reports afterwards that it was not written."""
    with a_machine() as made:

        def once(k):
            state, daemon = begin(made, at=k, act=errno.EIO, calls="sync_file_range")
            daemon.wait_for(lambda: is_filed(daemon)() or state.faults and made.is_idle())
            text, status = daemon.text(), daemon.stop()
            where = f"after the disk had not confirmed file {k}"
            if status != 0:
                part.complain("ALIVE", f"the daemon ended with {status} {where}")
            failed = os.listdir(made.spool / "failed")
            if len(failed) != state.faults:
                part.complain("LOST", f"failed/ holds {failed} {where}")
            for name in failed:
                if "repair the disk" not in (made.spool / "failed" / name / "error").read_text():
                    part.complain("ALIVE", f"{name} does not say why it failed {where}")
            judge(made, part, text, where, failed)
            return state.faults > 0

        assert part.sweep(once, cheap=part.step), "no file system was synced at once"


for kind in disks.KINDS:
    for way, act in {"log lost": "cut", "data lost": "cut-log"}.items():
        scenario(f"power cut: a crowd, {kind}, {way}", parts=2, kind=kind, act=act)(cut)
for code in (errno.EIO, errno.ENOSPC):
    for way, amount in AMOUNTS.items():
        scenario(
            f"errors: {errno.errorcode[code]} from the sync of a file system, {way}", code=code, amount=amount)(failing)
scenario("errors: EIO from the wait for one file of a crowd")(unconfirmed)


@scenario("daemon killed at every call: a crowd", parts=4)
def killed(part):
    def drop(place):
        for number in range(18):
            place.drop(f"c{number % CONVERSATIONS}")

    swept(part, "webhook", drop)


@control("the sync of a file system does nothing (intake)", must="LOST")
def without_sync(part):
    with a_machine("ext4") as made:
        for _ in until_complaint(part):
            state, daemon = begin(made, nosync="/spool/state")
            daemon.wait_for(lambda: said(daemon.text(), REPETITIONS[-1]))
            text = daemon.text()
            made.disk.cut(disks.LOST)
            daemon.kill()
            made.disk.restart()
            made.finish()
            assert state.faults, "no file system was synced at once"
            part.fault()
            judge(made, part, text, "after a cut behind its acceptance")
