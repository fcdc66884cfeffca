# Photos that are made to be dear to decode are prepared or refused in a time that does not hurt.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/seeds.sh"

make_seeds seeds
mkdir bombs prepared
tool make_bombs.py bombs seeds/baseline.jpg seeds/lossy.webp seeds/plain.heic
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
