# Two instances on XMTP, with an S3 service behind TLS. What one sends arrives in the other's cache upright and without
# metadata, hidden until somebody reveals it; then photos are shown as they arrive, where that is preferred. All of them come
# once and in order, however often either of them, or a co-process, was killed. Another person's client announces photos, too.
# PHOTOSPOOL_TEST_KILLS says how often something is killed (6).
. "$(dirname "$0")/../lib/library.sh"

kills=${PHOTOSPOOL_TEST_KILLS:-6}
# The daemons take their own variables only.
unset PHOTOSPOOL_TEST_KILLS PHOTOSPOOL_SPOOL
start_server seaweedfs.py public
s3=$facts
(umask 077; fact accessKey > access; fact secretKey > secret; printf '%064d\n' 5 > anna.key; printf '%064d\n' 6 > ben.key)
start_server tls_server.py "$(fact endpoint)"
authority=$(fact authority) store=$(fact good)
start_server object_server.py
objects=$(fact directory) object_url=$(fact endpoint)/plain
start_script NODE xmtp_relay.py
ask NODE '{"do": "endpoint"}'
node=$(jq -r .endpoint <<< "$answer")
mkdir reader
start_script READER xmtp_reader.py "$node" reader
xmtp=$(realpath "$here/../../Sources/photospool-xmtp/photospool-xmtp.py")

# configure NAME [ROUTE]
configure() {
  cat > "$1.yaml" <<YAML
spool: {directory: "$PWD/$1"}
inbox: $1
store: {type: s3, endpoint: "$store", bucket: photos, accessKeyFile: access, secretKeyFile: secret}
network: {type: xmtp, endpoint: "$node", insecure: true, keyFile: $1.key, listen: true, program: "$xmtp", python: "$(command -v "$python")"}
http: {authorityFile: "$authority"}
receiving: {allowPrivate: true}
delivery: {backoff: {first: 10ms, longest: 500ms}, probe: 1s}
${2:+routes: [$2]}
YAML
}
declare -A daemons
trap 'for process in "${daemons[@]}"; do kill -KILL "$process" 2>/dev/null || true; done' EXIT
# start NAME, stop NAME, strike NAME
start() {
  cat "$1.log" >> "$1.former.log" 2>/dev/null || true
  : > "$1.log"
  PHOTOSPOOL_CONFIG=$PWD/$1.yaml "$photospool" run > "$1.log" 2>&1 &
  daemons[$1]=$!
  wait_for_line "$1.log" event=ready
}
stop() { kill -TERM "${daemons[$1]}"; wait "${daemons[$1]}" || fail "$1 ended with $?"; unset "daemons[$1]"; }
strike() { kill -KILL "${daemons[$1]}"; wait "${daemons[$1]}" 2>/dev/null || true; unset "daemons[$1]"; }
# at NAME WORD...: the command there.
at() { PHOTOSPOOL_CONFIG=$PWD/$1.yaml "$photospool" "${@:2}"; }
# received NAME MESSAGE MEMBER: of a photo, or of all of its message.
received() { at "$1" photos --received --json | jq -r "select(.remote == \"$2\") | .$3" | paste -sd' '; }
is_received() { [ "$(received "$1" "$2" state)" = "$3" ]; }
# send NAME PHOTO: from Anna; its message's id on XMTP is in $message.
send() {
  mkdir "anna/tmp/$1"
  cp "$2" "anna/tmp/$1/photo.jpg"
  echo family > "anna/tmp/$1/to"
  mv "anna/tmp/$1" anna/new/
}
sent() {
  at anna wait --timeout 60 "$1"
  message=$(sqlite3 -readonly anna/state/ledger.sqlite \
    "SELECT m.remote FROM messages m JOIN requests r ON r.id = m.request_id WHERE r.request = '$1'")
}

# The checks register both, so that somebody can add them to a group.
for name in anna ben; do
  configure $name
  start $name
  stop $name
  at $name check > check.log || fail "check of $name: $(cat check.log)"
  declare "$name=$(sed -n 's/^network xmtp: publishes on XMTP as the inbox \([0-9a-f]\{64\}\), .*/\1/p' check.log)"
done
ask READER "{\"do\": \"group\", \"with\": [\"$anna\", \"$ben\"]}"
group=$(jq -r .group <<< "$answer")
for name in anna ben; do
  configure $name "{conversation: family, network: xmtp, as: \"group:$group\"}"
  start $name
done

