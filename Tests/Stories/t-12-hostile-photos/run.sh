# Photos that are broken in every way cost their own requests and nothing else: the daemon lives, neighbours go on in order,
# each is decided with a sentence, and nothing is left of the processes that decoded them.
# PHOTOSPOOL_HOSTILE_COUNT says how many (1000), PHOTOSPOOL_HOSTILE_SEED which ones (1).
. "$(dirname "$0")/../lib/library.sh"
scripts=$here/../Support/python

# make_seeds DIRECTORY: a small photo of every format and kind.
make_seeds() {
  local out=$1
  mkdir "$out"
  convert "$photos/Bridge_by_Sander_Klootwijk.jpg" -strip -resize '320x200!' "$out/photo.png"
  convert "$out/photo.png" photo.ppm
  convert "$out/photo.png" -resize '96x64!' small.ppm
  cjpeg -quality 85 -outfile "$out/baseline.jpg" photo.ppm
  cjpeg -quality 75 -progressive -outfile "$out/progressive.jpg" small.ppm
  cjpeg -quality 75 -grayscale -restart 2 -outfile "$out/grey.jpg" small.ppm
  cjpeg -quality 90 -sample 1x1 -arithmetic -outfile "$out/arithmetic.jpg" small.ppm
  convert small.ppm -colorspace CMYK -quality 80 "$out/cmyk.jpg"
  plant_photo "$out/baseline.jpg" "$out/described.jpg"
  exiftool -q -n -overwrite_original -Orientation=6 "$out/described.jpg"
  convert small.ppm -interlace PNG "$out/interlaced.png"
  convert small.ppm -depth 16 -define png:bit-depth=16 "$out/sixteen.png"
  convert small.ppm -colors 64 "png8:$out/palette.png"
  convert small.ppm -colorspace gray -depth 4 -define png:color-type=0 -define png:bit-depth=4 "$out/four.png"
  convert small.ppm -size 96x64 gradient: -alpha off -compose CopyOpacity -composite "$out/alpha.png"
  cwebp -quiet -q 75 "$out/photo.png" -o "$out/lossy.webp"
  cwebp -quiet -lossless "$out/alpha.png" -o "$out/lossless.webp"
  cwebp -quiet -q 60 "$out/alpha.png" -o "$out/alpha.webp"
  convert small.ppm \( +clone -flip \) \( +clone -flop \) -delay 10 "$out/animated.gif"
  gif2webp -quiet "$out/animated.gif" -o "$out/animated.webp"
  convert small.ppm -interlace GIF "$out/interlaced.gif"
  convert "$out/alpha.png" "$out/transparent.gif"
  heif-enc -q 50 "$out/photo.png" -o "$out/plain.heic" > heif-enc.log
  heif-enc -q 50 "$out/alpha.png" -o "$out/alpha.heic" >> heif-enc.log
  heif-enc -q 50 -t 32 "$out/described.jpg" -o "$out/described.heic" >> heif-enc.log
}

count=${PHOTOSPOOL_HOSTILE_COUNT:-1000} seed=${PHOTOSPOOL_HOSTILE_SEED:-1}
# The daemon takes its own variables only.
unset PHOTOSPOOL_HOSTILE_COUNT PHOTOSPOOL_HOSTILE_SEED
make_seeds seeds
cp seeds/baseline.jpg good.jpg
if [ -n "${PHOTOSPOOL_CORPUS:-}" ]; then
  for folder in bad bad/afl formats heic; do
    find "$PHOTOSPOOL_CORPUS/$folder" -maxdepth 1 -type f -size +0 -size -64k
  done > corpus.txt
  while read -r file; do cp "$file" "seeds/$(basename "$(dirname "$file")")-$(basename "$file")"; done < corpus.txt
else
  leave_out 'there is no corpus of photographs'
fi
"$python" "$scripts/mutate_photos.py" mutated "$count" "$seed" seeds/*

# A crash would leave one here.
ulimit -c unlimited
start_daemon
# Hostile photos go into eight conversations and good ones into two, some ahead of what is decided. The last of each
# conversation is a text: when it is sent, all before it is over.
"$python" - "$spool" mutated good.jpg > dropped.txt <<'PYTHON'
import collections, itertools, os, shutil, sys, time
spool, mutated, good = sys.argv[1:]
waiting = collections.defaultdict(collections.deque)

def is_over(name):
    return os.path.exists(f"{spool}/sent/{name}") or os.path.exists(f"{spool}/failed/{name}")

def drop(conversation, name, photo=None):
    queue, end = waiting[conversation], time.monotonic() + 120
    while len(queue) >= 3:
        while queue and is_over(queue[0]): queue.popleft()
        if len(queue) >= 3:
            if time.monotonic() > end: sys.exit(f"{queue[0]} is not decided")
            time.sleep(0.002)
    request = f"{spool}/tmp/{name}"
    os.mkdir(request)
    with open(f"{request}/to", "w") as file: print(conversation, file=file)
    if photo: shutil.copyfile(photo, f"{request}/photo{os.path.splitext(photo)[1]}")
    else:
        with open(f"{request}/text", "w") as file: print("the end", file=file)
    os.rename(request, f"{spool}/new/{name}")
    queue.append(name)
    print(conversation, name)

files, goods = sorted(os.listdir(mutated)), itertools.count()
for number, file in enumerate(files):
    drop(f"hostile-{number % 8}", "m" + os.path.splitext(file)[0], f"{mutated}/{file}")
    if number % 20 == 0: drop(f"good-{number // 20 % 2}", f"good-{next(goods):05d}", good)
for conversation in list(waiting): drop(conversation, f"last-{conversation}")
PYTHON
"$photospool" wait --timeout 120 $(awk '$2 ~ /^last-/ { print $2 }' dropped.txt)
kill -0 "$daemon" || fail 'the daemon is gone'
children=$(cat /proc/"$daemon"/task/*/children)
stop_daemon
for child in $children; do timeout 30 tail --pid "$child" -f /dev/null || fail "process $child outlived the daemon"; done

