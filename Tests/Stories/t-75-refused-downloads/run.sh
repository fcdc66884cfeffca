# A drop that cannot be received is refused with its reason, and a photo that is not what was announced leaves nothing behind. What
# else a server can do is in t-35.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/received.sh"

sealed <<EOF
first family json photo.jpg
digest strangers json photo.jpg digest
bad-sender strangers json photo.jpg
odd-sender strangers json photo.jpg sender=\u202egro.elpmaxe:eve@
short strangers json photo.jpg short-key
EOF
cp -r drops/digest digest.drop
# refused NAME SENTENCE: the drop is in failed/, and says so.
refused() {
  wait_until test -s "$spool/incoming/failed/$1/error"
  has "$spool/incoming/failed/$1/error" "$2"
}

start_daemon
"$photospool" prefs strangers --fetch always > /dev/null
receive short
refused short malformed_request
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

# An object that is not what was announced.
"$photospool" purge strangers > /dev/null
"$photospool" prefs strangers --fetch always > /dev/null
receive digest
fails digest digest_mismatch
[ ! -e "$spool/photos/default/strangers" ] || fail 'a photo that was refused is in the cache'
ends 69 view digest
has err.log digest_mismatch
is_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp"
stop_daemon
has run.log 'event="a photo cannot be had" message=[0-9a-f]* attempt=[0-9]* cause=digest_mismatch .*step=fetch'
log_is_discreet digest.drop/attachment
