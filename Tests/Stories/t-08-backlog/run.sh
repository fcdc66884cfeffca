# A backlog that came while no daemon ran goes out in its order, and the daemon's memory stays flat.
. "$(dirname "$0")/../library.sh"

start_daemon
stop_daemon
"$python" - "$spool" <<'PYTHON'
import os, sys
for number in range(5000):
    request = f"{sys.argv[1]}/tmp/r{number:05d}"
    os.mkdir(request)
    with open(f"{request}/to", "w") as to, open(f"{request}/text", "w") as text:
        to.write(f"c{number % 10}\n")
        text.write(f"{number}\n")
    os.rename(request, f"{sys.argv[1]}/new/r{number:05d}")
PYTHON
start_daemon
"$photospool" wait --timeout 300 r04990 r04991 r04992 r04993 r04994 r04995 r04996 r04997 r04998 r04999
peak=$(awk '/VmHWM/ { print $2 }' "/proc/$daemon/status")
stop_daemon
for conversation in 0 1 2 3 4 5 6 7 8 9; do
  published "c$conversation" | jq -r .text > texts
  expect "$(cat texts)" "$(seq "$conversation" 10 4999)" "c$conversation"
done
[ "$peak" -lt 150000 ] || fail "the daemon used $peak kB"
echo "5000 requests in order, $peak kB"
