# The janitor keeps the cache within its limits beside a daemon that is publishing: the right photos go in the right
# order, nothing that is needed goes, and it speaks when a limit was passed and not otherwise.
. "$(dirname "$0")/../lib/library.sh"

"$python" - <<'PYTHON'
from PIL import Image
for number in range(12):
    Image.effect_noise((500, 400 + number), 60).convert("RGB").save(f"{number:02}.jpg", quality=90)
PYTHON

originals() { find "$spool/photos/$1" -name original.jpg | wc -l; }
send() { "$photospool" send --wait --from "$1" --to "$2" --photo "$3" > /dev/null; }
# The totals are those of the rows, and the rows those of the files.
exact() {
  expect "$(ledger 'SELECT bytes FROM cache_total')" "$(find "$spool/photos" -type f -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }')" "$1"
  expect "$(ledger 'SELECT coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0) FROM photos')" "$(ledger 'SELECT bytes FROM cache_total')" "$1"
  expect "$(ledger 'SELECT sum(bytes) FROM cache_use')" "$(ledger 'SELECT bytes FROM cache_total')" "$1"
}
janitor() { "$photospool" janitor "$@" 2> janitor.err; }

start_daemon
for number in 00 01 02 03; do send me family $number.jpg; done
for number in 04 05 06 07; do send you friends $number.jpg; done
exact 'after sending'

# Nothing to do, nothing to say.
before=$(find "$spool" -type f -name '*.jpg' | sort)
expect "$(janitor)$(cat janitor.err)" ''
expect "$(find "$spool" -type f -name '*.jpg' | sort)" "$before"
expect "$(janitor --json | jq -c '[.skipped, .evicted.photos, .removed.receipts, (.warnings | length)]')" '[false,0,0,0]'
"$photospool" storage --json > storage.json
expect "$(jq -r 'select(.conversation != null) | .inbox + " " + .conversation + " \(.photos)"' storage.json | paste -sd,)" 'me family 4,you friends 4'
expect "$(head -n 1 storage.json | jq -c '[.inbox, .photos, .limit, .bytes]')" "[null,8,1000000000,$(ledger 'SELECT bytes FROM cache_total')]"
expect "$(head -n 1 storage.json | jq -c '[.objects, .objectBytes]')" \
  "[$(find "$spool/objects" -type f | wc -l),$(cat "$spool"/objects/* | wc -c)]"
"$photospool" storage | grep -q '^stores: .* objects, which no limit counts' || fail "storage: $("$photospool" storage)"
"$photospool" storage | grep -q '^me: .* of 500.0 MB' || fail "storage: $("$photospool" storage)"
expect "$("$photospool" photos --json --inbox me | jq -r .file | wc -l)" 4
expect "$("$photospool" photos --to friends | sed 1d | wc -l)" 4

# One inbox is beyond its limit: its least recently viewed go, and nobody else's.
sizes=$(ledger "SELECT sum(cached_bytes + cached_thumbnail_bytes) FROM photos WHERE inbox = 'you'")
limit=$((sizes - 1))
expect "$(PHOTOSPOOL_CACHE_INBOX=$limit janitor --dry-run | head -n 1)" 'would evict 1 photo'
exact 'after the dry run'
expect "$(originals you)" 4
PHOTOSPOOL_CACHE_INBOX=$limit janitor
expect "$(grep -c 'photos of inbox you take' janitor.err)" 1 "$(cat janitor.err)"
expect "$(originals me) $(originals you)" '4 3'
expect "$(ledger "SELECT file, cached_bytes FROM photos WHERE inbox = 'you' ORDER BY created_at LIMIT 1")" 'photo-00-04.jpg|0'
expect "$(find "$spool/photos/you" -name thumbnail.jpg | wc -l)" 4
expect "$(PHOTOSPOOL_CACHE_INBOX=$limit janitor)$(cat janitor.err)" '' 'once it is kept'
exact 'after the inbox'

# In all: across inboxes, and last copies after what can be fetched again.
sqlite3 "$spool/state/ledger.sqlite" "UPDATE photos SET url_expires_at = 1 WHERE inbox = 'you'" 2> /dev/null
total=$(ledger 'SELECT bytes FROM cache_total')
PHOTOSPOOL_CACHE_TOTAL=$((total - 1)) janitor
expect "$(grep -c 'all photos in the cache take' janitor.err)" 1 "$(cat janitor.err)"
expect "$(originals me) $(originals you)" '3 3' 'what can be fetched again goes first'
exact 'after the total'

