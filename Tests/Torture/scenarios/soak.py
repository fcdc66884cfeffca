"""Everything at once for SOAK_MINUTES: real programs at full load. Shells and `send`, mails and the page give requests for a
webhook, for files and for an encrypted Matrix room; photos go to an S3 service and to the homeserver. Meanwhile clients,
janitor, page and darkroom processes are killed, the daemon is stopped and goes on, its configuration is read again, and the
networks go wrong, refuse and go silent. In the first half the daemon is killed, too; in the second half one daemon and one page
live on, and their memory, descriptors and disk are measured."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import statistics
import tempfile
import time
import types

import place as places
from load import Load
from scenario import Skip, scenario
from scenarios import mail
from scenarios.encrypted import Room
from scenarios.page import ENDS, Browser
from shared import photo

# A write-ahead log may grow until a reader is done and a checkpoint comes: its own limit, and half as much again.
MOST_LOG = 24 << 20
# The ledger keeps a row for each photo that its store still has, so that it can be fetched again. With its part of the indexes
# it takes so many bytes, which are not counted.
PHOTO_ROW = 1_180
# Sizes that may grow by so much, and by a quarter, from the first third of the second half to the last.
ALLOWANCES = {"memory": 32 << 20, "descriptors": 24, "page's memory": 32 << 20, "page's descriptors": 24, "ledger": 4 << 20,
              "disk": 8 << 20}
SETTINGS = """cache: {{inbox: {cache}, total: {cache}}}
janitor: {{tmp: 1h, receipts: 20s}}
stores:
  media: {{type: matrix, homeserver: "{homeserver}", tokenFile: "{token}"}}
networks:
  room: {{type: matrix, homeserver: "{homeserver}", tokenFile: "{token}", store: media, seal: matrix}}
  files: {{type: local}}
routes:
  - {{conversation: family, network: room, as: "{room}"}}
  - {{conversation: "files*", network: files}}
