"""SeaweedFS's S3 gateway on loopback, with one bucket. Usage: seaweedfs.py DIRECTORY [public]

A public bucket can be read by everybody who knows the name of an object. The credentials AKFEW and SKFEW may write
and delete only what begins with `photos/open`. Orders, one a line, each answered when it is done: `kill`, and `start` with
what it kept."""

import json
import os
import sys
import urllib.request

import leash
import sigv4

directory = os.path.abspath(sys.argv[1])
weed = os.path.join(os.path.dirname(sys.executable), "weed")
ports = {name: leash.free_port(also=10000) for name in ["master", "volume", "filer", "s3"]}
everybody = [{"name": "anonymous", "actions": ["Read:photos"]}] if sys.argv[2:] == ["public"] else []
with open(f"{directory}/s3.json", "w") as configuration:
    json.dump({"identities": [
        {"name": "writer", "credentials": [{"accessKey": "AKTEST", "secretKey": "SKTEST"}],
         "actions": ["Admin", "Read", "Write", "List", "Tagging"]},
        {"name": "few", "credentials": [{"accessKey": "AKFEW", "secretKey": "SKFEW"}],
         "actions": ["Read:photos", "List:photos", "Write:photos/open*"]},
        {"name": "reader", "credentials": [{"accessKey": "AKRO", "secretKey": "SKRO"}], "actions": ["Read", "List"]},
    ] + everybody}, configuration)
arguments = [
    weed, "server", f"-dir={directory}", f"-ip={leash.ADDRESS}", f"-ip.bind={leash.ADDRESS}", "-filer", "-s3",
    f"-master.port={ports['master']}", f"-volume.port={ports['volume']}", f"-filer.port={ports['filer']}",
    f"-s3.port={ports['s3']}", f"-s3.config={directory}/s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0",
    "-s3.autoCreateBucket=false", "-s3.domainName=localhost", "-master.volumeSizeLimitMB=64", "-volume.max=20",
    "-master.telemetry=false",
]
endpoint = f"http://{leash.ADDRESS}:{ports['s3']}"


def has_volume():
    """It first takes an object once its parts know one another."""
    return "fid" in json.load(urllib.request.urlopen(f"http://{leash.ADDRESS}:{ports['master']}/dir/assign", timeout=5))


def answers(method, query=""):
    return sigv4.request(method, f"{endpoint}/photos{query}", "us-east-1", "AKTEST", "SKTEST").status < 300


def start():
    leash.start(arguments, f"{directory}/weed.log", cwd=directory)
    leash.until(has_volume)


def obey(order):
    if order == "kill":
        leash.stop()
    elif order == "start":
        start()
        leash.until(lambda: answers("GET", "?list-type=2"))
    return {"done": order}


start()
leash.until(lambda: answers("PUT"))
leash.serve({
    "endpoint": endpoint, "region": "us-east-1", "bucket": "photos", "accessKey": "AKTEST", "secretKey": "SKTEST"}, obey)
# Its parts speak through sockets of a fixed place, which it leaves there.
for name, port in ports.items():
    for socket in [f"/tmp/seaweedfs-{name}-{port}.sock", f"/tmp/seaweedfs-{name}-grpc-{port + 10000}.sock"]:
        if os.path.exists(socket):
            os.remove(socket)
