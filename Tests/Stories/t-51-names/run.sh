# A name is no identity: a refused entry is reported under its name, and a reused name stands for the newest request.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
head -c 3000 "$photos/Wine_by_Jakkub_Mede.jpg" > bad.jpg

# Until the daemon has seen an entry, one waits for it, whatever its name is.
kill -STOP "$daemon"
drop 'too soon' friends early
for name in '' . .. ../new; do ends 66 wait --timeout 1 "$name"; done
ends 75 wait --timeout 1 'too soon'
kill -CONT "$daemon"
ends 69 wait --timeout 60 'too soon'
"$photospool" retry 'too soon' > /dev/null
"$photospool" wait --timeout 60 'too soon'

# Every refusal leaves a log line, a count, a row and its name.
drop 'my cat' family meow
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/tmp/cat.jpg"; mv "$spool/tmp/cat.jpg" "$spool/new/"
ln -s nowhere "$spool/new/link"
build odd family odd; mv "$spool/tmp/odd" "$spool/new/"$'odd\xff'
build nobody x hello; rm "$spool/tmp/nobody/to"; submit nobody
for name in 'my cat' cat.jpg link 'odd\\xff' nobody; do
  ends 69 wait --timeout 60 "${name/\\\\/\\}"
  must_print ': failed' show "${name/\\\\/\\}"
done
must_print 'dropped as *my cat' show 'my cat'
are_refused() { [ "$(grep -c 'event=refused' start.log)" = "$1" ]; }
wait_until are_refused 6
expect "$("$photospool" metrics | grep 'requests_ended_total{outcome="failed"}' | cut -d' ' -f2)" 6
"$photospool" queue --state failed > queue.log
for name in 'my cat' cat.jpg link 'odd\\xff' nobody; do has queue.log "^$name "; done
expect "$("$photospool" queue --state failed --json | jq -r 'select(.message == null) | .droppedAs' | sort | paste -sd,)" \
  'cat.jpg,link,my cat,nobody,odd\xff'
expect "$(grep -l 'my cat: the name of the request' "$spool"/failed/*/error | wc -l)" 1
expect "$(grep -lF 'odd\xff: the name of the request' "$spool"/failed/*/error | wc -l)" 1

# Retried, it is sent where it can be; otherwise the reason stays.
cp "$spool/failed/cat.jpg/error" before.log
ends 66 retry cat.jpg
has err.log 'cat.jpg is a file and no request'
cmp before.log "$spool/failed/cat.jpg/error"
"$photospool" retry 'my cat' > /dev/null
"$photospool" wait --timeout 60 'my cat'
expect "$(published family | jq -r .text)" meow
ends 0 retry --all
has err.log 'link is a symbolic link and no request'
ends 69 wait --timeout 60 nobody
rm -rf "$spool"/failed/*

# A foreign entry under the name of a waiting request is filed beside it.
"$photospool" hold room > /dev/null
drop taken room '' bad.jpg
wait_for_line start.log 'event=accepted request=taken '
echo precious > "$spool/tmp/taken"; mv "$spool/tmp/taken" "$spool/new/"
wait_until test -e "$spool/failed/taken.2/entry"
mkdir "$spool/failed/taken"; echo mine > "$spool/failed/taken/note"
"$photospool" release room > /dev/null
wait_until test -e "$spool/failed/taken/photo-0.jpg"
expect "$(cat "$spool/failed/taken.2/entry" "$spool/failed/taken.3/note" | paste -sd,)" precious,mine
! grep -q 'cannot file' start.log || fail 'a request could not be filed'

# The newest counts.
drop same family one
"$photospool" wait --timeout 60 same
drop same family '' bad.jpg
ends 69 wait --timeout 60 same
has err.log 'same (same.2) failed: photo-0.jpg'
must_print 'dropped as *same' show same
has "$spool/failed/same.2/error" '(dropped as same)$'
expect "$("$photospool" retry same)" 'same: retried'
ends 69 wait --timeout 60 same
stop_daemon
drop same family later
ends 75 wait --timeout 300ms same
for time in inf nan -1 1e30 5x; do ends 64 wait --timeout="$time" same; done
for time in inf nan -1 1e30 5x; do ends 64 purge --timeout="$time" family; done
is_empty "$spool/purge"
ends 75 show same
has err.log 'no daemon runs'
expect "$("$photospool" cancel same)" 'same: cancelled; nothing of it was published'
ends 69 wait --timeout 5 same
is_empty "$spool/new" "$spool/cur"

# A list that cannot be written does not look whole.
for command in "queue --state sent" "queue --json --state sent" metrics "show same" "storage --json"; do
  status=0; "$photospool" $command > /dev/full 2> err.log || status=$?
  expect "$status" 74 "$command: $(cat err.log)"
  has err.log 'the output cannot be written'
done
