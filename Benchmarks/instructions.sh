#!/usr/bin/env bash
# Counts the instructions of the daemon for one text, from intake to receipt, with callgrind: the machine and its load
# hardly matter. Texts are sent one at a time, to a daemon that gets few of them and to one that gets more; the
# difference is their cost. The kernel is not counted, and calls that Valgrind does not know are made in their older
# form. Prints a figure and writes .build/bench/instructions.json; the story t-71-instructions holds it to a bound.
# Usage: Benchmarks/instructions.sh [TEXTS]; PHOTOSPOOL names another program than .build/release/photospool, and nothing is
# written of that.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
few=5 more=$((few + ${1:-100}))
photospool=${PHOTOSPOOL:-$root/.build/release/photospool}
scratch=$(mktemp -d)
export HOME=$scratch XDG_CONFIG_HOME=$scratch PHOTOSPOOL_SPOOL=$scratch/spool
trap '[ -z "${daemon:-}" ] || kill -KILL "$daemon" 2>/dev/null || true; rm -rf "$scratch"' EXIT
# Valgrind cannot read the symbols of so large a program.
strip -o "$scratch/photospool" "$photospool"
cp "$(dirname "$photospool")/photospool-darkroom" "$scratch"
cc -shared -fPIC -O1 -o "$scratch/sigsuspend.so" "$root/Benchmarks/sigsuspend.c"
counting=(valgrind --tool=callgrind --callgrind-out-file=/dev/null)

await() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    [ "$SECONDS" -lt "$end" ] || { tail -n 20 "$scratch/log" >&2; echo "it never came to this: ${*:2}" >&2; exit 1; }
    sleep 0.02
  done
}

# executed TEXTS [COMMAND...]: sets $instructions to those of a daemon's whole life, if the command before it counts them.
executed() {
  LD_PRELOAD="$scratch/sigsuspend.so" "${@:2}" "$scratch/photospool" run > "$scratch/log" 2>&1 &
  daemon=$!
  await 300 grep -q event=ready "$scratch/log"
  local request number
  for number in $(seq "$1"); do
    request=$1-$number
    mkdir "$PHOTOSPOOL_SPOOL/tmp/$request"
    echo family > "$PHOTOSPOOL_SPOOL/tmp/$request/to"
    echo "text $number" > "$PHOTOSPOOL_SPOOL/tmp/$request/text"
    mv "$PHOTOSPOOL_SPOOL/tmp/$request" "$PHOTOSPOOL_SPOOL/new/"
    await 60 test -e "$PHOTOSPOOL_SPOOL/sent/$request"
  done
  kill -TERM "$daemon"
  wait "$daemon"
  daemon=
  instructions=$(awk '$2 == "Collected" { print $4 }' "$scratch/log")
}

# The first makes the spool.
executed 1
executed "$few" "${counting[@]}"
base=$instructions
executed "$more" "${counting[@]}"
each=$(((instructions - base) / (more - few)))
echo "a text: $each instructions; the daemon's start and end: $((base - few * each))"
[ -z "${PHOTOSPOOL:-}" ] || exit 0
mkdir -p "$root/.build/bench"
printf '{"text": %d, "startAndEnd": %d, "texts": %d}\n' "$each" $((base - few * each)) $((more - few)) \
  > "$root/.build/bench/instructions.json"
