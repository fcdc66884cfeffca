# A daemon whose configuration is its own, photospool.yaml, and a receiver of webhooks with the secret $good.

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
reloads() { grep -c '"event":"configuration reloaded"\|event="configuration reloaded"' start.log || true; }
# reload: returns when the new configuration is in force.
reload() {
  local before; before=$(reloads)
  kill -HUP "$daemon"
  wait_until eval "[ \$(reloads) -gt $before ]"
}
metric() { "$photospool" metrics | awk -v name="$1" '$1 == name { print $2 }'; }
start_reloading() { start_daemon -u PHOTOSPOOL_SPOOL PHOTOSPOOL_CONFIG="$PWD/photospool.yaml"; }
