# Cameras upload by FTP to Debian's vsftpd and ProFTPD, and `photospool watch` sends each photo once and whole: also one whose
# upload broke off and was resumed, or is written under a hidden name, or comes under one name again and again.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"
. "$here/lib/machine.sh"
on_a_machine vsftpd proftpd

noise 640x480 1.jpg 2.jpg 3.jpg
member camera 61002
cameras=$PWD/cameras
install -d "$cameras"
install -d -o camera "$cameras/door"
configure <<< "watch: [{folder: $cameras, conversation: 'cam-{folder1}', quiet: 300ms}]"
start_daemon
as camera "$photospool" watch > watch.log 2>&1 &
watch=$!
wait_for_line watch.log event=watching
# upload PORT WORD...: one of upload.py.
upload() { tool upload.py 192.0.2.10 "$@"; }
count=0
# sent CONVERSATION FILE: the next photo there, and nothing else.
sent() {
  count=$((count + 1))
  wait_until come "$1" "$count"
  expect "$(digests "$1" | tail -n 1)" "$(digests_of "$2")"
}

# broken_off PORT: an upload breaks off in the middle, under its last name; it is resumed later, and delays no other.
broken_off() {
  upload "$1" half 2.jpg door/b.jpg
  upload "$1" whole 3.jpg door/c.jpg
  sent cam-door 3.jpg
  upload "$1" rest 2.jpg door/b.jpg
  sent cam-door 2.jpg
}
start_vsftpd "$cameras"
upload 2121 ready
broken_off 2121
# In a folder that the camera makes for the day; then under a name for a while; then under one name, again and again.
upload 2121 make door/2026-11-27
upload 2121 whole 1.jpg door/2026-11-27/a.jpg
sent cam-door 1.jpg
upload 2121 renamed 1.jpg door/d_tmp.jpg door/d.jpg
sent cam-door 1.jpg
for number in 1 2 3; do
  upload 2121 whole "$number.jpg" door/same.jpg
  sent cam-door "$number.jpg"
done

cat > proftpd.conf <<CONF
ServerType standalone
DefaultServer on
Port 2122
DefaultAddress 192.0.2.10
SocketBindTight on
User camera
Group camera
UseIPv6 off
PidFile /run/proftpd.pid
ScoreboardFile /run/proftpd.scoreboard
DelayTable none
WtmpLog off
TransferLog none
AllowStoreRestart on
AllowOverwrite on
<Anonymous $cameras>
  User camera
  Group camera
  UserAlias anonymous camera
  RequireValidShell off
  AnonRequirePassword off
</Anonymous>
CONF
proftpd -n -c "$PWD/proftpd.conf" > proftpd.log 2>&1 &
upload 2122 ready
broken_off 2122
# With HiddenStores, what breaks off is never seen.
sed -i '/^AllowStoreRestart/d; /^AllowOverwrite/a HiddenStores on' proftpd.conf
kill -HUP $!
upload 2122 half 1.jpg door/hidden.jpg
upload 2122 whole 2.jpg door/hidden.jpg
sent cam-door 2.jpg

kill -TERM "$watch"
wait "$watch" || true
expect "$(published cam-door | wc -l)" "$count" 'each once'
expect "$(find "$cameras" -type f ! -path '*/.sent/*' ! -name '.in.*')" ''
stop_daemon