""" + mail.RULES.replace("{", "{{").replace("}", "}}")


class Soak(Load):
    def __init__(self, part, place, room, seconds):
        super().__init__(part, place)
        self.room, self.begun = room, time.monotonic()
        self.lives_on = self.begun + seconds / 2
        # Whether the daemon hears of a reload; the limits of its cache; the events of the open page.
        self.is_ready, self.cache, self.events = False, "200kB", 0
        made = types.SimpleNamespace(environment=place.environment, scratch=place.path, running=place.processes, photo=photo(40))
        self.page = Browser(made, "page")

    @property
    def may_kill(self):
        return time.monotonic() < self.lives_on

    def configure(self):
        """Programs that begin meanwhile read all of the old file or all of the new."""
        path = f"{self.place.path}/photospool.yaml"
        self.place.configure(SETTINGS.format(
            cache=self.cache, homeserver=self.room.homeserver, token=self.room.token, room=self.room.id), f"{path}.new")
        os.rename(f"{path}.new", path)

    def start(self):
        self.daemon = self.place.start()
        self.is_ready = self.daemon.ready()

    def start_page(self):
        if not self.page.start():
            raise places.Stuck("the page does not start")

    # MARK: clients

    def mailer(self, chance, number):
        """A mail, sometimes delivered twice, as by an agent that was killed before its unlink."""
        if not self.is_behind():
            mail.deliver(self.place, f"mail-{chance.randrange(4)}", chance.choice((0, 1, 2)), chance.random() < 0.2)
        self.over.wait(chance.uniform(0.2, 1))

    def filer(self, chance, number):
        """A request for the network of files."""
        if not self.is_behind():
            self.place.send(f"files-{chance.randrange(4)}", chance.choice((0, 1)), f"f{chance.getrandbits(64)}")
        self.over.wait(chance.uniform(0.2, 1))

    def correspondent(self, chance, number):
        """A photo and a text for the encrypted room."""
        self.place.drop("family", 1)
        self.over.wait(chance.uniform(1, 4))

    def visitor(self, chance, number):
        """Composes on the page, and looks at it. The page may be killed meanwhile; who sees no answer presses Send again."""
        entry = self.place.begin("page", 1, widths=[40])
        self.page.text = entry["text"]
        if not self.page.compose():
            places.until(self.page.repeat, "the page does not take what is sent")
        self.place.note(entry, "accepted", request=None)
        for path in ("/", "/conversation?name=page", "/conversation?name=family"):
            self.page.ask("GET", path)
        self.over.wait(chance.uniform(0.5, 2))

    def watcher(self, chance, number):
        """The stream of events that an open page hears."""
        with contextlib.suppress(*ENDS, ValueError, AttributeError), self.page.stream("list", "conversation:page") as answer:
            while not self.over.is_set() and (line := answer.readline()):
                self.events += line.startswith(b"event:")
        self.over.wait(0.1)

    # MARK: what goes wrong

    def weather(self, chance, number):
        """A network that alternates between good, faulty and absent."""
        self.place.order("faults", chance.choice((0.0, 0.05, 0.2, 0.9)))
        self.over.wait(chance.uniform(1, 6))

    def bad_line(self, chance, number):
        """A homeserver that cannot be reached for a while, or whose answer is lost."""
        self.room.line.ask(chance.choice(("refuse", "lose")), chance.choice(("send/m.room.encrypted", "upload")))
        self.over.wait(chance.uniform(0.5, 3))
        failed = self.room.line.ask("pass")["count"]
        with self.lock:
            self.part.fault(failed, kind="homeserver")
        self.over.wait(chance.uniform(2, 8))

    def stop_and_go(self, chance, number):
        """Stops the daemon for a while, like a suspended machine."""
        self.over.wait(chance.uniform(3, 12))
        daemon = self.daemon
        if daemon.is_alive():
            daemon.signal(signal.SIGSTOP)
            self.fault("daemon stopped")
            self.over.wait(chance.uniform(0.1, 2))
            daemon.signal(signal.SIGCONT)

    def reload(self, chance, number):
        """Another limit of the cache."""
        self.over.wait(chance.uniform(5, 15))
        self.cache = chance.choice(("150kB", "200kB", "250kB"))
        self.configure()
        daemon = self.daemon
        if self.is_ready:
            daemon.signal(signal.SIGHUP)
            self.fault("configuration read again")

    def kill_darkroom(self, chance, number):
        self.over.wait(chance.uniform(1, 5))
        for process in darkrooms(self.daemon):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                self.fault("darkroom killed")

    def replace_daemon(self, chance, number):
        self.over.wait(chance.uniform(1, 10))
        if self.may_kill:
            self.is_ready = False
            self.daemon.signal(signal.SIGCONT)
            self.daemon.kill()
            self.fault("daemon killed")
            self.start()

    def replace_page(self, chance, number):
        self.over.wait(chance.uniform(5, 30))
        if self.may_kill:
            self.page.kill()
            self.fault("page killed")
            self.start_page()

    def read_room(self, chance, number):
        """Its member reads all the time."""
        heard = self.room.heard
        self.room.read(len(heard["messages"]) + len(heard["unreadable"]) + 1)

    # MARK: measurement

    def sample(self):
        """The present sizes; nothing while a program is being replaced."""
        try:
            state = pathlib.Path(f"{self.place.spool}/state")
            rows = PHOTO_ROW * self.place.ledger("SELECT count(*) FROM photos")[0][0]
            return {
                **of_process(self.daemon.process.pid, ""), **of_process(self.page.process.pid, "page's "),
                "ledger": (state / "ledger.sqlite").stat().st_size - rows,
                "log": (state / "ledger.sqlite-wal").stat().st_size, "disk": used(self.place.spool) - rows}
        except (OSError, ValueError, IndexError, sqlite3.Error):
            return None


@scenario("soak", extra=True)
def soak(part):
    seconds = 60 * float(os.environ.get("SOAK_MINUTES", "1"))
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="photospool-room.", ignore_cleanup_errors=True))
        if not Room.is_possible():
            raise Skip("Synapse, matrix-nio or mautrix is not installed")
        room = Room(stack, scratch)
        place = part.place("s3")
        place.keeps_receipts = False
        load = Soak(part, place, room, seconds)
        load.configure()
        load.start()
        load.start_page()
        if load.page.ask("POST", load.page.link.path)[0] != 303:
            raise places.Stuck("the page gives no session")
        load.begin(load.bounded(load.writer), load.bounded(load.writer), load.dropper, load.mailer, load.filer, load.correspondent,
                   load.visitor, load.watcher, load.weather, load.bad_line, load.stop_and_go, load.reload, load.kill_janitor,
                   load.kill_darkroom, load.replace_daemon, load.replace_page, load.read_room)
        samples = []
        while time.monotonic() < load.begun + seconds and not load.over.is_set():
            load.over.wait(1)
            samples.append(load.sample())
            place.published |= offered(place)
        load.end()
        finish(part, load)
        judge_growth(part, [one for one in samples[len(samples) * 5 // 9:] if one])


def finish(part, load):
    """Everything comes to its end without faults, and the oracle looks."""
    place = load.place
    load.daemon.signal(signal.SIGCONT)
    load.room.line.ask("pass")
    part.fault(place.order("faults", 0)["faults"], "network")
    place.wait_idle(load.daemon)
    load.page.kill()
    if load.daemon.stop() != 0:
        part.complain("ALIVE", "the daemon did not stop in order")
    load.settle()
    place.others = lambda: others
    others = [*places.published(place.spool), *in_room(place, load.room)]
    if load.room.heard["unreadable"]:
        part.complain("LOST", f"{len(load.room.heard['unreadable'])} messages of the room cannot be read")
    if not load.events:
        part.complain("ALIVE", "an open page heard of nothing")
    part.notes["events heard by the page"] = load.events
    place.context = f"after {part.injected} faults"
    part.judge(place)


def in_room(place, room):
    """What the room's member reads, once all of it is there."""
    sent = sum(1 for entry in place.clients.read() if entry.get("conversation") == "family")
    messages = room.read(2 * sent)["messages"]
    return place.as_read("family", [
        (message["event"], None if message["kind"] == "m.image" else message["body"], message["width"], None)
        for message in messages])


