# A demonstration: a daemon with its own spool gets a real photograph with a position, dropped with mkdir, cp and mv. Then the
# page shows it, and some drawn pictures.
set -euo pipefail

photospool=$PWD/.build/debug/photospool
photographs=/usr/share/backgrounds
screenshots=$PWD/.build/demo
scratch=$(mktemp -d)
spool=$scratch/spool
export PHOTOSPOOL_SPOOL=$spool
daemon= page=
end() {
  # shellcheck disable=SC2086
  [ -z "$daemon$page" ] || { kill $daemon $page && wait; } 2> /dev/null || true
  rm -rf "$scratch"
}
trap end EXIT

say() { printf '\n== %s\n' "$*"; }

say 'A real photograph, with the place where it was taken'
cp "$photographs/sunset_by_Aitzol_Berasategi.jpg" "$scratch/cat.jpg"
exiftool -q -overwrite_original -GPSLatitude=47.3769 -GPSLatitudeRef=N -GPSLongitude=8.5417 -GPSLongitudeRef=E \
  -Make=Camera -Model=Obscura "$scratch/cat.jpg"
exiftool -s -FileSize -ImageSize -Make -Model -GPSPosition "$scratch/cat.jpg"

say 'The daemon'
"$photospool" run > "$scratch/log" 2>&1 &
daemon=$!
timeout 30 bash -c 'tail -n +1 -F "$1" | grep -q -m 1 event=ready' _ "$scratch/log"
echo "process $daemon on $spool"

say 'A request, dropped with mkdir, cp and mv alone'
set -x
d=$spool/tmp/cat.$$; mkdir "$d"
cp "$scratch/cat.jpg" "$d/photo.jpg"; echo family > "$d/to"; echo 'Check this out!' > "$d/text"
mv "$d" "$spool/new/"
{ set +x; } 2> /dev/null
"$photospool" wait --timeout 60 "cat.$$"

say 'What was published, in order'
cut -c-240 "$spool/published/family.jsonl"

say 'The queue'
"$photospool" queue

say 'The request'
"$photospool" show "cat.$$"

say 'What is not in the photo any more'
"$photospool" prepare -o "$scratch/prepared" "$scratch/cat.jpg"
exiftool -s -FileSize -ImageSize -Make -Model -GPSPosition "$scratch/prepared/cat.jpg"

say 'The log'
cat "$scratch/log"

say 'The page'
send() { "$photospool" send --wait --to "$1" "${@:2}" > /dev/null 2>&1; }
python3 tools/pictures.py "$scratch"
mogrify -format jpg "$scratch"/{dawn,lake,dusk}.ppm
send garden --photo "$scratch/dusk.jpg"
send friends --photo "$scratch/lake.jpg" --text 'We are here!'
send family --photo "$scratch/dawn.jpg"
"$photospool" web > "$scratch/link" 2> "$scratch/page.log" &
page=$!
timeout 30 bash -c 'tail -n +1 -F "$1" | grep -m 1 /login/' _ "$scratch/link" 2> /dev/null || { cat "$scratch/page.log"; exit 1; }
echo 'Such a link opens the page in a browser of this computer, once. This one is used for two screenshots:'
if command -v "${CHROMIUM:-chromium}" > /dev/null; then
  python3 tools/screenshots.py "$(cat "$scratch/link")" family "$screenshots"
else
  echo 'There are none, because chromium is not installed.'
fi
kill "$page"
wait "$page" || true
page=

say 'SIGTERM'
kill "$daemon"
wait "$daemon"
daemon=
echo 'stopped; all of it was in a temporary directory, which is gone now'
