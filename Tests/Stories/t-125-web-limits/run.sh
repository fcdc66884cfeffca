# What the page takes at most: of photos and forms whose length nobody tells, of fields, and on a disk without room. Beyond
# that there is a sentence, and nothing is left.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root may mount a small disk'
page=
mkdir spool
mount -t tmpfs -o size=600m none spool 2> mount.log || skip "a small disk cannot be mounted here: $(cat mount.log)"
trap '[ -z "$daemon$page" ] || kill -KILL $daemon $page 2> /dev/null || true; umount -l spool' EXIT
chmod 750 spool

start_daemon
"$photospool" web > link 2> page.log &
page=$!
wait_for_line page.log 'page ready'
site=$(sed 's|/login/.*||' link)
# ask STATUS PATH [OPTION...]: as a form of the page itself; the answer is in `answer`.
ask() {
  local status
  status=$(curl -sS -m 60 -o answer -w '%{http_code}' -b jar -c jar -H 'Sec-Fetch-Site: same-origin' "${@:3}" "$site$2")
  expect "$status" "$1" "$2 ${*:3}: $(cat answer)"
}
takes_nothing() { is_empty "$spool"/{tmp,new,draft,cur,failed}; }
ask 303 "$(sed "s|^$site||" link)" -X POST

# Without a length, the bytes are counted as they come: 10,000,000 are a photo, and one more is none.
chunked=(-H 'Transfer-Encoding: chunked')
cp "$photos/Wine_by_Jakkub_Mede.jpg" most.jpg
truncate -s 10000000 most.jpg
head -c 10000001 /dev/zero > large.jpg
ask 413 '/draft/new/photo?name=family&file=large.jpg' -T large.jpg "${chunked[@]}"
has answer 'large.jpg is larger than 10'
for form in '/conversation?name=family' /share /profile; do
  ask 422 "$form" -X POST -F photo=@large.jpg -F text=hello "${chunked[@]}"
  has answer 'large.jpg is larger than 10'
done
truncate -s 201000000 endless
ask 413 '/conversation?name=family' -X POST "${chunked[@]}" -H 'Content-Type: multipart/form-data; boundary=x' -T endless
head -c 200000 /dev/zero | tr '\0' x > long
ask 413 '/draft/new/text?name=family' -T long "${chunked[@]}"
for path in '/queue/retry?to=family' '/conversation/prefs?name=family'; do
  ask 413 "$path" -X POST -d @long "${chunked[@]}" -H 'Content-Type: application/x-www-form-urlencoded'
done
# Fields of a form and of a head have limits, too.
head -c 9000 long > field
ask 413 '/conversation?name=family' -F 'other=<field' -F text=hello
ask 400 / -H "X-Long: $(head -c 16400 long)"
mapfile -t many < <(printf -- '-H\nX-%d: 1\n' {1..101})
ask 400 / "${many[@]}"
takes_nothing
ask 201 '/draft/new/photo?name=family&file=most.jpg' -T most.jpg "${chunked[@]}"
ask 303 '/conversation?name=family' -F id=web-1 -F "draft=$(jq -r .draft answer)"
wait_until test -s "$spool/published/family.jsonl"
wait_until takes_nothing

# Less than 200 MB are free.
mount -o remount,size=150m spool
ask 507 '/draft/new/photo?name=family&file=most.jpg' -T most.jpg
has answer 'nearly full'
for form in '/conversation?name=family' /share /profile; do
  ask 507 "$form" -F photo=@most.jpg -F text=hello
  ask 507 "$form" -F text=hello
  has answer 'The disk of the spool is nearly full. Make room, then send again.'
done
takes_nothing
ask 200 '/conversation?name=family'
mount -o remount,size=600m spool
ask 303 '/conversation?name=family' -F id=web-2 -F text=hello
wait_until grep -q '"text":"hello"' "$spool/published/family.jsonl"
stop_daemon
