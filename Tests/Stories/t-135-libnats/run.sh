# Without a cluster no process loads libnats. With one, the daemon loads it once it connects. Servers that all go away and come
# back cost nothing but time.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/deliveries.sh"
has_library() { grep -q libnats "/proc/$daemon/maps"; }

start_sink
settings() {
  cat <<YAML
store: {type: presigned, endpoint: "$sink/upload"}
network: {type: webhook, url: "$sink/hook", secretFile: hook.secret, allowPrivate: true}
YAML
}
configure < <(settings)
noise 300x200 photo.jpg
start_daemon
send_to_judge alone family 'by itself' photo.jpg
wait_for_all 60
! has_library || fail 'a daemon without a cluster has loaded libnats'
stop_daemon

. "$here/lib/nats.sh"
(umask 077; openssl rand -hex 32 > cluster.secret; echo "$nats_token" > cluster.token)
configure < <(settings; echo "cluster: {servers: \"$nats_servers\", secretFile: cluster.secret, tokenFile: cluster.token}")
start_daemon
send_to_judge together family 'in a cluster' photo.jpg
wait_for_all 120
has_library || fail 'a daemon of a cluster has not loaded libnats'

nats kill all
send_to_judge meanwhile family 'while all servers are away' photo.jpg
wait_until test -d "$spool/cur/meanwhile"
nats start all
wait_for_all 120
judge sink/objects
wait_until test -d "$spool/sent/meanwhile"
is_empty "$spool/cur"
stop_daemon
