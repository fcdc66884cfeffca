"""A disk that answers with errors: at the k-th call, once or from there on until it is mended; for every errno that a
disk has. Nothing that was accepted is lost, the daemon goes on by itself where it can, and no descriptor is synced again
after its sync failed."""

import errno
import os

import machine
from machine import a_machine
from scenario import scenario
from scenarios.powercut import fill, judge_purged

SYNCS = "fsync,fdatasync,syncfs"
WRITES = "write,pwrite,pwrite64,writev,ftruncate,ftruncate64,posix_fallocate,posix_fallocate64"
NAMES = "create,mkdir,mkdirat,rename,renameat,renameat2"
REMOVALS = "unlink,unlinkat,rmdir"
READS = "read,pread,pread64"
# Rows: the calls that fail, and how.
ERRORS = {
    "EIO from a sync": (SYNCS, errno.EIO),
    "ENOSPC from a sync": (SYNCS, errno.ENOSPC),
    "EIO from a write": (WRITES, errno.EIO),
    "ENOSPC from a write": (WRITES, errno.ENOSPC),
    "EDQUOT from a write": (WRITES, errno.EDQUOT),
    "ENOSPC from a name": (NAMES, errno.ENOSPC),
    "EIO from a name": (NAMES, errno.EIO),
    "EROFS from a name": (NAMES, errno.EROFS),
    "EIO from a removal": (REMOVALS, errno.EIO),
    "EIO from a close": ("close", errno.EIO),
    "ENOSPC from everything": (None, errno.ENOSPC),
    "EIO from everything": (None, errno.EIO),
    "EROFS from everything": (f"{WRITES},{NAMES},{REMOVALS}", errno.EROFS),
}

# Reads change nothing, and there are many of them.
READINGS = {
    "EIO from a read": (READS, errno.EIO),
    "EIO from an opening": ("open", errno.EIO),
    "ESTALE from an opening": ("open", errno.ESTALE),
    "EINTR from an opening": ("open", errno.EINTR),
}
# The errors for a purge and an eviction.
DELETIONS = {
    name: ERRORS[name] for name in (
        "EIO from a sync", "ENOSPC from a write", "EIO from a name", "EIO from a removal", "ENOSPC from everything",
        "EIO from everything")
} | {"EACCES from a removal": (REMOVALS, errno.EACCES), "EBUSY from a removal": (REMOVALS, errno.EBUSY)}
AMOUNTS = {"once": 1, "until it is mended": 0}


def is_over(made, name):
    """The request came to an end: a receipt, or a reason why it failed."""
    return (made.spool / "sent" / name / "receipt.json").exists() or (made.spool / "failed" / name / "error").exists()


def settled(made, names):
    return lambda: all(is_over(made, name) for name in names) and made.is_idle()


def judge(made, part, sent, where, may_fail=True):
    """Every request was published once and whole, in order; or it failed, whole, and says why."""
    lines = made.published("family")
    ids = [line["message"] for line in lines]
    if len(ids) != len(set(ids)):
        part.complain("DUP", f"{ids} {where}")
    order = [line["request"] for line in lines]
    if order != sorted(order, key=sent.index):
        part.complain("ORDER", f"{order} and not {sent} {where}")
    for name in sent:
        kinds = [line["kind"] for line in lines if line["request"] == name]
        failed = made.spool / "failed" / name
        if kinds == ["photo", "text"] and (made.spool / "sent" / name / "receipt.json").exists():
            continue
        if may_fail and (failed / "error").exists() and any(
                entry.name.startswith("photo") and machine.digest(entry) == machine.digest(made.photo)
                for entry in failed.iterdir()):
            continue
        part.complain("LOST", f"{name} was published as {kinds} {where}")
    made.judge_leftovers(part, where)


def deliver(part, calls, code, amount, dear=1):
    with a_machine() as made:

        def once(k):
            names = made.two_requests()
            state = made.state()
            where = f"after {errno.errorcode[code]} at call {k}"
            daemon = made.start(**made.under_shim(state, at=k, act=code, calls=calls, **{"for": amount}))
            daemon.outlasts(state, amount, settled(made, names))
            daemon.stop_with_a_reason(part, where)
            state.judge_syncs(part, where)
            met = state.faults
            part.fault(max(0, met - 1))
            made.finish()
            part.accepted(2)
            # Repeated reads and renames succeed.
            judge(made, part, names, where, may_fail=calls not in (READS, "open") or amount != 1)
            return met > 0

        part.sweep(once, dear=dear)


