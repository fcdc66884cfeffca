# photospool sendmail, as programs call it, with the daemon up and down.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"

noise 320x240 1.jpg
# given STATUS WORD...: sendmail ends with it, with the mail from standard input.
given() { ends "$1" sendmail "${@:2}"; }

configure <<< ''
start_daemon
given 78 family@photos.home <<< 'Hi'
stop_daemon
configure <<< "$rules"
given 75 family@photos.home <<< 'Hi'
start_daemon

# The lines of mutt, PHP, cron and mdadm.
mail 'family@photos.home' Door Bewegung 1.jpg > door.eml
given 0 -oem -oi -- family@photos.home < door.eml
given 0 -t -i <<< $'To: family@photos.home, someone@else.example\nSubject: PHP\n\nOne\n.\nTwo'
given 0 -FCronDaemon -i -B8BITMIME -oem root <<< $'Subject: Cron\n\noutput'
given 0 -t <<< $'To: root\nSubject: DegradedArray\n\nOne\n.\nTwo'
wait_until come family 3
wait_until come machine 2
expect "$(published family | tail -n 1 | jq -r .text)" $'PHP\nOne\n.\nTwo'
expect "$(published machine | tail -n 1 | jq -r .text)" $'DegradedArray\nOne'

# Under the name of the program that others start.
ln -s "$(realpath "$photospool")" sendmail
PATH=$PWD:$PATH sendmail -t <<< $'To: cam-1@photos.home\nBcc: cam-2@photos.home\nSubject: Bcc\n\n' || fail 'sendmail'
given 0 -i cam-1@photos.home cam-2@photos.home < door.eml
wait_until come cam-1 2
wait_until come cam-2 2

# Refusals, each with its status and a sentence.
given 67 work@photos.home <<< 'Hi'
has err.log 'no rule of mail.accept knows work@photos.home'
given 65 -t <<< $'Subject: no recipient\n\nHi'
given 64 <<< 'Hi'
given 64 -bs <<< 'HELO'
given 64 -Z family@photos.home <<< 'Hi'
given 0 -bi < /dev/null
given 0 -bp < /dev/null
expect "$(ls "$spool/failed" "$spool/mail/tmp")" "$spool/failed:

$spool/mail/tmp:" 

sent=3
# Another user of the spool's group may mail, and one outside of it may not.
if [ "$(id -u)" = 0 ]; then
  chmod 755 .
  as() { setpriv --reuid 65534 --regid "$1" --clear-groups "$photospool" sendmail -i family@photos.home; }
  as 0 <<< $'Subject: Group\n\n' || fail 'a member of the group may not mail'
  sent=4
  wait_until come family $sent
  command_ends 77 as 65534 <<< $'Subject: Stranger\n\n'
else
  leave_out 'mails of other users need root'
fi

# The daemon is down; the mail is there.
stop_daemon
given 0 family@photos.home <<< $'Subject: Down\n\n'
sent=$((sent + 1))
[ "$(ls "$spool/mail/new" | wc -l)" = 1 ] || fail 'the mail is not there'

# For several recipients: after a kill at any call its caller repeats the mail, and each recipient has it once.
k=0
status=137
while [ "$status" = 137 ]; do
  k=$((k + 1))
  printf 'Message-ID: <kill-%s@cams.home>\nSubject: %s\n\n' $k $k > repeated.eml
  status=0
  (to_be_killed $k sendmail -i family@photos.home root) < repeated.eml > killed.log 2>&1 || status=$?
  given 0 -i family@photos.home root < repeated.eml
done
[ $k -gt 12 ] || fail "it was killed at $k calls only"
start_daemon
wait_until took
wait_until come family $((sent + k))
wait_until come machine $((2 + k))
expect "$(published family | tail -n $k | jq -r .text | paste -sd,)" "$(seq -s, $k)"
stop_daemon
