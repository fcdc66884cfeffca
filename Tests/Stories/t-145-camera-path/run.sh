# From "it can only mail" to "its picture is in our room": the first section of docs/mail.md as printed, on a machine that has the
# package's files, Debian's Postfix and a homeserver. Then two mistakes of a mail server, which `check` names.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/machine.sh"
on_a_machine postfix
. "$here/lib/matrix.sh"

noise 640x480 cat.jpg
sed 's|^  #directory: ./spool$|  directory: /var/spool/photospool|' "$here/../../etc/photospool.yaml" > /etc/photospool/photospool.yaml
systemd-tmpfiles --create "$here/../../etc/tmpfiles.d/photospool.conf"
install_postfix
recipe mail.md Postfix 1 > /etc/postfix/main.cf

# This machine has no systemd.
systemctl() {
  case "$*" in
    'restart photospool') start_daemon ;;
    'restart postfix') start_postfix ;;
    *) fail "systemctl $*" ;;
  esac
}
# step HEADING: its commands, with the names that readers have to replace as well.
step() {
  recipe mail.md "$1" 1 | sed -e "s,https://matrix.example.org,$endpoint,; s,#door:example.org,$alias," \
    -e 's/"user": "camera"/"user": "alice"/; s/PASSWORD/alice/' > step.sh
  [ -s step.sh ] || fail "there is no step $1"
  . ./step.sh
}
for heading in 'A token' 'A configuration' 'The directories for mails' 'A mail server' 'The camera'; do step "$heading"; done

wait_until is_in_room 'sealed photo,Motion'
expect "$(stat -c '%a %U' /etc/photospool/matrix.token)" '600 photospool'

# A test mail without a picture is no message; the next picture comes.
printf 'To: cam-door@photos.home\nSubject: Test\n\nThis is a test mail\n' > test.eml
curl -sS --crlf --mail-from cam@cams.home --mail-rcpt cam-door@photos.home -T test.eml smtp://192.0.2.10
wait_for_line start.log 'a mail without a photo was dropped'
step 'The camera'
wait_until is_in_room 'sealed photo,Motion,sealed photo,Motion'

# A limit of Postfix below ours; and an agent that delivers as another user, whose mail stays until it can be read.
postconf -e message_size_limit=10000000
ends 78 check
has err.log 'Postfix refuses mails over 10000000 bytes'
postconf -e message_size_limit=40000000
user vmail 61003
install -o vmail -m 600 motion.eml "$spool/mail/tmp/foreign"
mv "$spool/mail/tmp/foreign" "$spool/mail/new/"
wait_for_line start.log 'a mail cannot be read.*belongs to vmail (600)'
ends 78 check
has err.log 'mail/new/foreign belongs to vmail and cannot be read'
step 'The camera'
wait_until is_in_room 'sealed photo,Motion,sealed photo,Motion,sealed photo,Motion'
chown photospool "$spool/mail/new/foreign"
patience=60
wait_until is_in_room 'sealed photo,Motion,sealed photo,Motion,sealed photo,Motion,sealed photo,Motion'
expect "$(read_room | jq -r .kind | sort | uniq -c | xargs)" '4 sealed photo 4 text' 'opened by a client'
[ -z "$(ls -A "$spool/failed" "$spool/mail/new" | grep -v :)" ] || fail "left: $(ls -A "$spool/failed" "$spool/mail/new")"
stop_daemon
