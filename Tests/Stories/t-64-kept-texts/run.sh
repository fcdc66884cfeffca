# With `texts: keep`, a sent text stays beside its receipt, for `show`, until the receipt goes or a purge comes.
. "$(dirname "$0")/../lib/library.sh"

configure <<< 'texts: drop'
ends 0 check
has out.log 'sent texts: not kept'
start_daemon
drop before family 'not kept'
"$photospool" wait before

configure <<< 'texts: keep
janitor: {receipts: 2d}'
kill -HUP "$daemon"
wait_for_line start.log 'event="configuration reloaded"'
ends 0 check
has out.log "sent texts: kept with their receipts, for 2d, in .*/sent"
cp "$photos"/Wine_by_Jakkub_Mede.jpg photo.jpg
drop kept family 'A word, with ünïcödé' photo.jpg
drop bad family 'never sent' /etc/hostname
drop other garden 'of another'
"$photospool" wait kept other
"$photospool" wait bad && fail 'bad was sent'

echo "Only the text of what was sent stays."
expect "$(ls "$spool/sent/before")" receipt.json
expect "$(ls "$spool/sent/kept")" $'receipt.json\ntext'
expect "$(cat "$spool/sent/kept/text")" 'A word, with ünïcödé'
ends 0 show kept
has out.log '  text .*A word, with ünïcödé$'
expect "$("$photospool" show --json kept | jq -r '.messages[1].text')" 'A word, with ünïcödé'
expect "$("$photospool" show --json before | jq '.messages[0].text')" null

echo "A text that was changed afterwards is not shown as the one that was sent."
echo changed > "$spool/sent/other/text"
expect "$("$photospool" show --json other | jq '.messages[0].text')" null

echo "It goes with its conversation, and with its receipt."
"$photospool" purge family > /dev/null
[ ! -e "$spool/sent/kept" ] || fail 'the text is still there'
! grep -rq 'A word' "$spool" || fail "found in $(grep -rl 'A word' "$spool")"
stop_daemon
wait_until eval 'PHOTOSPOOL_JANITOR_RECEIPTS=1s "$photospool" janitor; [ ! -e "$spool/sent/other" ]'
