# When a sync of the ledger fails, the daemon ends at once and syncs nothing again; the next one goes on.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
start_daemon
stop_daemon
cc -shared -fPIC -O1 -o diskpoint.so "$here/../Torture/diskpoint.c" -ldl
for at in 2 4 6; do
  drop "unconfirmed-$at" unconfirmed "$at" photo.jpg
  rm -f calls
  command_ends 74 timeout 60 env LD_PRELOAD="$PWD/diskpoint.so" DISKPOINT_UNDER="$spool" DISKPOINT_STATE="$PWD/calls" \
    DISKPOINT_CALLS=fdatasync DISKPOINT_ACT=5 DISKPOINT_AT=$at DISKPOINT_FOR=0 "$photospool" run
  has err.log 'the disk did not confirm a write to the ledger .*; check the kernel'
  expect "$(od -A n -t d8 -j 16 -N 8 calls | tr -d ' ')" 0 'descriptors that were synced again'
done
start_daemon
"$photospool" wait --timeout 60 unconfirmed-2 unconfirmed-4 unconfirmed-6
stop_daemon
expect "$(published unconfirmed | jq -r '.request' | uniq | paste -sd' ')" 'unconfirmed-2 unconfirmed-4 unconfirmed-6'
expect "$(ledger 'PRAGMA integrity_check')" ok
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
