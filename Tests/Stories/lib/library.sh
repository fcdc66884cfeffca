# The vocabulary of all stories. A story runs in an empty directory of its own, with the real program and real files.
# It fails when a command fails; `fail` says why.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
photos=${PHOTOSPOOL_PHOTOS:-/usr/share/backgrounds}
photospool=${PHOTOSPOOL:-$here/../../.build/debug/photospool}
python=${PHOTOSPOOL_PYTHON:-python3}
spool=$PWD/spool
export PHOTOSPOOL_SPOOL=$spool
export HOME=$PWD XDG_CONFIG_HOME=$PWD
daemon=

fail() { echo "FAILED: $*" >&2; [ ! -s run.log ] || tail -n 20 run.log >&2; exit 1; }

# skip WHY: ends the story, which cannot be told here. `run` says so and counts it.
skip() { echo "$*" > skipped; exit 77; }

# leave_out WHY: the story goes on without a part that cannot be told here. `run` says so, too.
leave_out() { echo "$*" >> left-out; }

# wait_for_line FILE PATTERN [SECONDS]: until the file has such a line.
wait_for_line() {
  timeout "${3:-30}" bash -c 'tail -n +1 -F "$1" 2>/dev/null | grep -q -m 1 -- "$2"' _ "$1" "$2" \
    || fail "no line '$2' in $1"
}

# start_daemon [VARIABLE=VALUE...]: returns when the daemon is ready.
start_daemon() {
  : > start.log
  env "$@" "$photospool" run > start.log 2>&1 &
  daemon=$!
  wait_for_line start.log event=ready
}

