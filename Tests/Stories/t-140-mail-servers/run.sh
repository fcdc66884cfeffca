# Devices mail to Debian's Postfix, set up by the recipes of docs/mail.md as printed. Each mail is published once, its photos in
# order; a spool without room or without the right to write keeps mails in Postfix's queue; nobody is ever answered.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"
. "$here/lib/machine.sh"
on_a_machine postfix

noise 640x480 1.jpg 2.jpg 3.jpg
order_of_photos=$(digests_of 1.jpg 2.jpg 3.jpg)
# texts CONVERSATION: a slash stands for an end of line.
texts() { published "$1" | jq -rs 'map(select(.kind == "text").text | gsub("\n"; "/")) | join(",")'; }
# by_smtp RECIPIENT... < MAIL
by_smtp() { tool send_mail.py 192.0.2.10 cam@cams.home "$@"; }
logged() { [ "$(grep -c -- "$1" $log)" -ge "${2:-1}" ]; }

# The spool has a small disk of its own.
mount -t tmpfs -o size=64m none "$spool"
install -d -o photospool -g photospool -m 0750 "$spool"
rules='mail:
  accept:
    - {to: family@photos.home, conversation: family}
    - {to: "cam-*@photos.home", conversation: "{local}"}
    - {to: [root, "root@*"], conversation: machine}
'
configure <<< "$rules"
# As root makes them for the service.
bash -c "$(recipe mail.md 'The directories for mails' 1 | head -n 1)"
expect "$(stat -c '%a %U' "$spool"/mail/{,tmp,new} | sort -u)" '3770 photospool'
start_daemon

install_postfix
recipe mail.md Postfix 1 | sed "s/PHOTOSPOOL_[UG]ID/61000/" > /etc/postfix/main.cf
start_postfix

# deliver_all TRANSPORT NUMBER: three photos for three recipients, one of them with a detail, and two more that no field names.
deliver_all() {
  tool make_mail.py 'family@photos.home, Cam-Door+porch@photos.home, Cam <cam-yard@photos.home>' "$1" "By $1" 1.jpg 2.jpg 3.jpg \
    > mail.eml
  by_smtp family@photos.home cam-door+porch@photos.home cam-yard@photos.home cam-hidden@photos.home cam-other@photos.home < mail.eml
  for conversation in family cam-door cam-yard cam-hidden cam-other; do
    wait_until come $conversation $((4 * $2))
    expect "$(published $conversation | tail -n 4 | jq -r .kind | paste -sd,)" photo,photo,photo,text
    expect "$(digests $conversation | tail -n +$((3 * $2 - 2)))" "$order_of_photos" "$conversation"
    expect "$(published $conversation | tail -n 1 | jq -r .text)" "$1"$'\n'"By $1"
  done
  wait_until logged 'status=sent' 5
}
deliver_all virtual 1
! by_smtp work@photos.home < mail.eml 2> refused.log || fail 'Postfix took a mail that no map knows'
has refused.log 550

# Home Assistant, with a page and without, motionEye, frigate-notify and a NAS.
for program in home-assistant home-assistant-html motion-eye frigate-notify nas; do
  tool device_mail.py $program cam-$program@photos.home Bewegung 'Somebody is at the door' 1.jpg 2.jpg 3.jpg > $program.eml
  by_smtp cam-$program@photos.home < $program.eml
  wait_until come cam-$program 4
  expect "$(digests cam-$program)" "$order_of_photos" "$program"
  expect "$(published cam-$program | tail -n 1 | jq -r .text)" $'Bewegung\nSomebody is at the door'
  "$photospool" mail --explain $program.eml > explained
  expect "$(grep -c '^photo .: a JPEG' explained)" 3 "$program"
  ! grep 'left out' explained || fail "$program: $(cat explained)"
done

# Another agent delivers as its own user: `check` names the mail, and others go on.
user vmail 61003
install -o vmail -m 600 mail.eml "$spool/mail/tmp/foreign"
mv "$spool/mail/tmp/foreign" "$spool/mail/new/"
wait_for_line start.log 'a mail cannot be read.*belongs to vmail (600)'
ends 78 check
has err.log 'mail/new/foreign belongs to vmail and cannot be read; let the mail server deliver as photospool'
by_smtp cam-after@photos.home <<< $'Subject: after\n\n'
wait_until come cam-after 1
rm "$spool/mail/new/foreign"

