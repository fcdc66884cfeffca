# Photo and text go to a group on XMTP, the photo by way of an S3 service behind TLS. Another person's client, which is
# not ours, gets photo, then text, fetches the photo's object from the service and opens it bit by bit as it was sent; and
# it gets each once and in order, however often the daemon or the co-process was killed in between, and although the node
# was away.
. "$(dirname "$0")/../lib/library.sh"

start_server seaweedfs.py public
s3=$facts
(umask 077; fact accessKey > access; fact secretKey > secret; printf '%064d\n' 5 > key)
start_server tls_server.py "$(fact endpoint)"
authority=$(fact authority) store=$(fact good)
start_script NODE xmtp_relay.py
ask NODE '{"do": "endpoint"}'
node=$(jq -r .endpoint <<< "$answer")
mkdir reader
SSL_CERT_FILE=$authority start_script READER xmtp_reader.py "$node" reader

# configure PROGRAM [ROUTE]: with that co-process, and perhaps a route for `family`.
configure() {
  cat > photospool.yaml <<EOF
store: {type: s3, endpoint: "$store", bucket: photos, accessKeyFile: access, secretKeyFile: secret}
network: {type: xmtp, endpoint: "$node", insecure: true, keyFile: key, program: "$1", python: "$(command -v "$python")"}
http: {authorityFile: "$authority"}
${2:+routes: [$2]}
EOF
}
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
xmtp=$(realpath "$here/../../Sources/photospool-xmtp/photospool-xmtp.py")
halting=$(realpath "$here/../Support/python/xmtp_halting.py")

# The check registers the identity, so that somebody can add it to a group.
configure "$xmtp"
start_daemon
stop_daemon
"$photospool" check > check.log || fail "check: $(cat check.log)"
inbox=$(sed -n 's/^network xmtp: publishes on XMTP as the inbox \([0-9a-f]\{64\}\), .*/\1/p' check.log)
grep -q 'photos are sealed with xmtp' check.log || fail 'check does not say how photos are sealed'
ask READER "{\"do\": \"group\", \"with\": \"$inbox\"}"
group=$(jq -r .group <<< "$answer")
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
  ask NODE "{\"do\": \"stored\", \"group\": \"$group\"}"
  expect "$(jq .stored <<< "$answer")" $((count * 2)) "$1"
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
  expect "$(tool sigv4.py list "$(jq -r .endpoint <<< "$s3")/photos" \
    us-east-1 "$(cat access)" "$(cat secret)")" "$(jq -r .contentDigest photos.jsonl | sort)" "objects, $1"
}

configure "$xmtp" "$route"
start_daemon
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop_next planted.jpg
"$photospool" wait --timeout 120 r1
expect "$("$photospool" show r1 --json | jq -r '.messages[0].photo | "\(.width)x\(.height)"')" 2048x1536
check_all 'the first'
"$photospool" check > check.log || fail "check beside the daemon: $(cat check.log)"
grep -q "^network xmtp: only the daemon, process $daemon, can try it" check.log || fail "check says: $(cat check.log)"

# The node goes away. What is dropped meanwhile uses up no attempts, and goes out when it is back.
ask NODE '{"do": "down"}'
first=$((count + 1))
for _ in 1 2 3; do drop_next; done
wait_for_line start.log 'event="destination waits" cause=unreachable destination=xmtp '
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
configure "$halting" "$route"
for victim in co-process daemon; do
  for moment in 'before reserve' 'after reserve' 'before publish' 'after publish' before after; do
    start_daemon
    case $moment in
      before | after) ask NODE "{\"do\": \"hold\", \"when\": \"$moment\"}" ;;
      *) echo "$moment" > halt ;;
    esac
    drop_next
    case $moment in
      before | after) ask NODE '{"do": "held"}' ;;
      *) wait_for_line start.log 'line=halted' ;;
    esac
    : > halt
    if [ "$victim" = daemon ]; then kill_daemon; else kill -KILL "$(pgrep -P "$daemon" -f xmtp_halting)"; fi
    case $moment in
      before) ask NODE '{"do": "drop"}' ;;
      after) ask NODE '{"do": "release"}' ;;
    esac
    [ "$victim" != daemon ] || start_daemon
    "$photospool" wait --timeout 60 "$name" || fail "$victim killed $moment: not sent"
    stop_daemon
  done
done
check_all 'killed on its way'

# The daemon killed before every k-th call that changes the disk, all the way of photo and text.
configure "$xmtp" "$route"
k=1 step=${PHOTOSPOOL_TEST_KILL_STEP:-20} kills=0
while :; do
  drop_next
  run_killed $k "$name"
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  "$photospool" wait --timeout 60 "$name" || fail "k=$k: not sent after the restart"
  stop_daemon
  k=$((k + step))
done
check_all "killed at every ${step}th call"
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
[ $((kills * step)) -ge 60 ] || fail "only $kills kills"
echo "$kills kills at calls and 12 on the way, each photo and text once"
