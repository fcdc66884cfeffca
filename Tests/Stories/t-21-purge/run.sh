# A conversation that is purged is gone to the last byte, and nothing else is: with a daemon, without one, ordered by a
# file, a command or found by the janitor, and however often it is killed on the way.
. "$(dirname "$0")/../library.sh"

"$python" - <<'PYTHON'
from PIL import Image
for number in range(4):
    Image.effect_noise((700 + number, 500), 40 + 20 * number).convert("RGB").save(f"{number}.jpg", quality=90)
PYTHON
printf 'intake:\n  rescan: 1s\n' > photospool.yaml
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
markers="MARKERCONVERSATION MARKERTEXT"

ledger() { sqlite3 -readonly "$spool/state/ledger.sqlite" "$1"; }
gone() {
  "$python" "$here/../Support/python/find_markers.py" "$spool" 0.jpg original.jpg -- $markers > found.txt \
    || fail "$1: $(cat found.txt)"
}
# Others keep what they have.
others() {
  expect "$(published other | jq -r .kind | paste -sd' ')" 'photo text' "$1"
  [ -s "$spool/sent/other/receipt.json" ] || fail "$1: the other receipt is gone"
  expect "$(find "$spool/photos" -type f | wc -l)" 3 "$1"
  expect "$(ledger 'PRAGMA integrity_check')" ok "$1"
  expect "$(ledger 'SELECT photos, bytes = (SELECT sum(cached_bytes + cached_thumbnail_bytes) FROM photos) FROM cache_total')" \
    '1|1' "$1"
}
accepted() { [ "$(ledger "SELECT count(*) FROM requests WHERE request IN ('waiting', 'ahead')")" = 2 ]; }
# Everything that a conversation can have: sent, refused, failed, held and waiting, a draft, one in tmp/, one received.
fill() {
  drop other other 'stays' 1.jpg
  drop sent MARKERCONVERSATION MARKERTEXT 0.jpg
  "$photospool" wait --timeout 60 other sent
  cp "$(find "$spool/photos" -path '*MARKER*' -name original.jpg)" original.jpg
  mkdir "$spool/tmp/refused"; echo MARKERCONVERSATION > "$spool/tmp/refused/to"; echo MARKERTEXT > "$spool/tmp/refused/nonsense"
  cp 0.jpg "$spool/tmp/refused/photo"; mv "$spool/tmp/refused" "$spool/new/"
  echo 'no photo' > bad.jpg
  drop failed MARKERCONVERSATION MARKERTEXT bad.jpg
  wait_until test -s "$spool/failed/refused/error" -a -s "$spool/failed/failed/error"
  "$photospool" hold MARKERCONVERSATION > /dev/null
  drop waiting MARKERCONVERSATION MARKERTEXT 0.jpg
  mkdir "$spool/tmp/ahead"; echo MARKERCONVERSATION > "$spool/tmp/ahead/to"; cp 0.jpg "$spool/tmp/ahead/photo"
  mv "$spool/tmp/ahead" "$spool/draft/"
  mkdir "$spool/tmp/building"; echo MARKERCONVERSATION > "$spool/tmp/building/to"; echo MARKERTEXT > "$spool/tmp/building/text"
  for place in tmp new cur failed; do
    mkdir "$spool/incoming/$place/received"
    echo MARKERCONVERSATION > "$spool/incoming/$place/received/from-conversation"
    echo MARKERTEXT > "$spool/incoming/$place/received/attachment"
  done
  # The held photo may be ahead: what is uploaded for nothing goes with it.
  wait_until accepted
}
expect_gone() {
  gone "$1"
  others "$1"
  is_empty "$spool/purge" "$spool/new" "$spool/cur" "$spool/draft" "$spool/tmp" "$spool/failed" "$spool/incoming/new"
}
# Objects that nobody was sent are deleted by the daemon; what was published stays.
only_published_objects() { [ "$(ls -A "$spool/objects" | wc -l)" = 2 ] && [ "$(ledger "SELECT count(*) FROM uploads WHERE state <> 'published'")" = 0 ]; }

