# A little of `make torture`: some kills of every sweep, every control, a short storm, and of power cuts, recorded disks,
# failing disks and disks in trouble one kind or two. The faults are the same each time, so that a failure comes again, and
# `make torture` searches for others. TORTURE_FAULTS says how many; TORTURE_SEED with another seed chooses others here, too.
. "$(dirname "$0")/../lib/library.sh"

export PHOTOSPOOL=$photospool
"$python" "$here/../Torture/torture.py" --faults "${TORTURE_FAULTS:-120}" --seed "${TORTURE_SEED:-1}" --state "$PWD/state" --json table.json \
  --only '*killed*' --only 'random kills*' --only 'network: *' --only 'control: [!ce]*' --only 'power cut: *, ext4, log lost' \
  --only 'power cut: just answered by the page, ext4' --only 'the log stops*: send, xfs' --only 'recorded block writes: *, ext4' \
  --only 'errors: EIO from a sync, once' --only 'errors: ENOSPC from everything, once' \
  --only 'disk in trouble: no room below ext4' --only 'disk in trouble: read-only, ext4' --only 'disk in trouble: frozen, and*' \
  --only 'limit: descriptors' --only '1,000 requests*' --only 'nothing is told*FUSE' --only 'one key and two*' --only 'many clients at once*' \
  --only 'a daemon starts beside*' --only 'a conversation is begun again*' --only 'the wall clock jumps*' \
  || fail 'the oracle complains'
[ "$(jq .faults table.json)" -ge "${TORTURE_FAULTS:-120}" ] || fail 'too few faults were injected'
expect "$(jq '[.rows[] | select(.must and .good and .skipped == null)] | length' table.json)" \
  "$(jq '[.rows[] | select(.must)] | length' table.json)" 'controls that fail as they must'
