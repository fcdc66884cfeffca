# A bridge drops photos that other programs sealed, of all three kinds. They are fetched as the preferences say, hidden
# until they are revealed, shown, exported, fetched again after they were evicted; and what was tampered with is refused
# with its cause and leaves nothing behind.
. "$(dirname "$0")/../lib/library.sh"

noise 900x700 photo.jpg
mkdir drops
start_server object_server.py
objects=$(fact directory)
configure <<EOF
receiving: {allowPrivate: true, lifetime: 60s}
delivery: {backoff: {first: 10ms, longest: 200ms}}
EOF

tool send_photo.py "$objects" "$(fact endpoint)/plain" drops <<EOF
ask family json photo.jpg
json family json photo.jpg
xmtp family xmtp photo.jpg
several family several photo.jpg
matrix family matrix photo.jpg sender=@carol:example.org
plain family plain photo.jpg
deflated family xmtp photo.jpg deflated
raw family json photo.jpg raw-deflated
length family json photo.jpg length
later family xmtp photo.jpg url=$(fact endpoint)/after/3/NAME
cut family matrix photo.jpg url=$(fact endpoint)/cut/100000/NAME
hop family json photo.jpg url=$(fact endpoint)/redirect/10/plain/NAME
bad-tampered strangers json photo.jpg tampered
bad-digest strangers json photo.jpg digest
bad-key strangers xmtp photo.jpg key
bad-type strangers xmtp photo.jpg type
bad-bomb strangers xmtp photo.jpg bomb
bad-matrix-tampered strangers matrix photo.jpg tampered
bad-matrix-key strangers matrix photo.jpg key
bad-hops strangers json photo.jpg url=$(fact endpoint)/redirect/11/plain/NAME
bad-claims strangers json photo.jpg url=$(fact endpoint)/claims/10000000000
bad-sender strangers json photo.jpg
odd-sender strangers json photo.jpg sender=\u202egro.elpmaxe:eve@
bad-short strangers json photo.jpg short-key
bad-short-matrix strangers matrix photo.jpg short-key
EOF

# receive NAME...: as a bridge does it.
receive() { local name; for name; do mv "drops/$name" "$spool/incoming/new/"; done; }
state() { "$photospool" photos --received --json | jq -r "select(.remote == \"$1\") | .$2" | paste -sd' '; }
is_state() { [ "$(state "$1" state)" = "$2" ]; }

start_daemon
# Nobody has written to this conversation: nothing is fetched, and nobody hears of it.
receive ask
wait_until is_state ask offered
expect "$(curl -s "$(fact endpoint)/-/log")" '[]' 'something was fetched unasked'
# Looking at it is wanting it; what may be shown is blurred.
expect "$("$photospool" view ask | sed 's|.*/||')" blurred.jpg
expect "$(state ask state)" downloaded
status=0; "$photospool" export ask out.jpg 2> export.log || status=$?
expect "$status" 77
grep -q 'is hidden; `photospool reveal' export.log || fail "$(cat export.log)"
"$photospool" prefs family | grep -q 'auto-reveal: off'
# The first one is revealed by hand; from then on the preference decides over what comes later.
"$photospool" reveal ask
path=$("$photospool" view ask)
expect "${path##*/}" original.jpg
"$python" - "$path" photo.jpg <<'EOF'
import sys
from PIL import Image, ImageChops
shown, sent = (Image.open(name).convert("RGB") for name in sys.argv[1:])
assert shown.size == sent.size, shown.size
assert not shown.getexif()
assert max(ImageChops.difference(shown, sent).resize((1, 1), Image.BOX).getpixel((0, 0))) < 12
EOF
"$photospool" export ask out.jpg
cmp out.jpg "$path"
status=0; "$photospool" export ask out.jpg 2> export.log || status=$?
expect "$status" 73
"$photospool" export --force ask out.jpg

