# A hostile server, address, object or picture costs its own message and nothing else: good photos in between come
# through.
# PHOTOSPOOL_HOSTILE_COUNT says how many (100).
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/line.sh"

why=$(why_no_line)
[ -z "$why" ] || skip "$why"
in_world
# Two addresses of the internet, which is all in here; so the daemon works as it does by default.
ip link set lo up
for address in 46.0.0.1 46.0.0.2; do ip address add $address/32 dev lo || skip 'no address can be added here'; done
count=${PHOTOSPOOL_HOSTILE_COUNT:-100}
# The daemon takes its own variables only.
unset PHOTOSPOOL_HOSTILE_COUNT
start_server hostile_server.py 46.0.0.1 46.0.0.2
hostile=$(fact hostile) honest=$(fact honest)
configure <<YAML
receiving: {fetch: always, bytes: 1MB, downloads: 16, perHost: 12, time: 6s, lifetime: 3s}
delivery: {backoff: {first: 10ms, longest: 500ms}}
http: {authorityFile: "$(fact authority)", connect: 10s, stall: 10s}
YAML

# The cause that each has to end with. Names with a capital are of objects and pictures, the others of servers.
causes=$here/t-35-hostile-downloads/causes
"$python" - <<'PYTHON'
import struct, zlib
from PIL import Image
Image.effect_noise((600, 400), 60).convert("RGB").save("photo.jpg", quality=90)
def chunk(name, body): return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
head = chunk(b"IHDR", struct.pack(">IIBBBBB", 65500, 65500, 8, 2, 0, 0, 0))
open("pixels.png", "wb").write(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + chunk(b"IEND", b""))
open("half.jpg", "wb").write(open("photo.jpg", "rb").read()[:300])
open("page.html", "w").write("<html>no picture</html>")
PYTHON
mkdir kinds drops
tool send_photo.py "$(fact objects)" "$honest/objects" kinds <<SENT
good friends json photo.jpg
Tampered x json photo.jpg tampered url=$hostile/objects/NAME
Digest x xmtp photo.jpg digest url=$hostile/objects/NAME
Key x xmtp photo.jpg key url=$hostile/objects/NAME
Type x json photo.jpg type url=$hostile/objects/NAME
Bomb x xmtp photo.jpg bomb url=$hostile/objects/NAME
Matrix-key x matrix photo.jpg key url=$hostile/objects/NAME
Pixels x json pixels.png url=$hostile/objects/NAME
Half x matrix half.jpg url=$hostile/objects/NAME
No-picture x json page.html url=$hostile/objects/NAME
$(grep '^[a-z]' "$causes" | while read -r kind _; do echo "$kind x json photo.jpg length url=$hostile/$kind/x"; done)
SENT
# Message N is of the N-th kind, again and again, from eight conversations; every tenth is followed by a good one.
"$python" - "$count" "$causes" <<'PYTHON'
import os, shutil, sys
kinds = [line.split()[0] for line in open(sys.argv[2])]
def drop(name, kind, conversation):
    shutil.copytree(f"kinds/{kind}", f"drops/{name}")
    for file, text in [("message", name), ("from-conversation", conversation)]:
        open(f"drops/{name}/{file}", "w").write(text)
for number in range(int(sys.argv[1])):
    drop(f"m{number:05d}-{kinds[number % len(kinds)]}", kinds[number % len(kinds)], f"strangers-{number % 8}")
    if number % 10 == 0: drop(f"m{number:05d}-zgood", "good", "friends")
PYTHON
goods=$(((count + 9) / 10))

are_over() { [ "$(ledger "SELECT count(*) FROM received WHERE state IN ('downloaded','failed')")" = $((count + goods)) ]; }
of_daemon() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$daemon/status"; }

start_daemon
at_rest=$(of_daemon VmRSS) files=$(ls "/proc/$daemon/fd" | wc -l)
began=$SECONDS
mv drops/* "$spool/incoming/new/"
end=$((SECONDS + 300 + count))
until are_over; do
  [ "$SECONDS" -lt "$end" ] || fail "not decided: $(ledger "SELECT remote, state, cause FROM received WHERE state NOT IN ('downloaded','failed')")"
  sleep 0.2
done
kill -0 "$daemon" || fail 'the daemon is gone'
order
echo "$count hostile photos and $goods good ones in $((SECONDS - began)) s; the daemon had $((at_rest / 1024)) MB before," \
  "at most $(($(of_daemon VmHWM) / 1024)) MB; open files $files before, $(ls "/proc/$daemon/fd" | wc -l) after; the good ones" \
  "were there after at most $(ledger "SELECT max(downloaded_at) - min(created_at) FROM photos") ms of the first"
echo "most bytes of one answer: $(jq -c .most <<< "$answer")"

# Each with its cause, and a sentence that can be shown.
ledger "SELECT substr(remote, 8) || ' ' || state || ' ' || coalesce(cause, '') FROM received ORDER BY remote" | sort -u > found
awk -v count="$count" 'NR <= count { print $1, "failed", $2 }' "$causes" | { cat; echo 'zgood downloaded '; } | sort > wanted
diff wanted found || fail 'causes differ'
ledger "SELECT DISTINCT error FROM received WHERE state = 'failed'" > sentences
! LC_ALL=C grep -P '[\x00-\x09\x0b-\x1f\x7f]' sentences || fail 'a sentence has control characters'
expect "$(awk 'length > 400' sentences)" ''
# No internal address got a request, and no server could send more than the limit and the sockets' buffers.
expect "$(jq .strangers <<< "$answer")" 0 'connections to loopback'
expect "$(jq '[.most[] | select(. > 9000000)] | length' <<< "$answer")" 0 'answers that were read too far'
# Memory stays within a few photos, and nothing is kept open but connections for the next request.
[ "$(of_daemon VmHWM)" -lt 300000 ] || fail "the daemon took $(of_daemon VmHWM) kB"
[ "$(ls "/proc/$daemon/fd" | wc -l)" -lt $((files + 48)) ] || fail 'files stay open'
# Nothing is left of it, and the good ones are whole.
wait_until are_empty "$spool/incoming/new" "$spool/incoming/cur" "$spool/incoming/tmp" "$spool/incoming/failed"
expect "$(ls "$spool/photos/default")" friends
expect "$(find "$spool/photos" -type f | wc -l)" $((goods * 4))
expect "$(find "$spool/photos" -name original.jpg -exec sha256sum {} + | cut -d' ' -f1 | sort -u | wc -l)" 1
# The daemon goes on as before.
drop after family 'after all' photo.jpg
"$photospool" wait --timeout 60 after
cp -r kinds/good drops/last
echo last > drops/last/message
mv drops/last "$spool/incoming/new/"

expect "$("$photospool" view last | sed 's|.*/||')" blurred.jpg
stop_daemon
! LC_ALL=C grep -vP '^time=\S+ level=\S+ event=' run.log || fail 'the log holds what is no event'
