# Three hosts share a queue on three servers. Photos and texts are dropped on each; one host is killed and stays away, one is
# killed and returns, a server is killed, and then all of them. Everything is published once and in the order of each host, and
# the receipts are where the requests were dropped.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cluster.sh"

noise 300x200 photo.jpg
# send HOST ROUND FROM TO: texts, every fourth with a photo, into conversations that all hosts use.
send() {
  local number spool=$PWD/$1/spool photos
  for number in $(seq "$3" "$4"); do
    photos=(); [ $((number % 4)) != 0 ] || photos=(photo.jpg)
    send_to_judge "$1-$2-$number" "c$((number % 5))" "$1 $2 $number" "${photos[@]}"
  done
}
# judge_host NAME: what was dropped there, by what was published of it.
judge_host() {
  jq -c "select(.request | startswith(\"$1-\"))" sent.jsonl > "sent-$1.jsonl"
  jq -c "select(.request | startswith(\"$1-\"))" sink/journal.jsonl > "journal-$1.jsonl"
  tool judge.py "sent-$1.jsonl" "journal-$1.jsonl" sink/objects || fail "the judge complains of $1"
}
# has_receipts NAME: of all that was dropped there, and nothing else is left.
has_receipts() {
  [ "$(ls "$1/spool/sent" | wc -l)" = "$(jq -r "select(.request | startswith(\"$1-\")) | .request" sent.jsonl | wc -l)" ] \
    && [ -z "$(ls "$1/spool/cur")$(ls "$1/spool/failed")" ]
}

# all_shown SECONDS: until every message has had its effect.
all_shown() {
  order wait "$(expected)" "$1"
  expect "$(jq .count <<< "$answer")" "$(expected)" 'messages that had an effect'
}

for name in a b c; do cluster_host "$name"; done
for name in a b c; do start "$name"; done
for name in a b c; do send "$name" first 1 12; done
all_shown 120
# Without a cluster it is not loaded: t-01.
grep -q libnats "/proc/${daemons[a]}/maps" || fail 'a host of a cluster has not loaded libnats'

# A host that is gone has others publish what it has relayed, and what they drop.
strike b
for name in a c; do send "$name" second 1 12; done
all_shown 120

# A daemon that is killed and restarted, and a server that is killed.
nats kill 1
send a third 1 12
strike a
send a fourth 1 12
start a
send c third 1 12
all_shown 120
nats start 1

# All servers go away and come back.
nats kill all
send c fourth 1 12
wait_until test -d c/spool/cur/c-fourth-12
nats start all
all_shown 120

# The host that was away finds its receipts.
start b
for name in a b c; do wait_until has_receipts "$name"; done
for name in a b c; do judge_host "$name"; done
expect "$(jq -r .state a/spool/sent/*/receipt.json | sort -u)" sent
expect "$(at b show b-first-4 --json | jq -r '.messages[].state' | paste -sd' ')" 'sent sent'
for name in a b c; do stop "$name"; done
