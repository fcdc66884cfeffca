# A host of a cluster whose server is cut off from the others goes on with another server.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/line.sh"
why=$(why_no_line)
[ -z "$why" ] || skip "$why"
[ "$(id -u)" = 0 ] || skip 'network namespaces of a cluster need root'

export PHOTOSPOOL=$photospool
"$python" "$here/../Torture/torture.py" --only 'cluster: the server of a host*' --faults 1 --state "$PWD/state" --json table.json \
  || fail 'the oracle complains'
expect "$(jq .faults table.json)" 1
