# Two photospools and one homeserver. What alice drops arrives in bob's cache, upright, without metadata, and hidden until
# it is revealed; with auto-reveal the next ones are shown at once. They come in order and once each, with both killed at
# random again and again. What another person's client sends, sealed and not, is received, too; what was tampered with is
# refused with its cause and leaves nothing behind. A refused token is told of and mended without a restart.
. "$(dirname "$0")/../lib/library.sh"

kills=${PHOTOSPOOL_TEST_KILLS:-6}
RANDOM=${PHOTOSPOOL_TEST_SEED:-$$}
echo "seed ${PHOTOSPOOL_TEST_SEED:-$$}"

start_server synapse.py
endpoint=$(fact endpoint)
order room alice bob
room=$(jq -r .room <<< "$answer")
alias=$(jq -r .alias <<< "$answer")
declare -A pids
for who in alice bob; do
  mkdir "$who"
  (umask 077; fact "$who" > "$who/token")
  cat > "$who/photospool.yaml" <<END
spool: {directory: $PWD/$who/spool}
store: {type: matrix, homeserver: "$endpoint", tokenFile: token}
network: {type: matrix, homeserver: "$endpoint", tokenFile: token, listen: $([ $who = bob ] && echo true || echo false)}
seal: matrix
routes: [{conversation: family, network: matrix, as: "$alias"}]
receiving: {fetch: always}
delivery: {backoff: {first: 10ms, longest: 200ms}}
END
done
unset PHOTOSPOOL_SPOOL
as() { local who=$1; shift; PHOTOSPOOL_CONFIG=$PWD/$who/photospool.yaml "$photospool" "$@"; }
start() { # WHO
  : > "$1/start.log"
  PHOTOSPOOL_CONFIG=$PWD/$1/photospool.yaml "$photospool" run > "$1/start.log" 2>&1 &
  pids[$1]=$!
  wait_for_line "$1/start.log" event=ready
}
end() { # WHO SIGNAL
  kill "-$2" "${pids[$1]}" 2>/dev/null || true
  wait "${pids[$1]}" 2>/dev/null || true
  cat "$1/start.log" >> run.log
  unset "pids[$1]"
}
trap 'for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done' EXIT

# As the library's, with patience for a machine on which two daemons start again and again.
wait_until() {
  local end=$((SECONDS + 120))
  until "$@"; do [ "$SECONDS" -lt "$end" ] || fail "it never came to this: $*"; sleep 0.05; done
}
received() { as bob photos --received --json; }
has() { [ "$(received | jq -r 'select(.state == "downloaded") | .remote' | wc -l)" = "$1" ]; }
nth() { received | jq -rs ".[$1].$2"; }

start alice
start bob
as bob check > check.log || fail "check: $(cat check.log)"
grep -q 'listening to matrix: ' check.log || fail "check does not tell of listening: $(cat check.log)"
wait_for_line bob/start.log event=listening

# Lying on its side, with all in it that nobody should see.
"$python" - <<'END'
from PIL import Image
noise = Image.effect_noise((900, 700), 60).convert("RGB")
noise.paste((255, 0, 0), (0, 0, 450, 350))
noise.save("lying.jpg", quality=90)
END
plant_photo lying.jpg planted.jpg
exiftool -q -overwrite_original -n -Orientation=6 planted.jpg
as alice send --to family --photo planted.jpg --text 'Check this out!' > name
wait_until has 1
first=$(nth 0 remote)
expect "$(nth 0 hidden)" true
expect "$(nth 0 conversation)" family
path=$(as bob view "$first")
expect "${path##*/}" blurred.jpg
status=0; as bob export "$first" out.jpg 2> export.log || status=$?
expect "$status" 77
as bob reveal "$first" > /dev/null
path=$(as bob view "$first")
expect "${path##*/}" original.jpg
"$python" - "$path" planted.jpg <<'END'
import sys
from PIL import Image, ImageChops, ImageOps
shown, sent = (ImageOps.exif_transpose(Image.open(name)).convert("RGB") for name in sys.argv[1:])
assert shown.size == sent.size == (700, 900), shown.size
assert max(ImageChops.difference(shown, sent).resize((1, 1), Image.BOX).getpixel((0, 0))) < 12
END
exiftool -a -G1 "$path" > facts.txt
! grep -E '\[(IFD[01]|ExifIFD|GPS|XMP.*|IPTC|MakerNotes)\]' facts.txt || fail 'there is metadata in what arrived'
! grep -aq MARKER "$path" || fail 'a marker arrived'

# From now on what comes is shown at once; and the two die again and again.
as bob prefs family --auto-reveal on > /dev/null
for number in $(seq "$kills"); do
  "$python" -c "from PIL import Image; Image.new('RGB', (300, 200), ($number, 90, 90)).save('photo.jpg')"
  as alice send --to family --photo photo.jpg >> name
  victim=$([ $((RANDOM % 2)) = 0 ] && echo alice || echo bob)
  # Anywhere on the way from one to the other.
  sleep "0.$((RANDOM % 9))$((RANDOM % 9))"
  end "$victim" KILL
  start "$victim"
done
wait_until has $((kills + 1))
tool read_room.py "$endpoint" @bob:localhost "$(fact bob)" "$room" > seen.jsonl
expect "$(received | jq -r .remote)" "$(jq -r 'select(.kind == "sealed photo").event' seen.jsonl)" 'in order, once each'
expect "$(received | jq -r .hidden | sort | uniq -c | tr -s ' ')" " $((kills + 1)) false"
# In the order in which they were dropped, too: the colours tell.
received | jq -r .remote | tail -n +2 | while read -r remote; do as bob view "$remote"; done > paths
"$python" - "$kills" <<'END'
import sys
from PIL import Image
reds = [Image.open(path.strip()).convert("RGB").getpixel((9, 9))[0] for path in open("paths")]
assert all(abs(red - number) <= 1 for number, red in zip(range(1, int(sys.argv[1]) + 1), reds, strict=True)), reds
END

