# Photos of another person's Matrix client are received, from a bridge's drops and from the room; tampered ones are
# refused. A refused token is reported, and replaced without a restart.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact bob > token)
configure < <(
  matrix_settings true
  echo 'receiving: {fetch: always}'
  echo 'delivery: {backoff: {first: 10ms, longest: 200ms}}'
)

noise 900x700 photo.jpg
mkdir drops objects
tool send_photo.py objects address: drops <<EOF
dropped family matrix photo.jpg
dropped-plain family plain photo.jpg
away family matrix photo.jpg
sealed family matrix photo.jpg
plain family plain photo.jpg
tampered family matrix photo.jpg tampered
digest family matrix photo.jpg digest
key family matrix photo.jpg key
length family matrix photo.jpg length
short-key family matrix photo.jpg short-key
EOF
echo 'no photo at all' > objects/text
# Alice's client uploads what it sealed, and says where it is.
declare -A address
for object in objects/*; do
  uri=$(upload "$object")
  address[${object#objects/}]=$uri
  sed -i "s|address:/${object#objects/}\"|$uri\"|" drops/*/attachment
  expect "$(curl -s -o /dev/null -w '%{http_code}' \
    "$endpoint/_matrix/client/v1/media/download/${uri#mxc://}")" 401 'media without a token'
done

received() { "$photospool" photos --received --json; }
# member NAME MEMBER: of a photo that was dropped, or said, as that.
declare -A event
member() { received | jq -r "select(.remote == \"${event[$1]:-$1}\") | .$2"; }
is_state() { [ "$(member "$1" state)" = "$2" ]; }
# is_whole NAME: it can be revealed, and is the photo.
is_whole() {
  wait_until is_state "$1" downloaded
  "$photospool" reveal "${event[$1]:-$1}" > /dev/null
  shows "$("$photospool" view "${event[$1]:-$1}")" photo.jpg
}

start_daemon
wait_for_line start.log event=listening
mv drops/dropped drops/dropped-plain "$spool/incoming/new/"
is_whole dropped
is_whole dropped-plain

# Messages in the room; some are no photo, or not the one that was announced.
for name in sealed plain tampered digest key length short-key; do
  content=$(jq -c .content "drops/$name/attachment")
  [ $name != length ] || content=$(jq -c '.info.size = 10' <<< "$content")
  event[$name]=$(say "$name" "$content")
done
event[type]=$(say type "{\"msgtype\": \"m.file\", \"body\": \"photo.jpg\", \"url\": \"${address[text]}\",
  \"info\": {\"mimetype\": \"image/jpeg\"}}")
# Neither of these is a photo.
say document "{\"msgtype\": \"m.file\", \"body\": \"notes.txt\", \"url\": \"${address[text]}\"}" > /dev/null
say words '{"msgtype": "m.text", "body": "Nice!"}' > /dev/null
# His own are not received.
"$photospool" send --to family --photo photo.jpg --wait > /dev/null
event[last]=$(say last "$(jq -c '{msgtype: "m.image", body: "photo.jpg", url: .content.url}' drops/plain/attachment)")
for name in sealed plain last; do is_whole $name; done
for pair in tampered=digest_mismatch digest=digest_mismatch key=decryption_failed length=too_large \
  type=unsupported_image; do
  wait_until is_state "${pair%=*}" failed
  expect "$(member "${pair%=*}" cause)" "${pair#*=}" "${pair%=*}"
done
wait_for_line start.log 'cannot be received.*the key does not have 32 bytes'
expect "$(received | wc -l)" $((2 + 8)) 'only photos of others are received'
expect "$(ls "$spool/photos/default/family" | wc -l)" $((2 + 3 + 1)) 'nothing is left of what was refused'

# Photos that matrix-nio uploads, seals and sends by itself.
tool send_room.py "$endpoint" @alice:localhost "$(fact alice)" "$room" \
  plain=photo.jpg sealed=photo.jpg > events || fail "$(cat events)"
expect "$(wc -l < events)" 2
while read -r remote; do
  is_whole "$remote"
  expect "$(member "$remote" sender)" @alice:localhost
done < events

# The homeserver is down: requests dropped meanwhile wait for it.
order kill
mv drops/away "$spool/incoming/new/"
wait_for_line start.log 'a photo waits.*cause=unreachable'
order start
is_whole away

# The token is refused.
cp token good
echo syt_wrong > token
kill -HUP "$daemon"
wait_for_line start.log 'nothing is heard.*cause=auth_expired'
must_print 'network matrix: nothing is heard: .*does not accept the access token' queue
must_print 'photospool_listening{network="matrix"} 0' metrics
cp good token
event[meanwhile]=$(say meanwhile "$(jq -c '{msgtype: "m.image", body: "photo.jpg", url: .content.url}' drops/plain/attachment)")
kill -HUP "$daemon"
is_whole meanwhile
must_print 'photospool_listening{network="matrix"} 1' metrics
must_print 'listening to matrix: listens' check
! grep -rq "$(cat token)" "$spool/incoming" start.log || fail 'the token is in a file'
wait_until are_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
stop_daemon
