# Photo and text are documents in the fields of an app on Firebase, which Google's own client reads in order, once each: also
# when eight daemons publish the same messages, and when the app's security rules look on.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/firebase.sh"

configure < <(firebase_settings)
# Variables that Google's own clients obey do not lead it elsewhere.
start_daemon FIRESTORE_EMULATOR_HOST=127.0.0.1:1 STORAGE_EMULATOR_HOST=http://127.0.0.1:1 \
  FIREBASE_STORAGE_EMULATOR_HOST=127.0.0.1:1 GOOGLE_APPLICATION_CREDENTIALS=/nowhere GOOGLE_CLOUD_PROJECT=other
"$photospool" check > check.log || fail "check: $(cat check.log)"
has check.log 'photos are NOT sealed'
has check.log 'above security rules, to the emulator of Firestore at'
has check.log 'the emulator of Cloud Storage at .* has the bucket'

# Photo then text, field by field, with the conversation's summary.
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
ask READER "{\"do\": \"set\", \"path\": \"conversations/family\", \"fields\": {\"name\": \"Family\", \"lastMessageId\": \"\"}}"
drop cat family 'Check this out!' planted.jpg
"$photospool" wait --timeout 120 cat
read_conversation family
expect "$(jq -c '.fields | keys' seen.jsonl | paste -sd' ')" \
  '["attachments","photospool","senderId","status","timestamp"] ["attachments","photospool","senderId","status","text","timestamp"]'
expect "$(jq -c '.fields | [.senderId, .status, .text, (.attachments | length)]' seen.jsonl | paste -sd' ')" \
  '["default","sent",null,1] ["default","sent","Check this out!",0]'
expect "$(jq -c '.id' seen.jsonl)" "$(jq -c '.fields.photospool.message' seen.jsonl)"
ids=$("$photospool" show cat --json | jq -r '.messages[].message')
expect "$(jq -r .id seen.jsonl)" "$ids"
expect "$(jq -r '.conversation | "\(.name) \(.lastMessageId)"' <<< "$answer")" "Family $(tail -n 1 <<< "$ids")"
jq -c '.fields.attachments[0] // empty' seen.jsonl > attachment.json
expect "$(jq -c keys attachment.json)" '["id","sizeBytes","thumbnailURL","type","url"]'
url=$(jq -r .url attachment.json)
[[ $url =~ ^$storage/v0/b/photos/o/images%2Ffamily%2F[0-9a-f]{32}%2Fimage\.jpg\?alt=media\&token=[0-9a-f-]{36}$ ]] || fail "the address is $url"
object "$url" > sent.jpg
expect "$(jq -r '"\(.type) \(.sizeBytes) \(.thumbnailURL)"' attachment.json)" "image $(stat -c %s sent.jpg) $url"
expect "$(identify -format '%wx%h' sent.jpg)" 1920x1440
[ "$(stat -c %s sent.jpg)" -le 2000000 ] || fail 'the photo is too large'
is_bare sent.jpg
cmp sent.jpg "$spool"/photos/default/family/*/original.jpg
[ -s "$(echo "$spool"/photos/default/family/*/thumbnail.jpg)" ] || fail 'there is no thumbnail'
expect "$(jq -r '.fields.photospool.attachment.contentDigest // empty' seen.jsonl)" "$(sha256sum sent.jpg | cut -d' ' -f1)"

# Nobody else can create such a document, and the other participant hears of a new one.
ask READER "{\"do\": \"create\", \"conversation\": \"family\", \"id\": \"$(head -n 1 <<< "$ids")\"}"
expect "$(jq -r .error <<< "$answer")" AlreadyExists
ask READER '{"do": "listen", "conversation": "family"}'
moment=$EPOCHREALTIME
drop heard family 'Do you hear me?'
ask READER '{"do": "heard", "text": "Do you hear me?"}'
echo "heard $(jq "(.at - $moment) * 1000 | round" <<< "$answer") ms after Send"

# A photo is cancelled while the store does not answer.
kill -STOP "$storage_process"
drop regretted family 'Not this one!' planted.jpg
wait_for_line start.log 'event=accepted.*request=regretted'
is_uploading() { prints '"state" *: *"uploading"' queue --json --to family; }
wait_until is_uploading
moment=$EPOCHREALTIME
"$photospool" cancel regretted > cancel.log
echo "cancelled $(jq -n "($EPOCHREALTIME - $moment) * 1000 | round") ms after the command began"
has cancel.log 'nothing of it was published'
kill -CONT "$storage_process"

