# A damaged, lost or foreign ledger is refused with a remedy, and after a rebuild nothing is lost or published again.
. "$(dirname "$0")/../lib/library.sh"

noise 500x400 0.jpg 1.jpg
# refuses KIND SENTENCE: the daemon does not start with such a ledger.
refuses() {
  echo "$1:"
  command_ends 74 timeout 60 "$photospool" run
  has err.log "$2"
  [ "$1" = newer ] || has err.log 'photospool rebuild'
}
start_daemon
drop first family hello 0.jpg
# drop_keyed NAME: one and the same request.
drop_keyed() { build "$1" family once; echo key-1 > "$spool/tmp/$1/id"; submit "$1"; }
# Its first photo is published, the second file is not a photo.
echo 'no photo' > bad.jpg
drop half family '' 1.jpg bad.jpg
"$photospool" wait --timeout 60 first half 2> /dev/null && fail 'a text was taken for a photo'
drop_keyed keyed
"$photospool" wait --timeout 60 keyed
wait_until test -e "$spool/failed/half/error"
wait_until test -e "$spool/sent/keyed/receipt.json"
"$photospool" hold family > /dev/null
stop_daemon
cp -a "$spool/state" earlier
start_daemon
drop waiting family 'still here' 1.jpg
wait_for_line start.log 'event=accepted.*request=waiting'
kill_daemon
must_print 'ledger: intact' check
cp -a "$spool/state" made

page() { dd if=/dev/zero of="$1" bs=4096 seek="$2" count=1 conv=notrunc status=none; }
damage() {
  local ledger=$spool/state/ledger.sqlite
  rm -r "$spool/state"
  cp -a made "$spool/state"
  case $1 in
    truncated | zeroed | flipped) sqlite3 "$ledger" 'PRAGMA wal_checkpoint(TRUNCATE)' > /dev/null ;;
    # Too large to be looked through before anything is done.
    large)
      sqlite3 "$ledger" "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400000)
        INSERT INTO requests(request, dropped_as, inode, born, inbox, digest, state, bytes, accepted_at, finished_at, filed)
        SELECT 'former-' || n, 'former-' || n, 1000000000 + n, 1, 'me', hex(randomblob(32)), 'sent', 1, 1, 1, 1 FROM n;
        PRAGMA wal_checkpoint(TRUNCATE)" > /dev/null
      [ "$(stat -c %s "$ledger")" -gt 67108864 ] || fail 'the ledger is not large'
      ;;
  esac
  case $1 in
    gone) rm "$ledger"* ;;
    truncated) truncate -s 20000 "$ledger" ;;
    zeroed) page "$ledger" 5 ;;
    # In the middle, which the check at the start does not read.
    large) page "$ledger" $(($(stat -c %s "$ledger") / 8192)) ;;
    # One bit of the first page's type.
    flipped) printf '\x0c' | dd of="$ledger" bs=1 seek=100 conv=notrunc status=none ;;
    foreign) head -c 50000 /dev/urandom > "$ledger"; rm -f "$ledger"-* ;;
    empty) : > "$ledger"; rm -f "$ledger"-* ;;
    newer) sqlite3 "$ledger" "INSERT INTO grdb_migrations VALUES ('v99 the future')" ;;
    earlier) rm -r "$spool/state"; cp -a earlier "$spool/state" ;;
    unlogged) rm "$ledger"-* ;;
  esac
}
for kind in newer truncated zeroed large flipped foreign empty earlier unlogged gone; do
  damage $kind
  case $kind in
    gone) refuses $kind 'is gone, though the spool is in use' ;;
    newer) refuses $kind 'written by a newer photospool' ;;
    # The daemon finds it while it is working.
    large) refuses $kind 'the ledger failed; stopping at once.*is damaged' ;;
    earlier | unlogged | empty) refuses $kind 'does not know 1 of the requests in cur/, waiting for one' ;;
    *) refuses $kind 'is damaged' ;;
  esac
  must_print 'rebuilt: 1 waiting, 2 sent, 1 failed, 2 photos' rebuild
  [ "$kind" = gone ] || ls "$spool"/state/ledger-*/ledger.sqlite > /dev/null || fail "$kind: the old ledger is gone"
  expect "$(ledger 'SELECT request, state, filed FROM requests ORDER BY request' | paste -sd' ')" \
    'first|sent|1 half|failed|1 keyed|sent|1 waiting|queued|0' "$kind"
  # The published photo of a request that failed is known from what the local network wrote.
  expect "$(ledger "SELECT m.state FROM messages m JOIN requests r ON r.id = request_id WHERE request = 'half' ORDER BY position" \
    | paste -sd' ')" 'sent failed' "$kind"
  expect "$(ledger 'PRAGMA integrity_check')" ok "$kind"
  tail -n 1 err.log
done
expect "$(published family | wc -l)" 4 'published before it was rebuilt'

start_daemon
# A repetition under the same key is recognised; of a failed request only the rest is sent.
drop_keyed again
cp 0.jpg "$spool/failed/half/photo-1.jpg"
"$photospool" wait --timeout 60 waiting again
"$photospool" retry half > /dev/null
"$photospool" wait --timeout 60 half
stop_daemon
expect "$(published family | jq -r '.request + " " + .kind' | paste -sd,)" \
  'first photo,first text,half photo,keyed text,waiting photo,waiting text,half photo'
expect "$(ledger "SELECT request, state FROM requests ORDER BY request" | paste -sd' ')" \
  'again|duplicate first|sent half|sent keyed|sent waiting|sent'
is_empty "$spool/new" "$spool/cur" "$spool/failed"
# The cache counts every photo, and the janitor takes none of them for an orphan.
expect "$("$photospool" janitor 2>&1)" ''
expect "$(ledger 'SELECT count(*) FROM photos WHERE cached_bytes > 0')" 4
expect "$(find "$spool/photos" -name original.jpg | wc -l)" 4
