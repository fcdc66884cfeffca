#!/usr/bin/env bash
# Measures an eviction from a large cache and a purge of one of its conversations, until they are on the disk, beside
# find, sort and rm in the same run, for several sizes of the cache. Every conversation has 1,000 photos. As root it
# works on a file system of its own, mounted anew before each measurement, so that each begins with nothing in memory.
# Prints figures without bounds, and writes them as JSON into a file.
# Usage: Benchmarks/janitor.sh [EVICTED] [PHOTOS...]; JSON=FILE (.build/janitor.json) and TMPDIR say where.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
evicted=${1:-10000}
sizes=(100000 1000000)
[ $# -lt 2 ] || sizes=("${@:2}")
inboxes=20 bytes=100
photospool=$(realpath "${PHOTOSPOOL:-$root/.build/release/photospool}")
json=$(realpath -m "${JSON:-$root/.build/janitor.json}")
scratch=$(mktemp -d)
disk=$scratch/disk loop=
export HOME=$scratch XDG_CONFIG_HOME=$scratch PHOTOSPOOL_CACHE_INBOX=1TB PHOTOSPOOL_SPOOL=$disk/spool
mkdir "$disk"
end() {
  mountpoint -q "$disk" && umount "$disk"
  [ -z "$loop" ] || losetup -d "$loop"
  rm -rf "$scratch"
}
trap end EXIT

# make_disk PHOTOS: an empty file system at $disk for so many; a plain directory where there can be none.
make_disk() {
  image=$scratch/image
  rm -f "$image"
  truncate -s $((1000000000 + $1 * 12000)) "$image"
  # The journal comes once it is filled.
  if [ "$(id -u)" = 0 ] && mke2fs -q -F -t ext4 -O ^has_journal -m 0 -N $((100000 + $1 * 2)) -E lazy_itable_init=1,nodiscard "$image" \
    && loop=$(losetup -f --show --direct-io=on "$image" 2> /dev/null || losetup -f --show "$image") \
    && mount -o noinit_itable "$loop" "$disk"; then
    own=true
  else
    [ -z "$loop" ] || losetup -d "$loop"
    own=false loop=
    rm -f "$image"
    echo "no file system of its own (root can mount one): what was read stays in memory, and the figures are those of a warm cache"
  fi
}
add_journal() {
  [ $own = true ] || return 0
  umount "$disk"
  # A process that has just begun elsewhere, in a namespace of its own, may hold the disk for a moment.
  local tries=0
  until tune2fs -O has_journal "$loop" > /dev/null 2>&1; do
    [ $((tries += 1)) -lt 30 ] || { echo 'the disk is held by another process' >&2; exit 1; }
    sleep 1
  done
  mount -o noinit_itable "$loop" "$disk"
}
remount() { sync -f "$disk"; [ $own = false ] || { umount "$disk"; mount -o noinit_itable "$loop" "$disk"; }; }
drop_disk() {
  [ $own = true ] || { rm -rf "$PHOTOSPOOL_SPOOL"; return; }
  umount "$disk"
  losetup -d "$loop"
  loop=
  rm -f "$image"
}

# measure STEP NAME COMMAND: what a command of the shell takes until all of it is on the disk, with nothing in memory before:
# wall and processor time, and the memory of the largest process.
measure() {
  remount
  python3 - "$scratch/measured" "$photos" "$own" "$1" "$2" "$3; sync -f '$disk'" <<'PYTHON'
import json, resource, subprocess, sys, time
path, photos, own, step, name, command = sys.argv[1:]
begin = time.monotonic()
status = subprocess.run(["bash", "-e", "-c", command]).returncode
wall = time.monotonic() - begin
use = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, memory = use.ru_utime + use.ru_stime, use.ru_maxrss / 1024
print(f"  {name}: {wall:.2f} s, {cpu:.2f} s CPU, {memory:.0f} MiB", flush=True)
with open(path, "a") as file:
    file.write(json.dumps({"photos": int(photos), "step": step, "name": name, "cold": own == "true", "seconds": round(wall, 3),
                           "processorSeconds": round(cpu, 3), "mebibytes": round(memory, 1)}) + "\n")
sys.exit(status)
PYTHON
}
ledger() { sqlite3 "$PHOTOSPOOL_SPOOL/state/ledger.sqlite" "$1"; }
expect() { [ "$1" = "$2" ] || { echo "expected $2, found $1" >&2; exit 1; }; }

for photos in "${sizes[@]}"; do
  make_disk "$photos"
  begin=$SECONDS
  for name in tmp draft new cur sent failed cancel purge photos published objects state incoming/{tmp,new,cur,failed}; do
    mkdir -p "$PHOTOSPOOL_SPOOL/$name"
  done
  "$photospool" janitor
  python3 "$root/Benchmarks/fill_cache.py" "$PHOTOSPOOL_SPOOL" "$photos" $((photos / 1000)) $inboxes $bytes
  add_journal
  echo "$photos photos of $bytes bytes in $((photos / 1000)) conversations of $inboxes inboxes, made in $((SECONDS - begin)) s; the ledger has $(($(stat -c %s "$PHOTOSPOOL_SPOOL/state/ledger.sqlite") / 1000000)) MB"
  measure idle 'janitor, nothing to do' "'$photospool' janitor"
  measure evict "janitor, $evicted evicted" \
    "PHOTOSPOOL_CACHE_TOTAL=$(((photos - evicted) * bytes)) '$photospool' janitor 2> '$scratch/warnings'"
  expect "$(ledger 'SELECT photos FROM cache_total')" $((photos - evicted))
  grep -v 'beyond the limit' "$scratch/warnings" || true
  measure find "find | sort | head | xargs rm of $evicted" \
    "find '$PHOTOSPOOL_SPOOL/photos' -type f -printf '%A@ %p\n' | sort -n | head -n $evicted | cut -d' ' -f2- | xargs rm"
  # Later passes would notice the photos that find deleted; here the ledger is updated at once.
  measure purge 'purge of one conversation' "'$photospool' purge c7 > '$scratch/purged'"
  expect "$(cat "$scratch/purged")" 'c7: purged'
  expect "$(ledger "SELECT count(*) FROM conversations WHERE conversation = 'c7'")" 0
  measure find-one 'find | xargs rm of one conversation' \
    "find '$PHOTOSPOOL_SPOOL/photos' -type f -path '*/c8/*' -print0 | xargs -0 rm"
  drop_disk
done
mkdir -p "$(dirname "$json")"
jq -s '. as $all | def wall(p; s): $all[] | select(.photos == p and .step == s) | .seconds;
  ([.[].photos] | unique) as $sizes | {
    measured: $all,
    ratios: [$sizes[] as $p | {photos: $p, evictionToFind: (wall($p; "evict") / wall($p; "find")),
      purgeToFind: (wall($p; "purge") / wall($p; "find-one"))}],
    growth: ($sizes | {from: first, to: last} + (first as $a | last as $b | {
      eviction: (wall($b; "evict") / wall($a; "evict")), purge: (wall($b; "purge") / wall($a; "purge")),
      find: (wall($b; "find") / wall($a; "find"))})),
    mostMebibytes: ([.[] | select(.step == "idle" or .step == "evict" or .step == "purge") | .mebibytes] | max)}' "$scratch/measured" > "$json"
jq -r 'def short: . * 1000 | round / 1000;
  (.ratios[] | "of \(.photos): eviction to find \(.evictionToFind | short), purge to find \(.purgeToFind | short)"),
  (.growth | "\(.to) photos to \(.from): eviction \(.eviction | short), purge \(.purge | short), find \(.find | short)"),
  "photospool: \(.mostMebibytes) MiB at most"' "$json"
