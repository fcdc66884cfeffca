# Mails of a camera become messages, once each; what cannot be sent is kept with the reason, and nobody is answered.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/mail.sh"

noise 640x480 1.jpg 2.jpg 3.jpg

# Without a rule there is nothing of it.
start_daemon
[ ! -e "$spool/mail" ] || fail 'there is a mail/ without a rule'
stop_daemon
# So that events find mails, and no scan.
rules="intake: {rescan: 1h}
$rules"
configure <<< "$rules"
start_daemon

# Photos in order, then the text; for each conversation that a recipient stands for.
mail 'family@photos.home, Cam-Door@photos.home, who@else' Door Bewegung 1.jpg 2.jpg 3.jpg > door.eml
deliver 1795.V1.vm,S=9 door.eml
wait_until come family 4
wait_until come cam-door 4
expect "$(published family | jq -r .kind | paste -sd,)" photo,photo,photo,text
expect "$(published family | jq -r 'select(.kind == "text").text')" $'Door\nBewegung'
expect "$(published cam-door | jq -r .inbox | sort -u)" garden
has start.log 'a mail became requests'

# The same again, as after a crash of the agent, is a duplicate; so is the second name of one file.
deliver again door.eml
wait_until took
deliver later <<< $'To: family@photos.home\n\nLater'
wait_until come family 5
expect "$(messages cam-door)" 4
expect "$(grep -l duplicate "$spool"/sent/*/receipt.json | wc -l)" 2

# A mail without a photo, for a rule that drops it. Then what is refused.
deliver health <<< $'To: cam-door@photos.home\n\nHealth: fine'
deliver nobody <<< $'To: work@photos.home\n\nHello'
deliver reply <<< $'To: family@photos.home\nAuto-Submitted: auto-replied\n\nI am away'
mkfifo "$spool/mail/new/pipe"
# An agent that names its mails in another charset.
deliver $'caf\xe9' <<< $'To: family@photos.home\n\nHello'
wait_until took
expect "$(ls "$spool/failed" | paste -sd,)" caf-,nobody,pipe,reply
has "$spool/failed/caf-/error" 'name is not UTF-8; let the agent choose another one'
has "$spool/failed/caf-/mail" Hello
has "$spool/failed/nobody/error" 'no rule of mail.accept knows work@photos.home'
has "$spool/failed/reply/error" 'automatic answer'
has "$spool/failed/nobody/mail" Hello
expect "$(messages cam-door)" 4
"$photospool" metrics > metrics.prom
has metrics.prom 'photospool_mails_total{end="refused"} 4'
for reason in address:1 answer:1 contents:0 file:2 limit:0 parser:0; do
  has metrics.prom "photospool_mails_refused_total{reason=\"${reason%:*}\"} ${reason#*:}"
done
has metrics.prom 'photospool_mails_total{end="dropped"} 1'
# A mail that was kept can be sent after all.
configure <<< "$rules    - {to: work@photos.home, conversation: work}"
kill -HUP "$daemon"
wait_for_line start.log reloaded
mv "$spool/failed/nobody/mail" "$spool/mail/new/nobody"
wait_until come work 1

# A hostile mail, and a good one behind it.
"$python" -c 'print("To: family@photos.home\n" + "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(20000)))' \
  | deliver deep
deliver good <<< $'To: family@photos.home\n\nGood'
wait_until come family 6
has "$spool/failed/deep/error" 'levels of parts; the limit is 20'
ends 65 mail --explain "$spool/failed/deep/mail"
has err.log 'refused: .*the limit is 20'

# The daemon was down: mails wait. A purge takes them with it, also those that nobody has read.
stop_daemon
deliver secret <<< $'To: family@photos.home\n\nMARKERSECRET'
deliver bad <<< $'To: cam-9@photos.home, family@photos.home\nContent-Type: video/mp4\n\nMARKERSECRET'
"$photospool" purge family
took || fail 'a purge left mails'
! grep -rq MARKERSECRET "$spool" || fail "a purge left: $(grep -rl MARKERSECRET "$spool")"
deliver waits <<< $'To: family@photos.home\n\nWaited'
# No rule takes it any more.
mv photospool.yaml rules.yaml
configure <<< ''
ends 78 check
has err.log "no rule takes mails, and 1 mail waits in $spool/mail/new, such as waits; write a rule"
mv rules.yaml photospool.yaml
start_daemon
wait_until come family 1

# A purge also takes a mail that was refused while the daemon runs.
deliver bad <<< $'To: cam-9@photos.home, family@photos.home\nContent-Type: video/mp4\n\nMARKERSECRET'
wait_until grep -q MARKERSECRET "$spool/failed/bad/mail"
"$photospool" purge cam-9
is_gone() { ! grep -rq MARKERSECRET "$spool"; }
wait_until is_gone

# Faults of the Maildir.
"$photospool" check > check.txt || fail "check: $(cat check.txt)"
has check.txt '^mail: taken by 4 rules'
touch "$spool/mail/cur/seen"
ends 78 check
has err.log 'mail/cur is not empty'
rm "$spool/mail/cur/seen"
chmod 700 "$spool/mail"
ends 78 check
has err.log 'OpenSMTPD'
deliver shut <<< $'To: family@photos.home\n\nShut'
wait_until come family 2

"$photospool" mail --explain door.eml > explained
has explained 'to the conversation cam-door, as the inbox garden'
has explained '^photo 3: a JPEG'
stop_daemon
