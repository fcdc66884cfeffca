# Photos of every format and kind are sent as Pillow and libvips show them, or refused for a reason that is true.
. "$(dirname "$0")/../lib/library.sh"

convert "$photos/Bridge_by_Sander_Klootwijk.jpg" -strip -resize '320x200!' photo.png
tool make_formats.py made photo.png
mkdir prepared
# One by one, so that each output is known by its original.
for photo in made/*.* made/refused/*; do
  [ -f "$photo" ] || continue
  rm -rf out
  status=0
  "$photospool" prepare "$photo" -o out > out.log 2> err.log || status=$?
  case $status in
    0) mv out/*.jpg "prepared/$(basename "$photo").jpg" ;;
    65) grep -m 1 "^photospool: $photo: " err.log | sed 's/^photospool: //' >> refusals.txt ;;
    *) fail "$photo: exit status $status, $(cat err.log)" ;;
  esac
done
tool judge_formats.py made prepared refusals.txt
