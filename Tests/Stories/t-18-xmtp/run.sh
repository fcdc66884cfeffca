# Photo and text reach another person's client on XMTP once and in order, despite kills and an outage of the node.
# The photo is in an S3 service behind TLS.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/xmtp.sh"

(umask 077; printf '%064d\n' 5 > key)
# settings PROGRAM [ROUTE]: with that co-process, and perhaps a route for `family`.
settings() { configure < <(xmtp_settings "$1" key; echo "${2:+routes: [$2]}"); }

settings "$xmtp"
meet
has out.log 'photos are sealed with xmtp'
route="{conversation: family, network: xmtp, as: \"group:$group\"}"

# drop_next: the next request, r1, r2, …, with a photo and a text of its own.
count=0
drop_next() {
  count=$((count + 1))
  name=r$count
  noise 300x200 photo.jpg
  drop "$name" family "text $count" "${1:-photo.jpg}"
}

# check_all: the person has got everything, once and in order, and what is new can be opened; the service keeps what was
# sent and nothing else.
checked=0
check_all() {
  local photo sent
  ask READER '{"do": "read"}'
  jq -c '.messages[]' <<< "$answer" > seen.jsonl
  expect "$(jq -r .type seen.jsonl | paste -d' ' - - | sort | uniq -c | xargs)" "$count remoteStaticAttachment text" "$1"
  expect "$(jq -r 'select(.type == "text").text' seen.jsonl)" "$(seq -f 'text %g' "$count")" "$1"
  expect "$(jq -r .id seen.jsonl | sort | uniq -d)" '' "$1"
  expect "$(stored)" $((count * 2)) "$1"
  jq -r 'select(.attachment) | .attachment | tojson' seen.jsonl > photos.jsonl
  while [ $checked -lt $count ]; do
    checked=$((checked + 1))
    photo=$(sed -n "${checked}p" photos.jsonl)
    ask READER "{\"do\": \"open\", \"attachment\": $photo}"
    sent=$("$photospool" show "r$checked" --json | jq -r '.messages[0].photo | .path, .url')
    expect "$(jq -r '.sha256, .filename, .mimeType' <<< "$answer" | xargs)" \
      "$(sha256sum "$spool/${sent%%$'\n'*}/original.jpg" | cut -d' ' -f1) photo.jpg image/jpeg" "r$checked, $1"
    expect "$(jq -r .url <<< "$photo")" "${sent#*$'\n'}" "r$checked, $1"
  done
  expect "$(objects)" "$(jq -r .contentDigest photos.jsonl | sort)" "objects, $1"
}

settings "$xmtp" "$route"
start_daemon
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop_next planted.jpg
"$photospool" wait --timeout 120 r1
expect "$("$photospool" show r1 --json | jq -r '.messages[0].photo | "\(.width)x\(.height)"')" 2048x1536
check_all 'the first'
ends 0 check
has out.log "^network xmtp: only the daemon, process $daemon, can try it"

# The node is down. Requests dropped meanwhile use up no attempts, and go out when it recovers.
ask NODE '{"do": "down"}'
first=$((count + 1))
for _ in 1 2 3; do drop_next; done
wait_for_line start.log 'event="destination waits" cause=unreachable destination=xmtp '
wait_until has_error "r$first"
"$photospool" queue --json --to family > queue.log
expect "$(jq -r 'select(.error).error' queue.log | sort -u)" \
  "cannot connect to the XMTP node at $node; check the endpoint and whether the node is up"
# Also after a restart, when a photo that has an id on XMTP already is not uploaded again.
stop_daemon
start_daemon
wait_for_line start.log 'event="destination waits" cause=.* destination=xmtp '
ask NODE '{"do": "up"}'
"$photospool" wait --timeout 120 r2 r3 r4
for number in 2 3 4; do
  expect "$("$photospool" show "r$number" --json | jq '[.messages[].attempts | length] | max <= 2')" true "r$number"
done
stop_daemon
check_all 'the node was away'

# Killed wherever a photo can be on its way: the co-process, which the daemon replaces, or the daemon itself.
settings "$halting" "$route"
for victim in co-process daemon; do
  for moment in "${moments[@]}"; do
    start_daemon
    halt_at "$moment"
    drop_next
    until_halted "$moment"
    if [ "$victim" = daemon ]; then kill_daemon; else kill -KILL "$(pgrep -P "$daemon" -f xmtp_halting)"; fi
    let_go "$moment"
    [ "$victim" != daemon ] || start_daemon
    "$photospool" wait --timeout 60 "$name" || fail "$victim killed $moment: not sent"
    stop_daemon
  done
done
check_all 'killed on its way'
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
echo '12 kills on the way, each photo and text once'
