# A user of the spool's group drops invalid entries of every kind, and swaps requests with links while they are
# accepted. Nothing blocks the daemon, nothing outside of the spool is read, and requests of others go through.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/users.sh"

give_spool
install -d -o 61000 -g 61000 -m 700 secret
noise 300x200 good.jpg
printf 'MARKERSECRET\n' > secret/text
echo hostile > secret/to
cp good.jpg secret/photo.jpg
printf 'MARKERSECRET' >> secret/photo.jpg
chown -R 61000:61000 secret
cp "$here/../Support/python/hostile_spool.py" "$here/../Support/python/late_changes.py" .
chmod 644 good.jpg ./*.py

configure <<< 'intake: {rescan: 1s, settle: 1s}'
chmod 644 photospool.yaml
start_mine

as 61001 env PATH=/usr/bin:/bin python3 hostile_spool.py "$spool" "$PWD/secret" "${PHOTOSPOOL_TEST_SWAP_SECONDS:-3}" > swaps.txt || fail 'the hostile user gave up'
[ "$(cat swaps.txt)" -gt 100 ] || fail "only $(cat swaps.txt) swaps"
# Other users are served meanwhile.
name=$(umask 007 && as 61002 "$photospool" send --to family --photo good.jpg --text good)
"$photospool" wait --timeout 60 "$name"

# Open descriptors of an accepted request do not help either: the daemon sends the accepted bytes or nothing.
mine "$photospool" hold late late-read
as 61001 env PATH=/usr/bin:/bin python3 late_changes.py "$spool" "$PWD/secret" "$PWD/good.jpg" late
mine "$photospool" release late late-read
# Later requests of their conversation do not wait for them.
name=$(umask 007 && as 61002 "$photospool" send --to late --text behind)
"$photospool" wait --timeout 60 "$name"
for closed in late-closed late-write-only late-file; do
  ends 69 wait --timeout 60 "$closed"
  has err.log 'may not read the request any more'
done
"$photospool" wait --timeout 60 late-read-only

# Only root can make these: files of another user, and devices.
for refused in owned device; do
  install -d -o 61001 -g 61000 -m 770 "$spool/tmp/$refused"
  echo hostile > "$spool/tmp/$refused/to"
done
install -o 61002 -g 61000 -m 660 good.jpg "$spool/tmp/owned/photo.jpg"
mknod "$spool/tmp/device/photo.jpg" c 1 5
chown 61001:61000 "$spool/tmp/owned/to" "$spool/tmp/device"/*
mv "$spool/tmp/owned" "$spool/tmp/device" "$spool/new/"

# Every entry was refused with a sentence or sent as intended, except for those that nobody may move.
done_with_it() {
  [ -z "$(find "$spool/new" "$spool/cur" -mindepth 1 -maxdepth 1 ! -type l ! -perm 0200 ! -perm 0000 ! -perm 0220 ! -perm 0550)" ]
}
wait_until done_with_it
kill -0 "$daemon" || fail 'the daemon is dead'
stop_daemon
ends 69 wait closed
expect "$(ls "$spool/cur" | grep "^late" | paste -sd,)" late-closed,late-read-only,late-write-only
expect "$(grep -c 'cannot file.*request=late' run.log)" 0
expect "$(grep -c 'may not move a request that is over' run.log)" 1
expect "$(published late-read | jq -r .kind)" photo
for refused in fifo file socket empty linked itself piped directory sparse ledger many deep owned device late-written late-linked late-removed late-file; do
  [ -s "$spool/failed/$refused/error" ] || fail "$refused: no error"
  expect "$(wc -l < "$spool/failed/$refused/error")" 1 "$refused"
done
has "$spool/failed/owned/error" 'another user'
has "$spool/failed/device/error" device
has "$spool/failed/late-written/error" 'changed after Send'
has "$spool/failed/late-linked/error" 'was replaced after Send'
has "$spool/failed/late-removed/error" 'removed after Send'
expect "$(published late | jq -r .text)" behind 'what was changed was sent'
# Nothing of the secret is anywhere: not published, cached, stored, logged or in a receipt. Links themselves are no copies.
! grep -rIl MARKERSECRET "$spool" run.log --devices=skip || fail 'a secret came in'
! find "$spool" -type f -exec grep -l MARKERSECRET {} + || fail 'a secret came in'
! grep -q 'MARKERSECRET' <(published hostile 2> /dev/null) || fail 'a secret was published'
expect "$(cat secret/text)" MARKERSECRET
# Output for people has no control characters, whatever the names.
! grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' run.log || fail 'a control character in the log'
echo "$(cat swaps.txt) swaps"
