# The network is down while photos and texts are sent and the daemon is restarted. When it recovers, everything arrives
# once and in order, and no attempt was used up. PHOTOSPOOL_OUTAGE_SECONDS sets the length of the outage (10).
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/line.sh"
. "$here/lib/deliveries.sh"

why=$(why_no_line)
[ -z "$why" ] || skip "$why"
in_world
lay_line
outage=${PHOTOSPOOL_OUTAGE_SECONDS:-10}
# The daemon takes its own variables only.
unset PHOTOSPOOL_OUTAGE_SECONDS
start_server seaweedfs.py
exec {store_end}>&"${SERVER[1]}"
(umask 077; fact accessKey > access.key; fact secretKey > secret.key)
store="{type: s3, endpoint: \"$(fact endpoint)\", region: $(fact region), bucket: $(fact bucket)"
start_sink
configure <<EOF
store: $store, accessKeyFile: access.key, secretKeyFile: secret.key}
network: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true}
EOF
noise 300x200 photo.jpg

# send ROUND FROM TO: requests of a photo and a text each, over ten conversations.
send() {
  local number
  for number in $(seq "$2" "$3"); do send_to_judge "$1-$number" "c$((number % 10))" "$1 $number" photo.jpg; done
}

# stay_away SECONDS: waits, and measures the longest pause between two probes.
stay_away() {
  local end=$((SECONDS + $1)) last=$EPOCHREALTIME before now moment
  longest=0 before=$(tries)
  while [ "$SECONDS" -lt "$end" ]; do
    read -r -t 0.1 < <(tail -f /dev/null --pid=$$) || true
    now=$(tries) moment=$EPOCHREALTIME
    longest=$(jq -n "[$longest, $moment - $last] | max")
    [ "$now" = "$before" ] || last=$moment before=$now
  done
}

# nothing_is_used_up ROUND: while it waits.
nothing_is_used_up() {
  "$photospool" queue --json > queue.jsonl
  expect "$(jq -r .request queue.jsonl | sort -u | wc -l)" 50
  # A message in progress on an open connection has used one attempt; only a few are in progress at once.
  [ "$(jq -s 'map(.attempts) | max' queue.jsonl)" -le 1 ] || fail "attempts during $1: $(ledger 'SELECT * FROM attempts')"
  [ "$(jq -s 'map(.attempts) | add' queue.jsonl)" -le 16 ] || fail "attempts during $1: $(ledger 'SELECT * FROM attempts')"
  expect "$("$photospool" show "$1-49" --json | jq '[.messages[].attempts | length] | max')" 0 "attempts of $1-49"
  is_empty "$spool/failed"
}

all_arrives() {
  local moment=$EPOCHREALTIME
  mend_line
  wait_for_all 120
  echo "$1: 100 messages, $(since "$moment")"
  judge
  "$photospool" wait --timeout 60 $(seq -f "$1-%g" 0 49)
  # The one that got through, and one on a connection that broke.
  [ "$(ledger "SELECT max(attempts) FROM messages JOIN requests ON requests.id = request_id
    WHERE requests.request GLOB '$1-*'")" -le 2 ] || fail "attempts of $1: $(ledger 'SELECT * FROM attempts')"
}

start_daemon "${at_home[@]}"
moment=$EPOCHREALTIME
send whole 0 49
wait_for_all 120
echo "whole line: 100 messages, $(since "$moment")"

for kind in down silent; do
  cut_line $kind
  send $kind 0 24
  stay_away $((outage / 2))
  if [ $kind = down ]; then stop_daemon; else kill_daemon; fi
  started=$SECONDS
  start_daemon "${at_home[@]}"
  send $kind 25 49
  stay_away $((outage - outage / 2))
  # A silent outage is detected after some seconds.
  wait_for_line start.log 'event="destination waits"'
  wait_for_line start.log "event=accepted request=$kind-49 "
  nothing_is_used_up $kind
  "$photospool" queue > queue.txt
  grep -m 1 '^    (' queue.txt || fail "queue does not say why it waits"
  # Abandoned uploads are not deleted yet; the log says so once a minute and not with every request.
  [ "$(grep -c 'abandoned uploads' start.log)" -le $(((SECONDS - started) / 60 + 1)) ] || fail "the log says the same over and over"
  [ $kind = down ] || echo "silent: left alone for $longest s at most"
  all_arrives $kind
done
stop_daemon
