# An entry built in new/ itself is taken once it has been left alone, with a word in the log; new/ may be replaced.
. "$(dirname "$0")/../lib/library.sh"

configure <<< 'intake: {settle: 1s, rescan: 2s}'
start_daemon
mkdir "$spool/new/slow"
echo family > "$spool/new/slow/to"
echo 'built in place' > "$spool/new/slow/text"
wait_for_line start.log 'event="a request was built in new/ itself.*request=slow'
"$photospool" wait --timeout 60 slow
expect "$(published family | jq -r .text)" 'built in place'

# new/ is moved away and made again: the daemon says so and goes on with the new one.
mv "$spool/new" "$spool/old"
mkdir -m 3770 "$spool/new"
wait_for_line start.log 'new/ was replaced'
drop after family 'after the move'
"$photospool" wait --timeout 60 after
expect "$(published family | wc -l)" 2
stop_daemon