stop_daemon() { kill -TERM "$daemon"; wait "$daemon"; cat start.log >> run.log; daemon=; }
kill_daemon() { kill -KILL "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; cat start.log >> run.log; daemon=; }
# Other processes that end with the story, and what a story has to do at its end.
beside=
at_end() { :; }
trap 'at_end || true; kill -KILL $daemon $beside 2> /dev/null || true' EXIT
# stop_beside PROCESS: ends one of them in order.
stop_beside() { kill -TERM "$1"; wait "$1" || true; beside=" $beside "; beside=${beside/ $1 / }; }

# build NAME CONVERSATION TEXT [PHOTO...]: a request in tmp/, as any shell script makes it. submit NAME: its Send. drop: both.
build() {
  local name=$1 to=$2 text=$3 number=0 photo
  shift 3
  mkdir "$spool/tmp/$name"
  echo "$to" > "$spool/tmp/$name/to"
  [ -z "$text" ] || echo "$text" > "$spool/tmp/$name/text"
  for photo in "$@"; do
    cp "$photo" "$spool/tmp/$name/photo-$number.jpg"
    number=$((number + 1))
  done
}
submit() { mv "$spool/tmp/$1" "$spool/new/"; }
drop() { build "$@"; submit "$1"; }

# configure < SETTINGS: the configuration of all that follows.
configure() { cat > photospool.yaml; export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml; }

# published CONVERSATION: its lines, in order.
published() { cat "$spool/published/$1.jsonl"; }

# ledger QUERY: its rows, while a daemon writes, too.
ledger() { sqlite3 -readonly -cmd '.timeout 10000' "$spool/state/ledger.sqlite" "$1"; }

# wait_until COMMAND...: until it succeeds, for what no line tells; $patience seconds at most.
patience=30
wait_until() {
  local end=$((SECONDS + patience)) pause=0.02 turns=0
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || fail "it never came to this: $*"
    sleep $pause
    # A long wait asks less often: questions start programs.
    turns=$((turns + 1))
    [ "$turns" -lt 5 ] || pause=0.1
  done
}

# command_ends STATUS COMMAND...: it ends with this status; its output is in out.log, its errors are in err.log.
command_ends() {
  local status=0
  # A function that calls `fail` ends there, and not the story.
  ("${@:2}") > out.log 2> err.log || status=$?
  expect "$status" "$1" "${*:2}: $(cat err.log)"
}
# ends STATUS WORD...: photospool does.
ends() { command_ends "$1" "$photospool" "${@:2}"; }

# has FILE PATTERN: the file has such a line.
has() { grep -q -- "$2" "$1" || fail "$1 has no line '$2': $(cat "$1")"; }

# prints PATTERN WORD...: photospool succeeds and prints such a line; all that it prints is in printed.log. Behind a pipe,
# `grep -q` would close it before everything is printed, and that is an error.
prints() { "$photospool" "${@:2}" > printed.log 2>&1 && grep -q -- "$1" printed.log; }
# must_print PATTERN WORD...: the same, or the story fails.
must_print() { prints "$@" || fail "${*:2} does not print '$1': $(cat printed.log)"; }

# has_error REQUEST [TEXT]: the ledger knows why it waits, in a sentence with this text. The log says so a moment earlier.
has_error() {
  "$photospool" queue --json | jq -es --arg request "$1" --arg text "${2:-}" \
    'any(.[]; .request == $request and (.error // "" | . != "" and contains($text)))' > /dev/null
}

expect() { [ "$1" = "$2" ] || fail "expected '$2', found '$1'${3:+ ($3)}"; }

# is_empty DIRECTORY...: but for the counter that clients share.
is_empty() {
  local directory names
  for directory in "$@"; do
    names=$(ls -A -I .order "$directory")
    [ -z "$names" ] || fail "$directory is not empty: $names"
  done
}
# are_empty DIRECTORY...: whether they are.
are_empty() { (is_empty "$@") 2> /dev/null; }

# tool SCRIPT [ARGUMENT...]: one of Tests/Support/python.
tool() { "$python" "$here/../Support/python/$1" "${@:2}"; }

# noise WIDTHxHEIGHT FILE...: photographs of nothing, each another one.
noise() {
  "$python" -c 'import sys; from PIL import Image
size = tuple(map(int, sys.argv[1].split("x")))
for file in sys.argv[2:]: Image.effect_noise(size, 60).convert("RGB").save(file, quality=90)' "$@"
}

# shows FILE PHOTO: it is that photo, encoded once more, upright and without metadata.
shows() {
  "$python" - "$@" <<'PYTHON'
import sys
from PIL import Image, ImageChops, ImageOps
shown, sent = Image.open(sys.argv[1]), ImageOps.exif_transpose(Image.open(sys.argv[2])).convert("RGB")
assert shown.size == sent.size and not shown.getexif(), (shown.size, sent.size)
assert max(ImageChops.difference(shown.convert("RGB"), sent).resize((1, 1), Image.BOX).getpixel((0, 0))) < 12
PYTHON
  is_bare "$1"
}

# is_bare FILE: it has no metadata.
is_bare() {
  ! exiftool -a -G0 "$1" | grep -E '^\[(EXIF|XMP|IPTC|MakerNotes|Photoshop)\]' || fail "there is metadata in $1"
  ! grep -aq MARKER "$1" || fail "a marker is in $1"
}

# A photograph with every kind of private metadata. Its markers can be searched for.
plant_photo() {
  cp "$1" "$2"
  exiftool -q -overwrite_original -GPSLatitude=47.3769 -GPSLatitudeRef=N -GPSLongitude=8.5417 -GPSLongitudeRef=E \
    -Make=MARKERMAKE -Model=MARKERMODEL -SerialNumber=MARKERSERIAL -Artist=MARKERARTIST -Comment=MARKERCOMMENT \
    -XMP-dc:Description=MARKERXMP -IPTC:Caption-Abstract=MARKERIPTC "$2"
  printf 'MARKERTRAILER' >> "$2"
}

# to_be_killed K WORD...: photospool, killed before its K-th call that changes the disk. Leaves the calls in `trace`.
to_be_killed() {
  [ -e killpoint.so ] || cc -shared -fPIC -O1 -o killpoint.so "$here/../Torture/killpoint.c" -ldl
  rm -f counter trace
  LD_PRELOAD="$PWD/killpoint.so" KILLPOINT_AT="$1" KILLPOINT_COUNTER="$PWD/counter" KILLPOINT_TRACE="$PWD/trace" \
    exec "$photospool" "${@:2}"
}
start_to_be_killed() { # K
  : > start.log
  (to_be_killed "$1" run) > start.log 2>&1 &
  daemon=$!
}

# where_killed K: the call before which it was killed.
where_killed() { echo "killed at $1: $(sed -n "${1}p" trace)"; }

# kill_at K WORD...: such a command; $status is 137 when it was killed.
kill_at() {
  status=0
  (to_be_killed "$@") > killed.log 2>&1 || status=$?
  [ "$status" = 0 ] || expect "$status" 137 "k=$1: $(cat killed.log)"
}

# end_of_killed K: waits for it; $status is 137 when it was killed.
end_of_killed() {
  status=0
  wait "$daemon" || status=$?
  daemon=
  [ "$status" = 0 ] || expect "$status" 137 "k=$1"
}

# run_killed K REQUEST: runs such a daemon until REQUEST is through.
run_killed() {
  start_to_be_killed "$1"
  "$photospool" wait --timeout 60 "$2" > wait.log 2>&1 &
  local waiter=$!
  wait -n "$daemon" "$waiter" || true
  if kill -0 "$daemon" 2>/dev/null; then
    # The request is through; the rest of the calls are those of stopping.
    wait "$waiter" || fail "k=$1: $(cat wait.log)"
    # It may be killed at this moment.
    kill -TERM "$daemon" 2> /dev/null || true
  fi
  end_of_killed "$1"
  kill "$waiter" 2>/dev/null || true
  wait "$waiter" 2>/dev/null || true
}

# run_killed_until K COMMAND...: runs such a daemon until COMMAND succeeds.
run_killed_until() {
  start_to_be_killed "$1"
  local end=$((SECONDS + 60))
  while kill -0 "$daemon" 2>/dev/null && ! "${@:2}"; do
    [ "$SECONDS" -lt "$end" ] || fail "k=$1: it never came to this: ${*:2}"
    sleep 0.05
  done
  kill -TERM "$daemon" 2>/dev/null || true
  end_of_killed "$1"
}

# start_server SCRIPT [ARGUMENT...]: a server of Tests/Support/python, in a directory of its own; its facts are in $facts.
# It ends with the story, also when another one is started.
start_server() {
  mkdir -p "${1%.py}"
  coproc SERVER { exec "$python" "$here/../Support/python/$1" "${1%.py}" "${@:2}"; }
  read -r facts <&"${SERVER[0]}" || fail "$1 did not start"
}
fact() { jq -r ".$1" <<< "$facts"; }
# order WORD...: has the server do something; what it answers is in $answer.
order() { ask SERVER "$@"; }

# free_port: $port is one that no other test takes while the story runs.
free_port() {
  local facts
  coproc PORT { exec "$python" "$here/../Support/python/free_port.py"; }
  read -r facts <&"${PORT[0]}" || fail 'no port is free'
  port=$(fact port)
}

# start_script NAME SCRIPT [ARGUMENT...]: a script of Tests/Support/python that takes orders and says nothing before the
# first. It ends with the story.
start_script() { eval "coproc $1 { exec \"\$python\" \"\$here/../Support/python/\$2\" \"\${@:3}\"; }"; }
# ask NAME WORD...: has such a script do something; what it answers is in $answer.
ask() {
  local -n line=$1
  echo "${*:2}" >&"${line[1]}"
  read -r answer <&"${line[0]}" || fail "$1 did not answer: ${*:2}"
}
