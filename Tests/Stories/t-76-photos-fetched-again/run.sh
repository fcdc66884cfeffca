# Received photos that were evicted, or that only a rebuilt ledger knows, are fetched again when somebody looks.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/received.sh"

sealed_in_each_way <<EOF
new family json photo.jpg
EOF
cp -r drops/json json.drop
list() { "$photospool" photos --received --json | jq -c 'select(.state == "downloaded") | [.remote, .message, .conversation, .sender]' | sort; }

start_daemon
"$photospool" prefs family --fetch always --auto-reveal on > /dev/null
receive ask
are_downloaded ask
"$photospool" reveal ask > /dev/null
receive json xmtp several matrix plain
are_downloaded json xmtp matrix plain
wait_until is_state several 'downloaded downloaded'
path=$("$photospool" view ask)
"$photospool" export ask out.jpg
stop_daemon

# An evicted photo is hidden, with and without its preview; somebody who looks gets the preview.
"$photospool" clear --to family > /dev/null
"$photospool" hide ask > /dev/null
shown ask blurred.jpg
"$photospool" reveal ask > /dev/null
rm "${path%/*}"/*.jpg
"$photospool" hide ask > /dev/null
shown ask blurred.jpg
"$photospool" reveal ask > /dev/null
shown ask original.jpg

# Evicted photos come back when somebody looks, without the daemon and with it.
"$photospool" clear --to family > /dev/null
[ ! -e "$path" ] || fail 'clear left the photo'
expect "$("$photospool" view ask)" "$path"
[ -s "$path" ] || fail 'the photo was not fetched again'
"$photospool" clear --to family > /dev/null
start_daemon
expect "$("$photospool" view ask)" "$path"
cmp "$path" out.jpg
# So do photos that were sent from here.
drop cat family '' photo.jpg
"$photospool" wait --timeout 60 cat
sent=$(published family | jq -r .message)
"$photospool" clear --to family > /dev/null
expect "$("$photospool" view "$sent")" "$spool/photos/default/family/$sent/original.jpg"
[ -s "$spool/photos/default/family/$sent/original.jpg" ] || fail 'the photo that was sent was not fetched again'
# They cannot be hidden.
ends 64 hide "$sent"
has err.log "$sent was sent from here and cannot be hidden"
ends 64 reveal "$sent"

# A ledger that is made anew knows what was received and who sent it, hides all of it, and forgets what was preferred.
list > before
stop_daemon
rm "$spool/state/ledger.sqlite"*
"$photospool" rebuild > rebuilt.txt
list > after
diff before after || fail 'not all that was received is known'
expect "$(wc -l < after)" 7 'photos that were received'
expect "$("$photospool" photos --received --json | jq -r .hidden | sort -u)" true
shown ask blurred.jpg
ends 77 export ask hidden.jpg
must_print 'auto-reveal: off' prefs family
shown "$sent" original.jpg
# The janitor keeps these records.
"$photospool" janitor > /dev/null
expect "$(find "$spool/photos" -name received.json | wc -l)" "$(wc -l < after)" 'notes beside photos'

# Its history once more brings nothing twice.
start_daemon
cp -r json.drop drops/json
receive json new
are_downloaded new
expect "$(state json hidden)" true
is_empty "$spool/incoming/new"
[ ! -e "$spool/incoming/failed/json" ] || fail 'what was received before is refused'
# It has its keys again, and so the photo, of which nothing but its preview was left.
"$photospool" reveal json > /dev/null
shown json original.jpg
# Its keys stay unknown to this ledger, and its preview is gone: nothing of it could be shown.
"$photospool" reveal plain > /dev/null
rm "$spool"/photos/*/family/"$(state plain message)"/*.jpg
ends 69 hide plain
has err.log 'its preview is not in the cache, and it cannot be fetched again'
ends 0 view xmtp

# A purge leaves nothing.
"$photospool" purge family > /dev/null
expect "$(ledger "SELECT count(*) FROM received r JOIN conversations c ON c.id = r.conversation_id WHERE conversation = 'family'")" 0
stop_daemon
is_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
log_is_discreet json.drop/attachment
