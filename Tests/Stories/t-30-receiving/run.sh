# Photos of all three seals are fetched as the preferences say, and hidden until they are revealed.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/received.sh"

sealed_in_each_way <<EOF
deflated family xmtp photo.jpg deflated
raw family json photo.jpg raw-deflated
length family json photo.jpg length
since family json photo.jpg
later family xmtp photo.jpg url=$(fact endpoint)/after/3/NAME
cut family matrix photo.jpg url=$(fact endpoint)/cut/100000/NAME
hop family json photo.jpg url=$(fact endpoint)/redirect/10/plain/NAME
EOF
cp -r drops/json json.drop

start_daemon
# Nobody has sent to this conversation from here: nothing is fetched.
receive ask
wait_until is_state ask offered
expect "$(curl -s "$(fact endpoint)/-/log")" '[]' 'something was fetched unasked'
# A view requests the photo, and shows its blurred preview.
shown ask blurred.jpg
expect "$(state ask state)" downloaded
ends 77 export ask out.jpg
has err.log 'is hidden; `photospool reveal'
must_print 'auto-reveal: off' prefs family
# The first one is revealed by hand; afterwards the preference decides for later photos.
"$photospool" reveal ask
shown ask original.jpg
path=$("$photospool" view ask)
shows "$path" photo.jpg
"$photospool" export ask out.jpg
cmp out.jpg "$path"
ends 73 export ask out.jpg
"$photospool" export --force ask out.jpg
# It can be hidden again.
"$photospool" hide ask
must_print ': hidden already$' hide ask
expect "$(state ask hidden)" true
shown ask blurred.jpg
ends 77 export --force ask out.jpg
ends 66 hide nothing
"$photospool" reveal ask
shown ask original.jpg

# The conversation is known now: what comes is fetched, and hidden.
receive json
are_downloaded json
expect "$(state json hidden)" true
must_print 'auto-reveal: on' prefs family --auto-reveal on
expect "$(state json hidden)" true 'a photo that was there already'
singles='xmtp matrix plain deflated raw length later cut hop'
receive $singles several
are_downloaded $singles
wait_until is_state several 'downloaded downloaded'
expect "$("$photospool" photos --received --json | jq -r 'select(.hidden) | .remote' | paste -sd' ')" json
for name in $singles; do shown "$name" original.jpg; done
# A photo that is hidden after that changes nothing for those that come.
"$photospool" hide xmtp matrix > /dev/null
shown xmtp blurred.jpg
receive since
are_downloaded since
shown since original.jpg
"$photospool" reveal xmtp matrix > /dev/null
ends 64 view several
# The bridge names the sender, otherwise the event does.
expect "$(state matrix sender)" @carol:example.org
expect "$(state plain sender)" @bob:example.org
expect "$(state json sender)" null
must_print '  @carol:example.org  matrix$' photos --received
must_print '  @bob:example.org  photos/' photos --to family
expect "$("$photospool" photos --json | jq -r 'select(.sender == "@carol:example.org") | .hidden')" false
# A download that was cut off was continued.
curl -s "$(fact endpoint)/-/log" | jq -e '[.[] | select(.path | startswith("/cut/"))] | length == 2 and .[1].headers.Range == "bytes=100000-"' \
  > /dev/null || fail 'the cut download began anew'
wait_until are_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
stop_daemon

# One line for each change of a photo's state tells its story.
has run.log 'event=received message=[0-9a-f]* conversation=family inbox=default state=wanted'
has run.log 'event=downloaded message=[0-9a-f]* attempt=1 bytes=[0-9]* from=[0-9]* seconds=[0-9.]* size=900x700 step=fetch'
has run.log 'event="a photo waits" message=[0-9a-f]* attempt=[0-9]* cause=not_found .*seconds=[0-9.]* step=fetch wait=[0-9.]*'
has run.log 'event=reveal message=[0-9a-f]* outcome=revealed'
has run.log 'event=hide message=[0-9a-f]* outcome=hidden'
log_is_discreet json.drop/attachment
