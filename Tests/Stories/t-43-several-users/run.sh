# Users of the spool's group send, each with the umask of their own; nobody else can. Only root can try it.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root can be several users'
# as USER COMMAND...: in a group of the user's own and the spool's.
as() { setpriv --reuid "$1" --regid "$1" --groups 61000 "${@:2}"; }
chmod 755 .
as 61002 "$photospool" --version > /dev/null 2>&1 || skip 'other users cannot run the program here'

install -d -o 61000 -g 61000 -m 750 spool
cp "$photos/Wine_by_Jakkub_Mede.jpg" cat.jpg
chmod 644 cat.jpg
: > start.log
setpriv --reuid 61000 --regid 61000 --clear-groups "$photospool" run > start.log 2>&1 &
daemon=$!
wait_for_line start.log event=ready

for mask in 022 077; do
  for user in 61001 61002; do
    name=$(umask $mask && as $user "$photospool" send --to family --photo cat.jpg --text "$user $mask")
    timeout 60 "$photospool" wait "$name"
  done
done
expect "$(published family | jq -r 'select(.kind == "text") | .text' | paste -sd,)" '61001 022,61002 022,61001 077,61002 077'
(umask 007 && as 61001 sh -c 'mkdir "$1/tmp/plain" && echo family > "$1/tmp/plain/to" && echo hello > "$1/tmp/plain/text" &&
  mv "$1/tmp/plain" "$1/new/"' _ "$spool")
timeout 60 "$photospool" wait plain
status=0
setpriv --reuid 61003 --regid 61003 --clear-groups "$photospool" send --to family --text no 2> refused.log || status=$?
expect "$status" 77
# A user without access to the ledger gets an error before the drop.
before=$(published family | wc -l)
status=0
as 61001 "$photospool" send --to family --text no --wait > out.log 2> refused.log || status=$?
expect "$status" 77 "$(cat refused.log)"
[ ! -s out.log ] || fail 'a request was dropped'
grep -q 'only the user that photospool runs as may follow requests' refused.log || fail "$(cat refused.log)"
status=0; as 61001 "$photospool" wait plain 2> refused.log || status=$?
expect "$status" 77 "$(cat refused.log)"
status=0; as 61001 "$photospool" show plain 2> refused.log || status=$?
expect "$status" 77 "$(cat refused.log)"
grep -q 'only the user that photospool runs as may follow requests' refused.log || fail "$(cat refused.log)"
status=0; as 61001 "$photospool" check > out.log 2> refused.log || status=$?
expect "$status $(wc -l < refused.log)" '77 1' "$(cat refused.log)"
grep -q 'only the user that photospool runs as may check its spool' refused.log || fail "$(cat refused.log)"
is_empty "$spool/new"
expect "$(published family | wc -l)" "$before"
# A user cannot touch what another one builds, or look into what was accepted.
as 61001 mkdir -m 2770 "$spool/tmp/mine"
as 61002 rmdir "$spool/tmp/mine" 2> /dev/null && fail 'another user removed a request'
as 61002 ls "$spool/cur" 2> /dev/null && fail 'a client can look into cur/'
rmdir "$spool/tmp/mine"
stop_daemon
