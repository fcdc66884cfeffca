# No time of a file, uptime or time zone decides what is sent or in which order. `make torture` has the clock jump.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
configure <<< 'intake: {rescan: 1s, settle: 300ms}'

# drop_of TIME NAME: with that time of change on every file and directory, where the file system can keep it.
drop_of() {
  build "$2" family "$2" photo.jpg
  touch -d "$1" "$spool/tmp/$2"/* "$spool/tmp/$2" 2> touch.log || [[ $1 = 1960-* || $1 = 2446-* ]] || fail "$(cat touch.log)"
  submit "$2"
}
start_daemon
number=0
for time in '1970-01-01 UTC' '2100-06-01' '1960-01-01' '2037-01-01' '1999-12-31' '2446-01-01'; do
  number=$((number + 1))
  drop_of "$time" "up-$number"
done
"$photospool" wait --timeout 60 up-1 up-2 up-3 up-4 up-5 up-6
stop_daemon
number=0
for time in '2100-06-01' '1970-01-01 UTC' '2037-01-01' '1960-01-01'; do
  number=$((number + 1))
  drop_of "$time" "down-$number"
done
start_daemon
"$photospool" wait --timeout 60 down-1 down-2 down-3 down-4
expect "$(published family | jq -r 'select(.kind == "text").request' | paste -sd' ')" \
  'up-1 up-2 up-3 up-4 up-5 up-6 down-1 down-2 down-3 down-4'

# Commands show the same and do the same in every time zone.
"$photospool" hold zones > /dev/null
drop zone zones zone photo.jpg
wait_for_line start.log 'event=accepted.*request=zone'
shown() {
  for command in queue 'queue --json' 'show zone' 'show --json down-4' 'photos --json'; do "$photospool" $command; done
}
TZ=UTC shown > utc
[ -s utc ] || fail 'nothing is shown'
for zone in Pacific/Kiritimati America/St_Johns Europe/Berlin 'nonsense' 'XXX-167:59:59YYY,0/0,J365/23'; do
  TZ=$zone shown | cmp - utc || fail "in $zone something else is shown"
done
stop_daemon
start_daemon TZ=Pacific/Kiritimati
TZ=UTC "$photospool" cancel zone > /dev/null
drop elsewhere family elsewhere
"$photospool" wait --timeout 60 elsewhere
# Midnight may be just over.
last=$(tail -n 1 start.log) today=$(date -u +%F)
[[ $last = time=${today}T* || $last = time=$(date -u -d "$today - 1 day" +%F)T23:5* ]] || fail "the log is not in UTC: $last"
stop_daemon

# A machine whose monotonic clock says that it started three years ago.
if unshare --time --monotonic 100000000 --boottime 100000000 true 2> /dev/null; then
  : > start.log
  unshare --time --monotonic 100000000 --boottime 100000000 "$photospool" run > start.log 2>&1 &
  daemon=$!
  wait_for_line start.log event=ready
  drop uptime family uptime photo.jpg
  "$photospool" wait --timeout 60 uptime
  stop_daemon
fi
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
