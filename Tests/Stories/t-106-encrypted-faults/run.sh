# Messages to an encrypted Matrix room are read once and in order, although the homeserver's answers are lost, it denies that
# the room is encrypted, members and devices come and go, and a member's identity is reset. Nothing is sent in the clear.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact alice > token)
join dave > /dev/null
encrypt_room '"rotation_period_msgs": 4'
start_script BOB encrypted_reader.py mautrix "$homeserver" bob
start_script DAVE encrypted_reader.py nio "$homeserver" dave
for reader in BOB DAVE; do ask $reader start; done
mkdir line
start_script LINE matrix_line.py "$PWD/line" "$homeserver"
read -r answer <&"${LINE[0]}"
endpoint=$(jq -r .endpoint <<< "$answer")
configure < <(matrix_settings; echo 'delivery: {backoff: {first: 10ms, longest: 200ms}, probe: 100ms}')
noise 300x200 photo.jpg

texts=()
say() { # TEXT
  drop "r${#texts[@]}" family "$1"
  "$photospool" wait --timeout 60 "r${#texts[@]}" > wait.log || fail "$1: $("$photospool" queue --json)"
  texts+=("$1")
}
events() { # FILTER: of the encrypted events, in order
  sqlite3 -readonly synapse/homeserver.db "SELECT json FROM event_json JOIN events USING (event_id)
    WHERE type = 'm.room.encrypted' ORDER BY stream_ordering" | jq -r ".content.$1"
}
sessions() { events session_id | uniq -c | awk '{print $1}' | paste -sd' '; }
# has_read READER UNREADABLE: all that was said since the start.
has_read() {
  ask "$1" read $((${#texts[@]} + $2))
  expect "$(jq -r '.messages[] | select(.kind == "m.text").body' <<< "$answer")" "$(printf '%s\n' "${texts[@]}")" "$1"
  expect "$(jq '.unreadable | length' <<< "$answer")" "$2" "$1"
}

# The answer to each request of the first messages is lost, and the request repeated.
for word in keys/upload device_signing/upload signatures/upload keys/query keys/claim sendToDevice send/m.room.encrypted; do
  ask LINE lose "$word"
done
start_daemon
say 'the first'
ask LINE pass
expect "$(jq .count <<< "$answer")" 7 'lost answers'
for reader in BOB DAVE; do has_read $reader 0; done
stop_daemon

# A new process begins a session, and another one behind every fourth message.
before=$(sessions)
start_daemon
for number in {1..9}; do say "number $number"; done
expect "$(sessions)" "$before 4 4 1" 'messages of each session'
# The message is reserved, and cannot be sent for a while.
ask LINE refuse send/m.room.encrypted
drop "r${#texts[@]}" family 'refused for a while'
is_refused() { ask LINE count; [ "$(jq .count <<< "$answer")" -gt 0 ]; }
wait_until is_refused
ask LINE pass
"$photospool" wait --timeout 60 "r${#texts[@]}"
texts+=('refused for a while')
stop_daemon

# A homeserver that denies the encryption is not believed.
ask LINE hide state/m.room.encryption
start_daemon
say 'still encrypted'
ask LINE pass
for reader in BOB DAVE; do has_read $reader 0; done

# Who was removed gets no key, and who comes back reads from then on.
api alice POST "rooms/$escaped/kick" '{"user_id": "@dave:localhost"}' > /dev/null
say 'without dave'
join dave > /dev/null
say 'with dave again'
has_read BOB 0
ask DAVE read $((${#texts[@]}))
expect "$(jq -r '.messages[-1].body, (.messages[].body | select(. == "without dave"))' <<< "$answer")" 'with dave again'

# A device that nobody signed gets nothing. One that logs out ends the session.
stop_daemon
start_script LAPTOP encrypted_reader.py nio "$homeserver" bob unsigned
ask LAPTOP start
start_daemon
say 'not for the laptop'
ask LAPTOP read 1
expect "$(jq -c '[(.messages | length), (.unreadable | length)]' <<< "$answer")" '[0,1]' 'the device that is not signed'

# A reset identity is announced once, and trusted then.
ask BOB reset
stop_daemon
start_daemon
say 'to a new identity'
say 'to the same identity'
expect "$(grep -c 'line="matrix: the identity of @bob:localhost was reset' start.log)" 1
has_read BOB 0
stop_daemon

expect "$(sqlite3 -readonly synapse/homeserver.db "SELECT count(*) FROM events WHERE type = 'm.room.message'")" 0 'in the clear'
events ciphertext | sort | uniq -d | (! grep -q .) || fail 'an event was sent twice'
expect "$(events ciphertext | wc -l)" "${#texts[@]}"
expect "$(ls -A "$spool/state/matrix/matrix/outbox")" ''
