# On a disk without room or inodes the daemon accepts nothing, says why, and goes on by itself as soon as there is
# room.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root may mount a small disk'
mkdir disk
mount -t tmpfs -o size=24m,nr_inodes=400 none disk 2> mount.log || skip "a small disk cannot be mounted here: $(cat mount.log)"
at_end() { umount -l disk; }
spool=$PWD/disk/spool
export PHOTOSPOOL_SPOOL=$spool
noise 300x200 photo.jpg

sentence='less than 4 MiB are free on the disk of .*, and new requests wait until there is more; make room'
# Until no byte is free, also of what the daemon has just freed.
fill() { until [ "$(df --output=avail disk | tail -1)" -eq 0 ]; do cat /dev/zero >> disk/filler 2> /dev/null || true; done; }
queue_says() { prints "$1" queue; }
refused() {
  ends "$2" send --to family --text "$1"
  has err.log "$3"
  is_empty "$spool/tmp"
}

start_daemon
drop first family first photo.jpg
"$photospool" wait --timeout 60 first

# No room.
# Built while there is room; sent when the disk is full.
build full family full photo.jpg
fill
submit full
wait_until queue_says "! $sentence"
refused refused 75 "$sentence"
wait_for_line start.log "requests are left in new/ for now\" error=\"$sentence"
# It tries again every second, and says it once.
sleep 3
expect "$(grep -c "requests are left in new/ for now" start.log)" 1
expect "$(ls "$spool/new")" full
rm disk/filler
"$photospool" wait --timeout 60 full
queue_says '!' && fail 'the queue complains of what is over'

# Commands that make room work on a disk that is full to its last block: a purge with a daemon and without one, and an
# eviction. It is kept again as soon as there is enough.
is_kept() { [ "$(stat -c %s "$spool/state/reserve" 2> /dev/null)" = 4194304 ]; }
cached() { find "$spool/photos" -type f -name 'original*' | wc -l; }
for doomed in with-daemon alone; do
  drop "$doomed" "$doomed" doomed photo.jpg
  "$photospool" wait --timeout 60 "$doomed"
done
is_kept || fail 'no room is kept'
fill
timeout 60 "$photospool" purge with-daemon
[ ! -e "$spool/photos/default/with-daemon" ] || fail 'a purge on a full disk left photos'
rm disk/filler
"$photospool" janitor
is_kept || fail 'no room is kept any more'
stop_daemon
fill
timeout 60 "$photospool" purge alone
[ ! -e "$spool/photos/default/alone" ] || fail 'a purge without a daemon left photos'
rm disk/filler
"$photospool" janitor
expect "$(cached)" 2
fill
printf 'cache: {inbox: 1000, total: 1000}\n' > small.yaml
PHOTOSPOOL_CONFIG=$PWD/small.yaml "$photospool" janitor 2> /dev/null
expect "$(cached)" 0
rm disk/filler
: > start.log
start_daemon
is_kept || fail 'no room is kept by the daemon'

# No inodes.
build inodes family inodes photo.jpg
number=0
while : > "disk/$number"; do number=$((number + 1)); done 2> /dev/null
submit inodes
refused refused 75 'No space left on device'
wait_until queue_says '(cannot make directory .*: No space left on device'
find disk -maxdepth 1 -type f -delete
"$photospool" wait --timeout 60 inodes

stop_daemon

# A directory of the spool on another disk: nothing could be renamed into it.
mount -t tmpfs -o size=1m none "$spool/sent"
ends 78 run
has err.log 'photospool: .*/sent is on another filesystem than the spool'
umount "$spool/sent"

expect "$(published family | jq -r '.request' | uniq | paste -sd' ')" 'first full inodes'
expect "$(ledger 'PRAGMA integrity_check')" ok
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