# Thumbnails last; and a limit that cannot be kept is spoken of once.
"$photospool" hold held > /dev/null
pinned=$("$photospool" send --from me --to held --photo 08.jpg)
is_accepted() { [ -d "$spool/cur/$pinned" ]; }
wait_until is_accepted
"$photospool" release held > /dev/null
"$photospool" wait --timeout 60 "$pinned"
PHOTOSPOOL_CACHE_TOTAL=1kB janitor
expect "$(find "$spool/photos" -type f | wc -l)" 0 'everything goes'
exact 'after everything'
expect "$(find "$spool/photos" -mindepth 1 | wc -l)" 0 'and its directories'

# What a request that is not over needs stays, whatever the limit; said once, as long as it is so.
stop_daemon
mkfifo never
printf 'network:\n  type: exec\n  program: %s\n' "$PWD/refuse" > photospool.yaml
printf '#!/bin/sh\nexit 75\n' > refuse; chmod +x refuse
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
start_daemon
for number in 00 01 02; do "$photospool" send --from me --to "c$number" --photo $number.jpg > /dev/null; done
cached() { [ "$(ledger "SELECT count(*) FROM photos WHERE pinned = 1 AND cached_bytes > 0")" = 3 ]; }
wait_until cached
PHOTOSPOOL_CACHE_TOTAL=1kB janitor
expect "$(wc -l < janitor.err)" 1 "$(cat janitor.err)"
expect "$(originals me)" 3 'pinned'
expect "$(PHOTOSPOOL_CACHE_TOTAL=1kB janitor)$(cat janitor.err)" '' 'said before'
expect "$("$photospool" clear)" '0 photos, 0 B'
expect "$(janitor)$(cat janitor.err)" '' 'within the limit'
PHOTOSPOOL_CACHE_TOTAL=1kB janitor
expect "$(wc -l < janitor.err)" 1 'passed again, said again'
printf '#!/bin/sh\nexit 0\n' > refuse
"$photospool" flush > /dev/null
sent() { [ "$("$photospool" queue --json | wc -l)" = 0 ]; }
wait_until sent
expect "$("$photospool" clear --to c00 | cut -d, -f1)" '1 photo'
expect "$("$photospool" clear | cut -d, -f1)" '2 photos'
exact 'after clear'

# As cron runs it, by its own line, with nothing of our environment: silent and 0 when all is well, and a limit that is passed
# is said on standard error, once.
systemd=/run/systemd/system
line=$(sed -n 's/^[0-9*]\+ [^ ]\+ [^ ]\+ [^ ]\+ [^ ]\+ photospool //p' "$here/../../etc/cron.d/photospool-janitor")
by_cron() {
  local status=0
  env -i PATH="$PATH" HOME="$PWD" PHOTOSPOOL_SPOOL="$spool" "$@" /bin/sh -c \
    "${line//\[ -x \/usr\/bin\/photospool \]; then photospool/true; then $photospool}" > cron.out 2> cron.err || status=$?
  echo "$status $(wc -c < cron.out) $(wc -l < cron.err)"
}
if [ ! -d "$systemd" ]; then
  send me cron 03.jpg
  expect "$(by_cron)" '0 0 0' "$(cat cron.err)"
  expect "$(by_cron PHOTOSPOOL_CACHE_TOTAL=1kB)" '0 0 1' "$(cat cron.err)"
  grep -q '^photospool: all photos in the cache take [0-9.]* [kM]*B, beyond the limit of 1.0 kB;' cron.err || fail "$(cat cron.err)"
  expect "$(by_cron PHOTOSPOOL_CACHE_TOTAL=1kB)" '0 0 0' "said before: $(cat cron.err)"
  expect "$(by_cron)" '0 0 0' "within the limit: $(cat cron.err)"
  send me cron 04.jpg
  expect "$(by_cron PHOTOSPOOL_CACHE_TOTAL=1kB)" '0 0 1' "passed again: $(cat cron.err)"
fi

