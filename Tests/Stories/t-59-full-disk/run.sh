# A queue has filled the disk to the last byte: waiting requests can be cancelled, released and sent, which makes room,
# and nothing new is accepted meanwhile.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root may mount a small disk'
mkdir disk
mount -t tmpfs -o size=40m none disk 2> mount.log || skip "a small disk cannot be mounted here: $(cat mount.log)"
at_end() { umount -l disk; }
spool=$PWD/disk/spool
export PHOTOSPOOL_SPOOL=$spool
noise 1900x1400 photo.jpg
# Until no byte is free, also of what the daemon has just freed.
fill() { until [ "$(df --output=avail disk | tail -1)" -eq 0 ]; do cat /dev/zero >> disk/filler 2> /dev/null || true; done; }
sentence='less than 4 MiB are free on the disk of .*, and new requests wait until there is more; make room'

start_daemon
"$photospool" hold family > /dev/null 2>&1
for number in 1 2 3 4; do names[number]=$("$photospool" send --to family --photo photo.jpg --text "$number"); done
accepted() { [ "$(ledger "SELECT count(*) FROM requests WHERE state = 'queued'")" = 4 ]; }
wait_until accepted
build later other later
fill
submit later
wait_for_line start.log "requests are left in new/ for now\" error=\"$sentence"
must_print "! $sentence" queue
ends 78 check
grep -q 'new requests wait in new/' out.log err.log || fail "$(cat out.log err.log)"
ends 75 send --to family --photo photo.jpg
has err.log "$sentence"

expect "$("$photospool" cancel "${names[2]}")" "${names[2]}: cancelled; nothing of it was published"
rm disk/filler
"$photospool" wait --timeout 60 later
"$photospool" janitor
fill
"$photospool" release family > /dev/null
"$photospool" wait --timeout 60 "${names[1]}" "${names[3]}" "${names[4]}"
expect "$(published family | jq -r 'select(.kind == "text") | .text' | paste -sd,)" '1,3,4'

# Room is kept again.
rm disk/filler
"$photospool" janitor
expect "$(stat -c %s "$spool/state/reserve")" 4194304
stop_daemon
