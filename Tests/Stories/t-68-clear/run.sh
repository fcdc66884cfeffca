# `clear` by the daemon and without it: what goes is what the rehearsal said, photos of waiting requests stay, and rows and
# files agree; also of two at once beside a janitor, and after a kill.
# Killed at every 29th call by default, at every one with PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

noise 500x400 00.jpg 01.jpg 02.jpg 03.jpg 04.jpg
refuse_network 0
start_daemon
for number in 00 01 02; do send me c$number $number.jpg; done
send you c00 03.jpg
refuse_network 75
"$photospool" send --from me --to waits --photo 04.jpg > /dev/null
wait_until are_pinned 1
# Only the clear changes the cache below.
"$photospool" hold waits > /dev/null
stop_daemon
cp -a "$spool" template

# rehearsed WORD...: `clear` prints what its rehearsal said; leaves that in `said`, and what stays in `stays`.
rehearsed() {
  local before
  before=$(find "$spool/photos" | sort)
  "$photospool" clear --dry-run "$@" > rehearsal
  expect "$(find "$spool/photos" | sort)" "$before" 'a rehearsal changed the cache'
  said=$(head -n 1 rehearsal) stays=$(tail -n +2 rehearsal)
  expect "$("$photospool" clear "$@")" "$said" "clear $*"
  exact "clear $*"
  expect "$("$photospool" clear --dry-run "$@" | head -n 1)" '0 photos, 0 B'
}
# in_parts: conversation, inbox and all, one after the other.
in_parts() {
  rehearsed --to c01
  expect "${said%%,*}$stays" '1 photo'
  rehearsed --inbox you
  expect "${said%%,*}$stays" '1 photo'
  rehearsed
  expect "${said%%,*}" '2 photos'
  expect "$(sed 's/, .* stay:/:/' <<< "$stays")" '1 photo: needed by unfinished requests'
  expect "$(originals me) $(originals me/waits) $(originals you)" '1 1 0'
  expect "$(find "$spool/photos" -name thumbnail.jpg | wc -l)" 5
}
in_parts
cp -a template again
rm -rf "$spool"
mv again "$spool"
start_daemon
in_parts
expect "$(grep -c 'event=clear outcome="[0-9]* photos\?, ' start.log)" 3 'orders in the log'
ends 65 clear --to "$(printf 'a\tb')"
# The photo of the waiting request is still good.
refuse_network 0
kill -HUP "$daemon"
"$photospool" release waits > /dev/null
wait_until are_pinned 0
stop_daemon

# Two at once and a janitor: each photo goes once.
refuse_network 75
rm -rf "$spool"
cp -a template "$spool"
start_daemon
"$photospool" janitor & jobs=$!
"$photospool" clear > one.log & jobs="$jobs $!"
"$photospool" clear > other.log
for job in $jobs; do wait "$job"; done
expect "$(cat one.log other.log | awk '{ photos += $1 } END { print photos }')" 4
exact 'two at once'
stop_daemon

# The daemon is killed on the way: the next clear ends it.
is_up_or_dead() { grep -q event=ready start.log || ! kill -0 "$daemon" 2> /dev/null; }
step=${PHOTOSPOOL_TEST_KILL_STEP:-29} kills=0
k=$((RANDOM % step + 1))
while :; do
  rm -rf "$spool"
  cp -a template "$spool"
  start_to_be_killed "$k"
  wait_until is_up_or_dead
  "$photospool" clear > killed.log 2>&1 || true
  kill -TERM "$daemon" 2> /dev/null || true
  end_of_killed "$k"
  "$photospool" clear > again.log || fail "k=$k"
  expect "$(find "$spool/photos" -name original.jpg)" "$(find "$spool/photos/me/waits" -name original.jpg)" "k=$k"
  exact "$(where_killed "$k")"
  expect "$(ledger 'SELECT count(*) FROM photos WHERE evicting > 0')$(ledger 'PRAGMA integrity_check')" 0ok "k=$k"
  if [ "$status" = 0 ]; then break; fi
  kills=$((kills + 1))
  k=$((k + step))
done
grep -q 'unlinkat.*original.jpg' trace || fail 'the trace lacks a step'
echo "$kills kills on the way of a clear"
