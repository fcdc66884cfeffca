# Requests that are written down when they are sent, and judged by what had an effect at their destination.

hook_secret=whsec_$(head -c 24 /dev/urandom | base64)

# start_sink: a webhook, and a store with upload URLs. See sink.py for its orders.
start_sink() {
  start_server sink.py "$hook_secret"
  sink=$(fact endpoint)
  (umask 077; echo "$hook_secret" > hook.secret)
}

# send_to_judge NAME CONVERSATION TEXT [PHOTO...]: drops it and writes it down.
send_to_judge() {
  drop "$@"
  jq -nc --arg request "$1" --arg conversation "$2" --arg text "$3" --argjson photos $(($# - 3)) '$ARGS.named' \
    >> sent.jsonl
}

# expected: how many messages were sent so far.
expected() { jq -s 'map(.photos + (if .text == "" then 0 else 1 end)) | add' sent.jsonl; }

# wait_for_all SECONDS: until every message has had its effect.
wait_for_all() {
  local count
  count=$(expected)
  order wait "$count" "$1"
  expect "$(jq .count <<< "$answer")" "$count" "messages that had an effect; queue: $("$photospool" queue | tail -n 6)"
}

judge() { tool judge.py sent.jsonl sink/journal.jsonl "$@" || fail 'the judge complains'; }

# since MOMENT: milliseconds from then to the first effect behind it, and to the last.
since() {
  jq -rs --argjson moment "$1" 'map(select(.isEffective).time - $moment | select(. > 0) | . * 1000 | round)
    | "the first after \(min) ms, the last after \(max) ms"' sink/journal.jsonl
}
