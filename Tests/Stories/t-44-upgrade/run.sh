# Two versions at one spool: clients and commands of one beside a daemon of the other, programs replaced under a running
# daemon, and a ledger newer than the program. Nothing is lost or sent twice, and a program that cannot go on says so.
# PHOTOSPOOL_TEST_OTHER names an earlier photospool, with its darkroom beside it; by default this version is both.
. "$(dirname "$0")/../lib/library.sh"

other=${PHOTOSPOOL_TEST_OTHER:-$photospool}
noise 300x200 photo.jpg

# may PROGRAM COMMAND...: works, or says why it does not, which is no crash.
may() {
  local status=0
  "$@" > out.txt 2> err.txt || status=$?
  case $status in
    0) ;;
    # Every line is a log line of the daemon or an error of ours.
    64 | 65 | 66 | 69 | 73 | 74 | 75 | 78)
      [ -s err.txt ] && ! grep -qv '^photospool: \|^time=\|^Usage\|^  See\|^Error' err.txt || fail "${*:2}: $(cat err.txt)"
      ;;
    *) fail "${*:2}: $status $(cat err.txt)" ;;
  esac
}
everything() { # PROGRAM
  for command in queue 'queue --json' photos 'photos --json' storage shape metrics 'show nothing' 'hold quiet' \
    'release quiet' 'cancel nothing' 'retry nothing' flush 'prefs quiet' 'wait --timeout 1 nothing' janitor; do
    may "$1" $command
  done
}
expected=()
request() { # PROGRAM NAME: dropped in shell, and sent by the program, which has to work whatever the ledger is
  drop "$2-1" family "$2-1" photo.jpg
  "$1" send --to family --photo photo.jpg --text "$2-2" > /dev/null
  expected+=("$2-1" "$2-2")
}
has_sent() { [ "$(published family 2> /dev/null | jq -r 'select(.kind == "text").text' | tail -n 1)" = "$1" ]; }
run_daemon() { local mine=$photospool; photospool=$1; start_daemon; photospool=$mine; }

# A daemon of the one, clients of the other; and what waits is finished by the other.
for pair in "$other:$photospool" "$photospool:$other"; do
  run_daemon "${pair%:*}"
  request "${pair#*:}" "beside-${#expected[@]}"
  wait_until has_sent "${expected[-1]}"
  everything "${pair#*:}"
  kill -0 "$daemon" || fail 'a command of another version ended the daemon'
  "${pair%:*}" hold family > /dev/null
  request "${pair#*:}" "left-${#expected[@]}"
  wait_for_line start.log "event=accepted.*request=left-$((${#expected[@]} - 2))-1"
  stop_daemon
  # This version finishes the held work of either.
  run_daemon "$photospool"
  "$photospool" release family > /dev/null
  wait_until has_sent "${expected[-1]}"
  stop_daemon
done
# Only the newer one may open the ledger from here on.
if [ "$other" != "$photospool" ]; then
  may "$other" run
  grep -q 'written by a newer photospool' err.txt || fail "the older one did not refuse the ledger: $(cat err.txt)"
fi

# The programs are replaced under a running daemon, which starts what lies there now.
mkdir bin
cp "$other" "$(dirname "$other")/photospool-darkroom" bin/
[ "$other" = "$photospool" ] || cp "$photospool" "$(dirname "$photospool")/photospool-darkroom" bin/
run_daemon "$PWD/bin/photospool"
request "$photospool" before
wait_until has_sent before-2
for program in photospool photospool-darkroom; do
  cp "$(dirname "$photospool")/$program" "bin/$program.new"
  mv "bin/$program.new" "bin/$program"
done
pkill -KILL -P "$daemon" -f photospool-darkroom
request "$photospool" after
wait_until has_sent after-2

# The ledger is newer: clients need none, and other commands say so or leave it alone.
sqlite3 "$spool/state/ledger.sqlite" "INSERT INTO grdb_migrations VALUES ('v99 the future')"
request "$photospool" future
wait_until has_sent future-2
everything "$photospool"
"$photospool" send --to quiet --text quiet --wait > /dev/null 2> err.txt || [ -s err.txt ] || fail 'send --wait says nothing'
# A command of the future is not understood, and costs nothing.
for order in '{"conjure":{}}' '{}' 'nonsense'; do
  "$python" -c 'import json, os, socket, sys
os.chdir(sys.argv[1])
line = socket.socket(socket.AF_UNIX)
line.connect("control")
line.sendall(sys.argv[2].encode() + b"\n")
assert "another version" in json.loads(line.makefile().readline())["error"]' "$spool/state" "$order" || fail "$order"
done
request "$photospool" still
wait_until has_sent still-2
stop_daemon
contents() { sqlite3 "$spool/state/ledger.sqlite" .dump; }
contents > kept
for command in run janitor 'purge family' 'hold family' 'cancel first'; do
  may "$photospool" $command
  grep -q 'written by a newer photospool' err.txt || fail "$command does not say that the ledger is newer: $(cat err.txt)"
done
cmp kept <(contents) || fail 'a ledger of the future was changed'
sqlite3 "$spool/state/ledger.sqlite" "DELETE FROM grdb_migrations WHERE identifier = 'v99 the future'"
rm -f "$spool"/purge/*
start_daemon
stop_daemon
expect "$(published family | jq -r 'select(.kind == "text").text' | paste -sd' ')" "${expected[*]}"
expect "$(published family | jq -r .kind | uniq -c | awk '{ print $1 }' | sort -u)" 1 'a photo and a text each'
is_empty "$spool/new" "$spool/cur" "$spool/failed"
expect "$(ledger 'PRAGMA integrity_check')" ok
