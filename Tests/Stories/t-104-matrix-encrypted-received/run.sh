# Photos in an encrypted Matrix room are received once and in order: of a client that begins before and after our keys
# are there, behind hundreds of messages that nothing can open, and although the daemon is killed.
# Its two senders are independent clients. It is killed at every 40th call that changes the disk, at every one with PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

encrypt_room
(umask 077; fact bob > token)
bob=$(api bob GET account/whoami | jq -r .device_id)
configure < <(matrix_settings true; echo 'receiving: {fetch: always}')
noise 700x500 photo.jpg

order login alice NIO
start_script ALICE encrypted_client.py "$endpoint" @alice:localhost "$(jq -r .token <<< "$answer")" NIO "$room" nio
place() { cat "$spool/state/listening/matrix" 2>/dev/null || true; }
events=
send_photo() {
  ask ALICE photo "$work/photo.jpg"
  events+=${events:+$'\n'}$(jq -r .event <<< "$answer")
}
is_through() { is_all && [ "$(place)" != "$before" ]; }
work=$PWD

start_daemon
wait_for_line start.log event=listening
wait_until has_keys
ask ALICE begin
ask ALICE text 'Hello!'
send_photo
wait_until is_all
is_downloaded() {
  [ "$("$photospool" photos --received --json | jq -r "select(.remote == \"$events\") | .state")" = downloaded ]
}
wait_until is_downloaded
"$photospool" reveal "$events" > /dev/null
shows "$("$photospool" view "$events")" photo.jpg
expect "$(keys 'SELECT count(*) FROM offered WHERE NOT isFallback')" 49 'a used key is gone'

# Another client, on another library.
api alice POST "rooms/$escaped/invite" '{"user_id": "@dave:localhost"}' > /dev/null
api dave POST "rooms/$escaped/join" '{}' > /dev/null
start_script DAVE encrypted_reader.py mautrix "$endpoint" dave
ask DAVE start
ask DAVE photo "$room" "$work/photo.jpg"
events+=$'\n'$(jq -r .event <<< "$answer")
wait_until is_all

# Messages that nothing can open cost themselves only.
hostile=${PHOTOSPOOL_TEST_HOSTILE:-150}
ask ALICE hostile "$hostile"
ask ALICE to-device 250 "$bob"
ask ALICE rotate
send_photo
wait_until is_all
expect "$(keys 'SELECT count(*) FROM waiting')" "$hostile" 'events without a key wait'
stop_daemon

# Messages from a time when nobody listened are caught up on, 250 messages to the device first.
ask ALICE to-device 250 "$bob"
ask ALICE rotate
send_photo
start_daemon
wait_until is_all
stop_daemon

k=1 kills=0 step=${PHOTOSPOOL_TEST_KILL_STEP:-40}
while :; do
  before=$(place)
  ask ALICE rotate
  for half in a b; do send_photo; done
  run_killed_until "$k" is_through
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  wait_until is_through
  stop_daemon
  is_empty "$spool/incoming/new" "$spool/incoming/tmp" "$spool/incoming/failed"
  k=$((k + step))
done
expect "$(received)" "$events"
for call in heard- listening attachment keys.sqlite; do has trace "$call"; done
expect "$(keys 'PRAGMA integrity_check')" ok
[ "$kills" -ge 2 ] || fail "only $kills kills"
echo "$kills kills, received once each and in order"
