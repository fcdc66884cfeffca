# A second daemon on a spool says so and exits 75; SIGTERM under load stops the first one, and nothing is lost.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
ends 75 run
has err.log "another photospool already runs on $spool; stop it first"

for number in $(seq 300); do drop "r$number" "c$((number % 10))" "$number"; done &
writer=$!
wait_for_line start.log 'event=sent'
stop_daemon
wait "$writer"
# While no daemon runs, the queue shows what lies in new/, too.
[ "$("$photospool" queue --json | wc -l)" -gt 0 ] || fail 'nothing is waiting after a stop under load'
start_daemon
"$photospool" wait --timeout 120 $(seq -f r%g 300)
for conversation in $(seq 0 9); do
  expect "$(published "c$conversation" | jq -r .text | paste -sd' ')" \
    "$(seq 300 | awk -v c="$conversation" '$1 % 10 == c' | paste -sd' ')" "c$conversation"
done
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
stop_daemon
# Killed, it leaves no lock behind.
start_daemon
kill_daemon
start_daemon
stop_daemon
