# The profile photo of an inbox is set, changed and removed, on the local network with the directory store and on Matrix,
# while somebody looks at it all the time, and the daemon is killed on the way: it is never missing, its object is never
# gone, and no other object is left behind.
. "$(dirname "$0")/../lib/library.sh"

for number in 0 1; do
  "$python" -c "from PIL import Image; Image.effect_noise((700, 500), 40 + $number).convert('RGB').save('me-$number.jpg', quality=90)"
done
plant_photo me-0.jpg planted.jpg
printf 'no photo' > broken.jpg
# The first calls are those of the start, and the same for every request.
first_call=${PHOTOSPOOL_TEST_KILL_STEP:+1}
first_call=${first_call:-52} step=${PHOTOSPOOL_TEST_KILL_STEP:-23}
lines=$spool/published/profile~default.jsonl

show() { "$photospool" profile show --json | jq -r "$1"; }
size() { "$python" -c 'import sys; from PIL import Image; print("%dx%d" % Image.open(sys.argv[1]).size)' "$1"; }

# only_current WHERE: the store and the cache have the profile photo and nothing else.
only_current() {
  expect "$(ls -A "$spool/objects" | paste -sd' ')" "$(show '.url // "" | split("/") | last // ""')" "$1: objects"
  local want=0
  [ "$(show .state)" != set ] || want=1
  expect "$(find "$spool/photos" -name original.jpg | wc -l)" "$want" "$1: copies"
  expect "$(show '.path // ""')" "$(find "$spool/photos" -name original.jpg)" "$1: path"
}
is_swept() { only_current sweeping; }

# reported WATCH: nothing was wrong with what it saw.
reported() {
  ask "$1" report
  expect "$(jq -c .faults <<< "$answer")" '[]'
  [ "$(jq .looks <<< "$answer")" -gt 50 ] || fail "it hardly looked: $answer"
}

# sweep NETWORK WATCH: changes, then removals, each killed before a call that changes the disk.
sweep() {
  local k=$first_call changes=0 removals=0 name
  ask "$2" must
  while :; do
    name=$("$photospool" profile set "me-$((changes % 2)).jpg")
    run_killed "$k" "$name"
    [ "$status" != 0 ] || break
    changes=$((changes + 1))
    start_daemon
    "$photospool" wait --timeout 60 "$name" || fail "$1, k=$k: not set after the restart"
    [ "$1" != local ] || wait_until_swept "killed at $k: $(sed -n "${k}p" trace)"
    stop_daemon
    k=$((k + step))
  done
  ask "$2" may
  k=$first_call
  while :; do
    start_daemon
    "$photospool" profile set me-0.jpg --wait > /dev/null
    stop_daemon
    name=$("$photospool" profile remove)
    run_killed "$k" "$name"
    if [ "$status" = 0 ]; then break; fi
    removals=$((removals + 1))
    start_daemon
    "$photospool" wait --timeout 60 "$name" || fail "$1, k=$k: not removed after the restart"
    [ "$1" != local ] || wait_until_swept "removal killed at $k: $(sed -n "${k}p" trace)"
    stop_daemon
    k=$((k + step))
  done
  [ "$changes" -ge 3 ] && [ "$removals" -ge 1 ] || fail "$1: only $changes and $removals kills"
  echo "$1: $changes changes and $removals removals killed"
}

# wait_until_swept WHERE: the deletion follows the change by itself.
wait_until_swept() {
  local end=$((SECONDS + 30))
  until (only_current "$1" 2> sweep.log); do [ "$SECONDS" -lt "$end" ] || fail "$(cat sweep.log)"; sleep 0.05; done
}

start_daemon
start_script LOCAL watch_profile.py local "$lines"
status=0; "$photospool" profile show 2> show.log || status=$?
expect "$status" 66
expect "$(show .state)" none

"$photospool" profile set planted.jpg --wait > name
path=$("$photospool" profile show | head -n 1)
expect "$path" "$(show .path)"
expect "$(size "$path")" 500x500
! grep -q MARKER "$path" || fail 'the profile photo has metadata'
expect "$(jq -r '.kind + " " + .inbox + " " + (has("conversation") | tostring)' "$lines")" 'profile default false'
expect "$(jq -r '.conversation + " " + .messages[0].kind' "$spool/sent/$(cat name)/receipt.json")" 'profile~default profile'
wait_until_swept 'the first'
ask LOCAL must

