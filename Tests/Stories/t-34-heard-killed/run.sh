# Messages in a Matrix room are received once and in order, although the daemon is killed or its token refused.
# It is killed at every 15th call that changes the disk, at every one with PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact bob > token)
configure < <(matrix_settings true; echo 'receiving: {fetch: ask}')
photo() { echo "{\"msgtype\": \"m.image\", \"body\": \"photo.jpg\", \"url\": \"mxc://localhost/$1\"}"; }
received() { sqlite3 -readonly -cmd '.timeout 10000' "$spool/state/ledger.sqlite" 'SELECT remote FROM received ORDER BY id' 2>/dev/null; }
place() { cat "$spool/state/listening/matrix" 2>/dev/null || true; }
# add_event NAME: alice sends a photo in her client.
events=
add_event() { events+=${events:+$'\n'}$(say "$1" "$(photo "$1")"); }
# Behind all that was said, with nothing left to take in.
is_through() {
  [ "$(received)" = "$events" ] && [ "$(place)" != "$before" ] && [ -z "$(ls "$spool/incoming/new")" ]
}

start_daemon
wait_for_line start.log event=listening
stop_daemon
k=1 kills=0 step=${PHOTOSPOOL_TEST_KILL_STEP:-15}
while :; do
  before=$(place)
  # Two in one answer.
  for half in a b; do add_event "$k-$half"; done
  run_killed_until "$k" is_through
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  wait_until is_through
  stop_daemon
  expect "$(received)" "$events" "$(where_killed "$k")"
  is_empty "$spool/incoming/new" "$spool/incoming/tmp" "$spool/incoming/cur" "$spool/incoming/failed"
  k=$((k + step))
done
for call in heard- listening attachment ledger.sqlite-wal; do
  grep -q "$call" trace || fail "no call for $call in the trace"
done

# A refused token is reported, and replaced without a restart.
start_daemon
cp token good
echo syt_wrong > token
kill -HUP "$daemon"
wait_for_line start.log 'nothing is heard.*cause=auth_expired'
must_print 'network matrix: nothing is heard: .*does not accept the access token' queue
must_print 'photospool_listening{network="matrix"} 0' metrics
cp good token
before=$(place)
add_event meanwhile
kill -HUP "$daemon"
wait_until is_through
must_print 'photospool_listening{network="matrix"} 1' metrics
"$photospool" check > check.log || fail "check: $(cat check.log)"
grep -q 'listening to matrix: listens' check.log || fail "$(cat check.log)"
stop_daemon
[ "$kills" -ge 3 ] || fail "only $kills kills"
echo "$kills kills, received once each and in order"
