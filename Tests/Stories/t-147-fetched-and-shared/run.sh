# getmail fetches mails from an IMAP server, and a NAS, a scanner and a computer write to a share of Samba whose folders are watched,
# by the recipes of docs/mail.md as printed.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"
. "$here/lib/machine.sh"
on_a_machine agents samba

noise 640x480 1.jpg 2.jpg 3.jpg
member camera 61002
mount -t tmpfs none /srv
share=/srv/share/cameras
install -d -o camera -m 755 $share $share/door
configure <<< 'mail:
  accept: [{to: family@photos.home, conversation: family}]
watch:
  - {folder: /srv/share/cameras, conversation: "cam-{folder1}", quiet: 300ms}
'
start_daemon

# getmail, from an account on Debian's Dovecot.
user dovecot 61003
user dovenull 61004
user mailbox 61005
cat > dovecot.conf <<CONF
base_dir = /run/dovecot
protocols = imap
ssl = no
disable_plaintext_auth = no
log_path = $PWD/dovecot.log
listen = 127.0.0.1
default_internal_user = dovecot
default_login_user = dovenull
default_internal_group = dovecot
mail_location = maildir:~/Maildir
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=mailbox gid=mailbox home=$PWD/homes/mailbox
}
service imap-login {
  chroot =
}
CONF
dovecot -c "$PWD/dovecot.conf" || fail "$(cat dovecot.log)"
install -d -o mailbox homes/mailbox/Maildir{,/tmp,/new,/cur}
tool make_mail.py 'someone@example.org' getmail 'By getmail' 1.jpg 2.jpg 3.jpg > homes/mailbox/Maildir/new/1.mail
chown mailbox homes/mailbox/Maildir/new/1.mail
install -d -o camera -m 700 homes/camera/.getmail
{
  printf '[retriever]\ntype = SimpleIMAPRetriever\nserver = 127.0.0.1\nusername = camera\npassword = secret\n'
  recipe mail.md getmail 1
} > homes/camera/.getmail/getmailrc
chown camera homes/camera/.getmail/getmailrc
as camera getmail > getmail.log 2>&1 || fail "$(cat getmail.log dovecot.log)"
wait_until come family 4
expect "$(digests family)" "$(digests_of 1.jpg 2.jpg 3.jpg)"
expect "$(published family | tail -n 1 | jq -r .text)" $'getmail\nBy getmail'
as camera getmail >> getmail.log 2>&1 || fail "$(cat getmail.log)"

# A share: whole files, also by a name for a while and in a folder for the day; thumbnails and deleted files of a NAS are none.
as camera "$photospool" watch > watch.log 2>&1 &
watch=$!
wait_for_line watch.log event=watching
printf '[global]\n  map to guest = bad user\n  log file = %s\n' "$PWD/samba.log" > /etc/samba/smb.conf
recipe mail.md Samba 1 >> /etc/samba/smb.conf
mkdir -p /run/samba /var/lib/samba/private /var/cache/samba
smbd --foreground --no-process-group --configfile=/etc/samba/smb.conf > smbd.log 2>&1 &
listens() { (: < /dev/tcp/192.0.2.10/445) 2> /dev/null; }
wait_until listens
smb() { smbclient --no-pass //192.0.2.10/cameras -c "$1" > smb.log 2>&1 || fail "$1: $(cat smb.log samba.log)"; }
smb 'mkdir door\@eaDir; mkdir door\#recycle; put 3.jpg door\@eaDir\SYNOPHOTO_THUMB_M.jpg; put 3.jpg door\#recycle\old.jpg'
smb 'put 1.jpg door\a.jpg'
wait_until come cam-door 1
smb 'mkdir door\2026-11-28; put 2.jpg door\2026-11-28\b.jpg.tmp; rename door\2026-11-28\b.jpg.tmp door\2026-11-28\b.jpg'
wait_until come cam-door 2
# A computer that sets the size first and writes the picture later, as Windows does: a WebP tells its length in front.
"$python" -c 'from PIL import Image
Image.effect_noise((640, 480), 60).convert("RGB").save("c.webp", quality=90)'
size=$(stat -c %s c.webp)
as camera sh -c "head -c $((size / 2)) '$PWD/c.webp' > $share/door/c.webp; truncate -s $size $share/door/c.webp"
smb 'put 3.jpg door\d.jpg'
wait_until come cam-door 3
as camera dd "if=$PWD/c.webp" of=$share/door/c.webp conv=notrunc status=none
wait_until come cam-door 4
expect "$(digests cam-door)" "$(digests_of 1.jpg 2.jpg 3.jpg c.webp)"
expect "$(find $share -name '.sent' -prune -o -type f -printf '%f\n' | sort | paste -sd,)" SYNOPHOTO_THUMB_M.jpg,old.jpg
kill -TERM $watch
wait $watch || true
! grep -E 'level=(warning|error)' watch.log || fail "$(cat watch.log)"
stop_daemon
