"""Programs that are stopped at the k-th call and go on later, while others work; and strangers at the ledger: one who reads
in it without end, one who keeps everybody else from writing."""

import os
import signal
import sqlite3
import subprocess

import place as places
from scenario import scenario

STOP = {"KILLPOINT_SIGNAL": str(int(signal.SIGSTOP))}


def is_stopped(process):
    try:
        with open(f"/proc/{process.pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def until_met(process, also=lambda: False):
    """Until the program is stopped at its call, dead, or `also` holds. Whether it is stopped."""
    places.until(lambda: is_stopped(process) or process.poll() is not None or also(), "it is neither stopped nor at its end")
    return is_stopped(process)


@scenario("daemon stopped at every call, and continued", parts=2)
def daemon(part):
    place = part.place()

    def once(k):
        place.context = f"k={k}"
        place.drop("family", 1)
        daemon = place.start(**place.killing(k), **STOP)
        met = until_met(daemon.process, place.is_idle)
        # Meanwhile requests arrive and a janitor runs, which may have to wait.
        place.drop("family", 1)
        place.send("family")
        janitor = subprocess.Popen([places.PHOTOSPOOL, "janitor"], env=place.environment, stdin=subprocess.DEVNULL)
        place.processes.append(janitor)
        daemon.signal(signal.SIGCONT)
        if janitor.wait(places.PATIENCE) != 0:
            part.complain("ALIVE", f"the janitor ended with {janitor.returncode} [{place.context}]")
        place.wait_idle(daemon)
        # Its k-th call may be one of those of its end.
        daemon.ready()
        daemon.signal(signal.SIGTERM)
        if until_met(daemon.process):
            daemon.signal(signal.SIGCONT)
        daemon.wait()
        place.context += f", {place.call(k)}"
        part.judge(place)
        return met

    part.sweep(once, dear=3)


@scenario("janitor stopped at every call of an eviction, and continued", parts=2)
def janitor(part):
    place = part.place()
    for number in range(4):
        place.drop(f"c{number}", 2)
    place.settle()
    total, = place.ledger("SELECT bytes FROM cache_total")[0]
    place.configure(f"cache: {{inbox: {total}, total: {total // 2}}}\n")

    def once(k):
        place.context = f"k={k}"
        daemon = place.start()
        daemon.ready()
        # The cache is filled again after the last eviction.
        for number in range(4):
            place.drop(f"c{number}", 2)
        place.wait_idle(daemon)
        janitor = subprocess.Popen(
            [places.PHOTOSPOOL, "janitor"], env={**place.environment, **place.killing(k), **STOP}, cwd=place.path,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        place.processes.append(janitor)
        met = until_met(janitor)
        for number in range(4):
            place.drop(f"c{number}", 1)
        janitor.send_signal(signal.SIGCONT)
        status = janitor.wait(places.PATIENCE)
        place.wait_idle(daemon)
        daemon.stop()
        place.context += f", {place.call(k)}"
        if status != 0:
            part.complain("ALIVE", f"the janitor ended with {status} [{place.context}]")
        part.judge(place)
        return met

    part.sweep(once, dear=3)


@scenario("a stranger reads in the ledger without end, and one keeps it from being written")
def strangers(part):
    place = part.place()
    daemon = place.start()
    daemon.ready()
    ledger = f"{place.spool}/state/ledger.sqlite"
    log = f"{ledger}-wal"
    for round in part.rounds(place, 20):
        reader = sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM requests").fetchall()
        part.fault(kind="reader")
        for number in range(30):
            place.drop(f"c{number % 3}", number % 2)
        place.wait_idle(daemon)
        if os.path.getsize(log) > 64 << 20:
            part.complain("CLEAN", f"the ledger's log has {os.path.getsize(log)} bytes beside a reader")
        reader.close()
        writer = sqlite3.connect(ledger, isolation_level=None, timeout=60)
        writer.execute("BEGIN IMMEDIATE")
        part.fault(kind="writer")
        dropped = [place.drop("family", 1)["request"] for _ in range(3)]
        # It has asked for the ledger, and waits or complains.
        places.until(lambda: not place.is_idle() and all(
            os.path.exists(f"{place.spool}/new/{name}") or os.path.exists(f"{place.spool}/cur/{name}") for name in dropped),
            "the requests are gone")
        writer.execute("ROLLBACK")
        writer.close()
        place.wait_idle(daemon)
    daemon.stop()
    part.judge(place)
