# Another member of a group on XMTP gets each change of a profile photo once and can open it, wherever the daemon is
# killed.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/xmtp.sh"
. "$here/lib/profile.sh"

(umask 077; printf '%064d\n' 6 > key)
# settings LINE...: with these lines behind the sections that never change.
settings() { configure < <(xmtp_settings "$halting" key; printf '%s\n' "$@"); }

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
  expect "$(stored)" "$1" "$2: messages"
}

# app_data TEXT: what the app keeps with the group.
app_data() { ask READER "{\"do\": \"appData\", \"group\": \"$group\", \"text\": \"$1\"}"; }

next_photo() { noise 700x500 me.jpg; }

settings
meet
has out.log 'profile photos: none, .* `profile.conversation` can name a group'
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
printf 'no photo' > broken.jpg

# Without a group, or without a key of it, a change is refused before anything is uploaded. It can be tried again.
start_daemon
refused 'name the group in `profile.conversation`' planted.jpg
stop_daemon
settings "routes: [{conversation: family, network: xmtp, as: \"group:$group\"}]" 'profile: {conversation: family}'
start_daemon
refused "group:$group has no image key yet; let a member set a photo in the Convos app" planted.jpg
expect "$(objects)" '' 'nothing is uploaded'
image_key=$("$python" -c 'import os; print(os.urandom(32).hex())')
packed=$(tool pack_image_key.py "$image_key")
app_data "$packed"
name=$(cat name)
"$photospool" retry "$name" > retry.log
"$photospool" wait --timeout 120 "$name" || fail 'not set after the group has a key'
! grep -q MARKER "$(show .path)" || fail 'the profile photo has metadata'
seen 1 'the first'
wait_until_swept 'the first'

# The next change replaces it; a failed one does not.
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
for moment in "${moments[@]}"; do
  start_daemon
  halt_at "$moment"
  next_photo
  name=$("$photospool" profile set me.jpg)
  until_halted "$moment"
  kill_daemon
  let_go "$moment"
  start_daemon
  "$photospool" wait --timeout 60 "$name" || fail "killed $moment: not set"
  count=$((count + 1))
  seen $count "killed $moment"
  wait_until_swept "killed $moment"
  expect "$("$photospool" show "$name" --json | jq -r '.messages[0].photo.url')" "$(show .url)" "killed $moment"
  stop_daemon
done

# The removal is an empty update, and is published once, too.
start_daemon
"$photospool" profile remove --wait > name
count=$((count + 1))
updates
expect "$(wc -l < updates.jsonl) $(tail -n 1 updates.jsonl | jq -c .profile)" "$count {}"
expect "$(show .state)" removed
wait_until_swept 'removed'
is_empty "$spool/new" "$spool/cur" "$spool/tmp"
echo "$count changes, each told once, 6 of them killed on the way"
