# What the page takes at most: of photos and forms whose length nobody tells, of fields, and on a disk without room. Beyond
# that there is a sentence, and nothing is left.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/web.sh"

[ "$(id -u)" = 0 ] || skip 'only root may mount a small disk'
mkdir spool
mount -t tmpfs -o size=600m none spool 2> mount.log || skip "a small disk cannot be mounted here: $(cat mount.log)"
at_end() { umount -l spool; }
chmod 750 spool

start_daemon
start_page
takes_nothing() { is_empty "$spool"/{tmp,new,draft,cur,failed}; }
form 303 "$(path_of < link)" -X POST

# Without a length, the bytes are counted as they come: 10,000,000 are a photo, and one more is none.
chunked=(-H 'Transfer-Encoding: chunked')
cp "$photos/Wine_by_Jakkub_Mede.jpg" most.jpg
truncate -s 10000000 most.jpg
head -c 10000001 /dev/zero > large.jpg
form 413 '/draft/new/photo?name=family&file=large.jpg' -T large.jpg "${chunked[@]}"
has answer 'large.jpg is larger than 10'
for form in '/conversation?name=family' /share /profile; do
  form 422 "$form" -X POST -F photo=@large.jpg -F text=hello "${chunked[@]}"
  has answer 'large.jpg is larger than 10'
done
truncate -s 201000000 endless
form 413 '/conversation?name=family' -X POST "${chunked[@]}" -H 'Content-Type: multipart/form-data; boundary=x' -T endless
head -c 200000 /dev/zero | tr '\0' x > long
form 413 '/draft/new/text?name=family' -T long "${chunked[@]}"
for path in '/queue/retry?to=family' '/conversation/prefs?name=family'; do
  form 413 "$path" -X POST -d @long "${chunked[@]}" -H 'Content-Type: application/x-www-form-urlencoded'
done
# Fields of a form and of a head have limits, too.
head -c 9000 long > field
form 413 '/conversation?name=family' -F 'other=<field' -F text=hello
form 400 / -H "X-Long: $(head -c 16400 long)"
mapfile -t many < <(printf -- '-H\nX-%d: 1\n' {1..101})
form 400 / "${many[@]}"
takes_nothing
form 201 '/draft/new/photo?name=family&file=most.jpg' -T most.jpg "${chunked[@]}"
form 303 '/conversation?name=family' -F id=web-1 -F "draft=$(jq -r .draft answer)"
wait_until test -s "$spool/published/family.jsonl"
wait_until takes_nothing

# Less than 200 MB are free.
mount -o remount,size=150m spool
form 507 '/draft/new/photo?name=family&file=most.jpg' -T most.jpg
has answer 'nearly full'
for form in '/conversation?name=family' /share /profile; do
  form 507 "$form" -F photo=@most.jpg -F text=hello
  form 507 "$form" -F text=hello
  has answer 'The disk of the spool is nearly full. Make room, then send again.'
done
takes_nothing
form 200 '/conversation?name=family'
mount -o remount,size=600m spool
form 303 '/conversation?name=family' -F id=web-2 -F text=hello
wait_until grep -q '"text":"hello"' "$spool/published/family.jsonl"
stop_daemon
