# A request is published once although the daemon is killed and the ledger is lost and rebuilt.
# Killed at every 61st call by default, at every one with PHOTOSPOOL_TEST_KILL_STEP=1.
. "$(dirname "$0")/../lib/library.sh"

noise 500x400 0.jpg
start_daemon
stop_daemon
mv "$spool" made-empty
step=${PHOTOSPOOL_TEST_KILL_STEP:-61}
k=$((RANDOM % step + 1)) kills=0
while :; do
  rm -rf "$spool"
  cp -a made-empty "$spool"
  drop r family hello 0.jpg
  run_killed $k r
  rm -f "$spool"/state/ledger.sqlite*
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  "$photospool" rebuild > rebuilt.txt || fail "k=$k: not rebuilt"
  start_daemon
  "$photospool" wait --timeout 60 r || fail "k=$k: not sent after it was rebuilt"
  stop_daemon
  expect "$(published family | jq -r .kind | paste -sd' ')" 'photo text' "$(where_killed "$k")"
  is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
  k=$((k + step))
done
echo "$kills kills, each followed by a new ledger"
