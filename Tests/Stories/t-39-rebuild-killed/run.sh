# A killed `photospool rebuild` leaves the old ledger with its log, or none, so that nothing is lost or published
# twice.
# A purge that is cut off still leaves nothing when the ledger is made anew. PHOTOSPOOL_TEST_KILL_STEP=1 takes every
# call.
. "$(dirname "$0")/../lib/library.sh"

noise 500x400 0.jpg 1.jpg
step=${PHOTOSPOOL_TEST_KILL_STEP:-29}

start_daemon
drop first family hello 0.jpg
"$photospool" wait --timeout 60 first
"$photospool" hold family > /dev/null
drop waiting family 'still here' 1.jpg
wait_for_line start.log 'event=accepted.*request=waiting'
# The log of the ledger has what happened last.
kill_daemon
[ -s "$spool/state/ledger.sqlite-wal" ] || fail 'there is no log'
mv "$spool" template
k=$((RANDOM % step + 1)) kills=0 lost=0
while :; do
  rm -rf "$spool"
  cp -a template "$spool"
  kill_at "$k" rebuild
  if [ -e "$spool/state/ledger.sqlite" ] && ! [ -e "$spool"/state/ledger-*/ledger.sqlite ]; then
    cmp -s template/state/ledger.sqlite-wal "$spool/state/ledger.sqlite-wal" || fail "$(where_killed "$k"): a ledger without its log"
  fi
  if [ ! -e "$spool/state/ledger.sqlite" ]; then
    refused=0
    "$photospool" run > refused.log 2>&1 || refused=$?
    expect "$refused" 74 "$(where_killed "$k"): $(cat refused.log)"
    grep -q 'photospool rebuild' refused.log || fail "$(where_killed "$k"): no remedy in $(cat refused.log)"
    "$photospool" rebuild > rebuilt.txt || fail "$(where_killed "$k"): not rebuilt"
    lost=$((lost + 1))
  fi
  start_daemon
  "$photospool" release family > /dev/null
  "$photospool" wait --timeout 60 waiting || fail "$(where_killed "$k"): not sent"
  stop_daemon
  expect "$(published family | jq -r '.request + " " + .kind' | paste -sd,)" 'first photo,first text,waiting photo,waiting text' "$(where_killed "$k")"
  expect "$(ledger 'PRAGMA integrity_check')" ok "$(where_killed "$k")"
  is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  k=$((k + step))
done
grep -q 'rename.*ledger.sqlite' trace || fail 'the trace lacks a step'
echo "$kills kills on the way of a rebuild, $lost of them without a ledger"

rm -rf "$spool" template
start_daemon
drop other other stays 1.jpg
drop sent MARKERCONVERSATION MARKERTEXT 0.jpg
"$photospool" wait --timeout 60 other sent
cp "$(find "$spool/photos" -path '*MARKER*' -name original.jpg)" original.jpg
"$photospool" hold MARKERCONVERSATION > /dev/null
drop waiting MARKERCONVERSATION MARKERTEXT 0.jpg
wait_for_line start.log 'event=accepted.*request=waiting'
stop_daemon
echo MARKERCONVERSATION > "$spool/purge/please"
mv "$spool" template
k=$((RANDOM % step + 1)) kills=0
while :; do
  rm -rf "$spool"
  cp -a template "$spool"
  kill_at "$k" janitor
  # Half of them have lost their ledger, too.
  [ $((k % 2)) = 0 ] || rm -f "$spool"/state/ledger.sqlite*
  "$photospool" rebuild > rebuilt.txt || fail "$(where_killed "$k"): not rebuilt"
  # The next purge deletes the kept ledger. If no order is left, this gives one.
  [ -e "$spool/purge/please" ] || "$photospool" purge nobody > /dev/null
  "$photospool" janitor > again.log 2>&1 || fail "$(where_killed "$k"): $(cat again.log)"
  tool find_markers.py "$spool" 0.jpg original.jpg -- MARKERCONVERSATION MARKERTEXT > found.txt \
    || fail "$(where_killed "$k"): $(cat found.txt)"
  is_empty "$spool/purge" "$spool/cur" "$spool/new"
  expect "$(published other | jq -r .kind | paste -sd' ')" 'photo text' "$(where_killed "$k")"
  expect "$(ledger 'PRAGMA integrity_check')" ok "$(where_killed "$k")"
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  k=$((k + step))
done
echo "$kills kills on the way of a purge, each followed by a new ledger"
