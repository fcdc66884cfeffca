"""Three NATS servers with JetStream on loopback, each of which syncs before it answers.
Usage: nats_servers.py DIRECTORY [tls] [max_file=BYTES] [lazy] [at=PID:ADDRESS,PID:ADDRESS,PID:ADDRESS]

With `lazy` they sync every two minutes, as they do by default. With `at`, each is in the network namespace of that process, and
listens at that address. Orders, one a line, each answered when it is done:
kill N, start N, stop N (SIGSTOP), continue N, empty N (killed, its disk emptied), for N of 1 to 3 or `all`; `pid N`; and
`whole`, which waits until all that run have all that they should have."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import leash

directory = os.path.abspath(sys.argv[1])
words = sys.argv[2:]
settings = dict(word.split("=") for word in words if "=" in word)
binary = os.path.join(os.path.dirname(sys.executable), "nats-server")
NUMBERS = ["1", "2", "3"]
# Another one each time: a host that outlived its own servers must not join these, should they get the same ports.
TOKEN = secrets.token_hex(16)
# Where each server is: the words that start a program there, and its address.
places = {n: ([], leash.ADDRESS) for n in NUMBERS}
if "at" in settings:
    for n, (pid, address) in zip(NUMBERS, (place.split(":") for place in settings["at"].split(","))):
        places[n] = (["nsenter", "--target", pid, "--net"], address)
ports = {n: {kind: leash.free_port() for kind in ["client", "cluster", "monitor"]} for n in NUMBERS}
running = {}


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def certificates():
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout"]
    openssl("req", "-x509", *key, "authority.key", "-subj", "/CN=Authority of a test", "-out", "authority.pem")
    openssl("req", *key, "server.key", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-days", "1", "-copy_extensions", "copy", "-out", "server.pem")


def configure(n):
    routes = ", ".join(f"nats://{places[other][1]}:{ports[other]['cluster']}" for other in NUMBERS)
    address = places[n][1]
    sync = "" if "lazy" in words else "sync_interval: always,"
    with open(f"{directory}/n{n}.conf", "w") as configuration:
        configuration.write(f"""server_name: n{n}
listen: {address}:{ports[n]['client']}
http: {address}:{ports[n]['monitor']}
authorization {{ token: {TOKEN} }}
jetstream {{ store_dir: "{directory}/n{n}", {sync} max_mem: 64MB, max_file: {settings.get("max_file", "16GB")} }}
cluster {{ name: test, listen: {address}:{ports[n]['cluster']}, routes: [{routes}] }}
""")
        if "tls" in words:
            configuration.write(f'tls {{ cert_file: "{directory}/server.pem", key_file: "{directory}/server.key" }}\n')


def launch(n):
    running[n] = leash.start([*places[n][0], binary, "-c", f"{directory}/n{n}.conf"], f"{directory}/n{n}.log")


def kill(n):
    process = running.pop(n, None)
    if process:
        process.kill()
        process.wait()
        leash.STARTED.remove(process)


def send(n, signal_number):
    if n in running:
        running[n].send_signal(signal_number)


def empty(n):
    kill(n)
    shutil.rmtree(f"{directory}/n{n}", ignore_errors=True)


def healthy(n):
    answer = urllib.request.urlopen(f"http://{places[n][1]}:{ports[n]['monitor']}/healthz?js-enabled-only=true", timeout=5)
    return answer.status == 200


def whole(n):
    try:
        return urllib.request.urlopen(f"http://{places[n][1]}:{ports[n]['monitor']}/healthz", timeout=5).status == 200
    except urllib.error.HTTPError:
        return False


def connected(n):
    return leash.connects(ports[n]["client"], places[n][1])


def obey(order):
    verb, _, which = order.partition(" ")
    chosen = NUMBERS if which == "all" else [which]
    if verb == "pid":
        return {"pid": str(running[which].pid)}
    if verb == "whole":
        for n in running:
            leash.until(lambda: whole(n), 120)
        return {"done": order}
    for n in chosen:
        {"kill": kill, "start": launch, "empty": empty, "stop": lambda n: send(n, signal.SIGSTOP),
         "continue": lambda n: send(n, signal.SIGCONT)}[verb](n)
    if verb == "start":
        for n in chosen:
            leash.until(lambda: connected(n))
    return {"done": order}


if "tls" in words:
    certificates()
for number in NUMBERS:
    configure(number)
    launch(number)
for number in NUMBERS:
    leash.until(lambda: healthy(number))
scheme = "tls" if "tls" in words else "nats"
urls = [f"{scheme}://{'localhost' if 'tls' in words else places[n][1]}:{ports[n]['client']}" for n in NUMBERS]
leash.serve({
    "servers": ",".join(urls), "token": TOKEN, "authority": f"{directory}/authority.pem",
    "monitors": ",".join(f"http://{places[n][1]}:{ports[n]['monitor']}" for n in NUMBERS)}, obey)
