# Hooks run for sent, failed and received photos. A hanging hook blocks nobody and is ended; events beyond its queue are
# dropped and counted.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
mkdir hooks told drops
# hook NAME SCRIPT
hook() { printf '#!/bin/sh\nDIR=%q\n%s\n' "$PWD" "$2" > "hooks/$1"; chmod 700 "hooks/$1"; }
for event in sent failed received; do hook "$event" "cat >> \$DIR/told/$event"; done
configure <<YAML
receiving: {allowPrivate: true, fetch: always}
hooks:
  sent: $PWD/hooks/sent
  failed: $PWD/hooks/failed
  received: $PWD/hooks/received
  perMinute: 6000
YAML
start_server object_server.py
tool send_photo.py "$(fact directory)" "$(fact endpoint)/plain" drops <<< 'theirs family matrix photo.jpg'

start_daemon
drop cat family 'SECRETTEXT' photo.jpg
"$photospool" wait --timeout 60 cat
wait_for_line told/sent '"request":"cat"'
expect "$(jq -c 'keys' told/sent)" '["acceptedAt","conversation","event","finishedAt","inbox","messages","request"]'
expect "$(jq -r '[.event, .conversation, .inbox, (.messages | map(.kind + " " + .state) | join(", "))] | join(" ")' told/sent)" \
  'sent family default photo sent, text sent'
! grep -q 'SECRETTEXT\|secret\|salt' told/sent || fail 'a hook is told too much'
printf 'no photo' > broken.jpg
drop broken family '' broken.jpg
mkdir "$spool/tmp/refused"; echo family > "$spool/tmp/refused/to"; mv "$spool/tmp/refused" "$spool/new/"
wait_for_line told/failed '"request":"broken"'
wait_for_line told/failed '"request":"refused"'
expect "$(jq -r 'select(.request == "broken") | [.event, (.error | test("not an image"))] | @csv' told/failed)" '"failed",true'
mv drops/theirs "$spool/incoming/new/"
wait_for_line told/received '"event":"received"'
"$photospool" view "$(jq -r .message told/received)" > view.log
expect "$(jq -r '.conversation + " " + .inbox + " " + .sender' told/received)" 'family default @bob:example.org'

# One that hangs, with all that it starts: what is sent goes out, and its time limit ends it.
hook sent 'echo $$ >> "$DIR/told/hanging"; sleep 1000 & wait'
sed -i 's/perMinute: 6000/timeout: 1s/' photospool.yaml
kill -HUP "$daemon"
wait_for_line start.log 'event="configuration reloaded"'
for number in $(seq 400); do drop "many-$number" "c$((number % 20))" hello; done
"$photospool" wait --timeout 120 many-400
all_sent() { [ "$(ls "$spool/sent" | grep -c many)" = 400 ]; }
wait_until all_sent
wait_for_line start.log 'event="a hook failed".*hook=sent'
"$photospool" metrics > metrics
dropped=$(sed -n 's/^photospool_hooks_dropped_total{event="sent"} //p' metrics)
[ "$dropped" -ge 1 ] || fail "nothing was dropped: $(grep hooks metrics)"
wait_for_line start.log 'event="events were not told, as the hook is too slow".*hook=sent'
# A stop waits for no hook, and leaves none.
begin=$SECONDS
stop_daemon
[ $((SECONDS - begin)) -lt 20 ] || fail 'the stop waited for a hook'
for group in $(cat told/hanging); do
  gone() { ! kill -0 -- "-$group" 2>/dev/null; }
  wait_until gone
done