# The conversation is known now: what comes is fetched, and hidden.
cp -r drops/json json.drop
receive json
wait_until is_state json downloaded
expect "$(state json hidden)" true
"$photospool" prefs family --auto-reveal on | grep -q 'auto-reveal: on'
expect "$(state json hidden)" true 'a photo that was there already'
receive xmtp several matrix plain deflated raw length later cut hop
for name in xmtp matrix plain deflated raw length later cut hop; do wait_until is_state $name downloaded; done
wait_until is_state several 'downloaded downloaded'
expect "$("$photospool" photos --received --json | jq -r 'select(.hidden) | .remote' | paste -sd' ')" json
for name in xmtp matrix plain deflated raw length later cut hop; do
  expect "$("$photospool" view $name | sed 's|.*/||')" original.jpg $name
done
# Who sent it is what the bridge says, else the event.
expect "$(state matrix sender)" @carol:example.org
expect "$(state plain sender)" @bob:example.org
expect "$(state json sender)" null
"$photospool" photos --received | grep -q '  @carol:example.org  matrix$' || fail "$("$photospool" photos --received)"
"$photospool" photos --to family | grep -q '  @bob:example.org  photos/' || fail "$("$photospool" photos)"
expect "$("$photospool" photos --json | jq -r 'select(.sender == "@carol:example.org") | .hidden')" false
status=0; "$photospool" view several 2> view.log || status=$?
expect "$status" 64
# What was cut off was gone on with.
curl -s "$(fact endpoint)/-/log" | jq -e '[.[] | select(.path | startswith("/cut/"))] | length == 2 and .[1].headers.Range == "bytes=100000-"' \
  > /dev/null || fail 'the cut download began anew'
# The same again is nothing new; the same id with another attachment is refused.
mkdir "$spool/incoming/tmp/again"; echo family > "$spool/incoming/tmp/again/from-conversation"
echo json > "$spool/incoming/tmp/again/message"; echo '{"url":"https://example.org/x"}' > "$spool/incoming/tmp/again/attachment"
mv "$spool/incoming/tmp/again" "$spool/incoming/new/"
wait_until test -s "$spool/incoming/failed/again/error"
grep -q 'was received before with another attachment' "$spool/incoming/failed/again/error"

# What cannot be is refused at once, or once it was fetched, and leaves nothing.
"$photospool" prefs strangers --fetch always > /dev/null
receive bad-short bad-short-matrix
for name in bad-short bad-short-matrix; do
  wait_until test -s "$spool/incoming/failed/$name/error"
  grep -q 'malformed_request' "$spool/incoming/failed/$name/error" || fail "$(cat "$spool/incoming/failed/$name/error")"
done
# Nobody writes to a terminal with the name of a sender.
printf '\033]0;owned\007\n' > drops/bad-sender/sender
receive bad-sender odd-sender
wait_until test -s "$spool/incoming/failed/bad-sender/error"
grep -q 'sender' "$spool/incoming/failed/bad-sender/error" || fail "$(cat "$spool/incoming/failed/bad-sender/error")"
wait_until is_state odd-sender downloaded
"$photospool" photos --received | grep -qF '\u{202e}gro.elpmaxe' || fail "$("$photospool" photos --received)"
if "$photospool" photos --received | LC_ALL=C grep -q "$(printf '\342\200\256')"; then
  fail 'a terminal is told to write from right to left'
fi
"$photospool" purge strangers > /dev/null
"$photospool" prefs strangers --fetch always > /dev/null
receive bad-tampered bad-digest bad-key bad-type bad-bomb bad-matrix-tampered bad-matrix-key bad-hops bad-claims
for bad in tampered:digest_mismatch digest:digest_mismatch key:decryption_failed type:not_an_attachment bomb:too_large \
  matrix-tampered:digest_mismatch matrix-key:decryption_failed hops:too_many_redirects claims:too_large; do
  wait_until is_state "bad-${bad%:*}" failed
  expect "$(state "bad-${bad%:*}" cause)" "${bad#*:}" "$bad"
done
[ ! -e "$spool/photos/default/strangers" ] || fail 'a photo that was refused is in the cache'
status=0; "$photospool" view bad-digest 2> view.log || status=$?
expect "$status" 69
grep -q 'digest_mismatch' view.log || fail "$(cat view.log)"
is_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
stop_daemon

