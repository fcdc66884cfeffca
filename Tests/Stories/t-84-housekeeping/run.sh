# Old remains go, and only those: abandoned requests, drafts, failed requests, orphans, and receipts with their rows.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

noise 500x400 photo.jpg
start_daemon
for number in 1 2 3 4 5; do send me c00 photo.jpg; done
mkdir "$spool/tmp/old" "$spool/tmp/locked" "$spool/tmp/new"
exec 9< "$spool/tmp/locked"; flock 9
drop kept c00 'a text'
"$photospool" wait --timeout 60 kept
is_silent 'too young'
expect "$(ls "$spool/tmp" | paste -sd' ')" 'locked new old'
mkdir "$spool/failed/foreign"; echo why > "$spool/failed/foreign/error"
mkdir -p "$spool/photos/me/nowhere/0123"; echo x > "$spool/photos/me/nowhere/0123/original.jpg"
[ "$(ledger 'SELECT count(*) FROM requests')" -gt 5 ] || fail 'hardly any requests'
export PHOTOSPOOL_JANITOR_TMP=1s PHOTOSPOOL_JANITOR_RECEIPTS=1s PHOTOSPOOL_JANITOR_FAILED=1s PHOTOSPOOL_JANITOR_DRAFTS=1s
"$photospool" send --draft --to c00 --text x > /dev/null
# Nothing is left but what somebody holds: no receipt, no draft, no row.
are_swept() {
  "$photospool" janitor
  [ "$(ls "$spool/tmp")" = locked ] && [ "$(ledger 'SELECT count(*) FROM requests')" = 0 ] \
    && [ -z "$(ls "$spool/sent" "$spool/draft" | grep -v : | tr -d '\n')" ]
}
wait_until are_swept
is_empty "$spool/failed"
[ ! -e "$spool/photos/me/nowhere/0123" ] || fail 'the orphan is still there'
expect "$(ledger 'SELECT count(*) FROM messages')$(ledger 'SELECT count(*) FROM attempts')" 00
exact 'after housekeeping'
expect "$(ledger 'PRAGMA integrity_check')" ok
stop_daemon
