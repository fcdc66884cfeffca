# A profile photo on the local network is never missing while it is changed and removed and the daemon is killed.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/profile.sh"

printf 'no photo' > broken.jpg
make_profile_photos
lines=$spool/published/profile~default.jsonl

start_daemon
start_script LOCAL watch_profile.py local "$lines"
ends 66 profile show
expect "$(show .state)" none

"$photospool" profile set planted.jpg --wait > name
path=$("$photospool" profile show | head -n 1)
expect "$path" "$(show .path)"
expect "$(size "$path")" 500x500
! grep -q MARKER "$path" || fail 'the profile photo has metadata'
expect "$(jq -r '.kind + " " + .inbox + " " + (has("conversation") | tostring)' "$lines")" 'profile default false'
expect "$(jq -r '.conversation + " " + .messages[0].kind' "$spool/sent/$(cat name)/receipt.json")" 'profile~default profile'
wait_until_swept 'the first'
ask LOCAL must

# As any shell script drops it. The new one is set, then the old object goes.
first=$(show .url)
mkdir "$spool/tmp/me"
echo profile > "$spool/tmp/me/kind"
cp me-1.jpg "$spool/tmp/me/photo"
mv "$spool/tmp/me" "$spool/new/"
"$photospool" wait --timeout 60 me
[ "$(show .url)" != "$first" ] || fail 'it was not changed'
wait_until_swept 'the second'

# A change that fails leaves the old one.
second=$(show .url)
refused 'not an image' broken.jpg
expect "$(show .url)" "$second"
wait_until_swept 'after a failure'
for wrong in text photo-2; do
  mkdir "$spool/tmp/$wrong"
  echo profile > "$spool/tmp/$wrong/kind"
  cp me-1.jpg "$spool/tmp/$wrong/photo-1"
  cp me-1.jpg "$spool/tmp/$wrong/$wrong"
  mv "$spool/tmp/$wrong" "$spool/new/"
  ends 69 wait --timeout 60 "$wrong"
done
expect "$(show .url)" "$second"

# Nobody can send to the profile by its name, or with messages to other conversations hold it up.
"$photospool" hold profile~default > hold.log
"$photospool" profile set me-0.jpg --wait > name
# A cancelled change has no effect.
stop_daemon
name=$("$photospool" profile set me-1.jpg)
"$photospool" cancel "$name" > cancel.log
start_daemon
third=$(show .url)
"$photospool" send --to family --text hello --wait > name
expect "$(show .url)" "$third"

ask LOCAL may
"$photospool" profile remove --wait > name
expect "$(show .state)" removed
wait_until_swept 'removed'
expect "$(tail -n 1 "$lines" | jq -r .kind)" profile-removal
# There is nothing to remove any more, and nothing is published.
before=$(wc -l < "$lines")
ends 66 profile remove
expect "$(cat err.log)" 'photospool: the inbox default has no profile photo to remove'
mkdir "$spool/tmp/vain"
echo profile > "$spool/tmp/vain/kind"
mv "$spool/tmp/vain" "$spool/new/"
ends 69 wait --timeout 60 vain
has "$spool/failed/vain/error" 'no profile photo to remove'
expect "$(wc -l < "$lines")" "$before"
"$photospool" profile set me-0.jpg --wait > name
stop_daemon
sweep LOCAL
reported LOCAL
