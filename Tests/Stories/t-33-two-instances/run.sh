# A photo that one photospool sends to a Matrix room with a text arrives in the cache of another, bare, hidden, once and in order.
# Both are killed at random; PHOTOSPOOL_TEST_KILLS says how often (6).
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"
. "$here/lib/instances.sh"

kills=${PHOTOSPOOL_TEST_KILLS:-6}
RANDOM=${PHOTOSPOOL_TEST_SEED:-$$}
echo "seed ${PHOTOSPOOL_TEST_SEED:-$$}"

for who in alice bob; do
  mkdir "$who"
  (umask 077; fact "$who" > "$who/token")
  {
    matrix_settings "$([ $who = bob ] && echo true || echo false)"
    echo "spool: {directory: $PWD/$who/spool}"
    echo 'receiving: {fetch: always}'
    echo 'delivery: {backoff: {first: 10ms, longest: 200ms}}'
  } > "$who/photospool.yaml"
done
has_received() { [ "$(received bob | jq -r 'select(.state == "downloaded") | .remote' | wc -l)" = "$1" ]; }

start alice
start bob
at bob check > check.log || fail "check: $(cat check.log)"
grep -q 'listening to matrix: ' check.log || fail "check does not tell of listening: $(cat check.log)"
wait_for_line bob/start.log event=listening

# A photo stored on its side, with private metadata of every kind.
"$python" - <<'END'
from PIL import Image
noise = Image.effect_noise((900, 700), 60).convert("RGB")
noise.paste((255, 0, 0), (0, 0, 450, 350))
noise.save("lying.jpg", quality=90)
END
plant_photo lying.jpg planted.jpg
exiftool -q -overwrite_original -n -Orientation=6 planted.jpg
at alice send --to family --photo planted.jpg --text 'Check this out!' > name
wait_until has_received 1
first=$(received bob | jq -r .remote)
expect "$(received_of bob "$first" 'conversation + " \(.hidden)"')" 'family true'
path=$(at bob view "$first")
expect "${path##*/}" blurred.jpg
command_ends 77 at bob export "$first" out.jpg
at bob reveal "$first" > /dev/null
path=$(at bob view "$first")
expect "${path##*/}" original.jpg
expect "$(exiftool -s3 -ImageSize "$path")" 700x900
shows "$path" planted.jpg

# From now on what comes is shown at once; and the two die again and again.
at bob prefs family --auto-reveal on > /dev/null
for number in $(seq "$kills"); do
  "$python" -c "from PIL import Image; Image.new('RGB', (300, 200), ($number, 90, 90)).save('photo.jpg')"
  at alice send --to family --photo photo.jpg --text "$number" >> name
  victim=$([ $((RANDOM % 2)) = 0 ] && echo alice || echo bob)
  # Anywhere on the way from one to the other.
  sleep "0.$((RANDOM % 9))$((RANDOM % 9))"
  strike "$victim"
  start "$victim"
done
wait_until has_received $((kills + 1))
at alice wait --timeout 60 $(cat name)
read_room > seen.jsonl
expect "$(jq -r .kind seen.jsonl | paste -d' ' - - | sort -u)" 'sealed photo text'
expect "$(jq -r 'select(.kind == "text").body' seen.jsonl | paste -sd,)" "Check this out!,$(seq -s, "$kills")"
expect "$(received bob | jq -r .remote)" "$(jq -r 'select(.kind == "sealed photo").event' seen.jsonl)" 'in order, once each'
expect "$(received bob | jq -r .hidden | sort | uniq -c | tr -s ' ')" " $((kills + 1)) false"
# In the order in which they were dropped, too: the colours tell.
received bob | jq -r .remote | tail -n +2 | while read -r remote; do at bob view "$remote"; done > paths
"$python" - "$kills" <<'END'
import sys
from PIL import Image
reds = [Image.open(path.strip()).convert("RGB").getpixel((9, 9))[0] for path in open("paths")]
assert all(abs(red - number) <= 1 for number, red in zip(range(1, int(sys.argv[1]) + 1), reds, strict=True)), reds
END
wait_until are_empty bob/spool/incoming/cur bob/spool/incoming/new bob/spool/incoming/tmp
stop bob
stop alice
echo "$kills kills, each photo once and in order"
