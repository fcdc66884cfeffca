# More conversations than are served at once wait for a slow receiver and for a hanging program: messages to other
# networks go out meanwhile, and theirs follow.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/deliveries.sh"

start_sink
cat > hangs <<SH
#!/bin/sh
echo \$\$ >> $PWD/programs
exec tail -f /dev/null
SH
chmod +x hangs
configure <<YAML
network: {type: webhook, url: "$sink/slow", secretFile: hook.secret, allowPrivate: true}
networks:
  programs: {type: exec, program: $PWD/hangs, timeout: 1h}
  quick: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true}
  here: {type: local}
routes:
  - {conversation: "program-*", network: programs}
  - {conversation: "quick-*", network: quick}
  - {conversation: "local-*", network: here}
delivery: {conversations: 16}
YAML
start_daemon
for number in $(seq 50); do
  send_to_judge "s$number" "slow-$number" "text $number"
  drop "p$number" "program-$number" "text $number"
done
order held 16 60
expect "$(jq .count <<< "$answer")" 16 'conversations that wait for the slow receiver'
wait_until sh -c '[ "$("$0" queue --json --state publishing | grep -c "\"program-")" = 16 ]' "$photospool"
for number in $(seq 20); do
  drop "l$number" "local-$number" "text $number"
  drop "q$number" "quick-$number" "text $number"
done
"$photospool" wait --timeout 60 $(seq -f 'l%g' 20) $(seq -f 'q%g' 20)
# Nobody had given up meanwhile.
order held 16 0
expect "$(jq .count <<< "$answer")" 16 'conversations that still wait for the slow receiver'
order let-go
"$photospool" wait --timeout 60 $(seq -f 's%g' 50)
kill_daemon
kill $(cat programs)
