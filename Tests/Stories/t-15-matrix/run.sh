# Photo and text reach another person's Matrix client once and in order, although the daemon is killed and the homeserver is
# away. PHOTOSPOOL_TEST_KILL_STEP=1 kills at every call.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact alice > token)
configure < <(matrix_settings)

# The room as bob's client shows it, one JSON object a line.
read_room() { tool read_room.py "$endpoint" @bob:localhost "$(fact bob)" "$room"; }

start_daemon
"$photospool" check > check.log || fail "check: $(cat check.log)"
grep -q 'the homeserver can read the keys' check.log || fail 'check does not say what is not end-to-end'
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop cat family 'Check this out!' planted.jpg
"$photospool" wait --timeout 120 cat
read_room > seen.jsonl
expect "$(jq -r .kind seen.jsonl | paste -sd' ')" 'sealed photo text'
expect "$(jq -r 'select(.kind == "text").body' seen.jsonl)" 'Check this out!'
expect "$(jq -r 'select(.kind != "text").sha256' seen.jsonl)" \
  "$(sha256sum "$spool"/photos/default/family/*/original.jpg | cut -d' ' -f1)"
expect "$(jq -r 'select(.kind != "text").content | fromjson.info | "\(.w)x\(.h)"' seen.jsonl)" 2048x1536

# The homeserver is down. Requests dropped meanwhile use up no attempts, and go out when it recovers.
order kill
for number in 1 2 3; do drop "away-$number" family "away $number"; done
wait_for_line start.log 'cause=unreachable'
order start
"$photospool" wait --timeout 120 away-1 away-2 away-3
for number in 1 2 3; do
  expect "$("$photospool" show "away-$number" --json | jq '[.messages[].attempts | length] | max <= 1')" true "away-$number"
done
stop_daemon

# Killed before every twelfth call that changes the disk, from one of the first on, all the way of photo and text.
noise 300x200 photo.jpg
texts='Check this out!
away 1
away 2
away 3'
step=${PHOTOSPOOL_TEST_KILL_STEP:-12} kills=0
k=$((RANDOM % step + 1))
while :; do
  drop "r$k" family "killed at $k" photo.jpg
  texts="$texts
killed at $k"
  run_killed $k "r$k"
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  "$photospool" wait --timeout 60 "r$k" || fail "k=$k: not sent after the restart"
  stop_daemon
  k=$((k + step))
done
read_room > seen.jsonl
expect "$(jq -r 'select(.kind == "text").body' seen.jsonl)" "$texts"
expect "$(jq -r .kind seen.jsonl | grep -c photo)" $((kills + 2))
expect "$(jq -r '.content | fromjson."photospool.message"' seen.jsonl | sort | uniq -d)" ''
# Every photo stands before its text.
expect "$(jq -r .kind seen.jsonl | tail -n +6 | sort -u -s | wc -l)" 2
expect "$(jq -r .kind seen.jsonl | tail -n +6 | paste -d' ' - - | sort -u)" 'sealed photo text'
[ "$kills" -ge 10 ] || fail "only $kills kills"
echo "$kills kills, each photo and text once"