# With a daemon, by a file that several lines stand in; at once.
start_daemon
fill
printf 'nobody\nMARKERCONVERSATION\n' > "$spool/purge/please"
wait_until test ! -e "$spool/purge/please"
expect_gone 'by a file, with a daemon'
wait_until only_published_objects
! grep -q 'event=purged.*MARKER' start.log || fail 'the log names what was purged'

# The same name again is another conversation: nothing of the old one comes back.
drop again MARKERCONVERSATION 'a new beginning'
"$photospool" wait --timeout 60 again
expect "$(published MARKERCONVERSATION | jq -r .text)" 'a new beginning'
expect "$("$photospool" purge MARKERCONVERSATION)" 'MARKERCONVERSATION: purged'
expect_gone 'by the command, with a daemon'
stop_daemon
expect_gone 'after the daemon'

# Without a daemon: the command, then the janitor.
for by in command janitor; do
  rm -rf "$spool"
  start_daemon; fill; stop_daemon
  drop late MARKERCONVERSATION MARKERTEXT 0.jpg
  if [ "$by" = command ]; then
    "$photospool" purge MARKERCONVERSATION > /dev/null
  else
    echo MARKERCONVERSATION > "$spool/purge/please"
    expect "$("$photospool" janitor --dry-run)" 'would purge 1 conversation'
    [ -s "$spool/purge/please" ] || fail 'a dry run took the order away'
    expect "$("$photospool" janitor 2>&1)" ''
  fi
  expect_gone "by the $by, without a daemon"
  # What was uploaded for nothing is left to the next daemon, without a name.
  start_daemon
  wait_until only_published_objects
  stop_daemon
  expect_gone "by the $by, after a daemon"
done

# SIGKILL before the k-th call that changes the disk, for every so many k, of the command and of the daemon. The next
# run ends it. PHOTOSPOOL_TEST_KILL_STEP=1 takes every call.
[ -e killpoint.so ] || cc -shared -fPIC -O1 -o killpoint.so "$here/killpoint.c" -ldl
rm -rf "$spool"
start_daemon; fill; stop_daemon
drop late MARKERCONVERSATION MARKERTEXT 0.jpg
mv "$spool" template
export KILLPOINT_COUNTER=$PWD/counter KILLPOINT_TRACE=$PWD/trace
for by in janitor daemon; do
  step=${PHOTOSPOOL_TEST_KILL_STEP:-37}
  k=$((RANDOM % step + 1)) kills=0
  while :; do
    rm -rf "$spool" counter trace
    cp -a template "$spool"
    echo MARKERCONVERSATION > "$spool/purge/please"
    status=0
    if [ "$by" = janitor ]; then
      env LD_PRELOAD="$PWD/killpoint.so" KILLPOINT_AT=$k "$photospool" janitor > killed.log 2>&1 || status=$?
    else
      : > start.log
      env LD_PRELOAD="$PWD/killpoint.so" KILLPOINT_AT=$k "$photospool" run > start.log 2>&1 &
      daemon=$!
      # Until it is ready, which is after the purge, or dead.
      tail -n +1 -s 0.02 --pid=$daemon -f start.log | grep -q -m 1 event=ready || true
      kill -TERM "$daemon" 2>/dev/null || true
      wait "$daemon" || status=$?
      daemon=
    fi
    [ "$status" = 0 ] || expect "$status" 137 "$by, k=$k: $(cat killed.log start.log)"
    if [ $((kills % 2)) = 0 ]; then
      "$photospool" janitor 2> again.log || fail "$by, k=$k: $(cat again.log)"
    else
      start_daemon; stop_daemon
    fi
    expect_gone "$by, killed at $k: $(sed -n "${k}p" trace)"
    if [ "$status" = 0 ]; then break; fi
    kills=$((kills + 1))
    k=$((k + step))
  done
  grep -q 'ledger.sqlite-wal' trace && grep -q 'renameat' trace && grep -q 'please' trace || fail "the trace lacks a step"
  echo "$kills kills of the $by on the way of a purge"
done
