"""The mail queues that texts.py runs beside photospool: Postfix as it comes and tuned, and nullmailer. Each has its own
directories and ports, and delivers to Postfix's smtp-sink. Root only."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from measure import processor_seconds, wait_until


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class SMTPSink:
    """Ends by itself when it has taken so many messages."""

    def __init__(self, messages: int):
        self.port = free_port()
        self.process = subprocess.Popen(
            ["smtp-sink", "-u", "postfix", "-M", str(messages), f"127.0.0.1:{self.port}", "512"], stdout=subprocess.DEVNULL)
        wait_until(lambda: listens(self.port), 10)

    def is_done(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Postfix:
    """One instance. The tuned one changes every setting of Debian's Postfix that is known to be slow. A script that
    sends a message has a session for it alone; one that sends many may keep its session."""

    TUNED = """
default_process_limit = 50
in_flow_delay = 0
initial_destination_concurrency = 50
default_destination_concurrency_limit = 50
smtp_connection_cache_on_demand = yes
smtp_connection_cache_destinations = static:all
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
"""

    def __init__(self, place: Path, sink: int, is_tuned: bool, keeps_sessions: bool, holds: bool = False):
        self.place, self.port, self.keeps_sessions = place, free_port(), keeps_sessions
        configuration, queue, data = (place / name for name in ("conf", "queue", "data"))
        for directory in (configuration, queue, data):
            directory.mkdir(parents=True)
        place.chmod(0o755)
        owner = pwd.getpwnam("postfix")
        os.chown(data, owner.pw_uid, owner.pw_gid)
        (configuration / "main.cf").write_text(f"""compatibility_level = 3.6
queue_directory = {queue}
data_directory = {data}
myhostname = bench.invalid
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
relayhost = [127.0.0.1]:{sink}
smtp_host_lookup = native
maillog_file = {place}/log
maillog_file_prefixes = {place}
""" + (self.TUNED if is_tuned else "") + ("smtpd_client_restrictions = check_client_access static:hold\n" if holds else ""))
        lines = []
        for line in Path("/usr/share/postfix/master.cf.dist").read_text().splitlines():
            fields = line.split()
            if len(fields) >= 8 and not line.startswith(("#", " ")):
                if fields[0] == "smtp" and fields[1] == "inet":
                    fields[0] = str(self.port)
                fields[4] = "n"
                line = " ".join(fields)
            lines.append(line)
        (configuration / "master.cf").write_text("\n".join(lines) + "\n")
        self.control("start")
        wait_until(lambda: listens(self.port), 30)
        self.pid = int((queue / "pid/master.pid").read_text())

    def control(self, word: str) -> None:
        subprocess.run(["postfix", "-c", str(self.place / "conf"), word], check=True, capture_output=True, timeout=60)

    def feed(self, messages: int, bytes: int, writers: int) -> None:
        subprocess.run(
            ["smtp-source", *(["-d"] if self.keeps_sessions else []), "-s", str(writers), "-l", str(bytes),
             "-m", str(messages), "-f", "a@bench.invalid", "-t", "b@sink.invalid", f"127.0.0.1:{self.port}"], check=True, stdout=subprocess.DEVNULL)

    def processor(self) -> float:
        return processor_seconds(self.pid)

    def end(self) -> None:
        self.control("stop")


class Nullmailer:
    """From Debian's package, unpacked and not installed, because it and Postfix exclude each other. Its directories are fixed,
    so that it runs where /etc, /usr and /var are laid over with its own."""

    def __init__(self, place: Path, sink: int):
        self.place = place
        for name in ("upper", "work"):
            for root in ("etc", "usr", "var"):
                (place / name / root).mkdir(parents=True)
        subprocess.run(["apt-get", "download", "-q", "nullmailer"], cwd=place, check=True, capture_output=True)
        package = next(place.glob("nullmailer_*.deb"))
        subprocess.run(["dpkg", "-x", package, place / "package"], check=True)
        shutil.copytree(place / "package/usr", place / "upper/usr", dirs_exist_ok=True, symlinks=True)
        etc, spool = place / "upper/etc/nullmailer", place / "upper/var/spool/nullmailer"
        for directory in (etc, spool / "queue", spool / "tmp", spool / "failed"):
            directory.mkdir(parents=True)
        os.mkfifo(spool / "trigger")
        (etc / "remotes").write_text(f"127.0.0.1 smtp --port={sink}\n")
        (etc / "me").write_text("bench.invalid\n")
        self.spool = spool
        mounts = " && ".join(
            f"mount -t overlay overlay -o lowerdir=/{root},upperdir={place}/upper/{root},workdir={place}/work/{root} /{root}"
            for root in ("etc", "usr", "var"))
        self.process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", f"mount --make-rprivate / && {mounts} && exec nullmailer-send"],
            stdout=open(place / "log", "wb"), stderr=subprocess.STDOUT)
        wait_until(lambda: Path(f"/proc/{self.process.pid}/comm").read_text().strip() == "nullmailer-send", 10)

    def feed(self, messages: int, bytes: int, writers: int) -> None:
        """As cron and scripts do: a program for each message, which has it on the disk when it ends."""
        script = f"""
            for writer in $(seq {writers}); do
              (for number in $(seq {messages // writers}); do nullmailer-queue < {self.place}/message; done) &
            done
            wait"""
        (self.place / "message").write_bytes(
            b"a@bench.invalid\nb@sink.invalid\n\nSubject: text\n\n" + b"x\n" * (bytes // 2))
        subprocess.run(["nsenter", "--mount", "--target", str(self.process.pid), "sh", "-c", script], check=True)

    def processor(self) -> float:
        return processor_seconds(self.process.pid)

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
