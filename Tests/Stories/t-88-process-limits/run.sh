# A daemon that runs out of descriptors, processes or size of files waits, and goes on by itself once it may.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/users.sh"

noise 300x200 photo.jpg
queue_says() { prints "$1" queue; }

# No descriptors, then more of them. At its start alone, the daemon raises its limit by itself.
start_daemon
prlimit --nofile="$(ls "/proc/$daemon/fd" | wc -l):" --pid "$daemon"
for number in 1 2 3 4; do drop "few-$number" "conversation-$number" few photo.jpg photo.jpg; done
wait_for_line start.log 'Too many open files'
prlimit --nofile=4096: --pid "$daemon"
"$photospool" wait --timeout 60 few-1 few-2 few-3 few-4
stop_daemon

# No file larger than so much: the ledger's log soon is.
start_daemon
prlimit --fsize=40000: --pid "$daemon"
drop small family 'small' photo.jpg
wait_until queue_says '! the ledger .* cannot be written\|(cannot write .*: File too large'
prlimit --fsize=unlimited: --pid "$daemon"
"$photospool" wait --timeout 60 small
stop_daemon

# No process and no thread more, for a user who has limits: a photo waits for its darkroom, or for somebody to ask for one.
chown -R 61000:61000 "$spool"
start_mine
mine prlimit --nproc=1: --pid "$daemon"
alone=$(mine "$photospool" send --to family --text alone --photo photo.jpg)
"$photospool" wait --timeout 1 "$alone" && fail 'it was sent without a darkroom'
mine prlimit --nproc="$(ulimit -H -u)": --pid "$daemon"
"$photospool" wait --timeout 60 "$alone"
stop_daemon
chown -R 0:0 "$spool"

expect "$(published family | jq -r '.request' | uniq | paste -sd' ')" "small $alone"
expect "$(ledger 'PRAGMA integrity_check')" ok
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
