# While no daemon runs, the commands that people look at or wait with say so, and only if something waits.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
stop_daemon
ends 0 queue
expect "$(cat err.log)" ''
ends 0 check
has out.log '^daemon: not running$'

drop one family text
ends 0 queue
has out.log '^one .*family$'
has err.log "no daemon runs on $spool, so nothing is sent; start .photospool run"
ends 0 check
has out.log '^daemon: not running, and messages wait; start .photospool run'
ends 0 flush
has err.log 'no daemon runs'
ends 75 wait --timeout 1 one
has err.log 'no daemon runs'

start_daemon
"$photospool" wait --timeout 60 one 2> err.log
expect "$(cat err.log)" ''
ends 0 queue
expect "$(cat err.log)" ''
stop_daemon
