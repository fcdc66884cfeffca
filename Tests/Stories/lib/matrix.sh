# A homeserver, $endpoint, with alice and bob, and a room of theirs, $room, also called $alias.

start_server synapse.py
endpoint=$(fact endpoint)
order room alice bob
room=$(jq -r .room <<< "$answer")
alias=$(jq -r .alias <<< "$answer")

# matrix_settings [LISTEN]: a store and a network there, with the token of a file `token`.
matrix_settings() {
  cat <<YAML
store: {type: matrix, homeserver: "$endpoint", tokenFile: token}
network: {type: matrix, homeserver: "$endpoint", tokenFile: token, listen: ${1:-false}}
seal: matrix
routes: [{conversation: family, network: matrix, as: "$alias"}]
YAML
}

# upload FILE: alice's client does it; prints the address.
upload() {
  curl -sf -X POST -H "Authorization: Bearer $(fact alice)" -H 'Content-Type: application/octet-stream' \
    --data-binary "@$1" "$endpoint/_matrix/media/v3/upload" | jq -r .content_uri
}

# say NAME CONTENT: alice's client sends that message to the room; prints the event.
say() {
  curl -sf -X PUT -H "Authorization: Bearer $(fact alice)" -d "$2" \
    "$endpoint/_matrix/client/v3/rooms/$(jq -rn --arg room "$room" '$room|@uri')/send/m.room.message/$1" | jq -r .event_id
}
