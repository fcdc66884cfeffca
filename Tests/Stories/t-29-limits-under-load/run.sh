# Under load each pass of the janitor brings the cache within its limits and keeps the photos that requests need.
# Four writers send, others come in, and old photos are fetched again. STORY_SECONDS sets for how long (10), with a
# pass every second, and from 60 on every five.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

seconds=${STORY_SECONDS:-10}
every=$((seconds < 60 ? 1 : 5))
total=3000000 inbox=1200000
noise 300x200 0.jpg 1.jpg 2.jpg 3.jpg 4.jpg

mkdir drops
start_server object_server.py
for number in $(seq 1 60); do echo "heard-$number friends json $((number % 5)).jpg"; done \
  | tool send_photo.py "$(fact directory)" "$(fact endpoint)/plain" drops
printf '#!/bin/sh\nexit 75\n' > stuck
chmod +x stuck
configure <<END
cache: {inbox: $inbox, total: $total}
receiving: {allowPrivate: true, fetch: always}
networks:
  stuck: {type: exec, program: $PWD/stuck}
routes:
  - {conversation: "stuck-*", network: stuck}
END
start_daemon

# Photos of these requests stay in the cache from beginning to end.
for number in 0 1 2 3 4; do "$photospool" send --from "i$number" --to "stuck-$number" --photo $number.jpg > /dev/null; done
wait_until are_pinned 5
files() { find "$spool"/photos/*/stuck-* -type f -printf '%p %i %s %C@\n' | sort; }
files > needed.before

end=$((SECONDS + seconds))
writer() {
  local number=0 batch names
  while [ "$SECONDS" -lt "$end" ]; do
    names=
    for batch in 1 2 3 4 5 6 7 8 9 10; do
      number=$((number + 1))
      build "w$1-$number" "c$(((number + $1) % 7))" '' $((number % 5)).jpg
      echo "i$1" > "$spool/tmp/w$1-$number/from"
      submit "w$1-$number"
      names="$names w$1-$number"
    done
    "$photospool" wait --timeout 120 $names >> "written.$1" 2>&1 || echo "writer $1: $names" >> faults
  done
  echo "$number" > "count.$1"
}
receiver() {
  local number
  for number in $(seq 1 60); do
    [ "$SECONDS" -lt "$end" ] || return 0
    mv "drops/heard-$number" "$spool/incoming/new/"
    sleep 0.3
  done
}
# Photos that were evicted come back, under the eyes of the janitor.
viewer() {
  local message views=0
  while [ "$SECONDS" -lt "$end" ]; do
    message=$(ledger 'SELECT message FROM photos WHERE cached_bytes = 0 AND pinned = 0 ORDER BY random() LIMIT 1')
    if [ -z "$message" ]; then sleep 0.1; continue; fi
    if "$photospool" view "$message" > viewed 2> viewed.err; then views=$((views + 1)); fi
  done
  echo "$views" > views
}
jobs=
for number in 1 2 3 4; do writer $number & jobs="$jobs $!"; done
receiver & jobs="$jobs $!"
viewer & jobs="$jobs $!"
tool watch_limits.py "$photospool" "$spool" "$seconds" "$every" $total $inbox > watched 2>&1 || { cat watched >> faults; end=0; }
wait $jobs
[ ! -s faults ] || fail "$(sort faults | uniq -c | head)"
files > needed.after
diff needed.before needed.after || fail 'what was needed is not what it was'

idle() { [ "$(ledger "SELECT count(*) FROM received WHERE state IN ('wanted', 'downloading')")" = 0 ]; }
wait_until idle
"$photospool" janitor 2> /dev/null
"$photospool" janitor 2> /dev/null
stop_daemon
expect "$(ledger 'PRAGMA integrity_check')" ok
agree
[ "$bytes" -le $total ] || fail "the cache holds $bytes bytes"
[ "$(cat views)" -gt 0 ] || fail "nothing that was evicted was viewed again: $(cat viewed.err)"
echo "$(cat watched); $(cat count.* | awk '{ s += $1 } END { print s }') photos sent, $(cat views) evicted ones viewed, $(ledger 'SELECT count(*) FROM received WHERE own = 0') received"
