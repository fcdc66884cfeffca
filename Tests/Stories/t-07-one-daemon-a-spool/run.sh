# A second daemon on a spool says so and exits 75; SIGTERM under load stops the first one, and nothing is lost.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/writers.sh"

start_daemon
status=0
"$photospool" run 2> second.log || status=$?
expect "$status" 75
grep -q "another photospool already runs on $spool; stop it first" second.log || fail "$(cat second.log)"

start_writers
wait_for_line start.log 'event=sent'
stop_daemon
wait $writers
# While no daemon runs, the queue shows what lies in new/, too.
[ "$("$photospool" queue --json | wc -l)" -gt 0 ] || fail 'nothing is waiting after a stop under load'
start_daemon
check_published
stop_daemon
# Killed, it leaves no lock behind.
start_daemon
kill_daemon
start_daemon
stop_daemon
