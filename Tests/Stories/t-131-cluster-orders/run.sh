# Orders over a cluster: the owner of a conversation holds it, releases it, cancels and purges, also if another host is
# asked. A hold outlives its owner.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cluster.sh"

cluster_host camera "work: false"
cluster_host first
start camera
start first
text() { at camera send --to "$1" --text "$2" "${@:3}"; }
state() { at camera show "$1" --json | jq -r .state; }
is() { [ "$(state "$1")" = "$2" ]; }
texts() { jq -r '.text // empty' sink/journal.jsonl | paste -sd' '; }

# owns_all NAME: an earlier owner may have published what a new one finds, so that it cannot be cancelled at once.
owns_all() { [ "$(grep -c 'owns a partition' "$1/start.log")" -ge 16 ]; }
wait_until owns_all first

# A conversation that another host holds. Others go on.
at first hold family
request=$(text family held --relayed)
cancelled=$(text family cancelled --relayed)
last=$(text family last --relayed)
text friends open --wait
expect "$(texts)" open
expect "$(at camera show "$request" --json | jq -r '.messages[].state')" relayed

# Every host lists what all have relayed.
listed() { at first queue --cluster --json "$@" | jq -r '"\(.request) \(.host) \(.owner) \(.messages) \(.held)"'; }
name=$(uname -n)
expect "$(listed)" "$(printf "%s $name $name 1 true\n" "$request" "$cancelled" "$last")"
expect "$(listed --to friends)" ''
at camera queue --cluster > queue.log
grep -q "^$request! .* family$" queue.log
grep -q '^-- 3 requests, ' queue.log

# A relayed request is cancelled by its owner.
at camera cancel "$cancelled"
expect "$(state "$cancelled")" cancelled

# The next owner finds the hold.
cluster_host second
start second
strike first
text others 'of the second' --wait
expect "$(texts)" 'open of the second'
expect "$(state "$request")" queued
at second release family
wait_until is "$request" sent
wait_until is "$last" sent
expect "$(texts)" 'open of the second held last'

# Published requests cannot be cancelled any more.
command_ends 69 at camera cancel "$request"
has err.log 'too late: it is sent already'

# A purge takes along what is relayed and held.
at second hold gone
text gone secret --relayed
at camera purge gone
at second release gone
text gone end --wait
expect "$(texts)" 'open of the second held last end'
expect "$(at second queue --cluster)" 'Nothing is waiting in the cluster.'
stop second
stop camera

# Without a cluster, or with options that fit nothing of it.
sed '/^cluster:/,$d' camera/photospool.yaml > alone.yaml
ends 78 --config alone.yaml queue --cluster
has err.log 'this host is in no cluster'
command_ends 64 at camera queue --cluster --watch
