# No part of a cancelled request is ever published, at whichever call the daemon is killed.
. "$(dirname "$0")/../lib/library.sh"

noise 500x400 0.jpg
is_cancelled() { [ ! -e "$spool/cur/r" ] && [ ! -e "$spool/cancel/please" ]; }
again() {
  rm -rf "$spool"
  start_daemon
  "$photospool" hold family > /dev/null
  drop r family hello 0.jpg
  wait_for_line start.log 'event=accepted.*request=r'
  stop_daemon
  echo r > "$spool/cancel/please"
}
again
run_killed_until 1000000 is_cancelled
kills=0
first=$(grep -n trash trace | cut -d: -f1 | head -n 1)
for k in $(seq $((first - 2)) $((first + 9))); do
  again
  run_killed_until "$k" is_cancelled
  [ "$status" = 0 ] || kills=$((kills + 1))
  place=$(where_killed "$k")
  [ ! -e "$spool/cur/r" ] || expect "$(ls -A "$spool/cur/r" | paste -sd' ')" 'photo-0.jpg text to' "$place"
  start_daemon
  wait_until is_cancelled
  "$photospool" release family > /dev/null
  drop after family 'the next one'
  "$photospool" wait --timeout 60 after
  stop_daemon
  expect "$(published family | jq -r .request)" after "$place"
done
[ "$kills" -ge 3 ] || fail "only $kills kills"
echo "$kills kills of a cancelling"