# As any shell script drops it. The new one is set, then the old object goes.
first=$(show .url)
mkdir "$spool/tmp/me"
echo profile > "$spool/tmp/me/kind"
cp me-1.jpg "$spool/tmp/me/photo"
mv "$spool/tmp/me" "$spool/new/"
"$photospool" wait --timeout 60 me
[ "$(show .url)" != "$first" ] || fail 'it was not changed'
wait_until_swept 'the second'

# What fails leaves the old one.
second=$(show .url)
status=0; "$photospool" profile set broken.jpg --wait > name 2> wait.log || status=$?
expect "$status" 69
grep -q 'not an image' "$spool/failed/$(cat name)/error"
expect "$(show .url)" "$second"
wait_until_swept 'after a failure'
for wrong in text photo-2; do
  mkdir "$spool/tmp/$wrong"
  echo profile > "$spool/tmp/$wrong/kind"
  cp me-1.jpg "$spool/tmp/$wrong/photo-1"
  cp me-1.jpg "$spool/tmp/$wrong/$wrong"
  mv "$spool/tmp/$wrong" "$spool/new/"
  status=0; "$photospool" wait --timeout 60 "$wrong" 2> wait.log || status=$?
  expect "$status" 69
done
expect "$(show .url)" "$second"

# Nobody can send to the profile by its name, or with messages to other conversations hold it up.
"$photospool" hold profile~default > hold.log
"$photospool" profile set me-0.jpg --wait > name
# One that is cancelled never was.
stop_daemon
name=$("$photospool" profile set me-1.jpg)
"$photospool" cancel "$name" > cancel.log
start_daemon
third=$(show .url)
"$photospool" send --to family --text hello --wait > name
expect "$(show .url)" "$third"

ask LOCAL may
"$photospool" profile remove --wait > name
expect "$(show .state)" removed
wait_until_swept 'removed'
expect "$(tail -n 1 "$lines" | jq -r .kind)" profile-removal
# There is nothing to remove any more, and nothing is published.
before=$(wc -l < "$lines") status=0
"$photospool" profile remove > name 2> error || status=$?
expect "$status $(cat error)" '66 photospool: the inbox default has no profile photo to remove'
mkdir "$spool/tmp/vain"
echo profile > "$spool/tmp/vain/kind"
mv "$spool/tmp/vain" "$spool/new/"
status=0
"$photospool" wait --timeout 60 vain 2> error || status=$?
expect "$status" 69
grep -q 'no profile photo to remove' "$spool/failed/vain/error" || fail "error: $(cat "$spool/failed/vain/error")"
expect "$(wc -l < "$lines")" "$before"
"$photospool" profile set me-0.jpg --wait > name
stop_daemon
sweep local LOCAL
reported LOCAL

# A homeserver. Sealed photos go to the same store; the avatar is not sealed, as everybody can see it.
start_server synapse.py
(umask 077; fact alice > token)
configure <<YAML
store: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
network: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
seal: matrix
profile: {side: 256}
YAML
start_script MATRIX watch_profile.py matrix "$(fact endpoint)" @alice:localhost "$(fact bob)"
avatar() { curl -sf "$(fact endpoint)/_matrix/client/v3/profile/@alice:localhost/avatar_url" | jq -r '.avatar_url // ""'; }
start_daemon
"$photospool" profile set planted.jpg --wait > name
expect "$(avatar)" "$(show .url)"
curl -sf -H "Authorization: Bearer $(fact bob)" -o seen.jpg \
  "$(fact endpoint)/_matrix/client/v1/media/download/$(show .url | sed 's|mxc://||')"
cmp seen.jpg "$(show .path)"
expect "$(size seen.jpg)" 256x256
! grep -q MARKER seen.jpg || fail 'the avatar has metadata'
stop_daemon
sweep matrix MATRIX
reported MATRIX
expect "$(avatar)" ''
expect "$(show .state)" removed
