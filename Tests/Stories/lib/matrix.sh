# A homeserver, $endpoint, with alice and bob, and a room of theirs, $room, also called $alias.

start_server synapse.py
endpoint=$(fact endpoint)
order room alice bob
homeserver=$endpoint
room=$(jq -r .room <<< "$answer")
escaped=$(jq -rn --arg room "$room" '$room|@uri')
alias=$(jq -r .alias <<< "$answer")

# api USER METHOD PATH [BODY]: a request of a user's client.
api() {
  curl -sf -X "$2" -H "Authorization: Bearer $(fact "$1")" -H 'Content-Type: application/json' ${4:+-d "$4"} \
    "$homeserver/_matrix/client/v3/$3"
}
# join USER: alice invites that user to the room, who joins.
join() { api alice POST "rooms/$escaped/invite" "{\"user_id\": \"@$1:localhost\"}"; api "$1" POST "rooms/$escaped/join" '{}'; }

# encrypt_room [MEMBERS]: with these further members of the setting.
encrypt_room() { api alice PUT "rooms/$escaped/state/m.room.encryption" "{\"algorithm\": \"m.megolm.v1.aes-sha2\"${1:+, $1}}" > /dev/null; }

# matrix_settings [LISTEN]: a store and a network there, with the token of a file `token`.
matrix_settings() {
  cat <<YAML
store: {type: matrix, homeserver: "$endpoint", tokenFile: token}
network: {type: matrix, homeserver: "$endpoint", tokenFile: token, listen: ${1:-false}}
seal: matrix
routes: [{conversation: family, network: matrix, as: "$alias"}]
YAML
}

# in_room: what is in the room, oldest first, as the homeserver tells bob: the body of each text, and the kind of each photo.
in_room() {
  api bob GET "rooms/$escaped/messages?dir=b&limit=100" | jq -r '[.chunk[] | select(.type == "m.room.message").content
    | if .msgtype != "m.image" then .body elif .file then "sealed photo" else "photo" end] | reverse | join(",")'
}
is_in_room() { [ "$(in_room)" = "$1" ]; }
# read_room: the same as bob's client shows it, which opens the photos; one JSON object a line.
read_room() { tool read_room.py "$homeserver" @bob:localhost "$(fact bob)" "$room"; }

# upload FILE: alice's client does it; prints the address.
upload() {
  curl -sf -X POST -H "Authorization: Bearer $(fact alice)" -H 'Content-Type: application/octet-stream' \
    --data-binary "@$1" "$endpoint/_matrix/media/v3/upload" | jq -r .content_uri
}

# received: the events that photospool has received, in order. is_all: those of $events, with nothing left to take in.
received() { ledger 'SELECT remote FROM received ORDER BY id' 2> /dev/null; }
is_all() { [ "$(received)" = "$events" ] && [ -z "$(ls "$spool/incoming/new")" ]; }
# keys QUERY: of the ledger of room keys. has_keys: others can open sessions.
keys() { sqlite3 -readonly -cmd '.timeout 10000' "$spool/state/matrix/matrix/keys.sqlite" "$1"; }
has_keys() { [ "$(keys 'SELECT count(*) FROM offered WHERE isPublished' 2> /dev/null)" = 51 ]; }

# say NAME CONTENT: alice's client sends that message to the room; prints the event.
say() { api alice PUT "rooms/$escaped/send/m.room.message/$1" "$2" | jq -r .event_id; }
