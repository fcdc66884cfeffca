# With `encryption: never` nothing is ever sent to an encrypted Matrix room: neither a text nor a photo, sealed or not, by
# id, by alias or by pattern, even if encryption is switched on between two requests and the daemon restarts. The
# conversation waits and says why; the others go on.
. "$(dirname "$0")/../lib/library.sh"

start_server synapse.py
(umask 077; fact alice > token)
api() { # METHOD PATH [BODY]
  curl -sf -X "$1" -H "Authorization: Bearer $(cat token)" -H 'Content-Type: application/json' ${3:+-d "$3"} \
    "$(fact endpoint)/_matrix/client/v3/$2"
}
escaped() { jq -rn --arg text "$1" '$text | @uri'; }
encrypt() { api PUT "rooms/$(escaped "$1")/state/m.room.encryption" '{"algorithm": "m.megolm.v1.aes-sha2"}' > /dev/null; }
# The messages of a room, oldest first: what stands for each.
messages() {
  api GET "rooms/$(escaped "$1")/messages?dir=b&limit=100" \
    | jq -r '[.chunk[] | select(.type == "m.room.message") | .content.body] | reverse | join(" ")'
}
uploads() { find synapse/media/local_content -type f 2>/dev/null | wc -l; }
for name in clear first second third; do
  order room alice bob
  declare "$name=$(jq -r .room <<< "$answer")" "${name}_alias=$(jq -r .alias <<< "$answer")"
done
encrypt "$first"; encrypt "$second"
configure <<END
store: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
network: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token, encryption: never}
seal: none
networks:
  sealed: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token, seal: matrix, encryption: never}
routes:
  - {conversation: family, network: sealed, as: "$first_alias"}
  - {conversation: "#*", network: sealed}
END
noise 300x200 photo.jpg

start_daemon
ends 78 check
expect "$(cat out.log err.log | grep -c 'is encrypted and `encryption: never` is set')" 4 "$(cat err.log)"
for name in family "$first" "$second" "$second_alias"; do has err.log "conversation $name: the room"; done

drop before "$third" before
drop earlier "$third_alias" before
"$photospool" wait --timeout 60 before earlier
encrypt "$third"
drop one family 'TOP SECRET caption' photo.jpg
drop two "$second" 'TOP SECRET caption' photo.jpg
drop three "$second_alias" 'TOP SECRET caption'
drop four "$third" after photo.jpg
drop five "$third_alias" after
waiting=(one two three four five)
for name in "${waiting[@]}"; do wait_until has_error $name 'encryption: never'; done
# Others go on, on the same networks and the same store.
drop cat "$clear" 'Check this out!' photo.jpg
drop dog "$clear_alias" 'Check this out, too!' photo.jpg
"$photospool" wait --timeout 60 cat dog
expect "$(messages "$clear" | tr ' ' '\n' | grep -c photo.jpg)" 2
expect "$(uploads)" 2
"$photospool" flush > /dev/null
for name in "${waiting[@]}"; do wait_until has_error $name 'encryption: never'; done
must_print 'is encrypted' show one
must_print 'photospool_setbacks_total{cause="encrypted_room"}' metrics
wait_for_line start.log 'cause=encrypted_room'

# It is encrypted for good, also for the next daemon and where the homeserver forgets it.
stop_daemon
start_daemon
"$photospool" flush > /dev/null
for name in "${waiting[@]}"; do wait_until has_error $name 'encryption: never'; done
expect "$(sort -u "$spool/state/encrypted-rooms" | grep -c .)" 3
for room in "$first" "$second"; do expect "$(messages "$room")" ''; done
expect "$(messages "$third")" 'before before'
expect "$(uploads)" 2 'uploads'
"$photospool" cancel "${waiting[@]}" > /dev/null
stop_daemon
