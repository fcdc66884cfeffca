# check before the first run, names that nobody knows, names from standard input, and a daemon that does not answer.
. "$(dirname "$0")/../lib/library.sh"

# ends STATUS COMMAND...: with standard output in out.log and standard error in err.log.
ends() { local status=0; "$photospool" "${@:2}" > out.log 2> err.log || status=$?; expect "$status" "$1" "${*:2}: $(cat err.log)"; }
has() { grep -q -- "$2" "$1" || fail "$1 has no line '$2': $(cat "$1")"; }

# Before the first run: destinations are looked at, and nothing is made.
ends 0 check
has out.log '^  spool.directory from PHOTOSPOOL_SPOOL$'
has out.log 'none yet; `photospool run` makes it'
has out.log "^store directory: keeps objects in $spool/objects$"
[ ! -e "$spool" ] || fail 'check made the spool'
echo "network: {type: exec, program: $PWD/missing}" > photospool.yaml
ends 78 check --config photospool.yaml
has err.log "$PWD/missing cannot be run"
(umask 077; echo "whsec_$(printf 'a secret of some length, long enough' | base64)" > hook.secret)
echo 'network: {type: webhook, url: "https://hooks.example.org/", secretFile: hook.secret}' > photospool.yaml
ends 0 check --config photospool.yaml
has out.log '^network webhook: .*the receiver CANNOT open its photos, .*give the store directory a `url`'
sed -i 's,https://hooks.example.org,http://localhost:9,' photospool.yaml
ends 0 check --config photospool.yaml
! grep -q 'CANNOT open' out.log || fail "$(cat out.log)"
ends 78 check --spool "$PWD/no/where"
has err.log "$PWD/no is not there either; make that with .mkdir -p $PWD/no.$"
ends 66 run --spool "$PWD/no/where"
has err.log "make $PWD/no with .mkdir -p.*"
ends 78 check --json --spool "$PWD/no/where"
expect "$(jq -r 'select(.good | not) | .subject' out.log)" "spool $PWD/no/where"

start_daemon
ends 0 check --spool "$spool"
has out.log '^  spool.directory from command line$'
has out.log "^daemon: running, process $daemon$"

# Names that nobody knows, what is held, and names from standard input.
drop known family text
"$photospool" wait --timeout 60 known
ends 0 hold family 'fam*'
has err.log 'fam\*: no conversation of this name is known; it is held all the same'
! grep -q 'family:' err.log || fail "$(cat err.log)"
expect "$("$photospool" hold | paste -sd' ')" 'fam* family'
drop one family text
drop two family text
wait_until [ -d "$spool/cur/two" ]
# A wait for what is held says so, once.
"$photospool" wait one 2> wait.log & waiting=$!
wait_for_line wait.log 'photospool: family is held; this waits until `photospool release` lets it go on'
ends 0 cancel - < <(printf 'one\n\ntwo\n')
expect "$(paste -sd' ' out.log)" 'one: cancelled; nothing of it was published two: cancelled; nothing of it was published'
status=0
wait "$waiting" || status=$?
expect "$status" 69 'the wait for what was cancelled'
expect "$(grep -c 'is held' wait.log)" 1
"$photospool" hold | "$photospool" release - > /dev/null
expect "$("$photospool" hold)" ''
seq 2500 | sed 's/^/nobody-/' > names
ends 69 cancel - < names
expect "$(grep -c 'nobody-' err.log)" 2500

