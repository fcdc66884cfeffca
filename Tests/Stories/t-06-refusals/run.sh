# Every request that cannot be accepted goes to failed/ whole with a sentence that tells what to do, and the next good one
# goes through. RequestReaderTests have the other sentences.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
echo secret > secret.txt
# begin NAME: a request in tmp/, for a mistake to be made in it.
begin() { build "$1" family hello; }

begin symlink; ln -s "$PWD/secret.txt" "$spool/tmp/symlink/photo.jpg"; submit symlink
begin fifo; mkfifo "$spool/tmp/fifo/photo.jpg"; submit fifo
begin nested; mkdir "$spool/tmp/nested/photo"; submit nested
begin hardlink; ln secret.txt "$spool/tmp/hardlink/photo.jpg"; submit hardlink
begin foreign; echo x > "$spool/tmp/foreign/notes.txt"; submit foreign
begin no-to; rm "$spool/tmp/no-to/to"; submit no-to
begin bad-sum; echo "$(sha256sum < /dev/null | cut -c-64) 0 text" > "$spool/tmp/bad-sum/.sum"; submit bad-sum
begin no-image; echo 'not an image' > "$spool/tmp/no-image/photo.jpg"; submit no-image
begin good; submit good
"$photospool" wait --timeout 60 good

while read -r name sentence; do
  ends 69 wait --timeout 60 "$name"
  has "$spool/failed/$name/error" "$sentence"
  expect "$(wc -l < "$spool/failed/$name/error")" 1 "$name"
done <<'LIST'
symlink photo.jpg is a symbolic link and not a plain file; put a copy
fifo photo.jpg is a FIFO and not a plain file
nested photo is a directory and not a plain file
hardlink more than one hard link
foreign notes.txt is not part of a request
no-to no file named to; write the conversation
bad-sum .sum: text has 6 bytes instead of 0
no-image not an image
LIST
# Whole: what was dropped is still there.
[ -L "$spool/failed/symlink/photo.jpg" ] && [ -p "$spool/failed/fifo/photo.jpg" ] || fail 'something was lost'

# Entries that are not directories or have invalid names get a directory of their own.
echo stray > stray.txt; mv stray.txt "$spool/new/"
begin x; mv "$spool/tmp/x" "$spool/new/-dash"
ln -s /etc "$spool/new/link"
drop last family last
"$photospool" wait --timeout 60 last
all_are_refused() { [ -e "$spool/failed/stray.txt/error" ] && [ -e "$spool/failed/link/error" ] && [ -z "$(ls "$spool/new")" ]; }
wait_until all_are_refused
expect "$(cat "$spool/failed/stray.txt/entry")" stray
has "$spool/failed/stray.txt/error" 'not a directory'
grep -q 'starts with . or -' "$spool"/failed/*/error
! grep -rq root: "$spool/failed" || fail 'a link was followed'

# A repaired request is sent; nothing of it twice.
echo family > "$spool/failed/no-to/to"
mv "$spool/failed/no-to" "$spool/new/"
"$photospool" wait --timeout 60 no-to
stop_daemon
expect "$(published family | wc -l)" 3
