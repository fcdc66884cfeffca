# A photo is received once and whole, and nothing is left behind, at whichever call the daemon is killed.
# Killed at every 18th call that changes the disk, from one of the first on, at every one with PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"

noise 900x700 photo.jpg
mkdir drops
start_server object_server.py
configure <<EOF
receiving: {allowPrivate: true, fetch: always}
EOF
tool send_photo.py "$(fact directory)" "$(fact endpoint)/plain" drops <<EOF
cat family xmtp photo.jpg
EOF

ask() { sqlite3 -readonly -cmd '.timeout 10000' "$spool/state/ledger.sqlite" "$1" 2>/dev/null || true; }
is_there() { [ "$(ask "SELECT state FROM received")" = downloaded ] && [ -z "$(ls "$spool/incoming/cur")" ]; }

check() {
  expect "$(ask "SELECT group_concat(remote || ' ' || state) FROM received")" 'cat downloaded' "$1"
  expect "$(ask "SELECT count(*) || ' ' || (sum(downloaded_at) > 0) FROM photos")" '1 1' "$1"
  expect "$(cd "$spool/photos/default/family"/* && ls -A | paste -sd' ')" 'blurred.jpg original.jpg received.json thumbnail.jpg' "$1"
  expect "$(sha256sum "$spool/photos/default/family"/*/original.jpg | cut -d' ' -f1)" "$(ask "SELECT digest FROM photos")" "$1"
  expect "$(ask 'PRAGMA integrity_check')" ok "$1"
  is_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/failed"
}

receive() {
  rm -rf "$spool"
  start_daemon
  stop_daemon
  cp -r drops/cat "$spool/incoming/tmp/"
  mv "$spool/incoming/tmp/cat" "$spool/incoming/new/"
}

# They include every call of the acceptance of a drop.
receive
run_killed_until 1000000 is_there
first=$(grep -n trash trace | cut -d: -f1 | head -n 1)
taking=$(seq "$first" $((first + 7)))
kills=0 step=${PHOTOSPOOL_TEST_KILL_STEP:-18}
k=$((RANDOM % step + 1))
while :; do
  receive
  run_killed_until $k is_there
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  wait_until is_there
  stop_daemon
  check "$(where_killed "$k")"
  next=$((k + step))
  for call in $taking; do [ "$call" -le "$k" ] || [ "$call" -ge "$next" ] || next=$call; done
  k=$next
done
check 'not killed'
for change in ledger.sqlite-wal original.jpg blurred.jpg received.json attachment trash object; do
  grep -q "$change" trace || fail "no call for $change in the trace"
done
[ "$kills" -ge 3 ] || fail "only $kills kills"
echo "$kills kills, received once each"