# A photograph that lies on its side and says too much. Ben has never heard of the conversation: nothing is fetched.
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
exiftool -q -n -overwrite_original -Orientation=6 planted.jpg
send first planted.jpg
sent first
first=$message
wait_until is_received ben "$first" offered
[ ! -e ben/photos ] || is_empty ben/photos
# Looking at it is wanting it; it is shown once it is revealed.
expect "$(at ben view "$first" | sed 's|.*/||')" blurred.jpg
expect "$(received ben "$first" 'conversation + " " + .inbox')" 'family ben'
at ben reveal "$first" > /dev/null
path=$(at ben view "$first")
expect "${path##*/}" original.jpg
expect "$(exiftool -s3 -ImageSize "$path")" 1536x2048
exiftool -G0 -s "$path" > tags.txt
expect "$(grep -cE '^\[(EXIF|XMP|IPTC|MakerNotes|Photoshop)\]' tags.txt || true)" 0
! grep -q MARKER "$path" || fail 'there is metadata in what arrived'

# From now on photos of the conversation are fetched, and hidden until it is preferred otherwise.
noise 300x200 photo.jpg
send second photo.jpg
sent second
second=$message
wait_until is_received ben "$second" downloaded
expect "$(received ben "$second" hidden)" true
at ben prefs family --auto-reveal on > /dev/null
send third photo.jpg
sent third
wait_until is_received ben "$message" downloaded
expect "$(received ben "$message" hidden)" false
expect "$(at ben view "$message" | sed 's|.*/||')" original.jpg
expect "$(received ben "$second" hidden)" true

# Contents that XMTP's own bindings encode: one photo, two in one message, one whose object is another; and a text.
mkdir drops
tool send_photo.py "$objects" "$object_url" drops <<SENT
one family json photo.jpg
two family json photo.jpg
bad family json photo.jpg tampered
SENT
announce() { # ATTACHMENT...
  ask READER "{\"do\": \"send\", \"to\": \"$group\", \"attachments\": $(jq -cs . "${@/%//attachment}")}"
  jq -r .message <<< "$answer"
}
cd drops
single=$(announce one) several=$(announce one two) bad=$(announce bad)
cd ..
ask READER "{\"do\": \"send\", \"to\": \"$group\", \"text\": \"no photo\"}"
wait_until is_received ben "$single" downloaded
wait_until is_received ben "$several" 'downloaded downloaded'
wait_until is_received ben "$bad" failed
expect "$(received ben "$bad" cause)" digest_mismatch
# Anna hears these, too, and nothing of what she has sent.
wait_until is_received anna "$bad" failed
expect "$(at anna photos --received --json | jq -r .remote | paste -sd' ')" "$single $several $several $bad"
# A person whom Ben does not know writes to him alone: he is told, and nothing is fetched.
ask READER '{"do": "who"}'
stranger=$(jq -r .inbox <<< "$answer")
ask READER "{\"do\": \"direct\", \"with\": \"$ben\"}"
ask READER "{\"do\": \"send\", \"to\": $(jq .group <<< "$answer"), \"attachments\": [$(cat drops/one/attachment)]}"
direct=$(jq -r .message <<< "$answer")
wait_until is_received ben "$direct" offered
expect "$(received ben "$direct" conversation)" "dm:$stranger"
# In a group it is told who of them sent it.
expect "$(received ben "$first" sender)" "$anna"
expect "$(received ben "$single" sender)" "$stranger"

# Whoever is killed, and whenever.
RANDOM=${PHOTOSPOOL_TEST_SEED:-1}
for number in $(seq "$kills"); do
  send "k$number" photo.jpg
  sleep "0.$((RANDOM % 900 + 100))"
  victim=$((RANDOM % 4)) name=$([ $((RANDOM % 2)) = 0 ] && echo anna || echo ben)
  case $victim in
    0) for process in $(pgrep -P "${daemons[$name]}" -f photospool-xmtp); do kill -KILL "$process"; done ;;
    *) strike "$name"; start "$name" ;;
  esac
done
for number in $(seq "$kills"); do sent "k$number"; done
wait_until is_received ben "$message" downloaded
expect "$(at ben photos --received --json | jq -r 'select(.conversation == "family") | .remote')" \
  "$(printf '%s\n' "$first" "$second"; sqlite3 -readonly anna/state/ledger.sqlite "
    SELECT m.remote FROM messages m JOIN requests r ON r.id = m.request_id WHERE r.request = 'third'"
    printf '%s\n' "$single" "$several" "$several" "$bad"
    sqlite3 -readonly anna/state/ledger.sqlite "SELECT m.remote FROM messages m JOIN requests r ON r.id = m.request_id
      WHERE r.request GLOB 'k*' ORDER BY m.id")" 'once and in order'
are_all_there() {
  [ "$(at ben photos --received --json | jq -r --arg bad "$bad" \
    'select(.remote != $bad and .conversation == "family").state' | sort -u)" = downloaded ]
}
wait_until are_all_there
for name in anna ben; do
  stop $name
  is_empty "$name/incoming/new" "$name/incoming/cur" "$name/incoming/tmp" "$name/incoming/failed" "$name/new" "$name/cur" "$name/failed"
done
ask NODE "{\"do\": \"stored\", \"group\": \"$group\"}"
expect "$(jq .stored <<< "$answer")" $((3 + 4 + kills)) 'messages at the relay'
echo "$kills kills, each photo once and in order"
