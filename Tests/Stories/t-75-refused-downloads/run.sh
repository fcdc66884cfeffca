# A received photo that was tampered with or cannot be fetched is refused with its cause and leaves nothing behind.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/received.sh"

sealed <<EOF
first family json photo.jpg
tampered strangers json photo.jpg tampered
digest strangers json photo.jpg digest
key strangers xmtp photo.jpg key
type strangers xmtp photo.jpg type
bomb strangers xmtp photo.jpg bomb
matrix-tampered strangers matrix photo.jpg tampered
matrix-key strangers matrix photo.jpg key
hops strangers json photo.jpg url=$(fact endpoint)/redirect/11/plain/NAME
claims strangers json photo.jpg url=$(fact endpoint)/claims/10000000000
bad-sender strangers json photo.jpg
odd-sender strangers json photo.jpg sender=\u202egro.elpmaxe:eve@
short strangers json photo.jpg short-key
short-matrix strangers matrix photo.jpg short-key
EOF
# refused NAME SENTENCE: the drop is in failed/, and says so.
refused() {
  wait_until test -s "$spool/incoming/failed/$1/error"
  has "$spool/incoming/failed/$1/error" "$2"
}

start_daemon
"$photospool" prefs strangers --fetch always > /dev/null
receive short short-matrix
refused short malformed_request
refused short-matrix malformed_request
# The same id with another attachment is refused.
"$photospool" prefs family --fetch always > /dev/null
receive first
are_downloaded first
mkdir "$spool/incoming/tmp/again"; echo family > "$spool/incoming/tmp/again/from-conversation"
echo first > "$spool/incoming/tmp/again/message"; echo '{"url":"https://example.org/x"}' > "$spool/incoming/tmp/again/attachment"
mv "$spool/incoming/tmp/again" "$spool/incoming/new/"
refused again 'was received before with another attachment'
# Nobody writes to a terminal with the name of a sender.
printf '\033]0;owned\007\n' > drops/bad-sender/sender
receive bad-sender odd-sender
refused bad-sender sender
are_downloaded odd-sender
must_print '[\]u{202e}gro.elpmaxe' photos --received
if LC_ALL=C grep -q "$(printf '\342\200\256')" printed.log; then
  fail 'a terminal is told to write from right to left'
fi

# Objects that are not what was announced.
"$photospool" purge strangers > /dev/null
"$photospool" prefs strangers --fetch always > /dev/null
cp -r drops/digest digest.drop
receive tampered digest key type bomb matrix-tampered matrix-key hops claims
while read -r name cause; do fails "$name" "$cause"; done <<'CAUSES'
tampered digest_mismatch
digest digest_mismatch
key decryption_failed
type not_an_attachment
bomb too_large
matrix-tampered digest_mismatch
matrix-key decryption_failed
hops too_many_redirects
claims too_large
CAUSES
[ ! -e "$spool/photos/default/strangers" ] || fail 'a photo that was refused is in the cache'
ends 69 view digest
has err.log digest_mismatch
is_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
stop_daemon
log_says 'event="a photo cannot be had" message=[0-9a-f]* attempt=[0-9]* cause=digest_mismatch .*step=fetch'

# Private addresses and plain http:// are refused where nobody allows them.
start_daemon PHOTOSPOOL_RECEIVING_ALLOW_PRIVATE=false
while read -r name cause url; do
  mkdir "drops/$name"
  echo strangers > "drops/$name/from-conversation"
  echo "$name" > "drops/$name/message"
  echo "{\"url\":\"$url\"}" > "drops/$name/attachment"
  receive "$name"
  fails "$name" "$cause"
done <<'URLS'
loopback blocked_address https://127.0.0.1/x
mapped blocked_address https://[::ffff:10.0.0.1]/x
metadata blocked_address https://169.254.169.254/x
name blocked_address https://localhost/x
plainly insecure_url http://example.org/x
file insecure_url file:///etc/passwd
URLS
stop_daemon
log_is_discreet digest.drop/attachment
