#!/usr/bin/env python3
"""A cache of many small photos, and a ledger that knows them: fill_cache.py SPOOL PHOTOS CONVERSATIONS INBOXES BYTES.

In the order of viewing, and of their files, the conversations follow one another, as they do where people write to one
another. The spool has an empty ledger of the photospool that is measured."""

import hashlib
import multiprocessing
import os
import sqlite3
import sys

NOW = 1_800_000_000_000


def place(number, conversations, inboxes):
    """The message of a photo, its inbox, the number of its conversation, and where its files lie."""
    conversation = number % conversations
    message = hashlib.md5(str(number).encode()).hexdigest()
    inbox = f"i{conversation % inboxes}"
    return message, inbox, conversation, f"photos/{inbox}/c{conversation}/{message}"


def make_files(spool, part, parts, photos, conversations, inboxes, size):
    contents = bytes(size)
    os.chdir(spool)
    for number in range(photos):
        if number % conversations % parts != part:
            continue
        path = place(number, conversations, inboxes)[3]
        os.mkdir(path, 0o700)
        file = os.open(f"{path}/original.jpg", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(file, contents)
        os.close(file)


def fill_ledger(spool, photos, conversations, inboxes, size):
    ledger = sqlite3.connect(f"{spool}/state/ledger.sqlite", isolation_level=None)
    ledger.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000")
    # Indexes and triggers are made once, at the end.
    kept = ledger.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = 'photos' AND type IN ('index', 'trigger')"
        " AND sql IS NOT NULL").fetchall()
    for kind, name, _ in kept:
        ledger.execute(f"DROP {kind} {name}")
    ledger.execute("BEGIN")
    ledger.executemany(
        "INSERT INTO conversations (id, conversation) VALUES (?, ?)",
        ((number + 1, f"c{number}") for number in range(conversations)))

    def rows():
        for number in range(photos):
            message, inbox, conversation, path = place(number, conversations, inboxes)
            yield message, inbox, conversation + 1, message * 2, path, f"https://example.org/{message}", number

    ledger.executemany(
        f"""INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
          original_height, bytes, width, height, digest, path, thumbnail_bytes, url, url_expires_at, created_at,
          uploaded_at, cached_bytes, fetchable, recency)
        VALUES (?, ?, ?, 'photo.jpg', 'jpeg', 1, 1, 1, {size}, 1, 1, ?, ?, 0, ?, {NOW * 2}, {NOW}, {NOW}, {size}, 1, ?)""",
        rows())
    for _, _, sql in kept:
        ledger.execute(sql)
    ledger.execute(
        "INSERT INTO cache_use (inbox, photos, bytes)"
        " SELECT inbox, count(*), sum(cached_bytes + cached_thumbnail_bytes) FROM photos GROUP BY inbox")
    ledger.execute(f"UPDATE cache_total SET photos = {photos}, bytes = {photos * size}, recency = {photos}")
    ledger.execute("COMMIT")
    ledger.execute("PRAGMA journal_mode = WAL")
    ledger.close()


def main():
    spool = sys.argv[1]
    photos, conversations, inboxes, size = map(int, sys.argv[2:])
    for number in range(conversations):
        os.makedirs(f"{spool}/photos/i{number % inboxes}/c{number}", 0o700)
    parts = os.cpu_count() or 1
    workers = [multiprocessing.Process(target=make_files, args=(spool, part, parts, photos, conversations, inboxes, size))
               for part in range(parts)]
    workers.append(multiprocessing.Process(target=fill_ledger, args=(spool, photos, conversations, inboxes, size)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(any(worker.exitcode for worker in workers))


if __name__ == "__main__":
    main()
