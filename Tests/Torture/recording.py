"""A disk that records every write and flush below its file system, and the output of programs in between. It can be
restored to any place of the record, also without some of the writes that were not flushed yet."""

import dataclasses
import functools
import os
import pathlib
import struct
import subprocess

import disks

HERE = pathlib.Path(__file__).resolve().parent
HEAD = struct.Struct("<IIQ")
BLOCK = 4096
# File systems and mount options. `writeback` does not order data before names, and adds no syncs of its own.
KINDS = {
    "ext4": ("ext4", ""), "ext4 writeback": ("ext4", "data=writeback,noauto_da_alloc"), "xfs": ("xfs", ""),
    # Without discards: they are not recorded as writes and wait for no flush.
    "btrfs": ("btrfs", "nodiscard")}
# Initialises all of an ext4 at once, so that the kernel writes none of it later.
MAKE_OPTIONS = {"ext4": ("-E", "lazy_itable_init=0,lazy_journal_init=0")}


@dataclasses.dataclass(frozen=True)
class Place:
    """A power cut after `end` entries of the record; `lost` are earlier writes that never reached the disk, with the
    number of their bytes that did."""

    end: int
    lost: tuple = ()

    def __str__(self):
        without = ", ".join(f"{number} behind its first {kept} bytes" if kept else str(number) for number, kept in self.lost)
        return f"entry {self.end}" + (f", without {without}" if without else "")


class Recording:
    """The entries of a record: kind, offset, length, and the bytes of a write or mark."""

    def __init__(self, path):
        record, self.entries, at = memoryview(pathlib.Path(path).read_bytes()), [], 0
        while at < len(record):
            kind, length, offset = HEAD.unpack_from(record, at)
            at += HEAD.size
            size = length if chr(kind) in "WM" else 0
            self.entries.append((chr(kind), offset, length, record[at:at + size]))
            at += size

    def __len__(self):
        return len(self.entries)

    def said(self, end):
        """The lines that programs had printed at a place."""
        return b"".join(content for kind, _, _, content in self.entries[:end] if kind == "M").decode().splitlines()

    @functools.cached_property
    def is_write(self):
        return [kind in "WZ" for kind, *_ in self.entries]

    @functools.cache
    def windows(self):
        """The ranges of entries between two flushes that contain a write."""
        flushes = [number for number, entry in enumerate(self.entries) if entry[0] == "F"]
        bounds = zip([0, *(flush + 1 for flush in flushes)], [*flushes, len(self)])
        return [range(*bound) for bound in bounds if any(self.is_write[slice(*bound)])]

    def next_write(self, start, stop):
        """The place just before the next write, which covers the most promises for the same state of the disk."""
        return next((number for number in range(start, stop) if self.is_write[number]), stop)

    def places(self, chance, most):
        """About so many places of a power cut: all that make a difference, or behind the last write before every flush, and
        some of the others."""
        flushed = {self.next_write(window.stop, len(self)) for window in self.windows()}
        others = {number for number in range(len(self)) if self.is_write[number]} - flushed
        chosen = chance.sample(sorted(flushed), min(len(flushed), most))
        return [Place(end) for end in chosen + chance.sample(sorted(others), min(len(others), most - len(chosen)))]

    def promises(self):
        """The places of a power cut just behind each mark."""
        return [Place(number + 1) for number, entry in enumerate(self.entries) if entry[0] == "M"]

    def losses(self, chance, most):
        """Places where up to three of the writes since the last flush are lost, some of them in part."""
        windows, found = self.windows(), set()
        for number in range(most):
            window = windows[number % len(windows)] if most >= len(windows) else chance.choice(windows)
            writes = [entry for entry in window if self.is_write[entry]]
            # Half of the time all of them were on their way.
            last = len(writes) if chance.random() < 0.5 else chance.randint(1, len(writes))
            lost = chance.sample(writes[:last], chance.randint(1, min(last, 3)))
            end = self.next_write(writes[last - 1] + 1, window.stop)
            found.add(Place(end, tuple((entry, self.kept(entry, chance)) for entry in sorted(lost))))
        return list(found)

    def kept(self, entry, chance):
        """None of a write reaches the disk, or some of its first blocks do."""
        blocks = (self.entries[entry][2] - 1) // BLOCK
        return chance.randint(1, blocks) * BLOCK if blocks and chance.random() < 0.3 else 0

    def play(self, image, entries, lost={}):
        """Applies entries to an open image."""
        for number in entries:
            kind, offset, length, content = self.entries[number]
            length = lost.get(number, length)
            if self.is_write[number]:
                image.seek(offset)
                image.write(content[:length] if kind == "W" else b"\0" * length)


class RecordedDisk(disks.Disk):
    """A disk for as long as it takes to lay something out; then `record()`, and `stop()`; then `show(place)`, in the order
    of the places' windows, puts in its place the disk that a power cut would have left."""

    def __init__(self, kind):
        name, options = KINDS[kind]
        super().__init__(name, options, MAKE_OPTIONS.get(name, ()))
        self.made, self.below, self.marks = f"{self.scratch}/image", f"{self.scratch}/below", f"{self.scratch}/below/marks"
        self.recorder = None
        os.mkdir(self.below)

    def record(self):
        """Starts the recording."""
        self.unmount()
        disks.run("cp", self.made, f"{self.scratch}/past")
        subprocess.run(["cc", "-O1", "-o", f"{self.scratch}/recorder", HERE / "recorder.c"], check=True)
        self.recorder = subprocess.Popen(
            [f"{self.scratch}/recorder", self.made, f"{self.scratch}/record", f"{self.scratch}/said", self.below],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.recorder.stdout.readline() != "ready\n":
            raise disks.Refused(f"nobody can record a disk: {self.recorder.communicate()[1].strip()}")
        self.image = f"{self.below}/disk"
        self.mount()

    def stop(self):
        """Ends the recording."""
        self.unmount()
        disks.unmount(self.below)
        self.recorder.communicate(timeout=60)
        self.recording, self.past = Recording(f"{self.scratch}/record"), 0
        self.image = f"{self.scratch}/present"

    def show(self, place):
        """Mounts the disk as it was after a power cut at the place."""
        if self.is_mounted:
            self.unmount()
        begun = max((window.start for window in self.recording.windows() if window.start < place.end), default=0)
        if begun < self.past:
            raise ValueError("places are shown in their order")
        with open(f"{self.scratch}/past", "r+b") as image:
            self.recording.play(image, range(self.past, begun))
        self.past = begun
        # Another file: the last one's device may not have let go of it yet.
        if os.path.exists(self.image):
            os.unlink(self.image)
        disks.run("cp", f"{self.scratch}/past", self.image)
        with open(self.image, "r+b") as image:
            self.recording.play(image, range(self.past, place.end), dict(place.lost))
        self.mount()

    def __exit__(self, *_):
        if self.recorder:
            # Its disk goes first, unless it hangs.
            if self.is_mounted:
                subprocess.run(["umount", "-l", self.path], capture_output=True)
                self.is_mounted = False
            subprocess.run(["umount", "-l", self.below], capture_output=True)
            self.recorder.kill()
            self.recorder.communicate()
        super().__exit__()