def offered(place):
    """The objects that may have been published. Nobody may delete them; the janitor forgets them with the receipts. All come
    in one row: Python's other threads run between two rows, and a long read lets the ledger's log grow."""
    found = place.ledger("SELECT json_group_array(object) FROM uploads WHERE state IN ('offered', 'published')")
    return set(json.loads(found[0][0])) if found else set()


def darkrooms(daemon):
    """The darkroom processes of a daemon."""
    found = []
    for process in places.in_session(daemon.process.pid):
        try:
            if "photospool-darkroom" in pathlib.Path(f"/proc/{process}/cmdline").read_text():
                found.append(process)
        except OSError:
            pass
    return found


def of_process(number, whose):
    process = pathlib.Path(f"/proc/{number}")
    memory = int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return {f"{whose}memory": memory, f"{whose}descriptors": len(os.listdir(process / "fd"))}


def used(spool):
    """The bytes of a spool, without the messages that its network of files keeps for ever."""
    total = 0
    for path, directories, names in os.walk(spool):
        if path == spool:
            directories[:] = [name for name in directories if name not in ("published", "objects")]
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.lstat(f"{path}/{name}").st_size
    return total


def judge_growth(part, samples):
    if len(samples) < 9:
        part.complain("ALIVE", f"the daemon that lives on was seen {len(samples)} times only")
        return
    third = len(samples) // 3
    for what, allowance in ALLOWANCES.items():
        first = statistics.median(one[what] for one in samples[:third])
        last = statistics.median(one[what] for one in samples[-third:])
        part.notes[f"{what} first"], part.notes[f"{what} last"] = int(first), int(last)
        if last > first * 1.25 + allowance:
            part.complain("CLEAN", f"{what} grew from {first:.0f} to {last:.0f}")
    most = max(one["log"] for one in samples)
    part.notes["log at most"] = most
    if most > MOST_LOG:
        part.complain("CLEAN", f"the ledger's log grew to {most} bytes")
