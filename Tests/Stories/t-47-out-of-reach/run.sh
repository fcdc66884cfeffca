# Without ACLs an owner can keep the daemon out of a request. It is refused once, in one sentence, stays where it is,
# and delays no other. A refused or cancelled request never goes out, whatever its owner does with its permissions.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root can be several users'
as() { setpriv --reuid "$1" --regid "$1" --groups 61000 "${@:2}"; }
mine() { setpriv --reuid 61000 --regid 61000 --clear-groups "$photospool" "$@"; }
chmod 755 .
as 61002 "$photospool" --version > /dev/null 2>&1 || skip 'other users cannot run the program here'
printf 'intake:\n  rescan: 200ms\n' > photospool.yaml
chmod 644 photospool.yaml
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
install -d -o 61000 -g 61000 -m 750 spool

start_as_daemon() {
  : > start.log
  setpriv --reuid 61000 --regid 61000 --clear-groups "$photospool" run > start.log 2>&1 &
  daemon=$!
  wait_for_line start.log event=ready
  # As if the file system kept no ACLs.
  "$python" -c 'import os, sys
for name in ("tmp", "draft", "new"): os.removexattr(f"{sys.argv[1]}/{name}", "system.posix_acl_default")' "$spool"
}
# text UMASK NAME CONVERSATION: a text of 61001, by hand.
text() {
  (umask "$1" && as 61001 sh -ec 'mkdir "$1/tmp/$2" && echo "$2" > "$1/tmp/$2/text" && echo "$3" > "$1/tmp/$2/to" &&
    mv "$1/tmp/$2" "$1/new/"' _ "$spool" "$2" "$3")
}
# ended NAME STATUS: waits for it.
ended() { local status=0; timeout 60 "$photospool" wait "$1" 2> wait.log || status=$?; expect "$status" "$2" "$1: $(cat wait.log)"; }
is_there() { [ -e "$1" ]; }
is_gone() { [ ! -e "$1" ]; }
# lines PATTERN: how many the log has, of all starts.
lines() { cat run.log start.log 2> /dev/null | grep -c -- "$1" || true; }

: > run.log
start_as_daemon
for mask in 022 077; do text $mask "cat-$mask" family; done
for mask in 022 077; do
  ended "cat-$mask" 69
  grep -q "may not read, change and move the request's directory" wait.log || fail "$(cat wait.log)"
done
# Its conversation goes on, for its owner, too.
text 007 good family
ended good 0
ended "$(umask 022 && as 61002 "$photospool" send --to family --text others)" 0
# It is not in the queue, none of it was published, and a cancel reports no effect.
expect "$(mine queue)" 'Nothing is waiting.'
status=0
mine cancel cat-022 > cancel.log 2>&1 || status=$?
expect "$status" 69 "$(cat cancel.log)"
# A second start, and looks at all of the spool, say nothing again.
stop_daemon
start_as_daemon
text 007 after family
ended after 0
sleep 0.5
expect "$(lines 'event=refused request=cat-')" 2
expect "$(lines 'event="request failed" request=cat-')" 2
expect "$(lines 'found again')" 0

# A request that becomes movable goes to failed/, whole, with its sentence. A retry sends it. An entry that an earlier
# version left there does not block it.
install -d -o 61000 -g 61000 -m 700 "$spool/failed/cat-022"
echo 'left behind' > "$spool/failed/cat-022/error"
as 61001 chmod 2770 "$spool/new/cat-022"
wait_until is_gone "$spool/new/cat-022"
wait_until grep -qs 'may not read' "$spool/failed/cat-022/error"
expect "$(ls -A "$spool/failed/cat-022" | paste -sd,)" error,text,to
! grep -q cat-022 "$spool/published/family.jsonl" || fail 'what was refused was sent'
mine retry cat-022
ended cat-022 0
expect "$(published family | jq -r .text | paste -sd,)" good,others,after,cat-022
expect "$(ls "$spool/failed")" ''

# A cancelled request stays cancelled, even if its owner keeps the daemon from removing it and returns it later.
mine hold held
cp "$here/../Support/python/kept_request.py" .
chmod 644 kept_request.py
start_script KEPT kept_request.py "$spool"
# As one of the group, with a directory that stays open.
ask KEPT drop gone held
wait_until is_there "$spool/cur/gone"
ask KEPT chmod 0
mine cancel gone > cancel.log
has cancel.log 'nothing of it was published'
ended gone 69
grep -q 'was cancelled' wait.log || fail "$(cat wait.log)"
stop_daemon
start_as_daemon
ask KEPT chmod 0770
wait_until is_gone "$spool/cur/gone"
# A request that is not accepted yet is taken from its client.
stop_daemon
ask KEPT drop early held
mine cancel early > cancel.log
has cancel.log 'nothing of it was published'
ask KEPT chmod 0770
start_as_daemon
mine release held
text 007 last held
ended last 0
expect "$(published held | jq -r .text)" last
expect "$(lines 'may not move a request that is over" request=gone')" 1
is_empty "$spool/cur"
stop_daemon
! grep -q 'level=error' run.log || fail 'an error in the log'
