# An upgrade replaces the program while its daemon runs. The daemon still finds the program that decodes its first photo.
. "$(dirname "$0")/../lib/library.sh"

mkdir bin
ln "$photospool" "$photospool-darkroom" bin/ 2> /dev/null || cp "$photospool" "$photospool-darkroom" bin/
photospool=$PWD/bin/photospool
start_daemon
rm bin/photospool
noise 300x200 photo.jpg
drop one family words photo.jpg
wait_until eval '[ -e "$spool/sent/one/receipt.json" ]'
expect "$(jq -r .state "$spool/sent/one/receipt.json")" sent
stop_daemon
