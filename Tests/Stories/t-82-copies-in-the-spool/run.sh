# A rebuilt ledger has each copied request once, and publishes no photo again that came back from failed/.
. "$(dirname "$0")/../lib/library.sh"

noise 500x400 0.jpg 1.jpg
echo 'no photo' > bad.jpg

start_daemon
drop first family hello 0.jpg
build keyed family once
echo key-1 > "$spool/tmp/keyed/id"
submit keyed
"$photospool" wait --timeout 60 first keyed
# Its first photo is published, the second file is not a photo.
drop part family '' 1.jpg bad.jpg
wait_until test -e "$spool/failed/part/error"
wait_until test -e "$spool/sent/keyed/receipt.json"
wait_until test -e "$spool/sent/first/receipt.json"
stop_daemon

cp 0.jpg "$spool/failed/part/photo-1.jpg"
mv "$spool/failed/part" "$spool/new/"
cp -a "$spool/sent/first" "$spool/sent/copied"
cp -a "$spool/sent/keyed" "$spool/failed/"
photo=$(find "$spool/photos" -name original.jpg | head -n 1)
mkdir "$spool/photos/default/zoo"
cp -a "$(dirname "$photo")" "$spool/photos/default/zoo/"
rm "$spool"/state/ledger.sqlite*
must_print '^3 left out, .* sent/copied, failed/keyed, photos/default/zoo/' rebuild
rm -r "$spool/failed/keyed"
start_daemon
"$photospool" wait --timeout 60 part
stop_daemon
expect "$(published family | jq -r 'select(.request == "part") | .kind' | paste -sd,)" photo,photo
