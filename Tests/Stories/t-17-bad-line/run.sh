# A receiver and a store that are bad in every way, and a line that is: everything arrives, in order, and takes effect once.
# PHOTOSPOOL_BAD_LINE_COUNT says how many requests of a photo and a text each bad thing gets (12).
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/line.sh"
. "$here/lib/deliveries.sh"

# Without a line of our own there is the receiver alone, and the story says in the end that this was not all.
why=$(why_no_line) at_home=()
if [ -z "$why" ]; then
  in_world
  lay_line
fi
count=${PHOTOSPOOL_BAD_LINE_COUNT:-12}
# The daemon takes its own variables only.
unset PHOTOSPOOL_BAD_LINE_COUNT
start_sink
configure <<EOF
store: {type: presigned, endpoint: "$sink/upload"}
network: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true}
delivery: {backoff: {first: 100ms, longest: 1s}, probe: 1s}
http: {connect: 10s, stall: 1s}
EOF
noise 120x80 photo.jpg

# go_through WHAT [WORD...]: while the receiver and the store do what the words say to one request each.
go_through() {
  local what=$1 number began=$EPOCHREALTIME
  shift
  [ $# = 0 ] || order script "$@"
  for number in $(seq "$count"); do send_to_judge "$what-$number" "c$((number % 3))" "$what $number" photo.jpg; done
  wait_for_all 180
  # Every scripted fault happened.
  order left
  expect "$(jq .left <<< "$answer")" 0 "what is left of $what"
  judge sink/objects > verdict.txt
  echo "$what: $(since "$began"); so far $(cat verdict.txt)"
}

# times COUNT WORD...: the words so often.
times() { local words=${*:2}; for _ in $(seq "$1"); do echo "$words"; done; }

start_daemon "${at_home[@]}"
go_through fair-weather
go_through told-to-wait $(times 2 store:status/429?retry-after=1 hook:status/429?retry-after=1) store:status/429 hook:status/429
go_through not-well $(times 4 store:status/503 hook:status/500 hook:html/502)
go_through a-page-for-people store:html/200 $(times 3 store:html/503 hook:html/503)
go_through answers-lost $(times 5 hook:lost store:lost hook:reset-reply)
[ "$(jq -s 'map(select(.isEffective | not)) | length' sink/journal.jsonl)" -ge 5 ] || fail 'nothing was sent again'
go_through connections-lost $(times 3 store:close hook:close store:reset hook:reset store:garbage hook:garbage)
go_through silent store:stall store:half store:mute
# A webhook has half a minute to answer.
[ "$count" -le 12 ] || go_through silent-hook hook:stall hook:half hook:mute

if [ -z "$why" ]; then
  count=$(((count + 2) / 3))
  rule numgen random mod 10 '<' 3 counter name bites drop
  go_through three-of-ten-packets-lost
  [ "$(bites)" -gt 0 ] || fail 'no packet was lost'
  mend_line

  # Every third connection breaks under the request, and only the daemon's side learns of it. Each request
  # has its own connection.
  order keep no
  rule ct state new ct mark set numgen inc mod 3
  before=$(bites)
  nft add rule inet line in iifname home ct mark 0 ct original bytes '>' 700 counter name bites reject with tcp reset
  go_through every-third-connection-reset
  [ "$(bites)" -gt "$before" ] || fail 'no connection was reset'
  mend_line

  # Every third connection, each of which costs ten seconds, goes silent under the request, and nobody is told.
  rule ct state new ct mark set numgen inc mod 3
  before=$(bites)
  nft add rule inet line in iifname home ct mark 0 ct original bytes '>' 700 counter name bites drop
  count=$(((count + 1) / 2))
  go_through every-third-connection-silent
  [ "$(bites)" -gt "$before" ] || fail 'no connection went silent'
  mend_line
  order keep yes

  slow 64kbit
  go_through eight-kilobytes-a-second
  slow
fi
stop_daemon

# Negative controls of the judge.
# sees WORD JQ: that it complains with that word of a journal which was changed so.
sees() {
  jq -s -c "$2 | .[]" sink/journal.jsonl > tampered.jsonl
  if tool judge.py sent.jsonl tampered.jsonl > verdict.txt; then
    fail "the judge does not see that a journal is $1"
  fi
  expect "$(cut -d' ' -f1 verdict.txt | sort -u)" "$1" "$2"
}
effective='map(select(.isEffective))'
sees LOST 'map(select(.request != "silent-1" or .kind != "text"))'
sees DOUBLE "$effective"' | . + [.[-1] | .message = "another"]'
sees ORDER "$effective"' | map(select(.conversation == "c0")) as $c | map(select(.conversation != "c0")) + ([$c[1], $c[0]] + $c[2:])'
sees STRANGE '. + [.[-1] | .message = "another" | .text = "nobody sent this" | .kind = "text"]'
[ -z "$why" ] || skip "the line itself: $why"
