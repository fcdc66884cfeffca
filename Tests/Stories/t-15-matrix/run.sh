# Photo and text reach another person's Matrix client once and in order, although the homeserver is away.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact alice > token)
configure < <(matrix_settings)

start_daemon
ends 0 check
has out.log 'the homeserver can read the keys'
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop cat family 'Check this out!' planted.jpg
"$photospool" wait --timeout 120 cat
read_room > seen.jsonl
expect "$(jq -r .kind seen.jsonl | paste -sd' ')" 'sealed photo text'
expect "$(jq -r 'select(.kind == "text").body' seen.jsonl)" 'Check this out!'
expect "$(jq -r 'select(.kind != "text").sha256' seen.jsonl)" \
  "$(sha256sum "$spool"/photos/default/family/*/original.jpg | cut -d' ' -f1)"
expect "$(jq -r 'select(.kind != "text").content | fromjson.info | "\(.w)x\(.h)"' seen.jsonl)" 2048x1536

# The homeserver is down. Requests dropped meanwhile use up no attempts, and go out when it recovers.
order kill
for number in 1 2 3; do drop "away-$number" family "away $number"; done
wait_for_line start.log 'cause=unreachable'
order start
"$photospool" wait --timeout 120 away-1 away-2 away-3
for number in 1 2 3; do
  expect "$("$photospool" show "away-$number" --json | jq '[.messages[].attempts | length] | max <= 1')" true "away-$number"
done
stop_daemon
read_room > seen.jsonl
expect "$(jq -r 'select(.kind == "text").body' seen.jsonl | paste -sd,)" 'Check this out!,away 1,away 2,away 3'
expect "$(jq -r '.content | fromjson."photospool.message"' seen.jsonl | sort | uniq -d)" ''
