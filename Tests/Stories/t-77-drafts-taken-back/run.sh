# A draft that is removed, cancelled, taken back or replaced leaves nothing, also while no daemon runs, and photos that were sent stay.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/drafts.sh"

start_daemon
draft sent family 0.jpg
send_draft sent
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

# While no daemon runs, one is removed and one is sent; then one is cancelled and one is replaced.
draft gone cousins 0.jpg
draft late friends 0.jpg
uploaded gone
uploaded late
kill_daemon
rm -r "$spool/draft/gone"
mv "$spool/draft/late" "$spool/new/"
start_daemon
"$photospool" wait --timeout 60 late
wait_until leaves 5
draft down cousins 0.jpg
draft former family 0.jpg
uploaded down
uploaded former
stop_daemon
expect "$("$photospool" cancel down)" 'down: cancelled; nothing of it was published'
[ ! -e "$spool/draft/down" ] || fail 'the draft that was cancelled without a daemon is still there'
draft latter family 1.jpg
start_daemon
wait_until test ! -e "$spool/draft/former"
send_draft latter
wait_until leaves 6
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/draft"