# What a purge or a clear would do, and failed requests from standard input.
ends 0 purge --dry-run family nobody
has out.log '^family: 0 waiting and 0 photos (0 B in the cache) would go$'
has out.log '^nobody: the ledger knows no conversation of that name; 0 waiting'
expect "$("$photospool" clear --dry-run)" '0 photos, 0 B'
[ -s "$spool/published/family.jsonl" ] && [ -z "$(ls "$spool/purge")" ] || fail 'something was purged'
mkdir "$spool/tmp/nowhere"; echo text > "$spool/tmp/nowhere/text"; mv "$spool/tmp/nowhere" "$spool/new/"
is_refused() { [ -e "$spool/failed/nowhere/error" ]; }
wait_until is_refused
echo family > "$spool/failed/nowhere/to"
expect "$(echo nowhere | "$photospool" retry -)" 'nowhere: retried'
"$photospool" wait --timeout 60 nowhere
ends 0 purge - < <(echo nobody)
has out.log '^nobody: purged'

# A daemon that does not answer.
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

# All that moves from new/ into the ledger while the queue is read is in it, and once.
before=$("$photospool" queue --json | wc -l)
"$photospool" hold crowd > /dev/null 2>&1
for number in $(seq 600); do
  mkdir "$spool/tmp/crowd$number"
  echo crowd > "$spool/tmp/crowd$number/to"
  echo text > "$spool/tmp/crowd$number/text"
done
kill -STOP "$daemon"
mv -t "$spool/new" "$spool"/tmp/crowd*
kill -CONT "$daemon"
while :; do
  left=$(ls "$spool/new" | wc -l)
  "$photospool" queue --json > listing
  expect "$(wc -l < listing) $(jq -r .request listing | sort -u | wc -l)" "$((before + 600)) $((before + 600))" "$left in new/"
  [ "$left" != 0 ] || break
done

# Directories that are gone, and those that are another's.
mv "$spool/new" "$spool/gone"
ends 73 queue
has err.log "has no directory new; start .photospool run. there once, or where it runs already .mkdir -m 3770 $spool/new."
mv "$spool/gone" "$spool/new"
stop_daemon

# A list of a conversation that nobody knows says so, beside the list.
ends 0 queue --to famly
has err.log 'famly: no conversation of this name is known; nothing was ever sent there'
ends 0 queue --json --to famly
[ ! -s out.log ] || fail "$(cat out.log)"
has err.log 'famly: no conversation of this name'
ends 0 queue --to family
[ ! -s err.log ] || fail "$(cat err.log)"

# What was cancelled before any daemon accepted it is known all the same.
unseen=$("$photospool" send --to family --from work --text unseen)
ends 0 queue --to family
expect "$("$photospool" cancel "$unseen")" "$unseen: cancelled; nothing of it was published"
expect "$("$photospool" show --json "$unseen" | jq -c '[.state, .conversation, .inbox, .messages]')" '["cancelled","family","work",[]]'
ends 69 wait "$unseen"
ends 69 cancel nobody

# A narrow terminal gets its fields in lines that fit; only a word that is longer by itself is not cut.
on_terminal() { script -qec "stty cols $1; '$photospool' ${*:2}" /dev/null < /dev/null | tr -d '\r' | sed 's/\x1b[^m]*m//g'; }
"$photospool" send --to family --text waits > /dev/null
on_terminal 40 queue > narrow.log
[ "$(wc -L < narrow.log)" -le 40 ] || fail "$(cat narrow.log)"
has narrow.log '^    CONVERSATION$'
has narrow.log '^    .*pending  family$'
on_terminal 120 queue > wide.log
has wide.log '^REQUEST  *SIZE  *ACCEPTED  *STATE  *CONVERSATION$'
if as=$(command -v setpriv) && [ "$(id -u)" = 0 ]; then
  chmod 755 . && chmod 2750 "$spool" && chgrp 61003 "$spool" "$spool/tmp" "$spool/new" "$spool/draft"
  member() { "$as" --reuid 61002 --regid 61002 --groups 61003 env HOME=/ "$photospool" "$@"; }
  if member --version > /dev/null 2>&1; then
    status=0; member queue > out.log 2> err.log || status=$?
    expect "$status" 77
    has err.log 'Permission denied; it is root.s: run this as root, or have root permit it'
  else
    leave_out 'other users cannot run the program here'
  fi
else
  leave_out 'only root can be several users'
fi
