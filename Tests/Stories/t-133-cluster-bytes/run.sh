# Photos of relayed requests pass through an S3 bucket, and none through the servers of the cluster. A camera relays them; another
# host publishes them. While the bucket is away, requests wait in order on both sides. Afterwards it is empty.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cluster.sh"

mkdir seaweedfs
coproc STORE { exec "$python" "$here/../Support/python/seaweedfs.py" seaweedfs; }
read -r facts <&"${STORE[0]}" || fail 'seaweedfs.py did not start'
s3=$(fact endpoint)
(umask 077; fact accessKey > access.key; fact secretKey > secret.key)
noise 300x200 photo.jpg
# send ROUND: ten requests of the camera with a text and a photo each, over three conversations.
send() {
  local number spool=$PWD/camera/spool
  for number in $(seq 0 9); do send_to_judge "$1-$number" "c$((number % 3))" "$1 $number" photo.jpg; done
}
# is_relayed ROUND: and waits nowhere else.
is_relayed() { at camera wait --relayed --timeout 120 $(seq -f "$1-%g" 0 9); }
objects() { tool sigv4.py list "$s3/photos" us-east-1 "$(cat access.key)" "$(cat secret.key)"; }
bucket_is_empty() { [ -z "$(objects)" ]; }
# shown COUNT: after so many messages had their effect.
shown() {
  order wait "$1" 120
  expect "$(jq .count <<< "$answer")" "$1" 'messages that had an effect'
}
# bytes_on_servers: how many messages the stream has ever had, by all servers that have it.
bytes_on_servers() {
  local monitor
  for monitor in ${nats_monitors//,/ }; do
    curl -sf "$monitor/jsz?acc=\$G&streams=true"
  done | jq -s '[.[].account_details[]?.stream_detail[]? | select(.name == "PS_BYTES") | .state.last_seq]
    | if length == 0 then "no stream" else max end'
}

# Nobody publishes yet, so the bucket has what was relayed.
for settings in 'camera false' 'worker true'; do
  read -r name works <<< "$settings"
  cluster_host "$name" "work: $works" 'bytes: shared'
  cat >> "$name/photospool.yaml" <<EOF
stores:
  shared: {type: s3, endpoint: "$s3", bucket: photos, accessKeyFile: ../access.key, secretKeyFile: ../secret.key}
EOF
done
start camera
send first
is_relayed first
expect "$(objects | grep -cx 'relayed/[0-9a-f]\{64\}')" 10 'objects of relayed photos'
expect "$(objects | wc -l)" 10 objects
start worker
shown 20
wait_until bucket_is_empty

# The owner cannot read what was relayed, and the camera cannot relay: both wait.
stop worker
send second
is_relayed second
ask STORE kill
start worker
wait_for_line worker/start.log 'cannot connect to'
send third
wait_for_line camera/start.log 'event="destination waits"'
expect "$(at camera show third-0 --json | jq -r '.messages[0].state')" pending
order wait 20 1
expect "$(jq .count <<< "$answer")" 20 'messages that had an effect'
ask STORE start
shown 60
tool judge.py sent.jsonl sink/journal.jsonl sink/objects || fail 'the judge complains'
at camera wait --timeout 120 $(seq -f 'second-%g' 0 9) $(seq -f 'third-%g' 0 9)
wait_until bucket_is_empty
expect "$(bytes_on_servers)" 0 'messages that PS_BYTES ever had'

# A name of nothing is an error of the settings.
at worker check > check.txt || fail "check: $(cat check.txt)"
sed -i 's/bytes: shared/bytes: share/' camera/photospool.yaml
command_ends 78 at camera check
has err.log '`cluster.bytes` is `share`, and there is no such store; did you mean `shared`?'
stop camera
stop worker
