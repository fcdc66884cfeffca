# Users of the spool's group send, and can do nothing else; nobody else can send. For umasks see t-46.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/users.sh"

give_spool
start_mine
# refused STATUS WHY COMMAND...: in one sentence, and without a drop.
refused() {
  command_ends "$1" "${@:3}"
  has err.log "$2"
  [ ! -s out.log ] || fail "${*:3} says: $(cat out.log)"
  is_empty "$spool/new"
}
refused 77 . setpriv --reuid 61003 --regid 61003 --clear-groups "$photospool" send --to family --text no
name=$(as 61001 "$photospool" send --to family --text hello)
"$photospool" wait --timeout 60 "$name"
# A user without access to the ledger gets an error before the drop.
for words in 'send --to family --text no --wait' "wait $name" "show $name"; do
  refused 77 'only the user that photospool runs as may follow requests' as 61001 "$photospool" $words
done
command_ends 77 as 61001 "$photospool" check
expect "$(wc -l < err.log)" 1 "$(cat err.log)"
has err.log 'only the user that photospool runs as may check its spool'
expect "$(published family | wc -l)" 1
# A user cannot touch what another one builds, or look into what was accepted.
as 61001 mkdir -m 2770 "$spool/tmp/mine"
as 61002 rmdir "$spool/tmp/mine" 2> /dev/null && fail 'another user removed a request'
as 61002 ls "$spool/cur" 2> /dev/null && fail 'a client can look into cur/'
rmdir "$spool/tmp/mine"
stop_daemon