# Whatever machines answer is kept in failed/, and nothing is answered.
by_smtp family@photos.home <<< $'Subject: Away\nAuto-Submitted: auto-replied\n\nI am away'
by_smtp family@photos.home <<< $'Subject: Read\nContent-Type: multipart/report; report-type=disposition-notification; boundary=x\n\n--x\n\nRead\n--x--'
by_smtp family@photos.home <<< $'Subject: Loop\nX-Loop: photospool\n\nLoop'
tool send_mail.py 192.0.2.10 '' family@photos.home <<< $'Subject: Bounce\nContent-Type: multipart/report; report-type=delivery-status; boundary=x\n\n--x\n\nBounce\n--x--'
by_smtp cam-receipt@photos.home <<< $'Subject: Receipt\nDisposition-Notification-To: cam@cams.home\nReturn-Receipt-To: cam@cams.home\n\nWith a receipt'
wait_until come cam-receipt 1
refused_so_far() { [ "$(find "$spool/failed" -name error | wc -l)" = "$1" ]; }
wait_until refused_so_far 4
expect "$(cat "$spool"/failed/*/error | grep -cE 'automatic answer|is a report about|itself sent this')" 4
expect "$(texts family)" 'virtual/By virtual'
# Each mail in Postfix's log came by SMTP.
! grep -E 'postfix/(pickup|bounce|smtp)\[' $log || fail 'something was answered'
expect "$(grep 'postfix/qmgr.*from=<' $log | sed 's/.*: \([0-9A-F]*\): from.*/\1/' | sort -u | wc -l)" \
  "$(grep -c 'postfix/smtpd.*client=' $log)" 'mails that nobody sent'

# No room: Postfix keeps the mail, and its next attempt succeeds.
fill() { while cat /dev/zero >> "$spool/filler"; do :; done 2> /dev/null || true; }
deferred=0
# kept RELAY REASON TEXT: a mail that Postfix has to keep is deferred for this reason.
kept() {
  deferred=$((deferred + 1))
  tool make_mail.py cam-kept@photos.home '' "$3" 1.jpg 2.jpg > kept.eml
  by_smtp cam-kept@photos.home < kept.eml
  wait_until logged "relay=$1.*status=deferred.*$2" "$deferred"
}
again() { postqueue -f; wait_until come cam-kept "$1"; deferred=0; : > $log; }
fill
kept virtual 'No space left on device' full
rm "$spool/filler"
again 3

# The same with the promise of `photospool sendmail`.
recipe mail.md Postfix 2 >> /etc/postfix/main.cf
recipe mail.md Postfix 3 >> /etc/postfix/master.cf
postfix reload
deliver_all pipe 2
fill
kept photospool 'less than 4 MiB are free' 'full again'
rm "$spool/filler"
again 6
stop_daemon
mount -o remount,ro "$spool"
kept photospool '[Rr]ead-only' read-only
mount -o remount,rw "$spool"
start_daemon
again 9
expect "$(texts cam-kept)" 'full,full again,read-only'
expect "$(digests cam-kept)" "$(digests_of {1,2}.jpg {1,2}.jpg {1,2}.jpg)"

# The alias of root, for cron and all that mails to it.
recipe mail.md 'cron, mdadm, smartd, PHP, mutt' 1 > /etc/aliases
recipe mail.md 'cron, mdadm, smartd, PHP, mutt' 2 >> /etc/postfix/main.cf
newaliases
postfix reload
printf 'Subject: Cron\n\noutput\n' | /usr/sbin/sendmail root
wait_until come machine 1
expect "$(texts machine)" 'Cron/output'

# A network that mails comes to its own address, and stops there.
cat > mailer <<SCRIPT
#!/bin/sh
echo sent >> $PWD/sent.log
printf 'X-Loop: photospool\nTo: family@photos.home\nSubject: out\n\nout\n' | /usr/sbin/sendmail -t
SCRIPT
chmod 755 mailer
touch sent.log
chown photospool sent.log
configure <<< "network: {type: exec, program: $PWD/mailer}
$rules"
kill -HUP "$daemon"
wait_for_line start.log reloaded
name=$("$photospool" send --to family --text round)
timeout 60 "$photospool" wait "$name"
wait_until refused_so_far 5
has "$(ls -t "$spool"/failed/*/error | head -n 1)" 'photospool itself sent this mail'
expect "$(wc -l < sent.log)" 1
stop_daemon
