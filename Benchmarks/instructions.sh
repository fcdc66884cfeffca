#!/usr/bin/env bash
# Counts the instructions of the daemon for one text, from intake to receipt, with callgrind: the machine and its load
# hardly matter. Texts are sent one at a time. The first ones, and the daemon's start and end, are not counted. Neither is the
# kernel, and calls that Valgrind does not know are made in their older form. Prints a figure and writes
# .build/bench/instructions.json; the story t-71-instructions holds it to a bound.
# Usage: Benchmarks/instructions.sh [TEXTS]; PHOTOSPOOL names another program than .build/release/photospool, and nothing is
# written of that.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
texts=${1:-100}
photospool=${PHOTOSPOOL:-$root/.build/release/photospool}
scratch=$(mktemp -d)
export HOME=$scratch XDG_CONFIG_HOME=$scratch PHOTOSPOOL_SPOOL=$scratch/spool
trap '[ -z "${daemon:-}" ] || kill -KILL "$daemon" 2>/dev/null || true; rm -rf "$scratch"' EXIT
# Valgrind cannot read the symbols of so large a program.
strip -o "$scratch/photospool" "$photospool"
cp "$(dirname "$photospool")/photospool-darkroom" "$scratch"
cc -shared -fPIC -O1 -o "$scratch/sigsuspend.so" "$root/Benchmarks/sigsuspend.c"

await() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    [ "$SECONDS" -lt "$end" ] || { tail -n 20 "$scratch/log" >&2; echo "it never came to this: ${*:2}" >&2; exit 1; }
    sleep 0.02
  done
}

# start [COMMAND...]: a daemon, which the command before it starts.
start() {
  : > "$scratch/log"
  LD_PRELOAD="$scratch/sigsuspend.so" "$@" "$scratch/photospool" run > "$scratch/log" 2>&1 &
  daemon=$!
  await 300 grep -q event=ready "$scratch/log"
}
stop() {
  kill -TERM "$daemon"
  wait "$daemon"
  daemon=
}
# send NAME TEXTS
send() {
  local request number
  for number in $(seq "$2"); do
    request=$1-$number
    mkdir "$PHOTOSPOOL_SPOOL/tmp/$request"
    echo family > "$PHOTOSPOOL_SPOOL/tmp/$request/to"
    echo "text $number" > "$PHOTOSPOOL_SPOOL/tmp/$request/text"
    mv "$PHOTOSPOOL_SPOOL/tmp/$request" "$PHOTOSPOOL_SPOOL/new/"
    await 60 test -e "$PHOTOSPOOL_SPOOL/sent/$request"
  done
}
counting() { callgrind_control "$@" "$daemon" > "$scratch/control" 2>&1 || { cat "$scratch/control" >&2; exit 1; }; }

# The first makes the spool.
start
stop
start valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=/dev/null
send first 5
counting --instr=on
send warm 5
counting --zero
send counted "$texts"
counting --instr=off
stop
each=$(($(awk '$2 == "Collected" { print $4 }' "$scratch/log") / texts))
echo "a text: $each instructions"
[ -z "${PHOTOSPOOL:-}" ] || exit 0
mkdir -p "$root/.build/bench"
printf '{"text": %d, "texts": %d}\n' "$each" "$texts" > "$root/.build/bench/instructions.json"
