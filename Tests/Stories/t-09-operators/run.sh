# cancel, hold, release, retry, flush, show, queue and shape do and say the same with the daemon up and down.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
"$photospool" hold family
drop one family first
drop two family second
drop other friends hello
"$photospool" wait --timeout 60 other
[ ! -e "$spool/published/family.jsonl" ] || fail 'published in a held conversation'
expect "$("$photospool" queue --json --to family | jq -r .request | paste -sd' ')" 'one two'
expect "$("$photospool" queue --json --to family | head -n 1 | jq -r 'keys | join(" ")')" \
  'acceptedAt attempts bytes conversation error inbox kind message nextAttempt progress request state'
must_print '^ *family *2 *2 ' shape
must_print '^two: queued' show two

expect "$("$photospool" cancel two)" 'two: cancelled; nothing of it was published'
[ ! -e "$spool/cur/two" ] || wait_for_line start.log 'request cancelled.*two'
stop_daemon

# The same without a daemon: orders are carried out at once.
drop three family third
expect "$("$photospool" cancel three)" 'three: cancelled; nothing of it was published'
[ ! -e "$spool/new/three" ] || fail 'three is still in new/'
expect "$("$photospool" release family)" 'family: released'
status=0; "$photospool" cancel other 2> cancel.log || status=$?
expect "$status" 69
grep -q 'other: too late: it is sent already' cancel.log
status=0; "$photospool" cancel nobody 2> cancel.log || status=$?
expect "$status" 69
start_daemon
"$photospool" wait --timeout 60 one
expect "$(published family | jq -r .text)" first

# A file in cancel/ does it too.
"$photospool" hold family
drop four family fourth
wait_for_line start.log 'event=accepted request=four'
echo four > "$spool/cancel/please"
wait_for_line start.log 'event=cancel .*request=four'
status=0; "$photospool" wait --timeout 60 four 2> wait.log || status=$?
expect "$status" 69
grep -q 'four was cancelled' wait.log
"$photospool" release family
must_print 'tried now' flush

# A request that failed half-way sends only the rest when it is retried.
drop half family caption "$photos/Wine_by_Jakkub_Mede.jpg" "$photos/Wine_by_Jakkub_Mede.jpg"
status=0; "$photospool" wait --timeout 60 half || status=$?
expect "$status" 0
mkdir "$spool/tmp/broken"; echo family > "$spool/tmp/broken/to"; echo caption > "$spool/tmp/broken/text"
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/tmp/broken/photo-1.jpg"
head -c 40000 "$photos/Wine_by_Jakkub_Mede.jpg" > "$spool/tmp/broken/photo-2.jpg"
mv "$spool/tmp/broken" "$spool/new/"
status=0; "$photospool" wait --timeout 60 broken 2> wait.log || status=$?
expect "$status" 69
grep -q 'photo-2.jpg: this JPEG ends before its picture does' "$spool/failed/broken/error" || fail "$(cat "$spool/failed/broken/error")"
expect "$(published family | grep -c '"request":"broken"')" 1
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/failed/broken/photo-2.jpg"
expect "$("$photospool" retry broken)" 'broken: retried'
"$photospool" wait --timeout 60 broken
expect "$(published family | jq -r 'select(.request == "broken") | .kind' | paste -sd' ')" 'photo photo text'
status=0; "$photospool" retry nothing 2> retry.log || status=$?
expect "$status" 66
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/cancel"
