# `queue` lists each request once while it moves from new/ into the ledger, in lines that fit the terminal.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
"$photospool" hold crowd > /dev/null 2>&1
for number in $(seq 600); do build "crowd$number" crowd text; done
kill -STOP "$daemon"
mv -t "$spool/new" "$spool"/tmp/crowd*
kill -CONT "$daemon"
while :; do
  left=$(ls "$spool/new" | wc -l)
  "$photospool" queue --json > listing
  expect "$(wc -l < listing) $(jq -r .request listing | sort -u | wc -l)" "600 600" "$left in new/"
  [ "$left" != 0 ] || break
done
stop_daemon

# A narrow terminal gets its fields in lines that fit; only a word that is longer by itself is not cut.
on_terminal() { script -qec "stty cols $1; '$photospool' ${*:2}" /dev/null < /dev/null | tr -d '\r' | sed 's/\x1b[^m]*m//g'; }
"$photospool" send --to family --text waits > /dev/null
on_terminal 40 'queue 2> /dev/null' > narrow.log
[ "$(wc -L < narrow.log)" -le 40 ] || fail "$(cat narrow.log)"
has narrow.log '^    CONVERSATION$'
has narrow.log '^    .*pending  family$'
on_terminal 120 queue > wide.log
has wide.log '^REQUEST  *SIZE  *ACCEPTED  *STATE  *CONVERSATION$'
if as=$(command -v setpriv) && [ "$(id -u)" = 0 ]; then
  chmod 755 . && chmod 2750 "$spool" && chgrp 61003 "$spool" "$spool/tmp" "$spool/new" "$spool/draft"
  member() { "$as" --reuid 61002 --regid 61002 --groups 61003 env HOME=/ "$photospool" "$@"; }
  if member --version > /dev/null 2>&1; then
    command_ends 77 member queue
    has err.log 'Permission denied; it is root.s: run this as root, or have root permit it'
  else
    leave_out 'other users cannot run the program here'
  fi
else
  leave_out 'only root can be several users'
fi
