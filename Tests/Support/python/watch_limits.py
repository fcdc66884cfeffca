#!/usr/bin/env python3
"""watch_limits.py PHOTOSPOOL SPOOL SECONDS EVERY TOTAL INBOX: runs the janitor every so many seconds and watches the
files of the cache in between. Photos from before a pass are within the limits after it, so any excess came later. No
photo that a request needs loses a file.

A pass can know only the photos that the ledger counts. A file is identified by its path and its time of change."""

import collections
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time

PAUSE = 0.1
NAMES = {"original.jpg": "cached_bytes", "thumbnail.jpg": "cached_thumbnail_bytes", "blurred.jpg": "cached_thumbnail_bytes"}


class Watch:
    def __init__(self, photospool, spool, total, inbox):
        self.photospool = photospool
        self.spool = spool
        self.limits = {None: total, "inbox": inbox}
        self.faults = []
        self.passes = self.samples = self.evicted = self.most = self.tight = 0

    def rows(self, condition):
        with contextlib.closing(sqlite3.connect(f"file:{self.spool}/state/ledger.sqlite?mode=ro", uri=True, timeout=30)) as ledger:
            ledger.row_factory = sqlite3.Row
            return ledger.execute(f"SELECT * FROM photos WHERE {condition}").fetchall()

    def files(self):
        """Every file of the cache: its path, when it came, its inbox, its size."""
        for directory, _, names in os.walk(f"{self.spool}/photos"):
            for name in names:
                path = f"{directory}/{name}"
                try:
                    status = os.stat(path, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if name in NAMES:
                    yield path, status.st_ctime_ns, path.removeprefix(f"{self.spool}/photos/").split("/")[0], status.st_size

    def counted(self):
        """The files that the ledger counts, and how much of them is needed, by inbox."""
        rows = {f"{self.spool}/{row['path']}": row for row in self.rows("cached_bytes + cached_thumbnail_bytes > 0")}
        files, needed = set(), collections.Counter()
        for path, came, inbox, size in self.files():
            row = rows.get(os.path.dirname(path))
            if row is None or row[NAMES[os.path.basename(path)]] == 0:
                continue
            files.add((path, came))
            if row["pinned"]:
                needed[inbox] += size
        return files, needed

    def run_janitor(self):
        result = subprocess.run([self.photospool, "janitor", "--json"], capture_output=True, text=True)
        if result.returncode != 0:
            self.faults.append(f"the janitor ended with {result.returncode}: {result.stderr}")
            return
        self.passes += 1
        report = json.loads(result.stdout)
        self.evicted += report["evicted"]["photos"]
        if report["skipped"]:
            self.faults.append("another janitor was at work")

    def check_limits(self, counted, needed):
        kept, all_bytes = collections.Counter(), 0
        for path, came, inbox, size in self.files():
            all_bytes += size
            if (path, came) in counted:
                kept[inbox] += size
        self.samples += 1
        self.most = max(self.most, all_bytes)
        uses = [(None, kept.total(), needed.total())] + [(inbox, kept[inbox], needed[inbox]) for inbox in kept]
        for inbox, bytes_kept, bytes_needed in uses:
            limit = self.limits[None if inbox is None else "inbox"]
            if bytes_needed > limit:
                self.tight += 1
            if bytes_kept > max(limit, bytes_needed):
                self.faults.append(f"pass {self.passes} left {bytes_kept} bytes of {inbox or 'all'}; the limit is {limit}, {bytes_needed} are needed")

    def check_needed(self):
        def missing(rows):
            return {row["message"] for row in rows for name, column in NAMES.items()
                    if row[column] > 0 and not os.path.exists(f"{self.spool}/{row['path']}/{name}")}
        gone = missing(self.rows("pinned = 1"))
        # A photo that is no longer needed may have been evicted since the query.
        if gone:
            gone &= missing([row for row in self.rows("pinned = 1") if row["message"] in gone])
        self.faults += [f"{message} is needed and was evicted" for message in gone]

    def watch(self, seconds, every):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.faults:
            begun = time.monotonic()
            counted, needed = self.counted()
            self.run_janitor()
            while True:
                self.check_limits(counted, needed)
                self.check_needed()
                if self.faults or time.monotonic() - begun >= every:
                    break
                time.sleep(PAUSE)


def main():
    photospool, spool = sys.argv[1:3]
    seconds, every, total, inbox = map(int, sys.argv[3:])
    watch = Watch(photospool, spool, total, inbox)
    watch.watch(seconds, every)
    if watch.faults:
        sys.exit("\n".join(watch.faults[:10]))
    if watch.evicted == 0 or watch.most <= total:
        sys.exit(f"nothing was put to the test: {watch.evicted} photos evicted, {watch.most} bytes at most")
    print(f"{watch.passes} passes, {watch.samples} looks, {watch.evicted} photos evicted, {watch.most} bytes at most where "
          f"{total} may stay; {watch.tight} times more was needed than may stay")


if __name__ == "__main__":
    main()