for rows, dear in ((ERRORS, 1), (READINGS, 3)):
    for name, (calls, code) in rows.items():
        # An interrupted call is repeated at once, without limit.
        for way, amount in ({"once": 1} if code == errno.EINTR else AMOUNTS).items():
            scenario(f"errors: {name}, {way}", calls=calls, code=code, amount=amount, dear=dear)(deliver)


LIMIT = 20_000


def delete(part, calls, code, amount):
    """A pass of the janitor that has a conversation to purge and photos to evict."""
    with a_machine(configuration=f"cache: {{inbox: {LIMIT}, total: {LIMIT}}}\n") as made:
        fill(made)

        def once(k):
            made.begin()
            state = made.state()
            done = made.photospool(
                "janitor", environment=made.under_shim(state, at=k, act=code, calls=calls, **{"for": amount}))
            where = f"after {errno.errorcode[code]} at call {k} ({done.returncode}: {done.stderr.strip()[-200:]})"
            if done.returncode not in (0, 73, 74, 75, 77) or done.returncode and not done.stderr.startswith("photospool: "):
                part.complain("ALIVE", f"the janitor does not say why it ended {where}")
            state.judge_syncs(part, where)
            met = state.faults
            part.fault(max(0, met - 1))
            again = made.photospool("janitor")
            if again.returncode != 0:
                part.complain("ALIVE", f"the janitor after it ended with {again.returncode}: {again.stderr[-200:]} {where}")
            made.finish()
            kept = made.ledger("SELECT bytes FROM cache_total")[0]["bytes"]
            if kept > LIMIT:
                part.complain("CLEAN", f"{kept} bytes are in the cache {where}")
            judge_purged(made, part, where)
            return met > 0

        part.sweep(once)


for name, (calls, code) in DELETIONS.items():
    for way, amount in AMOUNTS.items():
        scenario(f"errors: {name}, janitor, {way}", calls=calls, code=code, amount=amount)(delete)


def submit(part, calls, code):
    with a_machine() as made:

        def once(k):
            made.begin()
            state = made.state()
            done = made.photospool(
                "send", "--to", "family", "--photo", made.photo, "--text", "a",
                environment=made.under_shim(state, at=k, act=code, calls=calls))
            where = f"after {errno.errorcode[code]} at call {k}: {done.stderr.strip()}"
            there = os.listdir(made.spool / "new")
            if done.returncode == 0 and len(there) != 1:
                part.complain("LOST", f"send said that it was accepted {where}")
            if done.returncode != 0 and not done.stderr.startswith("photospool: "):
                part.complain("ALIVE", f"send ended with {done.returncode} and does not say why {where}")
            if done.returncode and there and "did not confirm it" not in done.stderr:
                part.complain("DUP", f"send said that it was not accepted {where}")
            left = [name for name in os.listdir(made.spool / "tmp") if name != ".order"]
            if left and code != errno.EROFS:
                part.complain("CLEAN", f"tmp/ holds {left} {where}")
            state.judge_syncs(part, where)
            part.accepted(done.returncode == 0)
            return state.faults > 0

        part.sweep(once)


for name, (calls, code) in (ERRORS | READINGS).items():
    if "removal" not in name:
        scenario(f"errors: {name}, send", calls=calls, code=code)(submit)


@scenario("errors: short and interrupted reads and writes")
def ragged(part):
    with a_machine() as made:
        for piece in (1, 7, 100_000):
            made.begin()
            # Byte by byte is for small files only.
            photos = ["--photo", made.photo] if piece > 100 else []
            state = made.state()
            environment = made.under_shim(state, ragged=piece)
            done = made.photospool("send", "--to", "family", *photos, "--text", "a" * 500, environment=environment)
            if done.returncode:
                part.complain("ALIVE", f"send: {done.stderr}")
                continue
            name = done.stdout.strip()
            daemon = made.start(**environment)
            daemon.wait_for(settled(made, [name]))
            if daemon.stop() != 0:
                part.complain("ALIVE", daemon.text()[-300:])
            # Some hundred thousand calls, which say no more than one of them does.
            part.fault()
            part.accepted()
            if made.published("family")[-1]["text"] != "a" * 500:
                part.complain("LOST", "the text is not whole")
            made.judge_leftovers(part, f"with pieces of {piece} bytes")
