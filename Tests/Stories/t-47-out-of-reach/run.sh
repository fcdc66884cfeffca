# Without ACLs an owner can keep the daemon out of a request. It is refused once, in one sentence, stays where it is,
# and delays no other. A refused or cancelled request never goes out, whatever its owner does with its permissions.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/users.sh"

configure <<< 'intake: {rescan: 200ms}'
chmod 644 photospool.yaml
give_spool

start_without_lists() {
  start_mine
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
ended() { ends "$2" wait --timeout 60 "$1"; }
# lines PATTERN: how many the log has, of all starts.
lines() { cat run.log start.log 2> /dev/null | grep -c -- "$1" || true; }

: > run.log
start_without_lists
for mask in 022 077; do text $mask "cat-$mask" family; done
for mask in 022 077; do
  ended "cat-$mask" 69
  has err.log "may not read, change and move the request's directory"
done
# Its conversation goes on, for its owner, too.
text 007 good family
ended good 0
ended "$(umask 022 && as 61002 "$photospool" send --to family --text others)" 0
# It is not in the queue, none of it was published, and a cancel reports no effect.
expect "$(mine "$photospool" queue)" 'Nothing is waiting.'
command_ends 69 mine "$photospool" cancel cat-022
# A second start, and looks at all of the spool, say nothing again.
stop_daemon
start_without_lists
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
wait_until test ! -e "$spool/new/cat-022"
wait_until grep -qs 'may not read' "$spool/failed/cat-022/error"
expect "$(ls -A "$spool/failed/cat-022" | paste -sd,)" error,text,to
! grep -q cat-022 "$spool/published/family.jsonl" || fail 'what was refused was sent'
mine "$photospool" retry cat-022
ended cat-022 0
expect "$(published family | jq -r .text | paste -sd,)" good,others,after,cat-022
expect "$(ls "$spool/failed")" ''

# A cancelled request stays cancelled, even if its owner keeps the daemon from removing it and returns it later.
mine "$photospool" hold held
cp "$here/../Support/python/kept_request.py" .
chmod 644 kept_request.py
start_script KEPT kept_request.py "$spool"
# As one of the group, with a directory that stays open.
ask KEPT drop gone held
wait_until test -e "$spool/cur/gone"
ask KEPT chmod 0
mine "$photospool" cancel gone > cancel.log
has cancel.log 'nothing of it was published'
ended gone 69
has err.log 'was cancelled'
stop_daemon
start_without_lists
ask KEPT chmod 0770
wait_until test ! -e "$spool/cur/gone"
# A request that is not accepted yet is taken from its client.
stop_daemon
ask KEPT drop early held
mine "$photospool" cancel early > cancel.log
has cancel.log 'nothing of it was published'
ask KEPT chmod 0770
start_without_lists
mine "$photospool" release held
text 007 last held
ended last 0
expect "$(published held | jq -r .text)" last
expect "$(lines 'may not move a request that is over" request=gone')" 1
is_empty "$spool/cur"
stop_daemon
! grep -q 'level=error' run.log || fail 'an error in the log'
