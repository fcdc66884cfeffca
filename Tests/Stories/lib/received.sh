# Photos that a bridge drops: other programs sealed them, and a server keeps their objects.

noise 900x700 photo.jpg
mkdir drops
start_server object_server.py
configure <<EOF
receiving: {allowPrivate: true, lifetime: 60s}
delivery: {backoff: {first: 10ms, longest: 200ms}}
EOF

# sealed < LINES: such drops, in drops/; each line as send_photo.py has it.
sealed() { tool send_photo.py "$(fact directory)" "$(fact endpoint)/plain" drops; }
# sealed_in_each_way < LINES: the same, with one drop of each seal before them.
sealed_in_each_way() {
  local more
  more=$(cat)
  sealed <<EOF
ask family json photo.jpg
json family json photo.jpg
xmtp family xmtp photo.jpg
several family several photo.jpg
matrix family matrix photo.jpg sender=@carol:example.org
plain family plain photo.jpg
$more
EOF
}
# receive NAME...: as a bridge does it.
receive() { local name; for name; do mv "drops/$name" "$spool/incoming/new/"; done; }
state() { "$photospool" photos --received --json | jq -r "select(.remote == \"$1\") | .$2" | paste -sd' '; }
is_state() { [ "$(state "$1" state)" = "$2" ]; }
are_downloaded() { local name; for name; do wait_until is_state "$name" downloaded; done; }

# fails NAME CAUSE: fetching it ends with that cause.
fails() {
  wait_until is_state "$1" failed
  expect "$(state "$1" cause)" "$2" "$1"
}

# shown NAME FILE: what `view` shows of it.
shown() { expect "$("$photospool" view "$1" | sed 's|.*/||')" "$2" "$1"; }

# log_is_discreet ATTACHMENT...: it has no line that opens one of these photos, or tells where it lies.
log_is_discreet() {
  jq -r '.secret, .salt, .nonce' "$@" > keys
  [ -s keys ] || fail 'no keys to look for'
  ! grep -n -F -f keys run.log || fail 'a key is in the log'
  ! grep -n 'https\?://[^ ]*/[A-Za-z]' run.log || fail 'a full URL is in the log'
}
