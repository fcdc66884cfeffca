# Fifty reloads under load lose, double and reorder nothing.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/reload.sh"

start_reloading
for number in $(seq 400); do
  if [ $((number % 40)) = 0 ]; then
    drop "load-$number" "c$((number % 8))" "$number" "$photos/Wine_by_Jakkub_Mede.jpg"
  else
    drop "load-$number" "c$((number % 8))" "$number"
  fi
  if [ $((number % 8)) = 0 ]; then
    if [ $((number % 16)) = 0 ]; then
      configuration 'seal: matrix' 'delivery: {uploads: 1, lookahead: 1, conversations: 2}' \
        'photo: {longestSide: 100}' 'http: {connect: 5s}' 'store: {type: directory, url: "https://photos.example.org"}'
    else
      configuration
    fi
    kill -HUP "$daemon"
  fi
done
"$photospool" wait --timeout 300 $(seq -f 'load-%g' 400)
for conversation in $(seq 0 7); do
  expect "$(published "c$conversation" | jq -r 'select(.kind == "text").text' | paste -sd' ')" \
    "$(seq 400 | awk -v c="$conversation" '$1 % 8 == c' | paste -sd' ')" "c$conversation"
done
expect "$(cat "$spool"/published/c?.jsonl | jq -r .message | sort | uniq -d)" ''
expect "$(cat "$spool"/published/c?.jsonl | grep -c '"kind":"photo"')" 10
expect "$(metric 'photospool_requests_ended_total{outcome="failed"}')" 0
[ "$(reloads)" -ge 10 ] || fail "only $(reloads) reloads"
stop_daemon
