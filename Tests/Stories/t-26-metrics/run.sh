# `metrics` prints what Prometheus' own parser reads, with the daemon up, down and never started; the file for
# node_exporter follows, whole and readable for others, and systemd gets the daemon's state.
. "$(dirname "$0")/../lib/library.sh"

mkdir collected
configure <<EOF
metrics: {textfile: $PWD/collected/photospool.prom, pause: 1s}
EOF
read_metrics() { tool read_metrics.py > families.json || fail 'the metrics are not well formed'; }
# value NAME [LABEL VALUE]: of the sample in families.json, or nothing.
value() { jq -r --arg n "$1" --arg l "${2:-}" --arg v "${3:-}" \
  '.[].samples[] | select(.name == $n and ($l == "" or .labels[$l] == $v)) | .value' families.json; }
in_file() { read_metrics < collected/photospool.prom; [ "$(value "${@:2}")" = "$1" ]; }

coproc MANAGER { exec "$python" -c '
import os, socket, sys
path = sys.argv[1]
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(path)
print("up", flush=True)
with open("told", "wb", buffering=0) as told:
    while True: told.write(manager.recv(4096).replace(b"\n", b" ") + b"\n")
' "$PWD/notify"; }
beside=$MANAGER_PID
read -r _ <&"${MANAGER[0]}"

start_daemon NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=1000000
wait_for_line told '^READY=1'
"$photospool" metrics | read_metrics
expect "$(value photospool_up)" 1
expect "$(value photospool_messages_waiting state pending)" 0
expect "$(value photospool_oldest_waiting_timestamp_seconds)" ''
expect "$(value photospool_destination_available destination local)" 1

drop cat family 'Check this out!' "$photos/Dragonfly_by_Bolly.jpg"
drop bad family '' /dev/null
"$photospool" wait --timeout 60 cat
"$photospool" wait --timeout 60 bad 2> /dev/null && fail 'it was sent' || expect $? 69
"$photospool" hold quiet
drop quiet-1 quiet one
drop quiet-2 quiet two
wait_for_line start.log 'event=accepted.*request=quiet-2'
"$photospool" metrics | read_metrics
expect "$(value photospool_messages_sent_total kind photo)" 1
expect "$(value photospool_messages_sent_total kind text)" 1
expect "$(value photospool_messages_waiting state pending)" 2
expect "$(value photospool_conversations_waiting)" 1
expect "$(value photospool_conversations_held)" 1
expect "$(value photospool_requests_accepted_total)" 3
expect "$(value photospool_requests_ended_total outcome sent)" 1
expect "$(value photospool_requests_ended_total outcome failed)" 1
expect "$(value photospool_photos_prepared_total)" 1
expect "$(value photospool_photo_original_bytes_total)" "$(stat -c %s "$photos/Dragonfly_by_Bolly.jpg")"
expect "$(value photospool_photo_prepared_bytes_total)" "$(stat -c %s "$spool"/photos/default/family/*/original.jpg)"
expect "$(value photospool_step_duration_seconds_count step publish)" 2
bytes=$(find "$spool/photos" -type f -printf '%s\n' | awk '{ s += $1 } END { print s }')
expect "$(value photospool_cache_bytes inbox default) $(value photospool_cache_photos inbox default)" "$bytes 1"
expect "$(value photospool_cache_limit_bytes scope inbox) $(value photospool_cache_limit_bytes scope total)" '500000000 1000000000'
expect "$(value photospool_janitor_last_run_timestamp_seconds)" ''
now=$(date +%s)
expect "$(value photospool_oldest_waiting_timestamp_seconds | awk -v now="$now" '{ print ($1 > now - 600 && $1 < now + 2) }')" 1

# The file follows, and others may read it.
wait_until in_file 2 photospool_messages_waiting state pending
expect "$(stat -c %a collected/photospool.prom)" 644
expect "$(ls -A collected)" photospool.prom
wait_for_line told 'STATUS=2 messages wait in 1 conversation\.'
wait_for_line told '^WATCHDOG=1'

# An idle daemon writes nothing, and its signs of life go on. Earlier changes may still be written.
lives() { grep -c '^WATCHDOG=1' told; }
for round in 1 2; do
  former=$(stat -c %Y.%i collected/photospool.prom)
  count=$(lives)
  wait_until eval '[ "$(lives)" -gt $((count + 6)) ]'
done
expect "$(stat -c %Y.%i collected/photospool.prom)" "$former" 'it was written for nothing'

# The file includes the janitor's work, which is a separate process.
original=$(stat -c %s "$spool"/photos/default/family/*/original.jpg)
PHOTOSPOOL_CACHE_TOTAL=$((bytes - 1)) "$photospool" janitor 2> /dev/null
wait_until in_file 1 photospool_cache_evictions_total files original
expect "$(value photospool_cache_evicted_bytes_total)" "$original"
expect "$(value photospool_cache_bytes inbox default) $(value photospool_cache_photos inbox default)" "$((bytes - original)) 0"
expect "$(value photospool_janitor_last_run_timestamp_seconds | awk -v now="$(date +%s)" '{ print ($1 > now - 600 && $1 < now + 2) }')" 1

kill -HUP "$daemon"
wait_for_line told '^RELOADING=1 MONOTONIC_USEC=[0-9]* *$'
wait_for_line told '^READY=1 STATUS=The configuration was read again\.'
stop_daemon
wait_for_line told '^STOPPING=1'

# Without a daemon: the ledger's figures, and that no daemon answers.
"$photospool" metrics | read_metrics
expect "$(value photospool_up)" 0
expect "$(value photospool_messages_waiting state pending)" 2
expect "$(value photospool_step_duration_seconds_count step publish)" ''
in_file 0 photospool_up || fail 'the file does not say that the daemon has stopped'

# Counters go on after a start, and a crash loses none.
start_daemon
"$photospool" release quiet
"$photospool" wait --timeout 60 quiet-1 quiet-2
kill_daemon
start_daemon
"$photospool" metrics | read_metrics
expect "$(value photospool_messages_sent_total kind text)" 3
expect "$(value photospool_messages_waiting state pending)" 0
stop_daemon
