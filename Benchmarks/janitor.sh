#!/usr/bin/env bash
# What evicting photos from a large cache, and purging one of its conversations, costs, beside find, sort and rm doing the
# same in the same run, and how it grows with what is kept. Every conversation has 1,000 photos. Prints figures and holds
# nothing to them. Usage: Benchmarks/janitor.sh [EVICTED] [PHOTOS...]
set -euo pipefail

evicted=${1:-10000}
sizes=(100000 1000000)
[ $# -lt 2 ] || sizes=("${@:2}")
inboxes=20 bytes=100
photospool=${PHOTOSPOOL:-$(cd "$(dirname "$0")/.." && pwd)/.build/release/photospool}
scratch=$(mktemp -d)
export HOME=$scratch XDG_CONFIG_HOME=$scratch PHOTOSPOOL_CACHE_INBOX=1TB
trap 'rm -rf "$scratch"' EXIT

# measure KEY NAME COMMAND...: wall and processor time, and the memory of the largest process. Keeps the wall time as KEY.
declare -A wall
measure() {
  python3 - "$scratch/wall" "${@:2}" <<'PYTHON'
import resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.run(sys.argv[3:]).returncode
wall = time.monotonic() - begin
use = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file: file.write(f"{wall}")
print(f"  {sys.argv[2]}: {wall:.2f} s, {use.ru_utime + use.ru_stime:.2f} s CPU, {use.ru_maxrss / 1024:.0f} MiB", flush=True)
sys.exit(status)
PYTHON
  wall[$1]=$(cat "$scratch/wall")
}
ratio() { echo "  $1: $(awk "BEGIN { printf \"%.3f\", ${wall[$2]} / ${wall[$3]} }")"; }
ledger() { sqlite3 "$PHOTOSPOOL_SPOOL/state/ledger.sqlite" "$1"; }
expect() { [ "$1" = "$2" ] || { echo "expected $2, found $1" >&2; exit 1; }; }
kept() { ledger 'SELECT photos FROM cache_total'; }

# fill PHOTOS: a cache of them, and a ledger that knows them.
fill() {
  mkdir "$PHOTOSPOOL_SPOOL"
  for name in tmp draft new cur sent failed cancel purge photos published objects state incoming/tmp incoming/new \
    incoming/cur incoming/failed; do mkdir -p "$PHOTOSPOOL_SPOOL/$name"; done
  "$photospool" janitor
  python3 - "$PHOTOSPOOL_SPOOL" "$1" "$(($1 / 1000))" "$inboxes" "$bytes" <<'PYTHON'
import hashlib, os, sqlite3, sys
spool, photos, conversations, inboxes, size = sys.argv[1], *map(int, sys.argv[2:])
ledger = sqlite3.connect(f"{spool}/state/ledger.sqlite", isolation_level=None)
ledger.execute("PRAGMA synchronous = OFF")
ledger.execute("BEGIN")
for number in range(conversations):
    ledger.execute("INSERT INTO conversations (id, conversation) VALUES (?, ?)", (number + 1, f"c{number}"))
    os.makedirs(f"{spool}/photos/i{number % inboxes}/c{number}")
contents = bytes(size)
now = 1_800_000_000_000

def rows():
    # In the order of viewing the conversations follow one another, as they do where people write to one another.
    for number in range(photos):
        conversation = number % conversations
        message = hashlib.md5(str(number).encode()).hexdigest()
        inbox = f"i{conversation % inboxes}"
        path = f"photos/{inbox}/c{conversation}/{message}"
        os.mkdir(f"{spool}/{path}")
        file = os.open(f"{spool}/{path}/original.jpg", os.O_WRONLY | os.O_CREAT)
        os.write(file, contents)
        os.close(file)
        yield (message, inbox, conversation + 1, message * 2, path, f"https://example.org/{message}", number)

ledger.executemany(
    f"""INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width, original_height,
      bytes, width, height, digest, path, thumbnail_bytes, url, url_expires_at, created_at, uploaded_at, cached_bytes,
      fetchable, recency)
    VALUES (?, ?, ?, 'photo.jpg', 'jpeg', 1, 1, 1, {size}, 1, 1, ?, ?, 0, ?, {now * 2}, {now}, {now}, {size}, 1, ?)""",
    rows())
ledger.execute("COMMIT")
ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
PYTHON
  sync
}

for photos in "${sizes[@]}"; do
  export PHOTOSPOOL_SPOOL=$scratch/$photos
  fill "$photos"
  echo "$photos photos of $bytes bytes in $((photos / 1000)) conversations of $inboxes inboxes; the ledger has $(($(stat -c %s "$PHOTOSPOOL_SPOOL/state/ledger.sqlite") / 1000000)) MB"
  measure "idle-$photos" 'janitor, nothing to do' "$photospool" janitor
  PHOTOSPOOL_CACHE_TOTAL=$(((photos - evicted) * bytes)) measure "evict-$photos" "janitor, $evicted evicted" \
    "$photospool" janitor 2> "$scratch/warnings"
  expect "$(kept)" $((photos - evicted))
  grep -v 'beyond the limit' "$scratch/warnings" || true
  measure "find-$photos" "find | sort | head | xargs rm of $evicted" sh -c \
    "find '$PHOTOSPOOL_SPOOL/photos' -type f -printf '%A@ %p\n' | sort -n | head -n $evicted | cut -d' ' -f2- | xargs rm"
  # What find took is found missing by later passes; here the ledger is told.
  measure "purge-$photos" 'purge of one conversation' "$photospool" purge c7 > "$scratch/purged"
  grep -v ': purged$' "$scratch/purged" || true
  expect "$(ledger "SELECT count(*) FROM conversations WHERE conversation = 'c7'")" 0
  measure "find-one-$photos" 'find | xargs rm of one conversation' sh -c \
    "find '$PHOTOSPOOL_SPOOL/photos' -type f -path '*/c8/*' -print0 | xargs -0 rm"
  ratio 'eviction to find' "evict-$photos" "find-$photos"
  ratio 'purge to find' "purge-$photos" "find-one-$photos"
  # Nothing of it is in the way of the next.
  rm -rf "$PHOTOSPOOL_SPOOL"
  sync
done
least=${sizes[0]} most=${sizes[-1]}
echo "$most photos kept to $least:"
ratio 'eviction' "evict-$most" "evict-$least"
ratio 'purge' "purge-$most" "purge-$least"
ratio 'find' "find-$most" "find-$least"
