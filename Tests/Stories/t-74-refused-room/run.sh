# A homeserver refuses one room for ever: photos and texts of nine other rooms of the account go out meanwhile. Messages
# to the tenth fail and say why, and `retry` sends them once the room is open.
. "$(dirname "$0")/../lib/library.sh"

start_server synapse.py
(umask 077; fact alice > token)
api() { # METHOD PATH BODY
  curl -sf -X "$1" -H "Authorization: Bearer $(fact "${4:-alice}")" -H 'Content-Type: application/json' -d "$3" \
    "$(fact endpoint)/_matrix/client/v3/$2" > /dev/null
}
escaped() { jq -rn --arg text "$1" '$text | @uri'; }
rooms=()
for number in $(seq 10); do
  order room alice bob
  rooms+=("$(jq -r .room <<< "$answer")")
done
closed=${rooms[9]}
configure <<END
store: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
network: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
seal: matrix
END
noise 300x200 photo.jpg
api POST "rooms/$(escaped "$closed")/leave" '{}'

start_daemon
for round in 1 2 3; do
  drop "closed-$round" "$closed" 'to nobody' photo.jpg
  status=0
  "$photospool" wait --timeout 60 "closed-$round" > wait.txt 2>&1 || status=$?
  expect "$status" 69 "$(cat wait.txt)"
  open=()
  for number in $(seq 9); do
    drop "open-$round-$number" "${rooms[number - 1]}" "text $round" photo.jpg
    open+=("open-$round-$number")
  done
  "$photospool" wait --timeout 60 "${open[@]}"
done
is_empty_queue() { [ -z "$("$photospool" queue --json)" ]; }
is_empty_queue || fail "something waits: $("$photospool" queue)"
expect "$(grep -l 'join the room or ask for leave to send' "$spool"/failed/*/error | wc -l)" 3

# It goes out once the account is in the room again.
api POST "rooms/$(escaped "$closed")/invite" '{"user_id": "'"@alice:localhost"'"}' bob
api POST "join/$(escaped "$closed")" '{}'
"$photospool" retry --all > retry.txt
"$photospool" wait --timeout 60 closed-1 closed-2 closed-3
stop_daemon
