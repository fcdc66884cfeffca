# A name is no identity: a refused entry is reported under its name, and a reused name stands for the newest request.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
head -c 3000 "$photos/Wine_by_Jakkub_Mede.jpg" > bad.jpg
request() { mkdir "$1"; echo "$2" > "$1/to"; echo "$3" > "$1/text"; }
# fails STATUS COMMAND...: its words are in err.log.
fails() { local want=$1 status=0; shift; "$@" > out.log 2> err.log || status=$?; expect "$status" "$want" "$*: $(cat err.log)"; }

# Until the daemon has seen an entry, one waits for it, whatever its name is.
kill -STOP "$daemon"
request "$spool/tmp/too soon" friends early; mv "$spool/tmp/too soon" "$spool/new/"
for name in '' . .. ../new; do fails 66 "$photospool" wait --timeout 1 "$name"; done
fails 75 "$photospool" wait --timeout 1 'too soon'
kill -CONT "$daemon"
fails 69 "$photospool" wait --timeout 60 'too soon'
"$photospool" retry 'too soon' > /dev/null
"$photospool" wait --timeout 60 'too soon'

# Every refusal leaves a log line, a count, a row and its name.
request "$spool/tmp/my cat" family meow; mv "$spool/tmp/my cat" "$spool/new/"
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/tmp/cat.jpg"; mv "$spool/tmp/cat.jpg" "$spool/new/"
ln -s nowhere "$spool/new/link"
request "$spool/tmp/odd" family odd; mv "$spool/tmp/odd" "$spool/new/"$'odd\xff'
mkdir "$spool/tmp/nobody"; echo hello > "$spool/tmp/nobody/text"; mv "$spool/tmp/nobody" "$spool/new/"
for name in 'my cat' cat.jpg link 'odd\\xff' nobody; do
  fails 69 "$photospool" wait --timeout 60 "${name/\\\\/\\}"
  "$photospool" show "${name/\\\\/\\}" > show.log
  grep -q ': failed' show.log || fail "$name: $(cat show.log)"
done
must_print 'dropped as *my cat' show 'my cat'
are_refused() { [ "$(grep -c 'event=refused' start.log)" = "$1" ]; }
wait_until are_refused 6
expect "$("$photospool" metrics | grep 'requests_ended_total{outcome="failed"}' | cut -d' ' -f2)" 6
"$photospool" queue --state failed > queue.log
for name in 'my cat' cat.jpg link 'odd\\xff' nobody; do grep -q "^$name " queue.log || fail "$name: $(cat queue.log)"; done
expect "$("$photospool" queue --state failed --json | jq -r 'select(.message == null) | .droppedAs' | sort | paste -sd,)" \
  'cat.jpg,link,my cat,nobody,odd\xff'
expect "$(grep -l 'my cat: the name of the request' "$spool"/failed/*/error | wc -l)" 1
expect "$(grep -lF 'odd\xff: the name of the request' "$spool"/failed/*/error | wc -l)" 1

# Retried, it is sent where it can be; otherwise the reason stays.
cp "$spool/failed/cat.jpg/error" before.log
fails 66 "$photospool" retry cat.jpg
grep -q 'cat.jpg is a file and no request' err.log || fail "$(cat err.log)"
cmp before.log "$spool/failed/cat.jpg/error"
"$photospool" retry 'my cat' > /dev/null
"$photospool" wait --timeout 60 'my cat'
expect "$(published family | jq -r .text)" meow
fails 0 "$photospool" retry --all
grep -q 'link is a symbolic link and no request' err.log || fail "$(cat err.log)"
fails 69 "$photospool" wait --timeout 60 nobody
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
fails 69 "$photospool" wait --timeout 60 same
grep -q 'same (same.2) failed: photo-0.jpg' err.log || fail "$(cat err.log)"
must_print 'dropped as *same' show same
grep -q '(dropped as same)$' "$spool/failed/same.2/error" || fail "$(cat "$spool/failed/same.2/error")"
expect "$("$photospool" retry same)" 'same: retried'
fails 69 "$photospool" wait --timeout 60 same
stop_daemon
drop same family later
fails 75 "$photospool" wait --timeout 300ms same
for time in inf nan -1 1e30 5x; do fails 64 "$photospool" wait --timeout="$time" same; done
for time in inf nan -1 1e30 5x; do fails 64 "$photospool" purge --timeout="$time" family; done
is_empty "$spool/purge"
fails 75 "$photospool" show same
grep -q 'no daemon runs' err.log || fail "$(cat err.log)"
expect "$("$photospool" cancel same)" 'same: cancelled; nothing of it was published'
fails 69 "$photospool" wait --timeout 5 same
is_empty "$spool/new" "$spool/cur"

# A list that cannot be written does not look whole.
for command in "queue --state sent" "queue --json --state sent" metrics "show same" "storage --json"; do
  status=0; "$photospool" $command > /dev/full 2> err.log || status=$?
  expect "$status" 74 "$command: $(cat err.log)"
  grep -q 'the output cannot be written' err.log || fail "$command: $(cat err.log)"
done
