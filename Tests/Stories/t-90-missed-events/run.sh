# A request is found although no event told of it: the queue of events overflows, new/ is replaced, or no watch works.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
configure <<< 'intake: {rescan: 1s, settle: 300ms}'

start_daemon
# More arrives than the kernel tells of, while the daemon is stopped: it looks by itself, and forgets nothing.
kill -STOP "$daemon"
"$python" - "$spool" <<'PYTHON'
import os, sys
for number in range(400):
    request = f"{sys.argv[1]}/tmp/r{number:05d}"
    os.mkdir(request)
    with open(f"{request}/to", "w") as to, open(f"{request}/text", "w") as text:
        to.write("many\n")
        text.write(f"{number}\n")
    # 51 events each: in, out, in …
    for _ in range(25):
        os.rename(request, f"{sys.argv[1]}/new/r{number:05d}")
        os.rename(f"{sys.argv[1]}/new/r{number:05d}", request)
    os.rename(request, f"{sys.argv[1]}/new/r{number:05d}")
PYTHON
kill -CONT "$daemon"
"$photospool" wait --timeout 300 r00399
expect "$(published many | wc -l)" 400

# new/ is moved away, or removed and made anew: what comes is found.
mv "$spool/new" away
wait_for_line start.log 'new/'
mkdir -p "$spool/new"
drop moved family moved photo.jpg
"$photospool" wait --timeout 60 moved
rmdir "$spool/new"
mkdir "$spool/new"
drop removed family removed photo.jpg
"$photospool" wait --timeout 60 removed
stop_daemon
rmdir away

# Without a watch, and with one that tells nothing, looks alone find what arrives, and the log says so.
cc -shared -fPIC -o blind.so "$here/lib/blind.c"
mkdir quiet
for way in 'no watch' 'tells nothing'; do
  start_daemon LD_PRELOAD="$PWD/blind.so" "$([ "$way" = 'no watch' ] && echo BLIND_TO=/ || echo "WATCHED=$PWD/quiet")"
  drop "${way%% *}" family "$way" photo.jpg
  "$photospool" wait --timeout 60 "${way%% *}"
  has start.log "level=warning.*the kernel.*$way.*looked into every"
  stop_daemon
done
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
