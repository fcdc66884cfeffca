# One grep for a request tells its whole story, with steps, attempts, causes, times and bytes. Secrets are in no line,
# at any level.
. "$(dirname "$0")/../lib/library.sh"

. "$here/lib/secrets.sh"
(umask 077; echo whsec_$(printf 'MARKERFORMERSECRET-and-more.' | base64) > hook.secret)

# The signer fails first, with a body that tells too much, then the receiver refuses; then both are fixed.
curl -s -X PUT --data '["html/500", "json/503?text=MARKERBODY"]' "$signer/-/script"
start_daemon SIGNER_TOKEN=MARKERTOKEN
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop story family 'MARKERTEXT for nobody else' planted.jpg
wait_for_line start.log 'request=story.*cause=auth_expired'
wait_until has_error story 'does not accept the signature'
(umask 077; echo "$secret" > hook.secret)
kill -HUP "$daemon"
"$photospool" wait --timeout 60 story
drop refused family 'MARKERTEXT again' /dev/null
drop later family 'MARKERTEXT to be cancelled'
"$photospool" wait --timeout 60 refused later 2> /dev/null && fail 'it was sent' || expect $? 69
wait_for_line start.log 'event="request sent".*request=story'
"$photospool" hold quiet
drop cancelled quiet 'MARKERTEXT never seen'
wait_for_line start.log 'event=accepted.*request=cancelled'
"$photospool" cancel cancelled
stop_daemon

# The story of one request.
grep 'request=story' run.log > story.log
has story.log 'event=accepted request=story bytes=[0-9]* conversation=family messages=2'
has story.log 'event=prepared request=story message=[0-9a-f]* bytes=[0-9]* from=[0-9]* seconds=[0-9.]* size=[0-9x]* step=prepare'
has story.log 'event=waits request=story message=[0-9a-f]* attempt=1 cause=server_busy .*destination=presigned .*step=upload wait='
has story.log 'event=uploaded .*bytes=[0-9]* seconds=[0-9.]* step=upload store=presigned'
has story.log 'event=waits request=story .*attempt=.* cause=auth_expired .*destination=webhook .*step=publish wait='
has story.log 'event=sent .*attempt=[0-9]* kind=photo .*network=webhook .*seconds=[0-9.]* step=publish waited='
has story.log 'event=sent .*attempt=[0-9]* kind=text'
has story.log 'event="request sent"'
has run.log 'event=refused request=refused.*error='
has run.log 'event=hold conversation=quiet outcome=held'
has run.log 'event=cancel request=cancelled outcome='

# No line contains a marker or a published key.
[ "$(grep -c . run.log)" -gt 20 ] || fail 'there is hardly a log'
no_secret run.log

# JSON instead; and with the journal at the other end, priorities instead of times. A variable that was inherited, while
# standard error is something else, does not count.
sed -i 's/level: trace/level: debug, format: json/' photospool.yaml
# Emptied before the start: lines of the previous daemon must not count.
start_daemon_at() { : > journal.log; "$@" "$photospool" run 2> journal.log & daemon=$!; }
: > journal.log
start_daemon_at env SIGNER_TOKEN=x JOURNAL_STREAM="$(stat -L -c %d:%i journal.log)"
wait_for_line journal.log '"event":"ready"'
drop json family 'MARKERTEXT in JSON'
"$photospool" wait --timeout 60 json
kill -TERM "$daemon"; wait "$daemon"; daemon=
! grep -v '^<[2-7]>{' journal.log || fail 'a line is without its priority'
expect "$(sed 's/^<[0-9]>//' journal.log | jq -r 'select(.request == "json" and .event == "sent").attempt')" 1
has journal.log '^<6>.*"event":"sent"'
! grep -q '"time"' journal.log || fail 'the journal has times of its own'
start_daemon_at env SIGNER_TOKEN=x JOURNAL_STREAM=1:1
wait_for_line journal.log '"event":"ready"'
kill -TERM "$daemon"; wait "$daemon"; daemon=
! grep -q '^<' journal.log || fail 'a file got priorities'
kill "$SIGNER_PID" 2> /dev/null || true
