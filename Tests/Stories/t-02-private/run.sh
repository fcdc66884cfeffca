# Nothing of a photo's metadata is published, and an independent program opens the object.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
drop planted private '' planted.jpg
"$photospool" wait --timeout 120 planted

mkdir opened
cat "$spool"/published/*.jsonl | tool open_attachment.py opened > facts.jsonl
expect "$(wc -l < facts.jsonl)" 1

# exiftool finds nothing but the file and its picture, and no marker survives anywhere in it.
photo=opened/$(published private | jq -r .message).jpg
exiftool -a -G1 -s "$photo" > tags.txt
expect "$(grep -vE '^\[(ExifTool|System|File|JFIF|Composite)\]' tags.txt || true)" ''
for file in opened/*.jpg "$spool"/photos/*/*/*/*.jpg; do
  ! grep -qa -e MARKER -e Exif -e http: "$file" || fail "metadata in $file"
done
stop_daemon
