# Bob sends a photo in Matrix, sealed by matrix-nio and kept by his homeserver, which gives it to nobody without a token.
# Alice's photospool fetches it through the homeserver, opens it and shows it; also while the homeserver was away.
. "$(dirname "$0")/../lib/library.sh"

start_server synapse.py
(umask 077; fact alice > token)
configure <<EOF
store: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
network: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
seal: matrix
receiving: {fetch: always}
delivery: {backoff: {first: 10ms, longest: 200ms}}
EOF

noise 900x700 photo.jpg
mkdir drops objects
tool send_photo.py objects address: drops <<EOF
sealed family matrix photo.jpg
open family plain photo.jpg
away family matrix photo.jpg
EOF
# Bob's client uploads what it sealed, and says where it is.
for object in objects/*; do
  uri=$(curl -sf -X POST -H "Authorization: Bearer $(fact bob)" -H 'Content-Type: application/octet-stream' \
    --data-binary "@$object" "$(fact endpoint)/_matrix/media/v3/upload" | jq -r .content_uri)
  sed -i "s|address:/${object#objects/}|$uri|" drops/*/attachment
  expect "$(curl -s -o /dev/null -w '%{http_code}' \
    "$(fact endpoint)/_matrix/client/v1/media/download/${uri#mxc://}")" 401 'media without a token'
done

is_state() {
  [ "$("$photospool" photos --received --json | jq -r "select(.remote == \"$1\") | .state")" = "$2" ]
}

start_daemon
mv drops/sealed drops/open "$spool/incoming/new/"
for name in sealed open; do
  wait_until is_state $name downloaded
  "$photospool" reveal $name > /dev/null
  "$python" - "$("$photospool" view $name)" photo.jpg <<'EOF'
import sys
from PIL import Image, ImageChops
shown, sent = (Image.open(name).convert("RGB") for name in sys.argv[1:])
assert shown.size == sent.size, shown.size
assert max(ImageChops.difference(shown, sent).resize((1, 1), Image.BOX).getpixel((0, 0))) < 12
EOF
done
order kill
mv drops/away "$spool/incoming/new/"
wait_for_line start.log 'a photo waits.*cause=unreachable'
order start
wait_until is_state away downloaded
! grep -rq "$(cat token)" "$spool/incoming" start.log || fail 'the token is in a file'
stop_daemon
