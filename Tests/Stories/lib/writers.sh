# 300 requests over 20 conversations by 4 shell writers at once, every seventh with three photos; then the check of what
# was published. For stories that differ in what they do to the daemon meanwhile.

write_requests() {
  local writer=$1 number name
  for number in $(seq 1 75); do
    name=w$writer-$(printf %03d "$number")
    if [ $((number % 7)) = 0 ]; then
      drop "$name" "c$(((number * 7 + writer) % 20))" "$writer $number" small.jpg small.jpg small.jpg
    else
      drop "$name" "c$(((number * 7 + writer) % 20))" "$writer $number"
    fi
  done
}

start_writers() {
  writers=
  "$photospool" prepare -o . "$photos/Dragonfly_by_Bolly.jpg" > /dev/null
  "$python" -c 'from PIL import Image; i = Image.open("Dragonfly_by_Bolly.jpg"); i.resize((400, 300)).save("small.jpg")'
  for writer in 1 2 3 4; do write_requests "$writer" & writers="$writers $!"; done
}

all_names() { for writer in 1 2 3 4; do seq -f "w$writer-%03g" 1 75; done; }

check_published() {
  "$photospool" wait --timeout 120 $(all_names) || fail 'not everything was sent'
  tool check_writers.py "$spool"
  is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
}
