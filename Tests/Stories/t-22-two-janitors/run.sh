# Two janitors, the operator's commands and a daemon under load, all at one spool with a tiny cache: the ledger stays
# whole, and its rows and the files say the same. STORY_SECONDS sets for how long; 10 by default.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

noise 300x200 0.jpg 1.jpg 2.jpg

start_daemon
end=$((SECONDS + ${STORY_SECONDS:-10}))
export PHOTOSPOOL_CACHE_INBOX=60kB PHOTOSPOOL_CACHE_TOTAL=100kB
writer() {
  local number=0
  while [ "$SECONDS" -lt "$end" ]; do
    number=$((number + 1))
    "$photospool" send --from "i$1" --to "c$((number % 5))" --photo $((number % 3)).jpg --text "$1 $number" >> names.$1
  done
}
# Some runs are killed in the middle of what they do.
janitor() {
  local passes=0 status
  while [ "$SECONDS" -lt "$end" ]; do
    status=0
    if [ $((passes % 4)) = 3 ]; then
      timeout -s KILL "0.0$((RANDOM % 9 + 1))" "$photospool" janitor > /dev/null 2> janitor.$1 || status=$?
      [ "$status" = 0 ] || [ "$status" = 137 ] || echo "status $status: $(cat janitor.$1)" >> faults
    else
      "$photospool" janitor > /dev/null 2> janitor.$1 || echo "status $?: $(cat janitor.$1)" >> faults
    fi
    passes=$((passes + 1))
  done
  echo "$passes" > passes.$1
}
purger() {
  while [ "$SECONDS" -lt "$end" ]; do
    "$photospool" purge c4 > /dev/null 2>> faults || true
    # It may wait for a janitor, and says so.
    "$photospool" clear --inbox i1 2>&1 > /dev/null | grep -v 'waiting for it$' >> faults || true
  done
}
jobs=
writer 1 & jobs="$jobs $!"
writer 2 & jobs="$jobs $!"
janitor 1 & jobs="$jobs $!"
janitor 2 & jobs="$jobs $!"
purger & jobs="$jobs $!"
for job in $jobs; do wait "$job"; done
[ ! -s faults ] || fail "$(sort faults | uniq -c | head)"

is_done() { [ "$("$photospool" queue --json | wc -l)" = 0 ]; }
wait_until is_done
"$photospool" janitor 2> /dev/null
"$photospool" janitor 2> /dev/null
stop_daemon
expect "$(ledger 'PRAGMA integrity_check')" ok
expect "$(ledger 'PRAGMA foreign_key_check')" ''
agree
expect "$(ledger 'SELECT count(*) FROM photos WHERE evicting > 0 OR pinned > 0')" 0
[ "$bytes" -le 100000 ] || fail "the cache holds $bytes bytes"
# Messages of conversations that were not purged were published once, in order.
for conversation in c0 c1 c2 c3; do
  "$python" - "$spool/published/$conversation.jsonl" <<'PYTHON'
import json, sys
seen, last = set(), {}
for line in open(sys.argv[1]):
    message = json.loads(line)
    assert message["message"] not in seen, message
    seen.add(message["message"])
    if message["kind"] == "text":
        writer, number = map(int, message["text"].split())
        assert number > last.get(writer, 0), message
        last[writer] = number
PYTHON
done
echo "$(cat names.* | wc -l) requests, $(cat passes.1) and $(cat passes.2) passes"
