# A draft that changes before Send is published as it was sent; one that cannot be sent waits until it has changed.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/drafts.sh"

start_daemon
# Changed before Send: what is published is what was sent, and the photo that stayed is not uploaded again.
draft changed album 0.jpg 1.jpg 2.jpg
wait_until all_uploaded 3
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/draft/changed/photo-0.jpg"
rm "$spool/draft/changed/photo-1.jpg"
send_draft changed
expect "$(digests album | wc -l)" 2
expect "$(grep -c 'event=uploaded .*request=changed' start.log)" 4
expect "$(published album | head -n 1 | jq -r .attachment.width)" \
  "$(ledger "SELECT p.width FROM photos p JOIN messages m ON m.message = p.message JOIN requests r ON r.id = m.request_id WHERE r.request = 'changed' AND m.file = 'photo-0.jpg'")"
[ "$(published album | head -n 1 | jq -r .attachment.width)" != 900 ] || fail 'the old photo was published'
wait_until leaves 2
# The same while it lies in draft/: the next look finds it.
draft mended album 0.jpg
uploaded mended
cp 1.jpg "$spool/draft/mended/photo-0.jpg"
wait_for_line start.log 'event="draft changed" request=mended'
uploads() { [ "$(grep -c 'event=uploaded .*request=mended' start.log)" = "$1" ]; }
wait_until uploads 2
wait_until all_uploaded 1
mv "$spool/draft/mended" "$spool/new/renamed"
"$photospool" wait --timeout 60 renamed
wait_until leaves 3

# A draft that cannot be sent stays where it is, with a word in the log, and is looked at again when it has changed.
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
ends 69 wait --timeout 60 broken
[ -s "$spool/failed/broken/error" ] || fail 'no error for a broken draft that was sent'
rm -r "$spool/failed/broken"
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/draft"
