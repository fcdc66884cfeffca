# Delivery agents of Debian put mails into mail/, and others start `photospool sendmail`, by the recipes of docs/mail.md as
# printed: maildrop, procmail, dovecot-lda, mbsync, fetchmail and OpenSMTPD. Each mail is published once, with its photos in order.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"
. "$here/lib/machine.sh"
on_a_machine agents opensmtpd

noise 640x480 1.jpg 2.jpg 3.jpg
expected=$(digests_of 1.jpg 2.jpg 3.jpg)
configure <<< 'mail:
  accept:
    - {to: family@photos.home, conversation: family}
    - {to: "cam-*@photos.home", conversation: "{local}"}
'
start_daemon
count=0
# mail_of PROGRAM: a mail to two conversations, with a detail.
mail_of() { tool make_mail.py 'family@photos.home, Cam-Door+porch@photos.home' "$1" "By $1" 1.jpg 2.jpg 3.jpg; }
# is_published PROGRAM CONVERSATION...: the last mail came there, once and whole.
is_published() {
  count=$((count + 1))
  for conversation in "${@:2}"; do
    wait_until come "$conversation" $((4 * count))
    expect "$(published "$conversation" | tail -n 4 | jq -r .kind | paste -sd,)" photo,photo,photo,text "$1"
    expect "$(published "$conversation" | tail -n 1 | jq -r .text)" "$1"$'\n'"By $1"
    expect "$(digests "$conversation" | tail -n 3)" "$expected" "$1"
  done
  [ -z "$(ls -A "$spool/failed")" ] || fail "$1: $(cat "$spool"/failed/*/error)"
}
agents='maildrop, procmail, dovecot-lda'

# Agents that deliver into mail/ as the user photospool.
recipe mail.md "$agents" 1 > homes/photospool/.mailfilter
chown photospool homes/photospool/.mailfilter
chmod 600 homes/photospool/.mailfilter
mail_of maildrop | as photospool maildrop
is_published maildrop family cam-door

recipe mail.md "$agents" 2 > homes/photospool/.procmailrc
chown photospool homes/photospool/.procmailrc
mail_of procmail | as photospool procmail
is_published procmail family cam-door

printf 'ssl = no\npostmaster_address = postmaster@photos.home\nlog_path = %s\n' /var/log/dovecot > /etc/dovecot/dovecot.conf
touch /var/log/dovecot
install -d -o photospool -m 700 /var/lib/dovecot/photospool
install -o photospool -m 666 /dev/null /var/log/dovecot
command=$(recipe mail.md "$agents" 3)
# shellcheck disable=SC2086
mail_of dovecot-lda | as photospool env PATH="$PATH:/usr/lib/dovecot" ${command%SENDER} cam@cams.home || fail "$(cat /var/log/dovecot)"
is_published dovecot-lda family cam-door
[ "$(ls -A "$spool/mail" | paste -sd,)" = cur,new,tmp ] || fail "dovecot-lda left $(ls -A "$spool/mail")"

# Agents that start `photospool sendmail`, as a user of the group.
member member 61001
member=$PWD/homes/member
recipe mail.md "$agents" 4 > "$member/.mailfilter"
chown member "$member/.mailfilter"
chmod 600 "$member/.mailfilter"
mail_of maildrop-sendmail | as member maildrop
is_published maildrop-sendmail family
recipe mail.md "$agents" 5 > "$member/.procmailrc"
chown member "$member/.procmailrc"
mail_of procmail-sendmail | as member procmail
is_published procmail-sendmail family

# fetchmail, from an IMAP server that it starts.
install -d -o member "$member"/Maildir "$member"/Maildir/{tmp,new,cur}
mail_of fetchmail > "$member"/Maildir/new/1.mail
chown member "$member"/Maildir/new/1.mail
cat > "$member/.fetchmailrc" <<RECIPE
poll localhost protocol IMAP plugin "env MAIL=maildir:$member/Maildir /usr/lib/dovecot/imap" auth external
  user member sslproto ''
  $(recipe mail.md fetchmail 1)
RECIPE
chown member "$member/.fetchmailrc"
chmod 600 "$member/.fetchmailrc"
as member fetchmail -v --nosyslog > fetchmail.log 2>&1 || fail "$(cat fetchmail.log)"
is_published fetchmail family

# OpenSMTPD, which starts `photospool sendmail`.
user opensmtpd 61010 /var/lib/opensmtpd/empty
user opensmtpq 61011 /var/lib/opensmtpd/empty
chown root: /var/lib/opensmtpd/empty
install -d -m 711 /var/spool/smtpd
recipe mail.md OpenSMTPD 1 > /etc/smtpd.conf
smtpd -d -f /etc/smtpd.conf > smtpd.log 2>&1 &
listens() { (: < /dev/tcp/192.0.2.10/25) 2> /dev/null; }
wait_until listens
mail_of OpenSMTPD | tool send_mail.py 192.0.2.10 cam@cams.home family@photos.home
is_published OpenSMTPD family

# Its own agent closes mail/ to others: `check` says so, and the daemon goes on.
mail_of mail.maildir | as photospool /usr/libexec/opensmtpd/mail.maildir "$spool/mail"
is_published mail.maildir family
expect "$(stat -c %a "$spool/mail")" 700
ends 78 check
has err.log 'OpenSMTPD'
"$photospool" send --to family --text 'other clients go on' > name
timeout 60 "$photospool" wait "$(cat name)"
chmod 3770 "$spool/mail"

# mbsync delivers, too, and takes mail/ for its own: what somebody has seen goes to cur/, where `check` finds it.
install -d -o photospool far far/INBOX far/INBOX/{tmp,new,cur}
mail_of mbsync > far/INBOX/new/1.mail
mail_of seen > far/INBOX/cur/2.mail:2,S
chown -R photospool far
cat > mbsyncrc <<MBSYNC
MaildirStore far
Path $PWD/far/
Inbox $PWD/far/INBOX

MaildirStore near
Inbox $spool/mail

Channel photos
Far :far:
Near :near:
Sync Pull
SyncState $PWD/far/state
MBSYNC
as photospool mbsync -c mbsyncrc -a
wait_until eval 'published family | grep -q "By mbsync"'
expect "$(published family | tail -n 4 | jq -r .kind | paste -sd,)" photo,photo,photo,text
expect "$(published family | grep -c 'By mbsync')" 1
ends 78 check
has err.log 'mail/cur is not empty'
! published family | grep 'By seen' || fail 'a mail of cur/ was taken'
stop_daemon
