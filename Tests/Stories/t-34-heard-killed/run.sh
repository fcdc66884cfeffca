# SIGKILL at the k-th call that changes the disk, for calls all the way from a Matrix room into the ledger: each time what
# alice sent is received once, in order, and nothing is left behind. Every 15th call by default, every one with
# PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"

start_server synapse.py
endpoint=$(fact endpoint)
(umask 077; fact bob > token)
order room alice bob
room=$(jq -r .room <<< "$answer")
configure <<END
store: {type: matrix, homeserver: "$endpoint", tokenFile: token}
network: {type: matrix, homeserver: "$endpoint", tokenFile: token, listen: true}
seal: matrix
routes: [{conversation: family, network: matrix, as: "$room"}]
receiving: {fetch: ask}
END

say() { # NAME: alice sends a photo in her client
  curl -sf -X PUT -H "Authorization: Bearer $(fact alice)" \
    -d "{\"msgtype\": \"m.image\", \"body\": \"photo.jpg\", \"url\": \"mxc://localhost/$1\"}" \
    "$endpoint/_matrix/client/v3/rooms/$(jq -rn --arg room "$room" '$room|@uri')/send/m.room.message/$1" | jq -r .event_id
}
received() { sqlite3 -readonly -cmd '.timeout 10000' "$spool/state/ledger.sqlite" 'SELECT remote FROM received ORDER BY id' 2>/dev/null; }
place() { cat "$spool/state/listening/matrix" 2>/dev/null || true; }
# Behind all that was said, with nothing left to take in.
is_through() {
  [ "$(received)" = "$events" ] && [ "$(place)" != "$before" ] && [ -z "$(ls "$spool/incoming/new")" ]
}

start_daemon
wait_for_line start.log event=listening
stop_daemon
events= k=1 kills=0 step=${PHOTOSPOOL_TEST_KILL_STEP:-15}
while :; do
  before=$(place)
  # Two in one answer.
  for half in a b; do
    event=$(say "$k-$half")
    events="$events${events:+
}$event"
  done
  run_killed_until "$k" is_through
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  wait_until is_through
  stop_daemon
  expect "$(received)" "$events" "killed at $k: $(sed -n "${k}p" trace)"
  is_empty "$spool/incoming/new" "$spool/incoming/tmp" "$spool/incoming/cur" "$spool/incoming/failed"
  k=$((k + step))
done
for call in heard- listening attachment ledger.sqlite-wal; do
  grep -q "$call" trace || fail "no call for $call in the trace"
done
[ "$kills" -ge 3 ] || fail "only $kills kills"
echo "$kills kills, received once each and in order"
