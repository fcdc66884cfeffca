# A node of XMTP, $node; another person's client, READER; and an S3 service, $s3, behind TLS, $store.

start_server seaweedfs.py public
s3=$(fact endpoint)
(umask 077; fact accessKey > access; fact secretKey > secret)
start_server tls_server.py "$s3"
authority=$(fact authority) store=$(fact good)
start_script NODE xmtp_relay.py
ask NODE '{"do": "endpoint"}'
node=$(jq -r .endpoint <<< "$answer")
mkdir reader
SSL_CERT_FILE=$authority start_script READER xmtp_reader.py "$node" reader
xmtp=$(realpath "$here/../../Sources/photospool-xmtp/photospool-xmtp.py")
halting=$(realpath "$here/../Support/python/xmtp_halting.py")

# xmtp_settings PROGRAM KEY [SETTING]: of a store and a network there, with that co-process.
xmtp_settings() {
  cat <<YAML
store: {type: s3, endpoint: "$store", bucket: photos, accessKeyFile: $PWD/access, secretKeyFile: $PWD/secret}
network: {type: xmtp, endpoint: "$node", insecure: true, keyFile: $PWD/$2, program: "$1", python: "$(command -v "$python")"${3:+, $3}}
http: {authorityFile: "$authority"}
YAML
}

# checked_inbox FILE: the identity that `check` has registered, so that somebody can add it to a group.
checked_inbox() { sed -n 's/^network xmtp: publishes on XMTP as the inbox \([0-9a-f]\{64\}\), .*/\1/p' "$1"; }
# make_group INBOX...: $group is one of the other person with these.
make_group() {
  ask READER "{\"do\": \"group\", \"with\": $(jq -nc '$ARGS.positional' --args "$@")}"
  group=$(jq -r .group <<< "$answer")
}
# meet: the daemon registers its identity, of which `check` tells in out.log, and the other person makes a group with it.
meet() { start_daemon; stop_daemon; ends 0 check; make_group "$(checked_inbox out.log)"; }

# objects: what the service keeps, by name. stored: how many messages of the group the node has.
objects() { tool sigv4.py list "$s3/photos" us-east-1 "$(cat access)" "$(cat secret)"; }
stored() {
  ask NODE "{\"do\": \"stored\", \"group\": \"$group\"}"
  jq .stored <<< "$answer"
}

# Where a photo can be on its way: before and after a call of the co-process, or of the node.
moments=('before reserve' 'after reserve' 'before publish' 'after publish' before after)
# halt_at MOMENT: the next message stops there. until_halted MOMENT: waits until it has stopped. let_go MOMENT: the node
# goes on after somebody was killed there.
halt_at() {
  case $1 in
    before | after) ask NODE "{\"do\": \"hold\", \"when\": \"$1\"}" ;;
    *) echo "$1" > halt ;;
  esac
}
until_halted() {
  case $1 in
    before | after) ask NODE '{"do": "held"}' ;;
    *) wait_for_line start.log 'line=halted' ;;
  esac
  : > halt
}
let_go() {
  case $1 in
    before) ask NODE '{"do": "drop"}' ;;
    after) ask NODE '{"do": "release"}' ;;
  esac
}
