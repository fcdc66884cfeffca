# A conversation that is purged is gone to the last byte, and nothing else is: with a daemon, without one, ordered by a
# file, a command or found by the janitor. `make torture` kills them on the way.
. "$(dirname "$0")/../lib/library.sh"

"$python" - <<'PYTHON'
from PIL import Image
for number in range(4):
    Image.effect_noise((700 + number, 500), 40 + 20 * number).convert("RGB").save(f"{number}.jpg", quality=90)
PYTHON
configure <<< 'intake: {rescan: 1s}'
markers="MARKERCONVERSATION MARKERTEXT MARKERID MARKERREMOTE MARKERSENDER MARKERURL"

gone() {
  tool find_markers.py "$spool" 0.jpg original.jpg -- $markers > found.txt \
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
announced() { [ "$(ledger "SELECT count(*) FROM received WHERE remote = 'MARKERREMOTE' AND sender = 'MARKERSENDER'")" = 1 ]; }
# Everything that a conversation can have: sent, with an id, refused, failed, held and waiting, a draft, one in tmp/, one
# announced, and some that were not taken.
fill() {
  drop other other 'stays' 1.jpg
  drop sent MARKERCONVERSATION MARKERTEXT 0.jpg
  "$photospool" send --to MARKERCONVERSATION --id MARKERID --text MARKERTEXT > named
  "$photospool" wait --timeout 60 "$(cat named)"
  "$photospool" wait --timeout 60 other sent
  cp "$(find "$spool/photos" -path '*MARKER*' -name original.jpg)" original.jpg
  build refused MARKERCONVERSATION '' 0.jpg
  echo MARKERTEXT > "$spool/tmp/refused/nonsense"
  submit refused
  echo 'no photo' > bad.jpg
  drop failed MARKERCONVERSATION MARKERTEXT bad.jpg
  wait_until test -s "$spool/failed/refused/error" -a -s "$spool/failed/failed/error"
  "$photospool" hold MARKERCONVERSATION > /dev/null
  drop waiting MARKERCONVERSATION MARKERTEXT 0.jpg
  build ahead MARKERCONVERSATION '' 0.jpg
  mv "$spool/tmp/ahead" "$spool/draft/"
  build building MARKERCONVERSATION MARKERTEXT
  for place in tmp new cur failed; do
    mkdir "$spool/incoming/$place/received"
    echo MARKERCONVERSATION > "$spool/incoming/$place/received/from-conversation"
    echo MARKERTEXT > "$spool/incoming/$place/received/attachment"
  done
  # One that is announced, and not fetched: nobody has asked for it.
  mkdir "$spool/incoming/tmp/announced"
  for file in from-conversation:MARKERCONVERSATION message:MARKERREMOTE sender:MARKERSENDER; do
    echo "${file#*:}" > "$spool/incoming/tmp/announced/${file%%:*}"
  done
  jq -n --arg digest "$(printf '0%.0s' {1..64})" '{url: "https://127.0.0.1/MARKERURL", contentDigest: $digest}' \
    > "$spool/incoming/tmp/announced/attachment"
  mv "$spool/incoming/tmp/announced" "$spool/incoming/new/"
  wait_until announced
  # The held photo may be ahead: what is uploaded for nothing goes with it.
  wait_until accepted
}
expect_gone() {
  gone "$1"
  others "$1"
  is_empty "$spool/purge" "$spool/new" "$spool/cur" "$spool/draft" "$spool/tmp" "$spool/failed" "$spool/incoming/new"
}
# Objects whose keys are gone are deleted: what nobody was sent, and what stood in the published file. The other's stays.
only_others_object() { [ "$(ls -A "$spool/objects")" = "$(published other | jq -r '.attachment.contentDigest // empty')" ] && [ "$(ledger "SELECT count(*) FROM uploads WHERE state <> 'published'")" = 0 ]; }

# With a daemon, by a file that several lines stand in; at once.
start_daemon
fill
printf 'nobody\nMARKERCONVERSATION\n' > "$spool/purge/please"
wait_until test ! -e "$spool/purge/please"
expect_gone 'by a file, with a daemon'
wait_until only_others_object
! grep -q 'event=purged.*MARKER' start.log || fail 'the log names what was purged'

# The same name again is another conversation: nothing of the old one comes back.
drop again MARKERCONVERSATION 'a new beginning'
"$photospool" wait --timeout 60 again
expect "$(published MARKERCONVERSATION | jq -r .text)" 'a new beginning'
expect "$("$photospool" purge MARKERCONVERSATION)" 'MARKERCONVERSATION: purged'
expect_gone 'by the command, with a daemon'

# An unknown name is reported; an invalid line purges nothing and stays.
expect "$("$photospool" purge tpyo)" 'tpyo: purged; the ledger knew no conversation of that name'
mkdir "$spool/state/ledger-20260101T000000Z"
printf 'a%.0s' {1..300} > "$spool/tmp/mistyped"
mv "$spool/tmp/mistyped" "$spool/purge/"
wait_for_line start.log 'a line of purge/ names no conversation'
"$photospool" janitor 2> warnings || true
has warnings 'purge/mistyped: aaa.* names no conversation; correct or remove that line'
[ -s "$spool/purge/mistyped" ] && [ -d "$spool/state/ledger-20260101T000000Z" ] || fail 'a mistyped line was carried out'
rm -r "$spool/purge/mistyped" "$spool/state/ledger-20260101T000000Z"
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
  only_others_object || fail "objects are left: $(ls -A "$spool/objects")"
  start_daemon
  stop_daemon
  expect_gone "by the $by, after a daemon"
done
