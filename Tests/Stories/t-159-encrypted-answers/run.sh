# Photos arrive whose keys come over sessions that photospool opened, also those of a former process. Where the other client has lost
# its sessions, or photospool its keys, new sessions are opened, and messages arrive in both directions again.
# The other sides are independent clients.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

encrypt_room
(umask 077; fact bob > token)
configure < <(matrix_settings 'true, devices: all'; echo 'receiving: {fetch: always}')
noise 700x500 photo.jpg
work=$PWD

order login alice NIO
start_script ALICE encrypted_client.py "$endpoint" @alice:localhost "$(jq -r .token <<< "$answer")" NIO "$room" nio
join dave > /dev/null
start_script DAVE encrypted_reader.py mautrix "$endpoint" dave
events=
# arrives CLIENT ORDER...: the photo of that client is received.
arrives() {
  ask "$@"
  events+=${events:+$'\n'}$(jq -r .event <<< "$answer")
  wait_until is_all
}
say() { # TEXT
  drop "$1" family "$1"
  "$photospool" wait --timeout 60 "$1" || fail "$1: $("$photospool" queue --json)"
}
alice_reads() { # TEXT
  ask ALICE read "$1"
  expect "$answer" '{"isRead": true}' "$1"
}
# Keys that nobody has used to open a session with photospool.
unused() { keys 'SELECT count(*) FROM offered WHERE NOT isFallback'; }

start_daemon
wait_until has_keys
ask ALICE begin
ask DAVE start
say hello
alice_reads hello
ask DAVE read 1
expect "$(jq -r '.messages[].body' <<< "$answer")" hello
arrives ALICE photo "$work/photo.jpg"
arrives DAVE photo "$room" "$work/photo.jpg"
expect "$(unused)" 50 'both answer over the sessions that photospool opened'
expect "$(keys 'SELECT count(*) FROM olm')" 2
# A photo back over the session, and another answer.
say again
alice_reads again

# The next process has these sessions.
stop_daemon
start_daemon
ask ALICE rotate
arrives ALICE photo "$work/photo.jpg"
expect "$(unused)" 50 'answers go on over the sessions of the former process'
say restarted
alice_reads restarted
expect "$(keys 'SELECT count(*) FROM olm')" 3 'a session only with the device that has not answered since'

# The other side has lost its sessions. It opens a new one, and gets the room's key again.
ask ALICE forget
arrives ALICE photo "$work/photo.jpg"
expect "$(unused)" 49 'a new session'
say 'after-their-loss'
alice_reads 'after-their-loss'

# photospool has lost its keys. What is encrypted over a lost session is lost; the next photo comes over a new one.
stop_daemon
rm "$spool/state/matrix/matrix/keys.sqlite"
start_daemon
ask ALICE rotate
ask ALICE photo "$work/photo.jpg"
wait_for_line start.log 'keys of @alice:localhost cannot be opened; new sessions are opened with their devices'
is_reopened() { [ "$(keys 'SELECT count(*) FROM olm' 2>/dev/null)" = 1 ]; }
wait_until is_reopened
ask ALICE rotate
arrives ALICE photo "$work/photo.jpg"
say 'after-our-loss'
alice_reads 'after-our-loss'
stop_daemon
