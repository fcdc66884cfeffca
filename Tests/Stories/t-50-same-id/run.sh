# A second request with the id of an unsent one ends with it, or is sent in its place, wherever a daemon is killed.
. "$(dirname "$0")/../lib/library.sh"

head -c 3000 "$photos/Wine_by_Jakkub_Mede.jpg" > bad.jpg
start_daemon
"$photospool" hold bot > /dev/null
"$photospool" send --to bot --id evt-9 --photo bad.jpg > first
"$photospool" send --to bot --id evt-9 --photo bad.jpg --wait > second 2> wait.log &
waiter=$!
wait_until test -s second
third=$("$photospool" send --to bot --id evt-10 --text hello)
copy=$("$photospool" send --to bot --id evt-10 --text hello)
late=$("$photospool" send --to bot --id evt-10 --text hello)
wait_line="event=accepted request=$late "
wait_for_line start.log "$wait_line"
expect "$("$photospool" show "$copy" | grep -c "duplicate of *$third")" 1
"$photospool" cancel "$third" > /dev/null
"$photospool" release bot > /dev/null
wait "$waiter" && fail 'a duplicate of what failed was sent' || expect $? 69
has wait.log 'this JPEG ends before its picture does'
"$photospool" wait --timeout 60 "$copy" "$late"
expect "$(published bot | jq -r '.request + " " + .text')" "$copy hello"
expect "$(jq -r '.state + " " + .duplicateOf' "$spool/sent/$late/receipt.json")" "duplicate $copy"
# The one that failed, sent again with a good photo, has other contents, and its id is free.
cp "$photos/Wine_by_Jakkub_Mede.jpg" "$spool/failed/$(cat first)"/photo-00-*
rm "$spool/failed/$(cat first)/.sum"
"$photospool" retry "$(cat first)" > /dev/null
"$photospool" wait --timeout 60 "$(cat first)"
stop_daemon

for k in $(seq 4 18 190); do
  for name in "a$k" "b$k" "c$k"; do
    build "$name" killed "$k"
    echo "k$k" > "$spool/tmp/$name/id"
    submit "$name"
  done
  run_killed "$k" "c$k"
  [ "$status" = 137 ] || break
done
start_daemon
"$photospool" wait --timeout 60 "a$k" "b$k" "c$k"
stop_daemon
expect "$(published killed | jq -r .text | sort | uniq -d)" '' 'an id was published twice'
expect "$(published killed | jq -r .text | wc -l)" "$(( (k - 4) / 18 + 1 ))"
is_empty "$spool/new" "$spool/cur"
expect "$(ls "$spool/failed")" "$(cat second)"
