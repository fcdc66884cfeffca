"""Servers of tests: started on loopback or where a story has them, told of on standard output, and ended when standard
input ends, so that none outlives its test whatever becomes of it."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

STARTED = []
# The locks of the ports that this process uses.
LOCKS = []
# Where servers listen: on loopback, or on the end of a line that a story has laid.
ADDRESS = os.environ.get("TEST_SERVERS_ADDRESS", "127.0.0.1")


def end(*_):
    stop()
    sys.exit(1)


signal.signal(signal.SIGTERM, end)


def free_port(also=0):
    """A port that nobody listens on; with `also`, neither on that many further up. It is locked until this process ends,
    so that no other test takes it before its server listens."""
    for _ in range(200):
        port = random.randrange(20000, 30000)
        lock = socket.socket(socket.AF_UNIX)
        try:
            # An abstract name: it has no file, and goes with this process.
            lock.bind(f"\0photospool-port-{port}")
            for candidate in {port, port + also}:
                with socket.socket() as probe:
                    probe.bind((ADDRESS, candidate))
            LOCKS.append(lock)
            return port
        except OSError:
            lock.close()
    sys.exit("there is no free port")


def start(arguments, log, **options):
    """Starts a server, with all that it says in the file `log`."""
    with open(log, "ab") as output:
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options)
    STARTED.append(process)
    return process


def until(question, seconds=60):
    """Asks until the answer is neither false nor an error; a server that ended first is the end."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = question()
            if answer:
                return answer
        except OSError as error:
            answer = error
        if any(process.poll() is not None for process in STARTED) or time.monotonic() > deadline:
            stop()
            sys.exit(f"a server does not start: {answer}")
        time.sleep(0.05)


def connects(port, address=ADDRESS):
    with socket.create_connection((address, port), timeout=5):
        return True


def start_nginx(directory, ports):
    """Starts nginx with the `nginx.conf` of the directory, and waits until it listens on the ports."""
    start(["nginx", "-p", directory, "-c", f"{directory}/nginx.conf", "-e", f"{directory}/error.log"],
          f"{directory}/nginx.out", env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin"})
    for port in ports:
        until(lambda: connects(port))


def hold(facts, obey=None):
    """Prints the facts as one line of JSON and waits until the test is done with them, however it ends. Meanwhile it answers
    orders, one a line, with what `obey` returns for each."""
    print(json.dumps(facts), flush=True)
    for order in sys.stdin:
        if obey:
            print(json.dumps(obey(order.strip())), flush=True)


def serve(facts, obey=None):
    """The same, then ends the servers and removes their directory: a test that is killed cannot."""
    try:
        hold(facts, obey)
    finally:
        stop()
        shutil.rmtree(sys.argv[1], ignore_errors=True)


def stop():
    for process in STARTED:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    STARTED.clear()
