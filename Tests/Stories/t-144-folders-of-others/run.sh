# `photospool watch` as another user than the one whose folders it watches: it says once what it may not do, sends nothing that
# it could not take away, and goes on by itself when it may.
. "$(dirname "$0")/../lib/library.sh"
[ "$(id -u)" = 0 ] || skip 'another user needs root'

noise 640x480 1.jpg 2.jpg
chmod 755 .
mkdir -m 777 hot
mkdir -m 700 hot/closed
mkdir -m 755 hot/readable
start_daemon
come() { [ "$(cat "$spool/published/family.jsonl" 2> /dev/null | wc -l)" = "$1" ]; }

cp 1.jpg hot/private.jpg
chmod 600 hot/private.jpg
cp 2.jpg hot/readable/stays.jpg
setpriv --reuid 65534 --regid 0 --clear-groups "$photospool" watch --folder "$PWD/hot" --to family > watch.log 2>&1 &
watch=$!
beside=$watch
wait_for_line watch.log 'a folder below is left out.*path=closed'
wait_for_line watch.log 'a file is left where it is.*may not read it.*private.jpg'
wait_for_line watch.log 'cannot take files out of.*readable'

# Each was said once, and nothing was sent; a file that may be taken is not held up by them.
cp 1.jpg hot/good.jpg
wait_until come 1
expect "$(grep -c 'private.jpg' watch.log)" 1
expect "$(grep -c 'cannot take files out of' watch.log)" 1
! grep 'is watched again' watch.log || fail 'it says that all is well'

chmod 644 hot/private.jpg
wait_until come 2
chmod 777 hot/readable
wait_until come 3
wait_for_line watch.log 'is watched again'
expect "$(ls -A hot/.sent hot/readable/.sent | grep jpg | sort | paste -sd,)" good.jpg,private.jpg,stays.jpg
stop_beside "$watch"
stop_daemon
