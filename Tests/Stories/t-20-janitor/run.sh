# The janitor keeps the cache of an inbox within its limit beside a daemon, and says so once.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

noise 600x480 $(seq -f '%02g.jpg' 0 7)

start_daemon
for number in 00 01 02 03; do send me family $number.jpg; done
for number in 04 05 06 07; do send you friends $number.jpg; done
exact 'after sending'

# Nothing to do, nothing to say.
before=$(find "$spool" -type f -name '*.jpg' | sort)
is_silent
expect "$(find "$spool" -type f -name '*.jpg' | sort)" "$before"
expect "$(janitor --json | jq -c '[.skipped, .evicted.photos, .removed.receipts, (.warnings | length)]')" '[false,0,0,0]'
"$photospool" storage --json > storage.json
expect "$(jq -r 'select(.conversation != null) | .inbox + " " + .conversation + " \(.photos)"' storage.json | paste -sd,)" 'me family 4,you friends 4'
expect "$(head -n 1 storage.json | jq -c '[.inbox, .photos, .limit, .bytes]')" "[null,8,1000000000,$(ledger 'SELECT bytes FROM cache_total')]"
expect "$(head -n 1 storage.json | jq -c '[.objects, .objectBytes]')" \
  "[$(find "$spool/objects" -type f | wc -l),$(cat "$spool"/objects/* | wc -c)]"
must_print '^stores: .* objects, which no limit counts' storage
must_print '^me: .* of 500.0 MB' storage
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
PHOTOSPOOL_CACHE_INBOX=$limit is_silent 'once it is kept'
exact 'after the inbox'
stop_daemon

# A photo that is viewed while no daemon runs is the most recently viewed, too.
rm -rf "$spool"
start_daemon
for number in 00 01 02; do send me viewed $number.jpg; done
stop_daemon
yesterday=$(($(date +%s%3N) - 86400000))
sqlite3 "$spool/state/ledger.sqlite" "UPDATE photos SET created_at = $yesterday, uploaded_at = $yesterday, viewed_at = $yesterday"
"$photospool" view "$(ledger "SELECT message FROM photos WHERE file = 'photo-00-00.jpg' ORDER BY recency LIMIT 1")" > /dev/null
PHOTOSPOOL_CACHE_TOTAL=$(($(ledger 'SELECT bytes FROM cache_total') - 1)) janitor
expect "$(ledger 'SELECT cached_bytes > 0 FROM photos ORDER BY created_at, rowid' | paste -sd' ')" '1 0 1' 'the second goes, the first was viewed'
