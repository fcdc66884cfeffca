# Programs of Debian that mail: cron, bsd-mailx, PHP and mutt start `photospool sendmail` themselves, by the recipes of
# docs/mail.md as printed. mdadm mails about arrays alone, which need a driver of the kernel; t-101 has its line.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"
. "$here/lib/machine.sh"
on_a_machine programs

noise 640x480 1.jpg
configure <<< 'mail:
  accept:
    - {to: family@photos.home, conversation: family}
    - {to: [root, "root@*"], conversation: machine}
'
start_daemon
last() { published "$1" | tail -n 1 | jq -r .text; }
programs='cron, mdadm, smartd, PHP, mutt'

# A computer without a mail server.
rm /usr/sbin/sendmail
bash -c "$(recipe mail.md "$programs" 3)"

echo '@reboot root echo output of a job' > /etc/crontab
rm -rf /etc/cron.d/*
cron
wait_until come machine 1
expect "$(last machine | tail -n 1)" 'output of a job'
last machine | grep -q '^Cron <root@.*> echo output of a job' || fail "cron: $(last machine)"

echo 'all is well' | bsd-mailx -s 'From mailx' root
wait_until come machine 2
expect "$(last machine)" $'From mailx\nall is well'

recipe mail.md "$programs" 4 > php.ini
as photospool env PHPRC="$PWD" php8.2 -r 'exit(mail("family@photos.home", "From PHP", "A line\n.\nAnother") ? 0 : 1);' || fail PHP
wait_until come family 1
expect "$(last family)" $'From PHP\nA line\n.\nAnother'

recipe mail.md "$programs" 5 > .muttrc
chmod 644 1.jpg
install -d -o photospool mutt
echo 'A photo' | as photospool env HOME="$PWD/mutt" mutt -F "$PWD/.muttrc" -s 'From mutt' -a "$PWD/1.jpg" -- family@photos.home
wait_until come family 3
expect "$(published family | jq -r .kind | paste -sd,)" text,photo,text
expect "$(last family)" $'From mutt\nA photo'
expect "$(ls "$spool/failed")" ''
stop_daemon
