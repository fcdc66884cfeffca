# The profile photo of an inbox in a group on XMTP, the photo by way of an S3 service behind TLS. Another member's client, which
# is not ours, gets each change once, fetches the photo's object and opens it with the group's image key, wherever the daemon was
# killed. The object before goes after the change and not without one; a group without an image key is refused.
. "$(dirname "$0")/../lib/library.sh"

start_server seaweedfs.py public
s3=$(fact endpoint)
(umask 077; fact accessKey > access; fact secretKey > secret; printf '%064d\n' 6 > key)
start_server tls_server.py "$s3"
authority=$(fact authority) store=$(fact good)
start_script NODE xmtp_relay.py
ask NODE '{"do": "endpoint"}'
node=$(jq -r .endpoint <<< "$answer")
mkdir reader
SSL_CERT_FILE=$authority start_script READER xmtp_reader.py "$node" reader
halting=$(realpath "$here/../Support/python/xmtp_halting.py")

# configure LINE...: with these lines behind the sections that never change.
configure() {
  cat > photospool.yaml <<YAML
store: {type: s3, endpoint: "$store", bucket: photos, accessKeyFile: access, secretKeyFile: secret}
network: {type: xmtp, endpoint: "$node", insecure: true, keyFile: key, program: "$halting", python: "$(command -v "$python")"}
http: {authorityFile: "$authority"}
YAML
  printf '%s\n' "$@" >> photospool.yaml
}
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml

show() { "$photospool" profile show --json | jq -r "$1"; }
objects() { tool sigv4.py list "$s3/photos" us-east-1 "$(cat access)" "$(cat secret)"; }

# wait_until_swept WHERE: the service has the object of the profile photo and no other; the deletion follows the change by itself.
wait_until_swept() {
  local end=$((SECONDS + 30)) want
  want=$(show '.url // "" | split("/") | last // ""')
  until [ "$(objects)" = "$want" ]; do
    [ "$SECONDS" -lt "$end" ] || fail "$1: the service has $(objects), and the profile photo is $want"
    sleep 0.05
  done
}

# updates: the changes that the member has got, one a line.
updates() {
  ask READER '{"do": "read"}'
  jq -c '.messages[] | select(.type == "profile_update")' <<< "$answer" > updates.jsonl
  expect "$(jq -r .id updates.jsonl | sort | uniq -d)" '' 'told twice'
}

# seen COUNT WHERE: the member has got so many changes, and the last one shows the photo that was set.
seen() {
  updates
  expect "$(wc -l < updates.jsonl)" "$1" "$2: changes"
  expect "$(tail -n 1 updates.jsonl | jq -r .profile.url)" "$(show .url)" "$2: url"
  ask READER "{\"do\": \"openProfile\", \"key\": \"$image_key\", \"profile\": $(tail -n 1 updates.jsonl | jq -c .profile)}"
  expect "$(jq -r .sha256 <<< "$answer")" "$(sha256sum "$(show .path)" | cut -d' ' -f1)" "$2: photo"
  ask NODE "{\"do\": \"stored\", \"group\": \"$group\"}"
  expect "$(jq .stored <<< "$answer")" "$1" "$2: messages"
}

# app_data TEXT: what the app keeps with the group.
app_data() { ask READER "{\"do\": \"appData\", \"group\": \"$group\", \"text\": \"$1\"}"; }

next_photo() { noise 700x500 me.jpg; }

# refused CAUSE FILE: the change fails for that, and what was before is left.
refused() {
  local status=0
  "$photospool" profile set "$2" --wait > name 2> wait.log || status=$?
  expect "$status" 69
  grep -q "$1" "$spool/failed/$(cat name)/error" || fail "error: $(cat "$spool/failed/$(cat name)/error")"
}