# Private addresses and plain http:// are refused where nobody allows them.
"$python" - <<'EOF'
import os
for name, url in [("loopback", "https://127.0.0.1/x"), ("mapped", "https://[::ffff:10.0.0.1]/x"),
                  ("metadata", "https://169.254.169.254/x"), ("plainly", "http://example.org/x"), ("file", "file:///etc/passwd"),
                  ("name", "https://localhost/x")]:
    os.mkdir(f"drops/{name}")
    for file, text in [("from-conversation", "strangers"), ("message", name), ("attachment", '{"url":"%s"}' % url)]:
        open(f"drops/{name}/{file}", "w").write(text)
EOF
start_daemon PHOTOSPOOL_RECEIVING_ALLOW_PRIVATE=false
receive loopback mapped metadata plainly file name
for bad in loopback:blocked_address mapped:blocked_address metadata:blocked_address name:blocked_address \
  plainly:insecure_url file:insecure_url; do
  wait_until is_state "${bad%:*}" failed
  expect "$(state "${bad%:*}" cause)" "${bad#*:}" "$bad"
done
stop_daemon

# Evicted photos come back when somebody looks, with the daemon and without.
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
# A ledger that is made anew knows what was received and who sent it, hides all of it, and forgets what was preferred.
"$photospool" reveal json > /dev/null
list() { "$photospool" photos --received --json | jq -c 'select(.state == "downloaded") | [.remote, .message, .conversation, .sender]' | sort; }
list > before
stop_daemon
rm "$spool/state/ledger.sqlite"*
"$photospool" rebuild > rebuilt.txt
list > after
diff before after || fail 'not all that was received is known'
[ "$(wc -l < after)" -ge 10 ] || fail "hardly anything was received: $(cat after)"
expect "$("$photospool" photos --received --json | jq -r .hidden | sort -u)" true
expect "$("$photospool" view ask | sed 's|.*/||')" blurred.jpg
status=0; "$photospool" export ask hidden.jpg 2> export.log || status=$?
expect "$status" 77
"$photospool" prefs family | grep -q 'auto-reveal: off'
expect "$("$photospool" view "$sent" | sed 's|.*/||')" original.jpg 'ours is shown'
# The janitor leaves what tells so.
"$photospool" janitor > /dev/null
expect "$(find "$spool/photos" -name received.json | wc -l)" "$(wc -l < after)" 'notes beside photos'
start_daemon
# Its history once more brings nothing twice.
cp -r json.drop "$spool/incoming/tmp/json"
mv "$spool/incoming/tmp/json" "$spool/incoming/new/"
tool send_photo.py "$objects" "$(fact endpoint)/plain" drops <<< 'new family json photo.jpg'
receive new
wait_until is_state new downloaded
expect "$(state json hidden)" true
is_empty "$spool/incoming/new"
[ ! -e "$spool/incoming/failed/json" ] || fail 'what was received before is refused'
# It has its keys again, and so the photo, of which nothing but its preview was left.
"$photospool" reveal json > /dev/null
expect "$("$photospool" view json | sed 's|.*/||')" original.jpg
status=0; "$photospool" view xmtp > view.log 2>&1 || status=$?
expect "$status" 0 "$(cat view.log)"
# A purge leaves nothing.
"$photospool" purge family > /dev/null
expect "$(ledger "SELECT count(*) FROM received r JOIN conversations c ON c.id = r.conversation_id WHERE conversation = 'family'")" 0
stop_daemon
is_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
# One line for each change of a photo's state tells its story, and no line what opens a photo, or where it lies.
says() { grep -q -- "$1" run.log || fail "the log does not tell: $1"; }
says 'event=received message=[0-9a-f]* conversation=family inbox=default state=wanted'
says 'event=downloaded message=[0-9a-f]* attempt=1 bytes=[0-9]* from=[0-9]* seconds=[0-9.]* size=900x700 step=fetch'
says 'event="a photo waits" message=[0-9a-f]* attempt=[0-9]* cause=not_found .*seconds=[0-9.]* step=fetch wait=[0-9.]*'
says 'event="a photo cannot be had" message=[0-9a-f]* attempt=[0-9]* cause=digest_mismatch .*step=fetch'
says 'event=reveal message=[0-9a-f]* outcome=revealed'
jq -r '.secret, .salt, .nonce' json.drop/attachment > keys
! grep -n -F -f keys run.log || fail 'a key is in the log'
! grep -n 'https\?://[^ ]*/[A-Za-z]' run.log || fail 'a full URL is in the log'
