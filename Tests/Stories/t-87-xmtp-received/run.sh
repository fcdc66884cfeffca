# Photos that another person's client announces on XMTP are received; one whose object is another is refused.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/xmtp.sh"

start_server object_server.py
(umask 077; printf '%064d\n' 6 > key)
settings() { configure < <(xmtp_settings "$xmtp" key 'listen: true'; printf '%s\n' 'receiving: {allowPrivate: true}' "$@"); }
noise 300x200 photo.jpg
state() { "$photospool" photos --received --json | jq -r "select(.remote == \"$1\") | .$2" | paste -sd' '; }
is_state() { [ "$(state "$1" state)" = "$2" ]; }

settings
meet
ben=$(checked_inbox out.log)
settings "routes: [{conversation: family, network: xmtp, as: \"group:$group\"}]"
start_daemon
# He has written there himself, so photos of the conversation are fetched.
"$photospool" send --to family --photo photo.jpg --wait > name

# Contents that XMTP's own bindings encode: one photo, two in one message, one whose object is another; and a text.
mkdir drops
tool send_photo.py "$(fact directory)" "$(fact endpoint)/plain" drops <<SENT
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
wait_until is_state "$single" downloaded
wait_until is_state "$several" 'downloaded downloaded'
wait_until is_state "$bad" failed
expect "$(state "$bad" cause)" digest_mismatch
expect "$("$photospool" photos --received --json | jq -r .remote | paste -sd' ')" "$single $several $several $bad" 'none of his own'
# An unknown person writes to him alone: the photo is listed and not fetched.
ask READER '{"do": "who"}'
stranger=$(jq -r .inbox <<< "$answer")
ask READER "{\"do\": \"direct\", \"with\": \"$ben\"}"
ask READER "{\"do\": \"send\", \"to\": $(jq .group <<< "$answer"), \"attachments\": [$(cat drops/one/attachment)]}"
direct=$(jq -r .message <<< "$answer")
wait_until is_state "$direct" offered
expect "$(state "$direct" conversation)" "dm:$stranger"
# In a group the sender is known.
expect "$(state "$single" sender)" "$stranger"
stop_daemon
is_empty "$spool"/incoming/{new,cur,tmp,failed}
expect "$(stored)" 5 'messages at the relay'
