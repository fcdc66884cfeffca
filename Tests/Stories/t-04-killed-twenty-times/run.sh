# The same 300 requests with the daemon killed at 20 random moments: nothing missing, nothing twice, nothing out of order.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/writers.sh"

start_daemon
start_writers
for round in $(seq 1 20); do
  # The kill must come at a random moment.
  read -r -t "0.$((RANDOM % 500 + 100))" < <(tail -f /dev/null --pid=$$) || true
  kill_daemon
  start_daemon
done
wait $writers
check_published
stop_daemon
expect "$(ledger 'PRAGMA integrity_check')" ok
expect "$(ledger "SELECT count(*) FROM messages WHERE state <> 'sent'")" 0