# Everything is decided, with a reason where it is refused.
is_empty "$spool/new" "$spool/cur"
expect "$(ledger 'SELECT count(*) FROM requests')" "$(wc -l < dropped.txt)"
expect "$(ledger "SELECT count(*) FROM requests WHERE state NOT IN ('sent', 'failed')")" 0
ledger "SELECT count(*), state, coalesce(cause, '') FROM requests WHERE request GLOB 'm[0-9]*' GROUP BY state, cause"
expect "$(ledger "SELECT DISTINCT cause FROM requests WHERE state = 'failed' AND cause NOT IN
  ('unsupported_image', 'truncated_image', 'image_limits', 'malformed_request')")" ''
# The only photos that are malformed requests are those without a byte.
for name in $(ledger "SELECT request FROM requests WHERE cause = 'malformed_request'"); do
  grep -q 'the photo is empty' "$spool/failed/$name/error" || fail "$name: $(cat "$spool/failed/$name/error")"
done
expect "$(ledger "SELECT count(*) FROM requests WHERE state = 'failed'")" "$(find "$spool/failed" -mindepth 1 -maxdepth 1 | wc -l)"
while read -r name; do
  lines=$(wc -l < "$spool/failed/$name/error") letters=$(wc -m < "$spool/failed/$name/error")
  [ "$lines" = 1 ] && [ "$letters" -gt 20 ] && [ "$letters" -lt 400 ] || fail "$name: $(cat "$spool/failed/$name/error")"
done < <(ls "$spool/failed")
! LC_ALL=C grep -rlP '[\x00-\x09\x0b-\x1f\x7f]' "$spool"/failed/*/error || fail 'an error holds control characters'

# The neighbours' photos came out once and in order.
for number in 0 1; do
  expect "$(published "good-$number" | jq -r .request)" "$(awk -v to="good-$number" '$1 == to { print $2 }' dropped.txt)"
done
expect "$(ledger "SELECT count(*) FROM requests WHERE request GLOB 'm[0-9]*' AND state = 'sent'")" \
  "$(cat "$spool"/published/hostile-*.jsonl | jq -r 'select(.kind == "photo").request' | sort -u | wc -l)"

# Nothing is left, and the log is one.
expect "$(find . \( -name core -o -name 'core.*' \) -not -path './seeds/*' -not -path './mutated/*')" ''
expect "$(awk 'length > 2000' run.log)" ''
! LC_ALL=C grep -nP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' run.log || fail 'the log holds control characters'
! LC_ALL=C grep -vP '^time=\S+ level=\S+ event=' run.log || fail 'the log holds what is no event'

# What decoders could not cope with is for their makers.
grep -lE 'crashes or takes|takes more than|decoding this photo goes wrong' "$spool"/failed/*/error > crashes.txt || true
while read -r file; do echo "$(cat "$file") $(basename "$(dirname "$file")")"; done < crashes.txt
longest=$(ledger "SELECT max(finished_at - accepted_at) FROM requests")
echo "$count photos, the longest was decided after $longest ms:" \
  "$(ledger "SELECT request FROM requests ORDER BY finished_at - accepted_at DESC LIMIT 1")"
[ "$longest" -lt 60000 ] || fail 'a photo took too long to be decided'

# Those that are dear by design are prepared or refused, in a time that does not hurt.
mkdir bombs prepared
"$python" "$scripts/make_bombs.py" bombs seeds/baseline.jpg seeds/lossy.webp seeds/plain.heic
for bomb in bombs/*; do
  status=0
  "$python" "$scripts/processor_time.py" time.txt "$photospool" prepare "$bomb" -o prepared > out.log 2> err.log || status=$?
  case $status in
    0) verdict=prepared ;;
    65) verdict=refused ;;
    *) fail "$bomb: exit status $status, $(cat err.log)" ;;
  esac
  ! grep -E 'crashes or takes|takes more than|goes wrong' err.log || fail "$bomb was not seen through"
  echo "$(basename "$bomb"): $verdict after $(cat time.txt) s of processor time"
  awk '$1 > 20 { exit 1 }' time.txt || fail "$bomb took too long"
done
