# A demonstration: a daemon with its own spool gets a real photograph with a position, dropped with mkdir, cp and mv.
set -euo pipefail

photospool=$PWD/.build/debug/photospool
photograph=/usr/share/backgrounds/Dragonfly_by_Bolly.jpg
scratch=$(mktemp -d)
spool=$scratch/spool
export PHOTOSPOOL_SPOOL=$spool
trap '[ -z "${daemon:-}" ] || kill "$daemon" 2>/dev/null || true; rm -rf "$scratch"' EXIT

say() { printf '\n== %s\n' "$*"; }

say 'A real photograph, with the place where it was taken'
cp "$photograph" "$scratch/cat.jpg"
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

say 'SIGTERM'
kill "$daemon"
wait "$daemon"
daemon=
echo 'stopped; all of it was in a temporary directory, which is gone now'
