# Photos that are made to be dear to decode are prepared or refused in a time that does not hurt. ImagingTests have those that are
# refused at once.
. "$(dirname "$0")/../lib/library.sh"

noise 320x200 baseline.jpg
mkdir bombs prepared
tool make_bombs.py bombs baseline.jpg
# Nearly as many items as a HEIC may have, as tiles and as metadata.
convert -size 64x64 plasma: -depth 8 -define png:color-type=2 tile.png
heif-enc -q 50 tile.png -o tile.heic > heif-enc.log
tool make_heif.py bombs/tiles-1892.heic grid 44x43 2816x2752 $(printf 'tile.heic %.0s' {1..1892})
tool make_heif.py bombs/items-1900.heic described 1900 tile.heic
for bomb in bombs/*; do
  status=0
  tool processor_time.py time.txt "$photospool" prepare "$bomb" -o prepared > out.log 2> err.log || status=$?
  case $status in
    0) verdict=prepared ;;
    65) verdict=refused ;;
    *) fail "$bomb: exit status $status, $(cat err.log)" ;;
  esac
  ! grep -E 'crashes or takes|takes more than|goes wrong' err.log || fail "$bomb was not seen through"
  echo "$(basename "$bomb"): $verdict after $(cat time.txt) s of processor time"
  awk '$1 > 20 { exit 1 }' time.txt || fail "$bomb took too long"
done
