# Cameras upload by FTP to Debian's vsftpd into folders whose files are moved, deleted or kept once they were sent: also an upload
# that pauses in the middle, one that breaks off and is resumed, and 200 photos at once. Each is sent once and whole.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"
. "$here/lib/machine.sh"
on_a_machine vsftpd

noise 640x480 1.jpg 2.jpg 3.jpg
member camera 61002
cameras=$PWD/cameras
install -d "$cameras"
settings=
for after in move delete keep; do
  install -d -o camera "$cameras/$after"
  settings+="  - {folder: $cameras/$after, conversation: $after, after: $after, quiet: 300ms}"$'\n'
done
configure <<< "watch:
$settings"
start_daemon
start_watch() {
  as camera "$photospool" watch > watch.log 2>&1 &
  watch=$!
  wait_for_line watch.log event=watching
}
stop_watch() { kill -TERM "$watch"; wait "$watch" || true; }
start_watch
wait_until eval "[ -n \"\$(find homes/camera -name '*.sent')\" ]"
upload() { tool upload.py 192.0.2.10 2121 "$@"; }
start_vsftpd "$cameras"
upload ready

whole=$(stat -c %s 1.jpg)
# has_begun FILE: a part of the first photo is there.
has_begun() { local size; size=$(stat -c %s "$1" 2> /dev/null) && [ "$size" -gt 0 ] && [ "$size" -lt "$whole" ]; }
for after in move delete keep; do
  # The camera stops in the middle and goes on later, on the same connection.
  curl -sS --limit-rate $((whole / 4)) -T 1.jpg "ftp://192.0.2.10:2121/$after/paused.jpg" &
  camera=$!
  wait_until has_begun "$cameras/$after/paused.jpg"
  kill -STOP "$camera"
  # Its upload breaks off; it comes back and sends the rest.
  upload half 2.jpg "$after/broken.jpg"
  # A third one, which waits as long as the others do, is not held up.
  upload whole 3.jpg "$after/whole.jpg"
  wait_until come $after 1
  upload rest 2.jpg "$after/broken.jpg"
  wait_until come $after 2
  kill -CONT "$camera"
  wait "$camera"
  wait_until come $after 3
  expect "$(digests $after)" "$(digests_of 3.jpg 2.jpg 1.jpg)" $after
done

# Many at once.
"$python" - <<'PYTHON'
import os
from PIL import Image
os.mkdir("many")
for number in range(200):
    Image.new("RGB", (64, 48), (60, number, 99)).save(f"many/{number:04}.jpg", quality=95)
PYTHON
for after in move delete keep; do upload all many $after & done
expected=$(sha256sum many/*.jpg | cut -d ' ' -f 1)
for after in move delete keep; do
  wait_until come $after 203
  expect "$(digests $after | tail -n 200)" "$expected" $after
done

# Once: also for another process that finds what was kept.
stop_watch
start_watch
upload whole 3.jpg keep/last.jpg
wait_until come keep 204
stop_watch
expect "$(find "$cameras/keep" -type f | wc -l)" 204
expect "$(ls "$cameras/move/.sent" | wc -l)" 203
expect "$(find "$cameras/move" "$cameras/delete" -type f ! -path '*/.sent/*')" ''
expect "$(sha256sum "$cameras"/{keep,move/.sent}/{whole,broken,paused}.jpg | cut -d ' ' -f 1 | sort | uniq -c | awk '{ print $1 }' | sort -u)" 2
! grep -E 'level=(warning|error)' watch.log || fail "$(cat watch.log)"
stop_daemon
