# A daemon that is killed at random moments loses no draft, and leaves nothing of one that is removed or cancelled
# meanwhile.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/drafts.sh"

start_daemon
draft lost family 2.jpg
for round in $(seq 1 10); do
  [ "$round" != 5 ] || draft kept family 0.jpg 1.jpg
  # The kill must come at a random moment.
  read -r -t "0.$((RANDOM % 300 + 100))" < <(tail -f /dev/null --pid=$$) || true
  kill_daemon
  start_daemon
done
wait_until all_uploaded 2
# The other one was replaced.
wait_until test ! -e "$spool/draft/lost"
expect "$(ls "$spool/draft")" kept
kill_daemon
echo hello > "$spool/draft/kept/text"
mv "$spool/draft/kept" "$spool/new/kept"
start_daemon
"$photospool" wait --timeout 60 kept
expect "$(published family | jq -r .kind | paste -sd' ')" 'photo photo text'
wait_until leaves 2
expect "$(objects | paste -sd' ')" "$(digests family | sort | paste -sd' ')"
draft gone family 2.jpg
uploaded gone
kill_daemon
rm -r "$spool/draft/gone"
start_daemon
wait_until leaves 2
draft down family 2.jpg
uploaded down
stop_daemon
expect "$("$photospool" cancel down)" 'down: cancelled; nothing of it was published'
[ ! -e "$spool/draft/down" ] || fail 'the draft that was cancelled without a daemon is still there'
start_daemon
wait_until leaves 2
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/draft"
[ ! -e "$spool/state/trash" ] || is_empty "$spool/state/trash"
