# Texts and photos to an encrypted Matrix room are read once and in order by two independent clients, although the daemon is
# killed and its state directory is put back to an earlier copy. The homeserver has neither a text nor a key. Devices that
# their owner has not signed, and members who left, get nothing. PHOTOSPOOL_TEST_KILL_STEP=1 kills at every call.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact alice > token)
join dave > /dev/null
encrypt_room '"rotation_period_msgs": 4'
start_script BOB encrypted_reader.py mautrix "$endpoint" bob
start_script DAVE encrypted_reader.py nio "$endpoint" dave
start_script PHONE encrypted_reader.py nio "$endpoint" bob unsigned
for reader in BOB DAVE PHONE; do ask $reader start; done
phone=$(jq -r .device <<< "$answer")

configure < <(matrix_settings)
start_daemon
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop first family 'TOP SECRET caption' planted.jpg
"$photospool" wait --timeout 120 first || fail "$("$photospool" queue --json)"
for reader in BOB DAVE; do
  ask $reader read 2
  expect "$(jq -c '[.messages[].kind], .unreadable' <<< "$answer" | paste -sd' ')" '["m.image","m.text"] []' $reader
  expect "$(jq -r '.messages[1].body' <<< "$answer")" 'TOP SECRET caption' $reader
  expect "$(jq -r '.messages[0].sha256' <<< "$answer")" \
    "$(sha256sum "$spool"/photos/default/family/*/original.jpg | cut -d' ' -f1)" $reader
done
ask BOB read 2
expect "$(jq -r '[.messages[].trust] | unique | join(" ")' <<< "$answer")" cross-signed-tofu
ask PHONE read 2
expect "$(jq -c '.messages, (.unreadable | length)' <<< "$answer" | paste -sd' ')" '[] 2' 'the device that is not signed'
"$photospool" check > check.log || fail "check: $(cat check.log)"
has check.log 'is signed by the identity that photospool made'
has check.log "left out, because their owners have not verified them: @bob:localhost $phone"
! grep -aq 'TOP SECRET' synapse/homeserver.db* || fail 'the homeserver has the text'
! grep -aq '"A256CTR"' synapse/homeserver.db* || fail 'the homeserver has a key'
expect "$(stat -c %a "$spool/state/matrix/matrix/identity")" 600
expect "$(ls "$spool/state/matrix/matrix/outbox")" ''
stop_daemon
cp -a "$spool/state/matrix" earlier

# Killed before every few calls that change the disk, all the way of photo and text.
noise 300x200 photo.jpg
texts='TOP SECRET caption'
k=1 step=${PHOTOSPOOL_TEST_KILL_STEP:-45} kills=0
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
  # A reader gets at most 100 messages at once, and has 50 one-time keys.
  [ $((kills % 10)) != 0 ] || for reader in BOB DAVE; do ask $reader read $((2 * kills + 2)); done
  k=$((k + step))
done
[ "$kills" -ge 5 ] || fail "only $kills kills"
grep -q outbox trace || fail 'no call for the outbox in the trace'

# Earlier keys do no harm, because no ratchet is among them.
rm -rf "$spool/state/matrix"
cp -a earlier "$spool/state/matrix"
start_daemon
drop back family 'with an earlier state'
"$photospool" wait --timeout 60 back
texts="$texts
with an earlier state"
count=$((2 * kills + 5))
for reader in BOB DAVE; do
  ask $reader read $count
  expect "$(jq '.unreadable | length' <<< "$answer")" 0 $reader
  expect "$(jq -r '.messages[] | select(.kind == "m.text").body' <<< "$answer")" "$texts" $reader
  expect "$(jq '[.messages[] | select(.kind == "m.image")] | length' <<< "$answer")" $((kills + 2)) $reader
  expect "$(jq -r '.messages[] | select(.kind == "m.image").body' <<< "$answer" | sort | uniq -c | awk '{print $1}' | head -n 1 | wc -l)" 1
done
# No message number is used twice in a session.
sqlite3 -readonly synapse/homeserver.db "SELECT json FROM event_json WHERE json LIKE '%m.megolm%ciphertext%'" \
  | jq -r .content.ciphertext | sort | uniq -d | (! grep -q .) || fail 'an event was sent twice'

# Who left does not get the next message, even if the homeserver gave it.
api dave POST "rooms/$escaped/leave" '{}' > /dev/null
sessions() {
  sqlite3 -readonly synapse/homeserver.db "SELECT json FROM event_json WHERE json LIKE '%m.megolm%ciphertext%'" \
    | jq -r .content.session_id | sort -u | wc -l
}
before=$(sessions)
drop left family 'after dave left'
"$photospool" wait --timeout 60 left
expect "$(sessions)" $((before + 1)) 'sessions'
ask BOB read $((count + 1))
expect "$(jq -r '.messages[-1].body' <<< "$answer")" 'after dave left'
stop_daemon
echo "$kills kills, each photo and text once"
