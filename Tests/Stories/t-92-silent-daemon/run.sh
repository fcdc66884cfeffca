# Beside a daemon that does not answer, commands show the ledger and say so; those that change something wait for it.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
"$photospool" hold family > /dev/null
drop three family text
wait_until [ -d "$spool/cur/three" ]
ends 0 shape --json
expect "$(jq -c '[.conversation, .total, .buckets[0]]' out.log)" '["family",1,{"atLeast":0,"count":1}]'
kill -STOP "$daemon"
ends 0 queue
has out.log '^three!.*family$'
has err.log 'the daemon runs and does not answer'
ends 78 check
has err.log '^photospool: daemon: runs and does not answer'
"$photospool" release family > out.log 2> err.log & client=$!
wait_for_line err.log 'the daemon does not answer yet; waiting for it'
kill -CONT "$daemon"
wait "$client" || fail "$(cat err.log)"
has out.log '^family: released'
"$photospool" wait --timeout 60 three
stop_daemon
