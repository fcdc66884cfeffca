# A photo and a line of text, dropped with mkdir, cp and mv alone, arrive in order and leave a receipt.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
plant_photo "$photos/Dragonfly_by_Bolly.jpg" cat.jpg
drop cat family 'Check this out!' cat.jpg
"$photospool" wait --timeout 60 cat

expect "$(published family | jq -r .kind | paste -sd' ')" 'photo text'
expect "$(published family | tail -n 1 | jq -r .text)" 'Check this out!'
expect "$(published family | head -n 1 | jq -r 'keys_unsorted | join(" ")')" \
  'message request conversation inbox kind attachment publishedAt'

# The receipt names both messages, and holds no photo, text or key.
expect "$(ls "$spool/sent/cat")" receipt.json
expect "$(jq -r '.state, (.messages | map(.state) | join(" "))' "$spool/sent/cat/receipt.json" | paste -sd' ')" 'sent sent sent'
secret=$(published family | head -n 1 | jq -r .attachment.secret)
! grep -q -e "$secret" -e 'Check this' "$spool/sent/cat/receipt.json" || fail 'the receipt tells too much'
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"

# The sent photo is in the cache, with its row.
photo=$(echo "$spool"/photos/default/family/*/original.jpg)
[ -s "$photo" ] && [ -s "$(dirname "$photo")/thumbnail.jpg" ] || fail 'the cache is incomplete'
expect "$(ledger "SELECT path || '/original.jpg' FROM photos")" "${photo#"$spool"/}"
! grep -q libnats "/proc/$daemon/maps" || fail 'a daemon without a cluster has loaded libnats'
stop_daemon
expect "$("$photospool" queue)" 'Nothing is waiting.'
