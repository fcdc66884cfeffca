# Hosts of a cluster on three servers, which publish to the recording webhook. Loads instances.sh, deliveries.sh and nats.sh.
. "$here/lib/instances.sh"
. "$here/lib/deliveries.sh"
. "$here/lib/nats.sh"

start_sink
(umask 077; openssl rand -hex 32 > cluster.secret; echo "$nats_token" > cluster.token)

# cluster_host NAME [SETTING...]: a host with these further settings of its `cluster:` section.
cluster_host() {
  mkdir "$1"
  {
    echo "spool: {directory: \"$PWD/$1/spool\"}"
    echo "store: {type: presigned, endpoint: \"$sink/upload\"}"
    echo "network: {type: webhook, url: \"$sink/hook\", secretFile: ../hook.secret, allowPrivate: true}"
    printf '%s\n' cluster: "  servers: \"$nats_servers\"" '  secretFile: ../cluster.secret' '  tokenFile: ../cluster.token'
    [ $# = 1 ] || printf '  %s\n' "${@:2}"
  } > "$1/photospool.yaml"
}
