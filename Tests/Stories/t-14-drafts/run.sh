# A draft's photo is prepared, sealed and uploaded before Send, and Send publishes it once; a draft that is changed,
# removed, replaced or cancelled, and a daemon that is killed meanwhile, leave nothing that nobody was sent.
. "$(dirname "$0")/../lib/library.sh"

"$python" - <<'PYTHON'
from PIL import Image
for number in range(3):
    Image.effect_noise((900, 700), 40 + 20 * number).convert("RGB").save(f"{number}.jpg", quality=90)
PYTHON
printf 'intake:\n  rescan: 2s\n' > photospool.yaml
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml

objects() { ls -A "$spool/objects"; }
# What nobody was sent leaves no object, no cached photo and no row.
leaves() {
  [ "$(objects | wc -l)" = "$1" ] && [ "$(find "$spool/photos" -type f | wc -l)" = "$((3 * $1))" ] \
    && [ "$(ledger "SELECT count(*) FROM uploads WHERE state <> 'published'")" = 0 ] \
    && [ "$(ledger "SELECT count(*) FROM photos")" = "$1" ] \
    && [ "$(ledger "SELECT count(*) FROM requests WHERE state IN ('draft', 'abandoned')")" = 0 ] \
    && [ "$(ledger "SELECT count(*) FROM messages WHERE draft = 1")" = 0 ]
}
# all_uploaded COUNT: so many photos of drafts are in the store.
all_uploaded() { [ "$(ledger "SELECT count(*) FROM messages WHERE draft = 1 AND state = 'uploaded'")" = "$1" ]; }
# draft NAME CONVERSATION PHOTO...: as any shell script drops one.
draft() {
  local name=$1 to=$2
  shift 2
  mkdir "$spool/tmp/$name"
  echo "$to" > "$spool/tmp/$name/to"
  cp "$@" "$spool/tmp/$name/"
  for photo in "$@"; do mv "$spool/tmp/$name/$photo" "$spool/tmp/$name/photo-$photo"; done
  mv "$spool/tmp/$name" "$spool/draft/"
}
uploaded() { wait_for_line start.log "event=uploaded .*request=$1 "; }
digests() { published "$1" | jq -r 'select(.kind == "photo") | .attachment.contentDigest'; }

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
"$photospool" queue | grep -q '^cat .* draft uploaded ' || fail "queue does not say draft: $("$photospool" queue)"
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

# Removed: nothing is left. A file of cancel/ and the command do it, too.
draft removed family 1.jpg 2.jpg
wait_until all_uploaded 2
rm -r "$spool/draft/removed"
wait_until leaves 1
draft cancelled family 1.jpg
uploaded cancelled
expect "$("$photospool" cancel cancelled)" 'cancelled: cancelled; nothing of it was published'
[ ! -e "$spool/draft/cancelled" ] || fail 'the cancelled draft is still there'
wait_until leaves 1
draft named family 1.jpg
uploaded named
echo named > "$spool/cancel/please"
wait_until leaves 1
[ ! -e "$spool/draft/named" ] || fail 'the draft that cancel/ names is still there'
draft back family 1.jpg
uploaded back
mv "$spool/draft/back" "$spool/tmp/back"
wait_until leaves 1
expect "$(ls "$spool/tmp/back" | paste -sd' ')" 'photo-1.jpg to' 'what its client took back'
rm -r "$spool/tmp/back"

# Another photo is picked: the first draft goes, with its directory. Other people's and what was sent stay.
draft first family 0.jpg
draft other friends 1.jpg
uploaded first
uploaded other
sent=$(objects)
mv "$spool/draft/other" "$spool/new/other"
draft second family 2.jpg
draft third friends 2.jpg
uploaded second
uploaded third
wait_until test ! -e "$spool/draft/first"
"$photospool" wait --timeout 60 other
expect "$(ls "$spool/draft" | paste -sd' ')" 'second third'
mv "$spool/draft/second" "$spool/draft/third" "$spool/new/"
"$photospool" wait --timeout 60 second third
wait_until leaves 4
expect "$(digests friends | wc -l)" 2

