# Photos in the cache, what the janitor leaves of them, and what the ledger says of it.

originals() { find "$spool/photos/$1" -name original.jpg | wc -l; }
send() { "$photospool" send --wait --from "$1" --to "$2" --photo "$3" > /dev/null; }
# exact WHEN: the totals are those of the rows, and the rows those of the files.
exact() {
  expect "$(ledger 'SELECT bytes FROM cache_total')" "$(find "$spool/photos" -type f -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }')" "$1"
  expect "$(ledger 'SELECT coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0) FROM photos')" "$(ledger 'SELECT bytes FROM cache_total')" "$1"
  expect "$(ledger 'SELECT sum(bytes) FROM cache_use')" "$(ledger 'SELECT bytes FROM cache_total')" "$1"
}
# agree: the rows and the files say the same, of $bytes bytes.
agree() {
  ledger "SELECT path || '/original.jpg' FROM photos WHERE cached_bytes > 0
    UNION ALL SELECT path || '/thumbnail.jpg' FROM photos WHERE cached_thumbnail_bytes > 0
    UNION ALL SELECT path || '/blurred.jpg' FROM photos WHERE cached_thumbnail_bytes > 0" | sort > rows
  (cd "$spool" && find photos -type f ! -name received.json | sort) > files
  diff rows files > difference || fail "rows and files differ: $(head difference)"
  bytes=$(find "$spool/photos" -type f ! -name received.json -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }')
  expect "$(ledger 'SELECT bytes FROM cache_total')" "$bytes"
}
janitor() { "$photospool" janitor "$@" 2> janitor.err; }
# is_silent [WHEN]: it has nothing to do, and nothing to say.
is_silent() { expect "$(janitor)$(cat janitor.err)" '' "$@"; }

# refuse_network 75|0: a program as the network, which accepts nothing for now, or everything.
refuse_network() {
  printf '#!/bin/sh\nexit %s\n' "$1" > refuse
  chmod +x refuse
  configure <<< "network: {type: exec, program: $PWD/refuse}"
}
are_pinned() { [ "$(ledger "SELECT count(*) FROM photos WHERE pinned = 1 AND cached_bytes > 0")" = "$1" ]; }
