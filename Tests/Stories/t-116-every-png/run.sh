# PNGs of every colour type, depth, order and transparency show what ImageMagick sees in them. Those with one error are refused.
. "$(dirname "$0")/../lib/library.sh"

mkdir good broken prepared
tool make_pngs.py make good broken
"$photospool" prepare good/*.png -o prepared > prepared.log
tool make_pngs.py judge good prepared

for photo in broken/*.png; do
  status=0
  "$photospool" prepare "$photo" -o prepared > out.log 2> err.log || status=$?
  [ "$status" = 65 ] || fail "$photo: exit status $status, $(cat err.log)"
  grep -q 'this PNG' err.log || fail "$photo: $(cat err.log)"
  echo "$(basename "$photo"): $(cat err.log)"
done
