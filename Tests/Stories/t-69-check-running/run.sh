# `check --running` has the daemon test its destinations: its sentences are those of `check`, without secrets; who asks during
# a round gets its answers, whoever goes away; and a receiver that never answers ends it by the usual limits.
. "$(dirname "$0")/../lib/library.sh"

secret=whsec_$(printf 'MARKERSIGNINGSECRET-and-more' | base64)
start_server sink.py "$secret"
sink=$(fact endpoint)
(umask 077; echo "$secret" > hook.secret; echo MARKERTOKEN > token)
settings() { # PLACE of the broken store
  cat <<YAML
stores:
  good: {type: presigned, endpoint: "$sink/upload", tokenFile: token}
  broken: {type: presigned, endpoint: "$sink/$1", tokenFile: token}
networks: {hook: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true, store: good}}
YAML
}
configure < <(settings slow)
asked() { curl -s "$sink/-/log" | jq "[.[] | select(.target | startswith(\"/$1\"))] | length"; }
# same_as_check [VARIABLE=VALUE...]: the daemon's lines are those of the command.
same_as_check() {
  ends 78 check --running --json
  jq -c . out.log > running.jsonl
  env "$@" "$photospool" check --json > check.jsonl 2> err.log && fail 'nothing is broken'
  jq -c 'select(.subject | test("^(store|network) "))' check.jsonl > expected.jsonl
  diff expected.jsonl running.jsonl || fail 'the sentences differ'
  expect "$(wc -l < running.jsonl)" 5
  expect "$(jq -r 'select(.good | not) | .subject' running.jsonl)" 'store broken'
}

ends 66 check --running
start_daemon
stop_daemon
ends 69 check --running
has err.log "no daemon runs on $spool; start .photospool run., or check the configuration without --running"

# Three ask at once, and the one that began the round goes away.
start_daemon
for number in 1 2 3; do
  "$photospool" check --running > out.$number 2> err.$number & eval "asker$number=$!"
  [ "$number" != 1 ] || order held 1 30
done
for number in 1 2 3; do wait_for_line err.$number 'the daemon asks its destinations'; done
kill "$asker1"
order let-go
for asker in "$asker2" "$asker3"; do
  status=0
  wait "$asker" || status=$?
  expect "$status" 78
done
cmp out.2 out.3
cmp err.2 err.3
has out.2 '^store good: .* answers with an upload URL'
has out.2 '^network hook: posts to '
has err.2 '^photospool: store broken: .*401'
has err.2 '^photospool: 1 problem to fix$'
expect "$(asked slow) $(asked upload)" '1 1' 'requests of one round'
same_as_check
expect "$(asked slow)" 3 'a round, and the command'

# The daemon answers for the configuration in force, the command for the file as it stands.
settings nowhere > photospool.yaml
ends 78 check --running
has err.log 'store broken: .*401'
stop_daemon

# A receiver that never answers does not hang the round.
settings stall > photospool.yaml
start_daemon PHOTOSPOOL_HTTP_STALL=1s
same_as_check PHOTOSPOOL_HTTP_STALL=1s
stop_daemon

# A stop does not wait for a round, and a reload brings the next one new destinations.
start_daemon
stalled=$(asked stall)
"$photospool" check --running 2> err.stopped & asker=$!
is_asked() { [ "$(asked stall)" -gt "$stalled" ]; }
wait_until is_asked
stop_daemon
status=0
wait "$asker" || status=$?
expect "$status" 69 "$(cat err.stopped)"
start_daemon
settings upload > photospool.yaml
kill -HUP "$daemon"
wait_for_line start.log 'configuration reloaded'
ends 0 check --running
stop_daemon
! grep -rn MARKER out.* err.* ./*.jsonl run.log || fail 'a secret is shown'