# Firestore cannot be reached. Requests that are dropped meanwhile use up no attempts, and go out in order when it recovers.
order_firestore kill
for number in 1 2 3; do drop "away-$number" away "away $number"; done
wait_for_line start.log 'event="destination waits" cause=unreachable destination=firestore '
order_firestore start
"$photospool" wait --timeout 120 away-1 away-2 away-3
for number in 1 2 3; do
  expect "$("$photospool" show "away-$number" --json | jq '[.messages[].attempts | length] | max <= 1')" true "away-$number"
done
read_conversation away
expect "$(jq -r .fields.text seen.jsonl | paste -sd,)" 'away 1,away 2,away 3'
stop_daemon

# Eight daemons with the same accepted request: each says that it is sent, and it is there once.
start_daemon
"$photospool" hold eight
noise 300x200 photo.jpg
drop e eight 'eight of us' photo.jpg
wait_for_line start.log 'event=accepted.*request=e'
stop_daemon
processes=()
for number in {1..8}; do
  cp -a "$spool" "spool-$number"
  PHOTOSPOOL_SPOOL=$PWD/spool-$number "$photospool" run > "run-$number.log" 2>&1 &
  processes+=($!)
done
for number in {1..8}; do
  wait_for_line "run-$number.log" event=ready
  PHOTOSPOOL_SPOOL=$PWD/spool-$number "$photospool" release eight &
done
for number in {1..8}; do PHOTOSPOOL_SPOOL=$PWD/spool-$number "$photospool" wait --timeout 120 e; done
kill -TERM "${processes[@]}"
wait "${processes[@]}"
read_conversation eight
expect "$(jq -r '.fields.text // "photo"' seen.jsonl | paste -sd,)" 'photo,eight of us'
url=$(jq -r '.fields.photospool.attachment.url // empty' seen.jsonl)
[ -n "$(object "$url" | identify -format %w -)" ] || fail 'the photo is not there'
for number in {1..8}; do
  expect "$(PHOTOSPOOL_SPOOL=$PWD/spool-$number "$photospool" show e --json | jq -r '.messages[0].photo.url')" "$url" "daemon $number"
done

# With the app's security rules, as one of its users: a token endpoint verifies the account's key and gives a user's token.
user=$(printf '{"sub":"default","user_id":"default","aud":"%s"}' "$project" | base64 -w 0 | tr -d = | tr '/+' '_-')
start_server token_endpoint.py "$(printf '{"alg":"none","typ":"JWT"}' | base64 -w 0 | tr -d =).$user."
for conversation in club strangers; do
  members=$([ $conversation = club ] && echo '["default", "mina"]' || echo '["mina"]')
  ask READER "{\"do\": \"set\", \"path\": \"conversations/$conversation\", \"fields\": {\"members\": $members}}"
done
jq -Rs '{rules: {files: [{name: "firestore.rules", content: .}]}}' > rules.json <<'RULES'
rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents/conversations/{conversation} {
    function isMember() {
      return request.auth.uid in get(/databases/$(database)/documents/conversations/$(conversation)).data.members;
    }
    allow update: if isMember();
    match /messages/{message} {
      allow read: if isMember();
      allow create: if isMember() && request.resource.data.senderId == request.auth.uid;
    }
  }
}
RULES
curl -sf -X PUT -H 'Content-Type: application/json' -d @rules.json \
  "$firestore/emulator/v1/projects/$project:securityRules" > /dev/null
configure < <(firebase_settings "$(fact keyFile)")
start_daemon
drop member club 'Hello, club!' photo.jpg
drop stranger strangers 'Let me in!'
"$photospool" wait --timeout 60 member
ends 69 wait --timeout 60 stranger
has "$spool/failed/stranger/error" 'does not let the account write there (403 PERMISSION_DENIED)'
ends 69 send --wait --from mina --to club --text 'I am mina'
stop_daemon
expect "$(curl -s "$(fact endpoint)" | jq -r '.[].verdict' | sort -u)" verified
read_conversation club
expect "$(jq -r '.fields.text // "photo"' seen.jsonl | paste -sd,)" 'photo,Hello, club!'
expect "$(jq -r '.conversation.lastMessageId != null' <<< "$answer")" true
read_conversation strangers
expect "$(wc -l < seen.jsonl)" 0
