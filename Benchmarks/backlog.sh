#!/usr/bin/env bash
# Measures how a daemon takes a backlog of text requests from while it was down, and its cost when idle.
# Prints figures without bounds. Usage: Benchmarks/backlog.sh [REQUESTS] [SECONDS OF IDLENESS]
set -euo pipefail

requests=${1:-100000} idle=${2:-60}
photospool=${PHOTOSPOOL:-$(cd "$(dirname "$0")/.." && pwd)/.build/release/photospool}
scratch=$(mktemp -d)
export PHOTOSPOOL_SPOOL=$scratch/spool
trap '[ -z "${daemon:-}" ] || kill -KILL "$daemon" 2>/dev/null || true; rm -rf "$scratch"' EXIT

start() { : > "$scratch/log"; "$photospool" run > "$scratch/log" 2>&1 & daemon=$!; }
await() { timeout 600 bash -c 'tail -n +1 -F "$1" 2>/dev/null | grep -q -m 1 -- "$2"' _ "$scratch/log" "$1"; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
memory() { awk '/VmHWM/ { print $2 " kB" }' "/proc/$daemon/status"; }
# User and system time of the daemon in clock ticks, 100 a second.
ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }

start; await event=ready
before=$(ticks)
sleep "$idle"
echo "idle: $(($(ticks) - before)) ticks of 10 ms CPU in $idle s, $(memory) resident at most"
kill "$daemon"; wait "$daemon"

python3 - "$PHOTOSPOOL_SPOOL" "$requests" <<'PYTHON'
import os, sys
spool, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    request = f"{spool}/tmp/r{number:07d}"
    os.mkdir(request)
    with open(f"{request}/to", "w") as to, open(f"{request}/text", "w") as text:
        to.write(f"c{number % 50}\n")
        text.write(f"text {number}\n")
    os.rename(request, f"{spool}/new/r{number:07d}")
PYTHON

begin=$(milliseconds)
start
await event=sent
echo "backlog of $requests: first publish after $(($(milliseconds) - begin)) ms"
# The last of each of the 50 conversations.
"$photospool" wait --timeout 3600 $(seq -f r%07.0f $((requests > 50 ? requests - 50 : 0)) $((requests - 1))) > "$scratch/waited" \
  || { tail -n 3 "$scratch/waited"; echo "not all of them were sent within an hour"; exit 1; }
took=$(($(milliseconds) - begin))
echo "all sent after $took ms, $((requests * 1000 / took)) a second, $(memory) resident at most"
begin=$(milliseconds)
kill "$daemon"; wait "$daemon"; daemon=
echo "SIGTERM: stopped after $(($(milliseconds) - begin)) ms"