# Changed before Send: what is published is what was sent, and the photo that stayed is not uploaded again.
draft changed album 0.jpg 1.jpg 2.jpg
wait_until all_uploaded 3
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/draft/changed/photo-0.jpg"
rm "$spool/draft/changed/photo-1.jpg"
mv "$spool/draft/changed" "$spool/new/changed"
"$photospool" wait --timeout 60 changed
expect "$(digests album | wc -l)" 2
expect "$(grep -c 'event=uploaded .*request=changed' start.log)" 4
expect "$(published album | head -n 1 | jq -r .attachment.width)" \
  "$(ledger "SELECT p.width FROM photos p JOIN messages m ON m.message = p.message JOIN requests r ON r.id = m.request_id WHERE r.request = 'changed' AND m.file = 'photo-0.jpg'")"
[ "$(published album | head -n 1 | jq -r .attachment.width)" != 900 ] || fail 'the old photo was published'
wait_until leaves 6
# The same while it lies in draft/: the next look finds it.
draft mended album 0.jpg
uploaded mended
cp 1.jpg "$spool/draft/mended/photo-0.jpg"
wait_for_line start.log 'event="draft changed" request=mended'
wait_until all_uploaded 1
expect "$(grep -c 'event=uploaded .*request=mended' start.log)" 2
mv "$spool/draft/mended" "$spool/new/renamed"
"$photospool" wait --timeout 60 renamed
wait_until leaves 7

# What cannot be sent stays where it is, with a word in the log, and is looked at again when it has changed.
mkdir "$spool/tmp/bad"; cp 0.jpg "$spool/tmp/bad/photo"; mv "$spool/tmp/bad" "$spool/draft/bad"
wait_for_line start.log 'event="the draft cannot be sent as it is" request=bad error="the request has no file named to'
echo album > "$spool/draft/bad/to"
uploaded bad
expect "$("$photospool" cancel bad)" 'bad: cancelled; nothing of it was published'
printf 'no photo at all' > bad.jpg
draft broken album bad.jpg
wait_for_line start.log "event=\"a draft's photo cannot be sent\""
[ -d "$spool/draft/broken" ] || fail 'the broken draft is gone'
mv "$spool/draft/broken" "$spool/new/broken"
status=0; "$photospool" wait --timeout 60 broken 2> wait.log || status=$?
expect "$status" 69
[ -s "$spool/failed/broken/error" ] || fail 'no error for a broken draft that was sent'
rm -r "$spool/failed/broken"

# `send --draft` prints the name; with the daemon down, too.
stop_daemon
name=$("$photospool" send --draft --to family --photo 1.jpg --text 'by send')
[ -d "$spool/draft/$name" ] || fail "no draft $name"
expect "$("$photospool" queue --json | jq -r .request)" "$name"
status=0; "$photospool" send --draft --wait --to family --text x 2> wait.log || status=$?
expect "$status" 64
start_daemon
uploaded "$name"
mv "$spool/draft/$name" "$spool/new/$name"
"$photospool" wait --timeout 60 "$name"
expect "$(published family | tail -n 1 | jq -r .text)" 'by send'
wait_until leaves 8
stop_daemon

# Killed at random moments, and removed or replaced while no daemon runs.
rm -rf "$spool"
start_daemon
draft lost family 2.jpg
for round in $(seq 1 10); do
  [ "$round" != 5 ] || draft kept family 0.jpg 1.jpg
  # A random moment is what is wanted here, not a wait for something.
  read -r -t "0.$((RANDOM % 300 + 100))" < <(tail -f /dev/null --pid=$$) || true
  kill_daemon
  start_daemon
done
wait_until all_uploaded 2
expect "$(ls "$spool/draft")" kept
kill_daemon
echo hello > "$spool/draft/kept/text"
mv "$spool/draft/kept" "$spool/new/kept"
start_daemon
"$photospool" wait --timeout 60 kept
expect "$(published family | jq -r .kind | paste -sd' ')" 'photo photo text'
wait_until leaves 2
expect "$(objects | paste -sd' ')" "$(digests family | sort | paste -sd' ')"
draft gone family 2.jpg
uploaded gone
kill_daemon
rm -r "$spool/draft/gone"
start_daemon
wait_until leaves 2
draft down family 2.jpg
uploaded down
stop_daemon
expect "$("$photospool" cancel down)" 'down: cancelled; nothing of it was published'
[ ! -e "$spool/draft/down" ] || fail 'the draft that was cancelled without a daemon is still there'
start_daemon
wait_until leaves 2
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/draft"
[ ! -e "$spool/state/trash" ] || is_empty "$spool/state/trash"
