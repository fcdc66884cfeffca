# A demonstration of a cluster: three NATS servers and three hosts on this machine. Photos are dropped on each host with mkdir,
# cp and mv, while a host is killed, a server is killed, and a host is paused and goes on. The judge of the stories then says
# whether everything was published once and in order.
set -euo pipefail

root=$PWD
photographs=(/usr/share/backgrounds/*.jpg)
export PHOTOSPOOL=${PHOTOSPOOL:-$root/.build/debug/photospool}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/photospool-demo.XXXXXX")
cd "$scratch"
# The vocabulary of the stories: hosts, servers, a receiver of webhooks with a store, and requests that are written down.
. "$root/Tests/Stories/lib/library.sh"
. "$root/Tests/Stories/lib/instances.sh"
. "$root/Tests/Stories/lib/deliveries.sh"
began=$(date +%s%3N)
trap 'for process in "${daemons[@]}"; do kill -CONT "$process"; kill -KILL "$process"; done 2> /dev/null; cd /; rm -rf "$scratch"' EXIT

say() { printf '\n== %5.1f s  %s\n' "$((($(date +%s%3N) - began) / 100))e-1" "$*"; }
published() { jq -s 'map(select(.isEffective)) | length' sink/journal.jsonl; }

# drop_photo HOST NAME CONVERSATION: a photograph and a line of text, as any shell script drops them.
photo=0
drop_photo() {
  local d=$1/spool/tmp/$2
  mkdir "$d"
  cp "${photographs[photo++ % ${#photographs[@]}]}" "$d/photo.jpg"
  echo "$3" > "$d/to"
  echo "$2" > "$d/text"
  mv "$d" "$1/spool/new/"
  jq -nc --arg request "$2" --arg conversation "$3" '{$request, $conversation, photos: 1, text: $request}' >> sent.jsonl
  echo "   $2 -> $3"
}
# round NAME HOST...: two requests on each host, in two conversations that all hosts share.
round() {
  local host number
  for number in 1 2; do
    for host in "${@:2}"; do drop_photo "$host" "$host-$1-$number" "$( [ $number = 1 ] && echo family || echo friends )"; done
  done
}
# arrive: until all that was dropped is published.
arrive() {
  local start
  start=$(date +%s%3N)
  order wait "$(expected)" 180
  expect "$(published)" "$(expected)" 'messages that are published'
  echo "   $(published) messages are published, $((($(date +%s%3N) - start))) ms after the last drop"
}

say 'Three servers: each syncs before it answers'
. "$root/Tests/Stories/lib/nats.sh"
tr , '\n' <<< "$nats_servers"

say 'Three hosts with the same networks and stores'
# The shell complains of two helpers at once.
start_sink 2> sink.log
(umask 077; openssl rand -hex 32 > cluster.secret; echo "$nats_token" > cluster.token)
for host in a b c; do
  mkdir "$host"
  cat > "$host/photospool.yaml" <<YAML
spool: {directory: "$scratch/$host/spool"}
cluster: {servers: "$nats_servers", secretFile: ../cluster.secret, tokenFile: ../cluster.token}
store: {type: presigned, endpoint: "$sink/upload"}
network: {type: webhook, url: "$sink/hook", secretFile: ../hook.secret, allowPrivate: true}
YAML
  start "$host"
done
sed -n 2p a/photospool.yaml

say 'Photos are dropped on each: mkdir, cp, mv'
round first a b c
arrive

say 'Host b is killed; the others take its conversations over'
strike b
round second a c
arrive

say 'Server 1 is killed; two of three go on'
nats kill 1
round third a c
arrive
nats start 1

say 'Host c is paused, as a laptop that sleeps; host a publishes for it'
kill -STOP "${daemons[c]}"
round fourth a
arrive
say 'Host c goes on, and finds that others own its conversations'
kill -CONT "${daemons[c]}"
round fifth c
arrive

say 'Host b is started again and drops, too'
start b
round sixth a b c
arrive

say 'The receipts are where the requests were dropped'
for host in a b c; do
  count=$(jq -s --arg host "$host-" 'map(select(.request | startswith($host))) | length' sent.jsonl)
  wait_until bash -c "[ \"\$(ls $host/spool/sent | wc -l)\" = $count ]"
  echo "   $host: $count in sent/"
done

say 'Who published, in order of arrival, of the conversation family'
jq -r 'select(.conversation == "family" and .isEffective) | "\(.request) \(.kind)"' sink/journal.jsonl | paste -sd' ' | fold -sw 120

say 'The judge'
for host in a b c; do
  jq -c "select(.request | startswith(\"$host-\"))" sent.jsonl > "sent-$host.jsonl"
  jq -c "select(.request | startswith(\"$host-\"))" sink/journal.jsonl > "journal-$host.jsonl"
  printf '   of host %s: ' "$host"
  tool judge.py "sent-$host.jsonl" "journal-$host.jsonl" sink/objects
done
for host in a b c; do stop "$host"; done
