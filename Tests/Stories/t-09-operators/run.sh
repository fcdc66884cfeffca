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
ends 69 cancel other
has err.log 'other: too late: it is sent already'
ends 69 cancel nobody
start_daemon
"$photospool" wait --timeout 60 one
expect "$(published family | jq -r .text)" first

# A file in cancel/ does it too.
"$photospool" hold family
drop four family fourth
wait_for_line start.log 'event=accepted request=four'
echo four > "$spool/cancel/please"
wait_for_line start.log 'event=cancel .*request=four'
ends 69 wait --timeout 60 four
has err.log 'four was cancelled'
"$photospool" release family
must_print 'tried now' flush

# A request that failed half-way sends only the rest when it is retried.
head -c 40000 "$photos/Wine_by_Jakkub_Mede.jpg" > bad.jpg
drop broken family caption "$photos/Wine_by_Jakkub_Mede.jpg" bad.jpg
ends 69 wait --timeout 60 broken
has "$spool/failed/broken/error" 'photo-1.jpg: this JPEG ends before its picture does'
expect "$(published family | grep -c '"request":"broken"')" 1
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/failed/broken/photo-1.jpg"
expect "$("$photospool" retry broken)" 'broken: retried'
"$photospool" wait --timeout 60 broken
expect "$(published family | jq -r 'select(.request == "broken") | .kind' | paste -sd' ')" 'photo photo text'
ends 66 retry nothing
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp" "$spool/cancel"