# Another client, another seal; and what is no photo, or not the one that was announced.
mkdir drops objects
tool send_photo.py objects address: drops <<'END'
sealed family matrix lying.jpg
plain family plain lying.jpg
tampered family matrix lying.jpg tampered
digest family matrix lying.jpg digest
key family matrix lying.jpg key
length family matrix lying.jpg
short-key family matrix lying.jpg short-key
END
echo 'no photo at all' > objects/text
declare -A address
for object in objects/*; do
  address[${object##*/}]=$(curl -sf -X POST -H "Authorization: Bearer $(fact alice)" \
    -H 'Content-Type: application/octet-stream' --data-binary "@$object" "$endpoint/_matrix/media/v3/upload" \
    | jq -r .content_uri)
done
say() { # NAME CONTENT: alice says it in another client
  curl -sf -X PUT -H "Authorization: Bearer $(fact alice)" -d "$2" \
    "$endpoint/_matrix/client/v3/rooms/$(jq -rn --arg room "$room" '$room|@uri')/send/m.room.message/$1" | jq -r .event_id
}
declare -A event
for name in sealed plain tampered digest key length short-key; do
  content=$(jq -c .content "drops/$name/attachment")
  for object in "${!address[@]}"; do content=${content//address:\/$object/${address[$object]}}; done
  [ $name != length ] || content=$(jq -c '.info.size = 10' <<< "$content")
  event[$name]=$(say "$name" "$content")
done
event[type]=$(say type "{\"msgtype\": \"m.file\", \"body\": \"photo.jpg\", \"url\": \"${address[text]}\",
  \"info\": {\"mimetype\": \"image/jpeg\"}}")
# Neither of these is a photo.
say document "{\"msgtype\": \"m.file\", \"body\": \"notes.txt\", \"url\": \"${address[text]}\"}" > /dev/null
say words '{"msgtype": "m.text", "body": "Nice!"}' > /dev/null
# His own are not received.
as bob send --to family --photo photo.jpg --wait > /dev/null
event[last]=$(say last "{\"msgtype\": \"m.image\", \"body\": \"photo.jpg\", \"url\": \"$(jq -r .content.url drops/plain/attachment \
  | sed "s|address:/.*|${address[$(jq -r .content.url drops/plain/attachment | sed 's|.*/||')]}|")\"}")
fact_of() { received | jq -r "select(.remote == \"${event[$1]}\") | .$2"; }
is() { [ "$(fact_of "$1" "$2")" = "$3" ]; }
for name in sealed plain last; do wait_until is $name state downloaded; done
for pair in tampered=digest_mismatch digest=digest_mismatch key=decryption_failed length=too_large \
  type=unsupported_image; do
  wait_until is "${pair%=*}" state failed
  expect "$(fact_of "${pair%=*}" cause)" "${pair#*=}" "${pair%=*}"
done
wait_for_line bob/start.log 'cannot be received.*the key does not have 32 bytes'
expect "$(received | wc -l)" $((kills + 1 + 8)) 'only photos of others are received'
expect "$(ls bob/spool/photos/default/family | wc -l)" $((kills + 1 + 3 + 1)) 'nothing is left of what was refused'
is_empty bob/spool/incoming/cur bob/spool/incoming/new bob/spool/incoming/tmp

# What matrix-nio uploads, seals and sends by itself.
tool send_room.py "$endpoint" @alice:localhost "$(fact alice)" "$room" \
  plain=lying.jpg sealed=lying.jpg > events || fail "$(cat events)"
expect "$(wc -l < events)" 2
mapfile -t events < events
event[theirs-plain]=${events[0]} event[theirs-sealed]=${events[1]}
for name in theirs-plain theirs-sealed; do
  wait_until is $name state downloaded
  expect "$(fact_of $name sender)" @alice:localhost
  "$python" - "$(as bob view "${event[$name]}")" lying.jpg <<'END'
import sys
from PIL import Image, ImageChops
shown, sent = (Image.open(name).convert("RGB") for name in sys.argv[1:])
assert shown.size == sent.size, shown.size
assert max(ImageChops.difference(shown, sent).resize((1, 1), Image.BOX).getpixel((0, 0))) < 12
END
done

# The token is refused: that is said, and mended without a restart.
cp bob/token good
echo syt_wrong > bob/token
kill -HUP "${pids[bob]}"
wait_for_line bob/start.log 'nothing is heard.*cause=auth_expired'
as bob queue | grep -q 'network matrix: nothing is heard: .*does not accept the access token' || fail "$(as bob queue)"
as bob metrics | grep -q 'photospool_listening{network="matrix"} 0' || fail "$(as bob metrics | grep listening)"
cp good bob/token
as alice send --to family --photo photo.jpg > /dev/null
kill -HUP "${pids[bob]}"
wait_until has $((kills + 1 + 6))
as bob metrics | grep -q 'photospool_listening{network="matrix"} 1' || fail "$(as bob metrics | grep listening)"
as bob check > check.log || fail "check: $(cat check.log)"
grep -q 'listening to matrix: listens' check.log || fail "$(cat check.log)"
end bob TERM
end alice TERM
echo "$kills kills, each photo once and in order"
