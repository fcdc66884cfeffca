# A broken photo costs its own request and nothing else: it is refused with a sentence, and its neighbours go out in
# order.
# PHOTOSPOOL_HOSTILE_COUNT says how many (300), PHOTOSPOOL_HOSTILE_SEED which ones (1), PHOTOSPOOL_HOSTILE_KINDS of which
# endings (all).
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/seeds.sh"

count=${PHOTOSPOOL_HOSTILE_COUNT:-300} seed=${PHOTOSPOOL_HOSTILE_SEED:-1} kinds=${PHOTOSPOOL_HOSTILE_KINDS:-}
# The daemon accepts only its own variables.
unset PHOTOSPOOL_HOSTILE_COUNT PHOTOSPOOL_HOSTILE_SEED PHOTOSPOOL_HOSTILE_KINDS
make_seeds seeds
cp seeds/baseline.jpg good.jpg
if [ -n "${PHOTOSPOOL_CORPUS:-}" ]; then
  for folder in bad bad/afl formats heic; do
    find "$PHOTOSPOOL_CORPUS/$folder" -maxdepth 1 -type f -size +0 -size -64k
  done > corpus.txt
  while read -r file; do cp "$file" "seeds/$(basename "$(dirname "$file")")-$(basename "$file")"; done < corpus.txt
else
  leave_out 'there is no corpus of photographs'
fi
mkdir chosen
for kind in ${kinds:-'*'}; do ln seeds/*.$kind chosen/; done
tool mutate_photos.py mutated "$count" "$seed" chosen/*

# A crash would leave one here.
ulimit -c unlimited
start_daemon
tool drop_hostile.py "$spool" mutated good.jpg > dropped.txt
"$photospool" wait --timeout 120 $(awk '$2 ~ /^last-/ { print $2 }' dropped.txt)
# Others of their batches may still be moved to their last place.
are_filed() { [ "$(ledger 'SELECT count(*) FROM requests WHERE filed = 0')" = 0 ]; }
wait_until are_filed
kill -0 "$daemon" || fail 'the daemon is gone'
children=$(cat /proc/"$daemon"/task/*/children)
stop_daemon
for child in $children; do timeout 30 tail --pid "$child" -f /dev/null || fail "process $child outlived the daemon"; done

# Everything is decided, with a reason where it is refused.
is_empty "$spool/new" "$spool/cur"
expect "$(ledger 'SELECT count(*) FROM requests')" "$(wc -l < dropped.txt)"
expect "$(ledger "SELECT count(*) FROM requests WHERE state NOT IN ('sent', 'failed')")" 0
ledger "SELECT count(*), state, coalesce(cause, '') FROM requests WHERE request GLOB 'm[0-9]*' GROUP BY state, cause"
expect "$(ledger "SELECT DISTINCT cause FROM requests WHERE state = 'failed' AND cause NOT IN
  ('unsupported_image', 'truncated_image', 'image_limits', 'malformed_request')")" ''
# The only photos that are malformed requests are those without a byte.
for name in $(ledger "SELECT request FROM requests WHERE cause = 'malformed_request'"); do
  grep -q 'the photo is empty' "$spool/failed/$name/error" || fail "$name: $(cat "$spool/failed/$name/error")"
done
expect "$(ledger "SELECT count(*) FROM requests WHERE state = 'failed'")" "$(find "$spool/failed" -mindepth 1 -maxdepth 1 | wc -l)"
# A line with its end, of more than 20 and less than 400 letters.
wc -lm "$spool"/failed/*/error | grep -v ' total$' | awk '$1 != 1 || $2 <= 20 || $2 >= 400' > odd.txt
expect "$(cat odd.txt)" ''
! LC_ALL=C grep -rlP '[\x00-\x09\x0b-\x1f\x7f]' "$spool"/failed/*/error || fail 'an error holds control characters'

# The neighbours' photos came out once and in order.
for number in 0 1; do
  expect "$(published "good-$number" | jq -r .request)" "$(awk -v to="good-$number" '$1 == to { print $2 }' dropped.txt)"
done
expect "$(ledger "SELECT count(*) FROM requests WHERE request GLOB 'm[0-9]*' AND state = 'sent'")" \
  "$(cat "$spool"/published/hostile-*.jsonl | jq -r 'select(.kind == "photo").request' | sort -u | wc -l)"

# Nothing is left, and the log is one.
expect "$(find . \( -name core -o -name 'core.*' \) -not -path './seeds/*' -not -path './mutated/*')" ''
expect "$(awk 'length > 2000' run.log)" ''
! LC_ALL=C grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' run.log || fail 'the log holds control characters'
! LC_ALL=C grep -vP '^time=\S+ level=\S+ event=' run.log || fail 'the log holds what is no event'

# Photos that crash decoders should be reported to their makers.
grep -lE 'crashes or takes|takes more than|decoding this photo goes wrong' "$spool"/failed/*/error > crashes.txt || true
while read -r file; do echo "$(cat "$file") $(basename "$(dirname "$file")")"; done < crashes.txt
longest=$(ledger "SELECT max(finished_at - accepted_at) FROM requests")
echo "$count photos, the longest was decided after $longest ms:" \
  "$(ledger "SELECT request FROM requests ORDER BY finished_at - accepted_at DESC LIMIT 1")"
[ "$longest" -lt 60000 ] || fail 'a photo took too long to be decided'
