# A receiver refuses two conversations for ever, with all kinds of answers, and a store some others: everything else goes
# out undisturbed, also after a restart and a flush, and their messages wait until they are accepted.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/deliveries.sh"

start_sink
hook_end=${SERVER[1]} hook_out=${SERVER[0]}
configure <<YAML
network: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true}
YAML
noise 120x80 photo.jpg

# wait_for_good COUNT: until so many messages have had their effect, all of those that nobody refuses.
wait_for_good() {
  order wait "$1" 60
  expect "$(jq .count <<< "$answer")" "$1" "messages that had an effect; queue: $("$photospool" queue | tail -n 6)"
}

# asked CONVERSATION COUNT: until it was tried so often.
asked() {
  order asked "$1" "$2" 60
  [ "$(jq .count <<< "$answer")" -ge "$2" ] || fail "$1 was tried $(jq .count <<< "$answer") times and not $2"
}

# send_good ROUND: a text to each of nine conversations.
send_good() {
  local number
  for number in 1 2 3 4 5 6 7 8 9; do send_to_judge "$1-$number" "good$number" "$1 $number"; done
}

start_daemon
good=0
for word in status/404 status/403 status/410 status/301 'status/429?retry-after=3600'; do
  name=${word//[^0-9]/}
  # Those that are refused come first, and nothing of the others came between.
  for bad in bad1 bad2; do
    order refuse "$bad" "$word"
    order asked "$bad" 0 0
    before=$(jq .count <<< "$answer")
    send_to_judge "$name-$bad" "$bad" "$name"
    asked "$bad" $((before + 1))
  done
  for round in 1 2 3; do
    send_good "$name-$round"
    good=$((good + 9))
    wait_for_good $good
    # The receiver knows of them before the ledger does.
    "$photospool" wait --timeout 60 $(seq -f "$name-$round-%g" 9)
    if [ $round = 1 ]; then "$photospool" flush > flush.txt; fi
    if [ $round = 2 ]; then stop_daemon; start_daemon; fi
  done
  "$photospool" queue --json > queue.jsonl
  expect "$(jq -r .conversation queue.jsonl | sort -u | paste -sd ' ')" 'bad1 bad2'
  expect "$(jq -r .error queue.jsonl | grep -c 'the webhook at')" 2 "$(cat queue.jsonl)"
  is_empty "$spool/failed"
  for bad in bad1 bad2; do order refuse "$bad"; done
  good=$((good + 2))
  "$photospool" flush > flush.txt
  wait_for_good $good
done
judge > verdict.txt

# A store that takes the photos of some conversations only.
exec {hook_end}>&"$hook_end" {hook_out}<&"$hook_out"
start_server seaweedfs.py
(umask 077; echo AKFEW > access.key; echo SKFEW > secret.key)
configure <<YAML
store: {type: s3, endpoint: "$(fact endpoint)", region: $(fact region), bucket: $(fact bucket), accessKeyFile: access.key,
  secretKeyFile: secret.key, naming: "{conversation}/{message}.jpg"}
YAML
stop_daemon
start_daemon
for number in 1 2; do drop "shut-$number" "shut$number" "" photo.jpg; done
wait_until sh -c '[ "$(grep -c "cause=config_error" start.log)" -ge 2 ]'
for number in 1 2; do wait_until has_error "shut-$number"; done
for number in 1 2 3 4 5 6 7 8 9; do drop "open-$number" "open$number" "" photo.jpg; done
"$photospool" wait --timeout 60 $(seq -f 'open-%g' 9)
"$photospool" queue --json > queue.jsonl
expect "$(jq -r .conversation queue.jsonl | sort -u | paste -sd ' ')" 'shut1 shut2'
expect "$(jq -r .error queue.jsonl | grep -c 'does not allow it')" 2 "$(cat queue.jsonl)"
stop_daemon
