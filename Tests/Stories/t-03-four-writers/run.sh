# 300 requests by four shell writers: all published, each conversation in its order, photos before text, none twice.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/writers.sh"

start_daemon
start_writers
wait $writers
check_published
# SIGTERM stops an idle daemon at once, and the ledger stands by itself.
stop_daemon
expect "$(ledger 'PRAGMA integrity_check')" ok
expect "$(ls "$spool/objects" | wc -l)" 120