# Housekeeping: what was left alone for long goes, and only that; receipts with their rows.
mkdir "$spool/tmp/old" "$spool/tmp/locked" "$spool/tmp/new"
exec 9< "$spool/tmp/locked"; flock 9
drop kept c00 'a text'
"$photospool" wait --timeout 60 kept
expect "$(janitor)$(cat janitor.err)" '' 'too young'
expect "$(ls "$spool/tmp" | paste -sd' ')" 'locked new old'
mkdir "$spool/failed/foreign"; echo why > "$spool/failed/foreign/error"
mkdir -p "$spool/photos/me/nowhere/0123"; echo x > "$spool/photos/me/nowhere/0123/original.jpg"
requests=$(ledger "SELECT count(*) FROM requests")
[ "$requests" -gt 5 ] || fail "only $requests requests"
old() { "$photospool" janitor --json > janitor.json; jq -e '.removed.receipts > 0' janitor.json > /dev/null; }
export PHOTOSPOOL_JANITOR_TMP=1s PHOTOSPOOL_JANITOR_RECEIPTS=1s PHOTOSPOOL_JANITOR_FAILED=1s PHOTOSPOOL_JANITOR_DRAFTS=1s
"$photospool" send --draft --to c00 --text x > /dev/null
swept() { "$photospool" janitor; [ "$(ls "$spool/tmp")" = locked ] && [ "$(ledger 'SELECT count(*) FROM requests')" = 0 ] && [ -z "$(ls "$spool/sent" "$spool/draft" | grep -v : | tr -d '\n')" ]; }
wait_until swept
is_empty "$spool/failed"
[ ! -e "$spool/photos/me/nowhere/0123" ] || fail 'the orphan is still there'
expect "$(ledger 'SELECT count(*) FROM messages')$(ledger 'SELECT count(*) FROM attempts')" 00
exact 'after housekeeping'
expect "$(ledger 'PRAGMA integrity_check')" ok
stop_daemon

unset PHOTOSPOOL_JANITOR_TMP PHOTOSPOOL_JANITOR_RECEIPTS PHOTOSPOOL_JANITOR_FAILED PHOTOSPOOL_JANITOR_DRAFTS

# What is viewed while no daemon runs is the most recently viewed, too.
rm -rf "$spool"
start_daemon
for number in 00 01 02; do send me viewed $number.jpg; done
stop_daemon
yesterday=$(($(date +%s%3N) - 86400000))
sqlite3 "$spool/state/ledger.sqlite" "UPDATE photos SET created_at = $yesterday, uploaded_at = $yesterday, viewed_at = $yesterday"
"$photospool" view "$(ledger "SELECT message FROM photos WHERE file = 'photo-00-00.jpg' ORDER BY recency LIMIT 1")" > /dev/null
PHOTOSPOOL_CACHE_TOTAL=$(($(ledger 'SELECT bytes FROM cache_total') - 1)) janitor
expect "$(ledger 'SELECT cached_bytes > 0 FROM photos ORDER BY created_at, rowid' | paste -sd' ')" '1 0 1' 'the second goes, the first was viewed'

# SIGKILL before the k-th call that changes the disk, for every so many k of a pass that evicts. The next pass ends it;
# what was needed stays, and rows and files say the same. PHOTOSPOOL_TEST_KILL_STEP=1 takes every call.
cc -shared -fPIC -O1 -o killpoint.so "$here/../Torture/killpoint.c" -ldl
rm -rf "$spool"
start_daemon
for number in 00 01 02 03; do send me c$number $number.jpg; done
printf '#!/bin/sh\nexit 75\n' > refuse
"$photospool" send --from me --to waits --photo 04.jpg > /dev/null
cached() { [ "$(ledger "SELECT count(*) FROM photos WHERE pinned = 1 AND cached_bytes > 0")" = 1 ]; }
wait_until cached
kill_daemon
mv "$spool" template
export PHOTOSPOOL_CACHE_TOTAL=1kB
step=${PHOTOSPOOL_TEST_KILL_STEP:-29} kills=0
k=$((RANDOM % step + 1))
while :; do
  rm -rf "$spool" counter trace
  cp -a template "$spool"
  status=0
  env LD_PRELOAD="$PWD/killpoint.so" KILLPOINT_AT=$k KILLPOINT_COUNTER="$PWD/counter" KILLPOINT_TRACE="$PWD/trace" \
    "$photospool" janitor > killed.log 2>&1 || status=$?
  [ "$status" = 0 ] || expect "$status" 137 "k=$k: $(cat killed.log)"
  "$photospool" janitor 2> again.log || fail "k=$k: $(cat again.log)"
  expect "$(find "$spool/photos" -name original.jpg)" "$(find "$spool/photos/me/waits" -name original.jpg)" "k=$k"
  expect "$(find "$spool/photos" -type f | wc -l)" 3 "killed at $k: $(sed -n "${k}p" trace)"
  exact "killed at $k: $(sed -n "${k}p" trace)"
  expect "$(ledger "SELECT count(*) FROM photos WHERE evicting > 0")$(ledger 'PRAGMA integrity_check')" 0ok "k=$k"
  if [ "$status" = 0 ]; then break; fi
  kills=$((kills + 1))
  k=$((k + step))
done
grep -q 'unlinkat.*original.jpg' trace || fail 'the trace lacks a step'
echo "$kills kills on the way of an eviction"
