# A draft's photo is prepared, sealed and uploaded before Send, seen by nobody, and published once after Send.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/drafts.sh"

start_daemon

# Uploaded before Send, and seen by nobody; it delays nothing in its conversation.
draft cat family 0.jpg
uploaded cat
expect "$(objects | wc -l)" 1
[ ! -e "$spool/published/family.jsonl" ] || fail 'published before Send'
ahead=$(objects)
drop before family 'sent before the draft'
"$photospool" wait --timeout 60 before
expect "$("$photospool" queue --json | jq -r '.request + " " + .kind + " " + .state')" 'cat photo uploaded'
must_print '^cat .* draft uploaded ' queue
expect "$("$photospool" show cat | head -n 1)" 'cat: draft'
expect "$("$photospool" show cat --json | jq -r .state)" draft
expect "$("$photospool" shape | grep -c family)" 0

# The text is added, the rename is Send, and the object is the one that was there.
echo 'Check this out!' > "$spool/draft/cat/text"
before=$(date +%s%3N)
mv "$spool/draft/cat" "$spool/new/cat"
"$photospool" wait --timeout 60 cat
after=$(date +%s%3N -d "$(published family | jq -r 'select(.kind == "photo") | .publishedAt')")
echo "published $((after - before)) ms after Send"
expect "$(published family | jq -r '.text // .kind' | paste -sd' ')" 'sent before the draft photo Check this out!'
expect "$(digests family)" "$ahead"
expect "$(grep -c 'event=uploaded .*request=cat' start.log)" 1
wait_until leaves 1

# `send --draft` prints the name; with the daemon down, too.
stop_daemon
name=$("$photospool" send --draft --to family --photo 1.jpg --text 'by send')
[ -d "$spool/draft/$name" ] || fail "no draft $name"
expect "$("$photospool" queue --json | jq -r .request)" "$name"
ends 64 send --draft --wait --to family --text x
start_daemon
uploaded "$name"
send_draft "$name"
expect "$(published family | tail -n 1 | jq -r .text)" 'by send'
wait_until leaves 2
stop_daemon
