# SIGKILL at the k-th call that changes the disk, for every k of the way of one request: each time it is published once,
# photo before text, with a complete receipt, and no object, temporary file or request is left behind.
. "$(dirname "$0")/../library.sh"

"$python" -c 'from PIL import Image; Image.effect_noise((900, 700), 60).convert("RGB").save("photo.jpg", quality=90)'

check() {
  expect "$(published family | jq -r .kind | paste -sd' ')" 'photo text' "$1"
  expect "$(jq -r '.state, (.messages | map(.state, (.publishedAt | length > 0)) | join(" "))' \
    "$spool/sent/r/receipt.json" | paste -sd' ')" 'sent sent true sent true' "$1"
  expect "$(ls "$spool/sent/r")" receipt.json "$1"
  is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
  expect "$(ls -A "$spool/objects" | paste -sd' ')" "$(published family | head -n 1 | jq -r .attachment.contentDigest)" "$1"
  expect "$(find "$spool/photos" -type f | wc -l)" 3 "$1"
}

start_daemon
stop_daemon
mv "$spool" made
k=1 kills=0
while :; do
  rm -rf "$spool"
  cp -a made "$spool"
  drop r family 'hello' photo.jpg
  run_killed $k r
  [ "$status" != 0 ] || break
  kills=$((kills + 1))
  start_daemon
  "$photospool" wait --timeout 60 r || fail "k=$k: not sent after the restart"
  stop_daemon
  check "killed at $k: $(sed -n "${k}p" trace)"
  k=$((k + 1))
done
check 'not killed'

# The sweep has met every change of state: accepted, prepared, stored, published, receipt written, moved.
for change in 'ledger.sqlite-wal' 'renameat.*cur/r\|renameat.* r$' 'original.jpg' 'objects\|upload-' 'family.jsonl' 'receipt.json'; do
  grep -q "$change" trace || fail "no call for $change in the trace"
done
[ "$kills" -ge 60 ] || fail "only $kills kills"
echo "$kills kills, each published once"
