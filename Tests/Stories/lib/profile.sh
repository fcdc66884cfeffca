# The profile photo of an inbox: it is shown, changed and removed, and both are killed on the way.

show() { "$photospool" profile show --json | jq -r "$1"; }
size() { "$python" -c 'import sys; from PIL import Image; print("%dx%d" % Image.open(sys.argv[1]).size)' "$1"; }

# make_profile_photos: me-0.jpg, me-1.jpg, and planted.jpg with everything in it that must not be sent.
make_profile_photos() {
  noise 700x500 me-0.jpg me-1.jpg
  plant_photo me-0.jpg planted.jpg
}

# refused CAUSE FILE: to set that fails, and says why. The name of the request is in the file `name`.
refused() {
  ends 69 profile set "$2" --wait
  mv out.log name
  has "$spool/failed/$(cat name)/error" "$1"
}

# objects: what the store keeps. A story with another store has a function of its own.
declare -F objects > /dev/null || objects() { ls -A "$spool/objects"; }

# only_current WHERE: the store and the cache have the profile photo and nothing else.
only_current() {
  local shown want=0
  shown=$("$photospool" profile show --json)
  of() { jq -r "$1" <<< "$shown"; }
  expect "$(objects | paste -sd' ')" "$(of '.url // "" | split("/") | last // ""')" "$1: objects"
  [ "$(of .state)" != set ] || want=1
  expect "$(find "$spool/photos" -name original.jpg | wc -l)" "$want" "$1: copies"
  expect "$(of '.path // ""')" "$(find "$spool/photos" -name original.jpg)" "$1: path"
}

# wait_until_swept WHERE: the deletion follows the change by itself.
wait_until_swept() {
  local end=$((SECONDS + 30))
  until (only_current "$1" 2> sweep.log); do [ "$SECONDS" -lt "$end" ] || fail "$(cat sweep.log)"; sleep 0.05; done
}

# reported WATCH: nothing was wrong with what it saw.
reported() {
  ask "$1" report
  expect "$(jq -c .faults <<< "$answer")" '[]'
  [ "$(jq .looks <<< "$answer")" -gt 50 ] || fail "it hardly looked: $answer"
}

# completes WATCH REQUEST WORD: the next daemon ends the request that a kill interrupted, and is stopped.
completes() {
  start_daemon
  "$photospool" wait --timeout 60 "$2" || fail "k=$k: not $3 after the restart"
  [ "$1" != LOCAL ] || wait_until_swept "$3, $(where_killed "$k")"
  stop_daemon
}

# sweep WATCH: changes, then removals, each killed before a call that changes the disk. The first calls are those of the
# start, and the same for every request.
sweep() {
  local first=${PHOTOSPOOL_TEST_KILL_STEP:+1} step=${PHOTOSPOOL_TEST_KILL_STEP:-40} changes=0 removals=0 k name
  first=${first:-52} k=${first:-52}
  ask "$1" must
  while :; do
    name=$("$photospool" profile set "me-$((changes % 2)).jpg")
    run_killed "$k" "$name"
    [ "$status" != 0 ] || break
    changes=$((changes + 1))
    completes "$1" "$name" set
    k=$((k + step))
  done
  ask "$1" may
  k=$first
  while :; do
    start_daemon
    "$photospool" profile set me-0.jpg --wait > /dev/null
    stop_daemon
    name=$("$photospool" profile remove)
    run_killed "$k" "$name"
    if [ "$status" = 0 ]; then break; fi
    removals=$((removals + 1))
    completes "$1" "$name" removed
    k=$((k + step))
  done
  [ "$changes" -ge 3 ] && [ "$removals" -ge 1 ] || fail "only $changes and $removals kills"
  echo "$changes changes and $removals removals killed"
}
