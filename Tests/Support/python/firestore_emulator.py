"""Google's emulator of Firestore, on loopback. It forgets all when it ends. Usage: firestore_emulator.py DIRECTORY

It takes orders, one a line: `kill`, and `start`, at the same address and without what it had. With the word `find` in place
of the directory, it only tells whether the emulator is installed: exit status 0, or 1."""

import os
import shutil
import sys

import leash

JAR = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"


def find():
    """The emulator's program, if it is installed with a Java that runs it."""
    roots = [os.path.dirname(os.path.dirname(os.path.realpath(path))) for path in [shutil.which("gcloud")] if path]
    paths = [f"{root}/{JAR}" for root in roots + ["/usr/lib/google-cloud-sdk"]]
    return next((path for path in paths if os.path.exists(path) and shutil.which("java")), None)


def start(directory, port=None):
    """Starts it; its port."""
    port = port or leash.free_port()
    leash.start(
        ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Duser.language=en", "-cp", find(),
         "com.google.cloud.datastore.emulator.firestore.CloudFirestore", f"--host={leash.ADDRESS}", f"--port={port}"],
        f"{directory}/emulator.log", cwd=directory)
    leash.until(lambda: leash.connects(port))
    return port


if __name__ == "__main__":
    if sys.argv[1] == "find":
        sys.exit(0 if find() else 1)
    directory = os.path.abspath(sys.argv[1])
    port = start(directory)
    address = f"{leash.ADDRESS}:{port}"

    def obey(order):
        leash.stop()
        if order == "start":
            start(directory, port)
        return {}

    leash.serve({"endpoint": f"http://{address}", "address": address, "project": "demo-photospool"}, obey)
