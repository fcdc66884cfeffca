# `check`, `queue` and the log report each wrong setting in the same sentence, and once it is fixed everything goes out.
. "$(dirname "$0")/../lib/library.sh"
. "$here/t-19-wrong-settings/gallery.sh"

export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
# told FIELDS WHERE...: these fields of the gallery's entries that are seen there.
told() { awk -F'|' -v fields="$1" -v where=" ${*:2} " 'index(where, " " $4 " ") {
  line = fields; sub("WHERE", $4, line); sub("NAME", $2, line); sub("CAUSE", $5, line); print line $6 }' gallery; }
# same WHAT FOUND EXPECTED: two lists in one order.
same() { diff <(sort "$2") <(sort "$3") > difference || fail "$1 says other things (<) than expected (>): $(cat difference)"; }

noise 300x200 photo.jpg
configure wrong
start_daemon
ends 78 check
mv out.log check.log
mv err.log complaints
{ told 'photospool: WHERE NAME: ' store network conversation; echo "photospool: $(told x store network conversation | wc -l) problems to fix"; } > expected
same check complaints expected

# Every conversation sends: each waits for its own fault, and the one without a fault does not wait.
names=$(cut -d'|' -f2 gallery)
drop fine fine 'nothing is wrong' photo.jpg
for name in $names; do drop "$name" "$name" "text of $name" photo.jpg; done
"$photospool" wait --timeout 120 fine
while IFS='|' read -r kind name _ _ cause _; do
  if [ $kind = room ]; then wait_for_line start.log "event=failed .*request=$name "
  else wait_for_line start.log "level=warning event=.*waits.* cause=$cause destination=$name " 60
  fi
done < gallery
# The log says so before the ledger and failed/ have it.
are_known() {
  [ "$("$photospool" queue --json | jq -s 'map(select(.error)) | length')" = "$(told x store network - | wc -l)" ] \
    && [ "$(cat "$spool"/failed/*/error | wc -l)" = "$(told x conversation | wc -l)" ]
}
wait_until are_known
stop_daemon
# A fault that may concern one conversation is reported with its message, and the others once for all.
sed -nE 's/^.* level=warning event=("destination waits"|waits) .*cause=([a-z_]*) destination=([^ ]*) error="(.*)" (step=[a-z]* )?wait=[0-9.]*$/\3: \2: \4/p' \
  start.log run.log | sort -u > all
# A service that refuses before it has read the photo may look broken to the proxy before it, until it is tried again.
grep -v ': server_busy: the S3 service at .*(502)$' all > log
told 'NAME: CAUSE: ' store network - > expected
same 'the log' log expected
"$photospool" queue --json | jq -r 'select(.error) | "\(.conversation): \(.error)"' > queue
told 'NAME: ' store network - > expected
same queue queue expected
told 'NAME: photo-0.jpg: ' conversation > expected
(cd "$spool/failed" && for name in *; do echo "$name: $(cat "$name/error")"; done) > failed
same failed/ failed expected
is_empty "$spool/new" "$spool/tmp"
expect "$({ ls "$spool/cur"; ls "$spool/failed"; } | sort | xargs)" "$(sort <<< "$names" | xargs)" 'nothing is lost'
for place in check.log complaints run.log queue failed; do
  if grep -e SECRET -e whsec_ -e X-Amz -e "$(cat token)" $place; then fail "$place tells a secret"; fi
done

# Fixed in the configuration alone.
configure right
"$photospool" check > check.log 2>&1 || fail "the right settings are not right: $(cat check.log)"
start_daemon
for name in $(awk -F'|' '$4 == "conversation" {print $2}' gallery); do "$photospool" retry "$name"; done
# Not every next attempt is due at once.
"$photospool" flush
"$photospool" wait --timeout 120 $names
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
for name in fine $(awk -F'|' '$1 == "s3" || $1 == "presigned" {print $2}' gallery); do
  expect "$(published "$name" | jq -r .kind | xargs)" 'photo text' "$name"
done
tool read_room.py "$homeserver" @bob:localhost "$bob" "$room" > seen.jsonl
for name in $(awk -F'|' '$1 == "media" || $1 == "matrix" || $1 == "room" {print $2}' gallery); do
  expect "$(grep -c "text of $name\"" seen.jsonl)" 1 "$name"
done
expect "$(jq -r .kind seen.jsonl | grep -c photo)" "$(grep -c -e ^media -e ^matrix -e ^room gallery)"
curl -sf "$webhook" | jq -r '.[] | select(.verdict == "verified").body | fromjson.data | "\(.conversation) \(.kind)"' > got
awk -F'|' '$1 == "webhook" {print $2 " photo"; print $2 " text"}' gallery > expected
same 'the receiver' got expected
