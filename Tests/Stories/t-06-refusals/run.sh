# Every request that cannot be accepted goes to failed/ whole with a sentence that tells what to do, and the next good one
# goes through.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
echo secret > secret.txt
# build NAME: a good request in tmp/, for a mistake to be made in it.
build() { mkdir "$spool/tmp/$1"; echo family > "$spool/tmp/$1/to"; echo hello > "$spool/tmp/$1/text"; }
submit() { mv "$spool/tmp/$1" "$spool/new/"; }

build symlink; ln -s "$PWD/secret.txt" "$spool/tmp/symlink/photo.jpg"; submit symlink
build fifo; mkfifo "$spool/tmp/fifo/photo.jpg"; submit fifo
build nested; mkdir "$spool/tmp/nested/photo"; submit nested
build hardlink; ln secret.txt "$spool/tmp/hardlink/photo.jpg"; submit hardlink
build foreign; echo x > "$spool/tmp/foreign/notes.txt"; submit foreign
build no-to; rm "$spool/tmp/no-to/to"; submit no-to
build empty-to; : > "$spool/tmp/empty-to/to"; submit empty-to
build two-lines; printf 'a\nb\n' > "$spool/tmp/two-lines/to"; submit two-lines
build long-to; head -c 256 /dev/zero | tr '\0' x > "$spool/tmp/long-to/to"; submit long-to
build empty; rm "$spool/tmp/empty/text"; submit empty
build empty-photo; : > "$spool/tmp/empty-photo/photo"; submit empty-photo
build bad-utf8; printf 'caf\xe9\n' > "$spool/tmp/bad-utf8/text"; submit bad-utf8
build long-text; head -c 65537 /dev/zero | tr '\0' x > "$spool/tmp/long-text/text"; submit long-text
build oversized; truncate -s 10000001 "$spool/tmp/oversized/photo"; submit oversized
build eleven; for i in $(seq 11); do echo x > "$spool/tmp/eleven/photo-$i"; done; submit eleven
build bad-id; echo 'a b' > "$spool/tmp/bad-id/id"; submit bad-id
build bad-kind; echo picture > "$spool/tmp/bad-kind/kind"; submit bad-kind
build bad-sum; echo "$(sha256sum < /dev/null | cut -c-64) 0 text" > "$spool/tmp/bad-sum/.sum"; submit bad-sum
build no-image; echo 'not an image' > "$spool/tmp/no-image/photo.jpg"; submit no-image
build good; submit good
"$photospool" wait --timeout 60 good

while read -r name sentence; do
  "$photospool" wait --timeout 60 "$name" 2> wait.log && fail "$name was sent"
  grep -q "$sentence" "$spool/failed/$name/error" || fail "$name: $(cat "$spool/failed/$name/error")"
  expect "$(wc -l < "$spool/failed/$name/error")" 1 "$name"
done <<'LIST'
symlink photo.jpg is a symbolic link and not a plain file; put a copy
fifo photo.jpg is a FIFO and not a plain file
nested photo is a directory and not a plain file
hardlink more than one hard link
foreign notes.txt is not part of a request
no-to no file named to; write the conversation
empty-to the conversation is empty
two-lines holds a line break or control character
long-to is 256 bytes long; the limit is 255
empty neither photo nor text; add a file
empty-photo the photo is empty; copy it again
bad-utf8 text is not UTF-8; convert it
long-text text has 65537 bytes; the limit is 65536
oversized photo has 10000001 bytes; the limit is 10000000
eleven the limit is 10; split it
bad-id the id is not 1 to 128
bad-kind the kind is neither message nor profile
bad-sum .sum: text has 6 bytes instead of 0
no-image not an image
LIST
# Whole: what was dropped is still there.
[ -L "$spool/failed/symlink/photo.jpg" ] && [ -p "$spool/failed/fifo/photo.jpg" ] || fail 'something was lost'

# Entries that are not directories or have invalid names get a directory of their own.
echo stray > stray.txt; mv stray.txt "$spool/new/"
build x; mv "$spool/tmp/x" "$spool/new/-dash"
ln -s /etc "$spool/new/link"
drop last family last
"$photospool" wait --timeout 60 last
all_are_refused() { [ -e "$spool/failed/stray.txt/error" ] && [ -e "$spool/failed/link/error" ] && [ -z "$(ls "$spool/new")" ]; }
wait_until all_are_refused
expect "$(cat "$spool/failed/stray.txt/entry")" stray
grep -q 'not a directory' "$spool/failed/stray.txt/error"
grep -q 'starts with . or -' "$spool"/failed/*/error
! grep -rq root: "$spool/failed" || fail 'a link was followed'

# A repaired request is sent; nothing of it twice.
echo family > "$spool/failed/no-to/to"
mv "$spool/failed/no-to" "$spool/new/"
"$photospool" wait --timeout 60 no-to
"$photospool" queue > queue.txt
stop_daemon
expect "$(published family | wc -l)" 3