# The check registers the identity, so that somebody can add it to a group.
configure
start_daemon
stop_daemon
"$photospool" check > check.log || fail "check: $(cat check.log)"
grep -q 'profile photos: none, .* `profile.conversation` can name a group' check.log || fail "check says: $(cat check.log)"
inbox=$(sed -n 's/^network xmtp: publishes on XMTP as the inbox \([0-9a-f]\{64\}\), .*/\1/p' check.log)
ask READER "{\"do\": \"group\", \"with\": \"$inbox\"}"
group=$(jq -r .group <<< "$answer")
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
printf 'no photo' > broken.jpg

# No group is named, and then one that has no key: refused before anything is uploaded. The failed change can be tried again.
start_daemon
refused 'name the group in `profile.conversation`' planted.jpg
stop_daemon
configure "routes: [{conversation: family, network: xmtp, as: \"group:$group\"}]" 'profile: {conversation: family}'
start_daemon
refused "group:$group has no image key yet; let a member set a photo in the Convos app" planted.jpg
expect "$(objects)" '' 'nothing is uploaded'
image_key=$("$python" -c 'import os; print(os.urandom(32).hex())')
packed=$("$python" - "$image_key" <<'PY'
import base64, sys, zlib
metadata = b"\x0a\x03tag" + b"\x12\x22\x0a\x20" + bytes(32) + b"\x22\x20" + bytes.fromhex(sys.argv[1])
packed = b"\x1f" + len(metadata).to_bytes(4, "big") + zlib.compress(metadata)
print(base64.urlsafe_b64encode(packed).decode().rstrip("="))
PY
)
app_data "$packed"
name=$(cat name)
"$photospool" retry "$name" > retry.log
"$photospool" wait --timeout 120 "$name" || fail 'not set after the group has a key'
! grep -q MARKER "$(show .path)" || fail 'the profile photo has metadata'
seen 1 'the first'
wait_until_swept 'the first'

# The next one takes its place; what fails does not.
next_photo
"$photospool" profile set me.jpg --wait > name
seen 2 'the second'
wait_until_swept 'the second'
refused 'not an image' broken.jpg
app_data ''
refused 'has no image key yet' me.jpg
app_data "$packed"
seen 2 'after failures'
wait_until_swept 'after failures'

# The node goes away, and the change waits for it.
ask NODE '{"do": "down"}'
next_photo
name=$("$photospool" profile set me.jpg)
wait_for_line start.log 'event="destination waits" .*destination=xmtp '
ask NODE '{"do": "up"}'
"$photospool" wait --timeout 120 "$name" || fail 'not set once the node is back'
seen 3 'the node was away'
wait_until_swept 'the node was away'
stop_daemon

# Killed between upload and publication, and around them.
count=3
for moment in 'before reserve' 'after reserve' 'before publish' 'after publish' before after; do
  start_daemon
  case $moment in
    before | after) ask NODE "{\"do\": \"hold\", \"when\": \"$moment\"}" ;;
    *) echo "$moment" > halt ;;
  esac
  next_photo
  name=$("$photospool" profile set me.jpg)
  case $moment in
    before | after) ask NODE '{"do": "held"}' ;;
    *) wait_for_line start.log 'line=halted' ;;
  esac
  : > halt
  kill_daemon
  case $moment in
    before) ask NODE '{"do": "drop"}' ;;
    after) ask NODE '{"do": "release"}' ;;
  esac
  start_daemon
  "$photospool" wait --timeout 60 "$name" || fail "killed $moment: not set"
  count=$((count + 1))
  seen $count "killed $moment"
  wait_until_swept "killed $moment"
  expect "$("$photospool" show "$name" --json | jq -r '.messages[0].photo.url')" "$(show .url)" "killed $moment"
  stop_daemon
done

# The removal is an update with nothing in it, and is told once, too.
start_daemon
"$photospool" profile remove --wait > name
count=$((count + 1))
updates
expect "$(wc -l < updates.jsonl) $(tail -n 1 updates.jsonl | jq -c .profile)" "$count {}"
expect "$(show .state)" removed
wait_until_swept 'removed'
is_empty "$spool/new" "$spool/cur" "$spool/tmp"
echo "$count changes, each told once, 6 of them killed on the way"
