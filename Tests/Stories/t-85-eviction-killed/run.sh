# After an eviction that was killed, the next one ends it, needed photos stay, and rows and files agree.
# Killed at every 29th call by default, at every one with PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

noise 500x400 00.jpg 01.jpg 02.jpg 03.jpg 04.jpg
refuse_network 0
start_daemon
for number in 00 01 02 03; do send me c$number $number.jpg; done
refuse_network 75
"$photospool" send --from me --to waits --photo 04.jpg > /dev/null
wait_until are_pinned 1
kill_daemon
mv "$spool" template
export PHOTOSPOOL_CACHE_TOTAL=1kB
step=${PHOTOSPOOL_TEST_KILL_STEP:-29} kills=0
k=$((RANDOM % step + 1))
while :; do
  rm -rf "$spool"
  cp -a template "$spool"
  kill_at "$k" janitor
  "$photospool" janitor 2> again.log || fail "k=$k: $(cat again.log)"
  expect "$(find "$spool/photos" -name original.jpg)" "$(find "$spool/photos/me/waits" -name original.jpg)" "k=$k"
  expect "$(find "$spool/photos" -type f | wc -l)" 3 "$(where_killed "$k")"
  exact "$(where_killed "$k")"
  expect "$(ledger "SELECT count(*) FROM photos WHERE evicting > 0")$(ledger 'PRAGMA integrity_check')" 0ok "k=$k"
  if [ "$status" = 0 ]; then break; fi
  kills=$((kills + 1))
  k=$((k + step))
done
grep -q 'unlinkat.*original.jpg' trace || fail 'the trace lacks a step'
echo "$kills kills on the way of an eviction"
