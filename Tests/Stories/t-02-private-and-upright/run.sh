# Nothing of a photo's metadata is published, orientations come out upright, and an independent program opens the object.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop planted private '' planted.jpg
names=planted
# A small picture whose corners differ, stored in all eight ways.
tool make_oriented.py .
for orientation in 1 2 3 4 5 6 7 8; do
  exiftool -q -overwrite_original -n -Orientation=$orientation "oriented-$orientation.jpg"
  drop "oriented-$orientation" corners '' "oriented-$orientation.jpg"
  names="$names oriented-$orientation"
done
"$photospool" wait --timeout 120 $names

mkdir opened
cat "$spool"/published/*.jsonl | tool open_attachment.py opened > facts.jsonl
expect "$(wc -l < facts.jsonl)" 9
for message in $(cat "$spool"/published/*.jsonl | jq -r .message); do [ -s "opened/$message.jpg" ] || fail "$message did not open"; done

# exiftool finds nothing but the file and its picture, and no marker survives anywhere in it.
photo=opened/$(published private | jq -r .message).jpg
exiftool -a -G1 -s "$photo" > tags.txt
expect "$(grep -vE '^\[(ExifTool|System|File|JFIF|Composite)\]' tags.txt || true)" ''
for file in opened/*.jpg "$spool"/photos/*/*/*/*.jpg; do
  ! grep -qa -e MARKER -e Exif -e http: "$file" || fail "metadata in $file"
done

# The published size is the upright one, and the corners are where they belong.
for line in $(published corners | jq -r '"\(.message):\(.attachment.width)x\(.attachment.height)"'); do
  expect "${line#*:}" 320x200
done
tool check_corners.py $(published corners | jq -r '"opened/\(.message).jpg"')
stop_daemon
