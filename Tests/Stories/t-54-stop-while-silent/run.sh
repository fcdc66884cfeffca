# The daemon is stopped while a webhook, a store and a program that ignores SIGTERM give no answer: it ends in order,
# and the next daemon publishes the work in progress under the same id.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/deliveries.sh"

start_sink
cat > hangs <<SH
#!/bin/sh
trap '' TERM
jq -r .message >> $PWD/asked
[ ! -e $PWD/silent ] || tail -f /dev/null
SH
chmod +x hangs
touch silent
configure <<YAML
network: {type: webhook, url: "$sink/slow", secretFile: hook.secret, allowPrivate: true}
networks:
  programs: {type: exec, program: $PWD/hangs, timeout: 1h}
  uploads: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true, store: stalls}
stores:
  stalls: {type: presigned, endpoint: "$sink/upload"}
routes:
  - {conversation: "program-*", network: programs}
  - {conversation: "upload-*", network: uploads}
YAML
noise 120x80 photo.jpg
start_daemon
order script store:stall
send_to_judge hook slow 'a text'
send_to_judge upload upload-1 '' photo.jpg
drop program program-1 'a text'
order held 1 60
wait_until test -s asked
is_asked() {
  order left
  [ "$(jq .left <<< "$answer")" = 0 ]
}
wait_until is_asked
moment=$EPOCHREALTIME
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
daemon=
echo "stopped after $(jq -n "$EPOCHREALTIME - $moment") s"
expect "$status" 0 "$(tail -n 5 start.log)"
grep -E 'level=(critical|error)' start.log && fail 'it complains'
if grep 'metrics' start.log; then fail 'it tells of metrics'; fi
wait_for_line start.log event=stopped

rm silent
order let-go
start_daemon
"$photospool" wait --timeout 60 hook upload program
judge > verdict.txt
expect "$(sort -u asked | wc -l)" 1 'messages that the program knows'
expect "$(wc -l < asked)" 2 'times that it was asked'
stop_daemon
