# Commands take names from standard input, and tell which names nobody knows and which conversations are held.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
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
ends 69 release family famiyl
expect "$(cat out.log)" 'family: released'
expect "$(paste -sd' ' err.log)" 'photospool: famiyl: no conversation of this name is known; nothing was released photospool: 1 of 2 could not be done'
"$photospool" hold | "$photospool" release - > /dev/null
expect "$("$photospool" hold)" ''
seq 2500 | sed 's/^/nobody-/' > names
ends 69 cancel - < names
expect "$(grep -c 'nobody-' err.log)" 2500

# A dry run tells what a purge or a clear would do. Failed requests from standard input.
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
stop_daemon

# A list of a conversation that nobody knows says so, beside the list.
ends 0 queue --to famly
has err.log 'famly: no conversation of this name is known; nothing was ever sent there'
ends 0 queue --json --to famly
[ ! -s out.log ] || fail "$(cat out.log)"
has err.log 'famly: no conversation of this name'
ends 0 queue --to family
[ ! -s err.log ] || fail "$(cat err.log)"

# A request that was cancelled before any daemon accepted it is known all the same.
unseen=$("$photospool" send --to family --from work --text unseen)
ends 0 queue --to family
expect "$("$photospool" cancel "$unseen")" "$unseen: cancelled; nothing of it was published"
expect "$("$photospool" show --json "$unseen" | jq -c '[.state, .conversation, .inbox, .messages]')" '["cancelled","family","work",[]]'
ends 69 wait "$unseen"
ends 69 cancel nobody
