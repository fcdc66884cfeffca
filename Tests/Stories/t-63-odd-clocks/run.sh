# No clock decides what is sent or in which order: neither times of files, nor a clock that jumps, nor uptime, nor a
# time zone.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
printf 'intake: {rescan: 1s, settle: 300ms}\ndelivery: {lifetime: 365d}\n' > photospool.yaml
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
cc -shared -fPIC -O1 -o clock.so "$here/../Torture/clock.c" -ldl
# clock SECONDS: from here on the daemon's wall clock is off by so many.
clock() { "$python" -c 'import struct, sys; open("offset", "r+b").write(struct.pack("l", int(sys.argv[1])))' "$1"; }
head -c 8 /dev/zero > offset

# build NAME TIME: with that time of change on every file and directory.
build() {
  mkdir "$spool/tmp/$1"
  echo family > "$spool/tmp/$1/to"
  echo "$1" > "$spool/tmp/$1/text"
  cp photo.jpg "$spool/tmp/$1/photo.jpg"
  touch -d "$2" "$spool/tmp/$1"/* "$spool/tmp/$1"
}
start_daemon LD_PRELOAD="$PWD/clock.so" CLOCK_OFFSET="$PWD/offset"
number=0
for time in '1970-01-01 UTC' '2100-06-01' '1960-01-01' '2037-01-01' '1999-12-31' '2446-01-01'; do
  number=$((number + 1))
  build "up-$number" "$time" 2> /dev/null || build "up-$number-b" '1970-01-01'
  mv "$spool"/tmp/up-$number* "$spool/new/up-$number"
done
stop_after() { "$photospool" wait --timeout 60 "$@"; stop_daemon; }
stop_after up-1 up-2 up-3 up-4 up-5 up-6
number=0
for time in '2100-06-01' '1970-01-01 UTC' '2037-01-01' '1960-01-01'; do
  number=$((number + 1))
  build "down-$number" "$time"
  mv "$spool/tmp/down-$number" "$spool/new/"
done

# The clock jumps forth and back by 300 days while the daemon serves, while it sleeps between attempts, and between its lives.
clock $((300 * 86400))
start_daemon LD_PRELOAD="$PWD/clock.so" CLOCK_OFFSET="$PWD/offset"
"$photospool" wait --timeout 60 down-1 down-2 down-3 down-4
for offset in 0 $((-300 * 86400)) 3600 -3600 $((300 * 86400)) 0; do
  clock "$offset"
  build "at$offset" now
  mv "$spool/tmp/at$offset" "$spool/new/jump-$((number += 1))"
  "$photospool" wait --timeout 60 "jump-$number"
done
expect "$(published family | jq -r 'select(.kind == "text").request' | paste -sd' ')" \
  'up-1 up-2 up-3 up-4 up-5 up-6 down-1 down-2 down-3 down-4 jump-5 jump-6 jump-7 jump-8 jump-9 jump-10'

# Commands show the same and do the same in every time zone.
"$photospool" hold zones > /dev/null
build zone now
echo zones > "$spool/tmp/zone/to"
mv "$spool/tmp/zone" "$spool/new/"
wait_for_line start.log 'event=accepted.*request=zone'
shown() {
  for command in queue 'queue --json' 'show zone' 'show --json jump-9' 'photos --json'; do "$photospool" $command; done
}
TZ=UTC shown > utc
[ -s utc ] || fail 'nothing is shown'
for zone in Pacific/Kiritimati America/St_Johns Europe/Berlin 'nonsense' 'XXX-167:59:59YYY,0/0,J365/23'; do
  TZ=$zone shown | cmp - utc || fail "in $zone something else is shown"
done
stop_daemon
start_daemon LD_PRELOAD="$PWD/clock.so" CLOCK_OFFSET="$PWD/offset" TZ=Pacific/Kiritimati
TZ=UTC "$photospool" cancel zone > /dev/null
build elsewhere now
mv "$spool/tmp/elsewhere" "$spool/new/"
"$photospool" wait --timeout 60 elsewhere
# Midnight may be just over.
last=$(tail -n 1 start.log) today=$(date -u +%F)
[[ $last = time=${today}T* || $last = time=$(date -u -d "$today - 1 day" +%F)T23:5* ]] || fail "the log is not in UTC: $last"

# A request that is open for writing in tmp/ stays, whatever its time; an abandoned one goes after 36 hours.
build held '1970-01-01 UTC'
build young "$(date -d '35 hours ago' '+%F %T')"
build old "$(date -d '37 hours ago' '+%F %T')"
exec 8< "$spool/tmp/held"
flock 8
"$photospool" janitor
# The ledger sees a clock jump: a pass that finds one deletes nothing for its age, and the next one goes on.
"$photospool" janitor
[ -d "$spool/tmp/held" ] || fail 'what is being written was taken for abandoned'
[ -d "$spool/tmp/young" ] || fail 'what is not 36 hours old was taken for abandoned'
exec 8<&-
rm -rf "$spool"/tmp/{held,young,old}
stop_daemon

# A machine whose monotonic clock says that it started three years ago.
if unshare --time --monotonic 100000000 --boottime 100000000 true 2> /dev/null; then
  : > start.log
  unshare --time --monotonic 100000000 --boottime 100000000 "$photospool" run > start.log 2>&1 &
  daemon=$!
  wait_for_line start.log event=ready
  build uptime now
  mv "$spool/tmp/uptime" "$spool/new/"
  "$photospool" wait --timeout 60 uptime
  stop_daemon
fi
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
