# SIGHUP: what was held for a wrong secret goes out when the file is mended; a wrong configuration is refused, sentence by
# sentence, and the old one stays; and under load nothing is lost, doubled or out of order.
. "$(dirname "$0")/../lib/library.sh"

good=whsec_$(printf 'the secret that both know....' | base64)
start_server webhook_receiver.py "$good"
hook=$(fact endpoint)
(umask 077; echo "whsec_$(printf 'another secret, that is wrong' | base64)" > hook.secret)
configuration() {
  cat > new.yaml <<EOF
spool: {directory: $spool}
networks:
  hook: {type: webhook, url: "$hook/photos", secretFile: hook.secret, allowPrivate: true}
routes:
  - {conversation: [family, cousins], network: hook}
EOF
  [ $# = 0 ] || printf '%s\n' "$@" >> new.yaml
  mv new.yaml photospool.yaml
}
configuration
# Commands have one of their own, as they refuse a wrong one as well.
touch commands.yaml
export PHOTOSPOOL_CONFIG=$PWD/commands.yaml
verdicts() { curl -s "$hook" | jq -r '.[].verdict'; }
reloads() { grep -c 'event="configuration reloaded"' start.log || true; }
# reload: returns when the new configuration is in force.
reload() {
  local before; before=$(reloads)
  kill -HUP "$daemon"
  wait_until eval "[ \$(reloads) -gt $before ]"
}
metric() { "$photospool" metrics | awk -v name="$1" '$1 == name { print $2 }'; }

# The spool is the configuration's, not the environment's.
start_daemon -u PHOTOSPOOL_SPOOL PHOTOSPOOL_CONFIG="$PWD/photospool.yaml"
drop cat family 'Check this out!' "$photos/Dragonfly_by_Bolly.jpg"
# A second conversation that is refused shows that it concerns all.
drop cousin cousins hello
wait_for_line start.log 'event="destination waits".*cause=auth_expired'
drop other friends hello
"$photospool" wait --timeout 60 other
expect "$(metric 'photospool_destination_available{destination="hook"}')" 0

# Mended, and asked for: it arrives at once, and not only with the next probe.
(umask 077; echo "$good" > hook.secret)
reload
grep -q 'event="configuration reloaded".*anew="network hook"' start.log || fail 'the log does not say what is new'
"$photospool" wait --timeout 60 cat cousin
expect "$(verdicts | grep -c '^verified')" 3
expect "$(metric photospool_config_reload_successful)" 1

# A wrong one: each of its mistakes is told with its line, and nothing of it is in force.
configuration 'delivery: {lookahead: 0, upload: 3}' 'inbox: nobody'
kill -HUP "$daemon"
wait_for_line start.log 'event="the new configuration is refused; the old one stays in force".*photospool.yaml:6: `delivery.lookahead` is'
wait_for_line start.log 'the old one stays in force.*did you mean `uploads`'
expect "$(metric photospool_config_reload_successful)" 0
drop still friends 'still there'
drop again family 'and here'
"$photospool" wait --timeout 60 still again
expect "$(published friends | tail -n 1 | jq -r .inbox)" default
expect "$(verdicts | grep -c '^verified')" 4
# So is one with a secret that cannot be read, although its file is good.
configuration 'inbox: nobody'
chmod 644 hook.secret
kill -HUP "$daemon"
wait_for_line start.log 'the old one stays in force.*network hook.*hook.secret is open to others'
chmod 600 hook.secret

# What needs a restart is named; the rest takes effect.
configuration 'inbox: me' 'log: {level: debug, format: json}'
sed -i "s,directory: .*spool},directory: $PWD/elsewhere}," photospool.yaml
kill -HUP "$daemon"
wait_for_line start.log '"event":"a setting takes effect with the next start only".*"setting":"spool.directory"'
drop mine friends mine
"$photospool" wait --timeout 60 mine
expect "$(published friends | tail -n 1 | jq -r .inbox)" me
wait_for_line start.log '"event":"publishing"'
[ ! -e elsewhere ] || fail 'the other spool was made'

# A photo that waits in its store when its seal changes is uploaded anew in the new form, and the former object goes.
reloads() { grep -c '"event":"configuration reloaded"\|event="configuration reloaded"' start.log || true; }
configuration 'network: {type: webhook, url: "http://127.0.0.1:1/", secretFile: hook.secret, allowPrivate: true}'
reload
objects() { ls "$spool/objects" | sort; }
# Something else has found out before that the network is away, so that the photo was surely not offered to it.
drop first friends first
wait_for_line start.log 'event="destination waits".*cause=unreachable'
objects > before
drop waiting album '' "$photos/Wine_by_Jakkub_Mede.jpg"
wait_for_line start.log 'event="waits for its destination" request=waiting'
sealed=$(objects | comm -13 before -)
[ -n "$sealed" ] || fail 'the photo is not in the store'
configuration 'seal: none'
reload
"$photospool" wait --timeout 60 first waiting
expect "$(published album | jq -r '.attachment | has("secret")')" false
wait_until eval "[ ! -e '$spool/objects/$sealed' ]"
expect "$(objects | comm -13 before - | wc -l)" 1

# Under load: fifty reloads, between two configurations that differ in nearly everything, while 400 requests go
# out. Each is published once, in its order.
for number in $(seq 400); do
  if [ $((number % 40)) = 0 ]; then
    drop "load-$number" "c$((number % 8))" "$number" "$photos/Wine_by_Jakkub_Mede.jpg"
  else
    drop "load-$number" "c$((number % 8))" "$number"
  fi
  if [ $((number % 8)) = 0 ]; then
    if [ $((number % 16)) = 0 ]; then
      configuration 'seal: matrix' 'delivery: {uploads: 1, lookahead: 1, conversations: 2}' \
        'photo: {longestSide: 100}' 'http: {connect: 5s}' 'store: {type: directory, url: "https://photos.example.org"}'
    else
      configuration
    fi
    kill -HUP "$daemon"
  fi
done
"$photospool" wait --timeout 300 $(seq -f 'load-%g' 400)
for conversation in $(seq 0 7); do
  expect "$(published "c$conversation" | jq -r 'select(.kind == "text").text' | paste -sd' ')" \
    "$(seq 400 | awk -v c="$conversation" '$1 % 8 == c' | paste -sd' ')" "c$conversation"
done
expect "$(cat "$spool"/published/c?.jsonl | jq -r .message | sort | uniq -d)" ''
expect "$(cat "$spool"/published/c?.jsonl | grep -c '"kind":"photo"')" 10
expect "$(metric 'photospool_requests_ended_total{outcome="failed"}')" 0
[ "$(reloads)" -ge 10 ] || fail "only $(reloads) reloads"
stop_daemon
