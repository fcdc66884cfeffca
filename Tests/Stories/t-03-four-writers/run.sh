# 300 requests by four shell writers: all published, each conversation in its order, photos before text, none twice.
. "$(dirname "$0")/../library.sh"
. "$here/writers.sh"

start_daemon
start_writers
wait $writers
check_published
# SIGTERM stops an idle daemon at once, and the ledger stands by itself.
stop_daemon
expect "$(sqlite3 -readonly "$spool/state/ledger.sqlite" 'PRAGMA integrity_check')" ok
expect "$(ls "$spool/objects" | wc -l)" 120
