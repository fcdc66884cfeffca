# Photos that devices upload into folders: each once, whole, in order.
. "$(dirname "$0")/../lib/library.sh"

noise 640x480 1.jpg 3.jpg 4.jpg
noise 600x480 2.jpg
hot=$PWD/hot
mkdir -p "$hot/door/2026" "$PWD/scans"
configure <<< "watch:
  - {folder: $hot, conversation: \"cam-{folder1}\", quiet: 300ms}
  - {folder: $PWD/scans, conversation: office, quiet: 300ms, after: delete}"
messages() { cat "$spool/published/$1.jsonl" 2> /dev/null | wc -l; }
come() { [ "$(messages "$1")" = "$2" ]; }
start_watch() { rm -f watch.log; "$photospool" watch > watch.log 2>&1 & watch=$!; beside+=" $watch"; wait_for_line watch.log event=watching; }
stop_watch() { stop_beside "$watch"; }

start_daemon
# Files that are there at the start are sent in the order of their age.
cp 1.jpg "$hot/door/2026/b.jpg"
cp 2.jpg "$hot/door/a.jpg"
touch -d '1 hour ago' "$hot/door/2026/b.jpg"
start_watch
wait_until come cam-door 2
wait_until test ! -e "$hot/door/a.jpg"
expect "$(published cam-door | jq -r .attachment.width | paste -sd,)" 640,600
expect "$(ls "$hot/door/2026/.sent" "$hot/door/.sent" | grep jpg | paste -sd,)" a.jpg,b.jpg

# An upload that breaks off under its last name, and is resumed; and one under a name for a while.
size=$(stat -c %s 3.jpg)
head -c $((size / 2)) 3.jpg > "$hot/door/3.jpg"
cp 4.jpg "$PWD/scans/4.jpg.part"
wait_until come cam-door 2
tail -c +$((size / 2 + 1)) 3.jpg >> "$hot/door/3.jpg"
wait_until come cam-door 3
cmp 3.jpg "$hot/door/.sent/3.jpg"
mv "$PWD/scans/4.jpg.part" "$PWD/scans/4.jpg"
wait_until come office 1
wait_until test ! -e "$PWD/scans/4.jpg"
[ -z "$(ls -A "$PWD/scans")" ] || fail "left: $(ls -A "$PWD/scans")"

# Files that are no photos, or belong to no folder, stay.
echo notes > "$hot/door/notes.txt"
cp 1.jpg "$hot/1.jpg"
wait_for_line watch.log 'notes.txt'
wait_for_line watch.log 'give no name'
[ -e "$hot/door/notes.txt" ] && [ -e "$hot/1.jpg" ] || fail 'it did not stay'
stop_watch
rm "$hot/1.jpg" "$hot/door/notes.txt"

expect "$(published cam-door | wc -l)" 3 'each once'
expect "$(published office | wc -l)" 1 'each once'
stop_daemon

# A card whose photos stay: what is there first is skipped, and what comes is sent once, also by another process.
export XDG_STATE_HOME=$PWD/state
mkdir card
cp 1.jpg card/old.jpg
configure <<< "watch: [{folder: $PWD/card, conversation: album, text: '{name}', quiet: 300ms, after: keep}]"
start_daemon
start_watch
wait_until eval 'grep -q ^watch. state/photospool/watched/*.sent'
cp 2.jpg card/new.jpg
wait_until come album 2
stop_watch
before=$(sha256sum card/*)
# Another inode, as after a new mount.
mv card former
cp -a former card
start_watch
cp 3.jpg card/newer.jpg
wait_until come album 4
stop_watch
expect "$(published album | jq -r '.text // empty' | paste -sd,)" new.jpg,newer.jpg
expect "$(ls -A card | paste -sd,)" new.jpg,newer.jpg,old.jpg
expect "$(sha256sum card/{new,old}.jpg)" "$before"
stop_daemon

ends 64 watch --folder "$hot"
configure <<< ''
ends 78 watch
has err.log 'no folder is watched'
