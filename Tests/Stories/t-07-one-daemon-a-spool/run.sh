# A second daemon on a spool says so and exits 75. Five kills and a SIGTERM under load lose nothing, and leave no lock behind.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
# drop_fifty FIRST: into ten conversations, every seventh with a photo.
drop_fifty() {
  local number
  for number in $(seq "$1" $(($1 + 49))); do
    drop "r$number" "c$((number % 10))" "$number" $([ $((number % 7)) != 0 ] || echo photo.jpg)
  done
}
start_daemon
ends 75 run
has err.log "another photospool already runs on $spool; stop it first"

for first in 1 51 101 151 201 251; do
  drop_fifty $first &
  writer=$!
  wait_for_line start.log "event=sent.*request=r$first"
  if [ $first = 251 ]; then stop_daemon; else kill_daemon; start_daemon; fi
  wait "$writer"
done
# While no daemon runs, the queue shows what lies in new/, too.
[ "$("$photospool" queue --json | wc -l)" -gt 0 ] || fail 'nothing is waiting after a stop under load'
start_daemon
"$photospool" wait --timeout 120 $(seq -f r%g 300)
for conversation in $(seq 0 9); do
  expect "$(published "c$conversation" | jq -r '.request + " " + .kind' | paste -sd,)" \
    "$(seq 300 | awk -v c="$conversation" '$1 % 10 == c { if ($1 % 7 == 0) print "r" $1 " photo"; print "r" $1 " text" }' | paste -sd,)"
done
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
stop_daemon
expect "$(ledger 'PRAGMA integrity_check')" ok
