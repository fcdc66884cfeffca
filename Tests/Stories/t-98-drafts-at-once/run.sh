# A photo that is added to a draft, or removed from it, is noticed at once: no scan takes place before the end of the story.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/drafts.sh"

configure <<< 'intake: {rescan: 1d}'
has_objects() { [ "$(objects | wc -l)" = "$1" ]; }
# holds COUNT: the drafts have so many photos, and the store has these only.
holds() { all_uploaded "$1" && has_objects "$1"; }
renamed_photo() { [ "$(ledger "SELECT count(*) FROM messages WHERE draft = 1 AND file = 'photo-3.jpg' AND state = 'uploaded'")" = 1 ]; }
start_daemon

# Two drafts at once: photos are added by copying, by a rename, and under another name, and removed.
draft family family 0.jpg
draft friends friends 0.jpg
wait_until holds 2
cp 1.jpg "$spool/draft/family/photo-1.jpg"
cp 1.jpg "$spool/draft/friends/photo-1.jpg"
wait_until holds 4
cp 2.jpg "$spool/tmp/2.jpg"
mv "$spool/tmp/2.jpg" "$spool/draft/family/photo-2.jpg"
wait_until holds 5
rm "$spool/draft/friends/photo-0.jpg"
wait_until holds 4
# The log follows the ledger.
uploads() { [ "$(grep -c 'event=uploaded .*request=family' start.log) $(grep -c 'event=uploaded .*request=friends' start.log)" = "$1" ]; }
wait_until uploads '3 2'
mv "$spool/draft/family/photo-0.jpg" "$spool/draft/family/photo-3.jpg"
wait_until renamed_photo
wait_until holds 4

# A text changes nothing before Send.
ahead=$(objects)
changes=$(grep -c 'event="draft changed"' start.log)
echo 'Look!' > "$spool/draft/family/text"
echo 'All of you!' > "$spool/tmp/text"
mv "$spool/tmp/text" "$spool/draft/friends/text"

# A photo that is still being written waits until it is closed, and nobody complains.
exec {half}> "$spool/draft/friends/photo-2.jpg"
head -c 1000 2.jpg >&"$half"
rm "$spool/draft/family/photo-1.jpg"
wait_until holds 3
tail -c +1001 2.jpg >&"$half"
exec {half}>&-
wait_until holds 4
expect "$(grep -c 'event="draft changed"' start.log)" $((changes + 2))
expect "$(comm -13 <(sort <<< "$ahead") <(objects | sort) | wc -l)" 1 'new objects'
if grep "level=warning" start.log | grep -v "running as root"; then fail 'a warning'; fi

# Send: one message each, in order, with the objects that were there.
for name in family friends; do send_draft "$name"; done
expect "$(published family | jq -r '.text // .kind' | paste -sd' ')" 'photo photo Look!'
expect "$(published friends | jq -r '.text // .kind' | paste -sd' ')" 'photo photo All of you!'
expect "$({ digests family; digests friends; } | sort | paste -sd' ')" "$(objects | sort | paste -sd' ')"
wait_until leaves 4

# A draft whose last photo is removed keeps nothing in the store, and goes on with the next photo.
draft again family 0.jpg
wait_until all_uploaded 1
rm "$spool/draft/again/photo-0.jpg"
wait_until leaves 4
cp 1.jpg "$spool/draft/again/photo-1.jpg"
wait_until all_uploaded 1
# It is found under its new name, too, and after that at once.
mv "$spool/draft/again" "$spool/draft/renamed"
wait_for_line start.log 'event=uploaded .*request=renamed'
cp 2.jpg "$spool/draft/renamed/photo-2.jpg"
wait_until all_uploaded 2
send_draft renamed
wait_until leaves 6

# A member who writes without a pause delays neither what is sent nor the drafts of others.
draft storm storm 0.jpg
while :; do echo "$RANDOM" > "$spool/draft/storm/photo-1.jpg"; done &
storm=$!
drop sent others 'in the storm' 1.jpg
"$photospool" wait --timeout 60 sent
calm_uploaded() { [ "$(grep -c 'event=uploaded .*request=calm ' start.log)" = 2 ]; }
draft calm calm 1.jpg
uploaded calm
cp 2.jpg "$spool/draft/calm/photo-2.jpg"
wait_until calm_uploaded
kill "$storm"
wait "$storm" || true
rm -r "$spool/draft/storm"
send_draft calm
wait_until leaves 9
stop_daemon

# Without watches a scan finds the change, and the log says once why that takes its time.
cc -shared -fPIC -o blind.so "$here/lib/blind.c"
configure <<< 'intake: {rescan: 1s}'
start_daemon LD_PRELOAD="$PWD/blind.so" BLIND_TO=/draft/
draft blind family 0.jpg
uploaded blind
cp 1.jpg "$spool/draft/blind/photo-1.jpg"
wait_until all_uploaded 2
expect "$(grep -c 'event="not every draft is watched; changes in the others are found every 1 s"' start.log)" 1
send_draft blind
wait_until leaves 11
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/draft"
