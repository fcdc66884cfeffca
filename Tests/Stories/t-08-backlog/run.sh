# A backlog from before the start goes out in order, its first messages before its last are accepted, and the daemon's
# memory stays flat. Every listing shows it meanwhile, in little memory, and tolerates a reader that goes away.
# PHOTOSPOOL_TEST_BACKLOG sets how many requests that are; 2000 by default.
. "$(dirname "$0")/../lib/library.sh"

count=${PHOTOSPOOL_TEST_BACKLOG:-2000}
start_daemon
stop_daemon
"$python" - "$spool" "$count" <<'PYTHON'
import os, sys
for number in range(int(sys.argv[2])):
    request = f"{sys.argv[1]}/tmp/r{number:06d}"
    os.mkdir(request)
    with open(f"{request}/to", "w") as to, open(f"{request}/text", "w") as text:
        to.write(f"c{number % 10}\n")
        text.write(f"{number}\n")
    os.rename(request, f"{sys.argv[1]}/new/r{number:06d}")
PYTHON

# listed COMMAND...: what a listing says; in `listing`, its memory in kB at most in `memory`.
listed() {
  "$python" -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:], stdout=open("listing", "wb"))
open("memory", "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status if status >= 0 else 128 - status)' _ "$photospool" "$@" || fail "$*: $?"
  [ "$(cat memory)" -lt 100000 ] || fail "$* used $(cat memory) kB"
}
# A reader that goes away is no error and causes no output.
left() {
  { "$photospool" "$@" 2> quiet.txt || [ $? = 141 ]; } | head -n 1 > /dev/null || fail "$*: a reader that goes away"
  [ ! -s quiet.txt ] || fail "$*: $(cat quiet.txt)"
}
listed queue --json
expect "$(wc -l < listing)" "$count" 'all that waits is listed while no daemon runs'
listed queue
expect "$(tail -n 1 listing)" "-- $count messages, 0 B"

# While it goes out, entries come to new/ and go again, too.
begin=$(date +%s%N)
start_daemon
coproc COMERS { exec "$python" -c 'import os, sys, time
tmp, new = (f"{sys.argv[1]}/{name}" for name in ("tmp", "new"))
os.mkdir(f"{tmp}/comes")
while os.getppid() == int(sys.argv[2]):
    # An empty directory is refused when it is met; mostly it has gone by then.
    try:
        os.rename(f"{tmp}/comes", f"{new}/comes")
        os.rename(f"{new}/comes", f"{tmp}/comes")
    except FileNotFoundError:
        os.mkdir(f"{tmp}/comes")
    time.sleep(0.05)' "$spool" "$$"; }
comers=$COMERS_PID
wait_for_line start.log event=sent
echo "first sent after $((($(date +%s%N) - begin) / 1000000)) ms"
is_sent() { "$photospool" wait --timeout 1 "$(printf r%06d $((count - 1)))" > /dev/null 2>&1; }
rounds=0
until is_sent || [ "$rounds" = 1 ]; do
  for what in queue 'queue --json' 'photos --json' shape storage metrics 'queue --state sent --json'; do listed $what; done
  for what in queue 'queue --json' 'queue --state sent'; do left $what; done
  rounds=$((rounds + 1))
done
"$photospool" wait --timeout 3600 $(seq -f r%06.0f $((count - 10)) $((count - 1))) > /dev/null
kill "$comers"
wait "$comers" 2> /dev/null || true
peak=$(awk '/VmHWM/ { print $2 }' "/proc/$daemon/status")
stop_daemon
for conversation in 0 1 2 3 4 5 6 7 8 9; do
  published "c$conversation" | jq -r .text > texts
  expect "$(cat texts)" "$(seq "$conversation" 10 $((count - 1)))" "c$conversation"
done
early=$(sed '/event=sent/q' run.log | grep -c 'event=accepted')
[ "$early" -le 1000 ] || fail "$early were accepted before the first was sent"
[ "$peak" -lt 150000 ] || fail "the daemon used $peak kB"
echo "$count requests in order, $rounds times listed meanwhile, $peak kB"
