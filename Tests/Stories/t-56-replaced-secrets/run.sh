# A secret that was refused is read again from its file with the next attempt: after `delivery.mending` by itself, and on
# `flush`. Nobody has to reload the configuration.
. "$(dirname "$0")/../lib/library.sh"

good=whsec_$(printf 'the secret that both know....' | base64)
start_server webhook_receiver.py "$good"
secret() { (umask 077; echo "$1" > new.secret); mv new.secret hook.secret; }
secret "whsec_$(printf 'another secret, that is wrong' | base64)"
configuration() {
  cat > photospool.yaml <<END
network: {type: webhook, url: "$(fact endpoint)/photos", secretFile: hook.secret, allowPrivate: true}
delivery: {mending: $1}
END
}
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml
# refused REQUEST TIMES: at least so often.
refused() { [ "$(grep -c "event=waits request=$1 .*cause=auth_expired" start.log)" -ge "$2" ]; }

configuration 1h
start_daemon
drop first family 'Check this out!'
wait_until refused first 1
wait_until has_error first
secret "$good"
"$photospool" flush > /dev/null
"$photospool" wait --timeout 60 first
stop_daemon

secret "whsec_$(printf 'another secret, that is wrong' | base64)"
configuration 1s
start_daemon
drop second family 'Check this out, too!'
wait_until refused second 2
secret "$good"
"$photospool" wait --timeout 60 second
! grep -q 'configuration reloaded' run.log start.log || fail 'it was reloaded'
stop_daemon
expect "$(curl -s "$(fact endpoint)" | jq -r '.[].verdict' | grep -c '^verified')" 2
