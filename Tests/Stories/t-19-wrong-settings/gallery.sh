# The servers of the gallery, its entries in the file `gallery`, and a configuration of all of them.

start_server openstack_swift.py
(umask 077; fact accessKey > access; fact secretKey > secret; echo SECRETWRONG > wrong)
bucket=$(fact bucket) s3=$(fact endpoint)
start_server tls_server.py "$s3"
authority=$(fact authority)
good=$(fact good) expired=$(fact expired) wronghost=$(fact wronghost) selfsigned=$(fact selfsigned)
start_server synapse.py
homeserver=$(fact endpoint) bob=$(fact bob)
(umask 077; fact alice > token)
order room alice bob
room=$(jq -r .room <<< "$answer")
order room bob carol
foreign=$(jq -r .room <<< "$answer")
(umask 077; for key in right wrong; do echo "whsec_$(head -c 32 /dev/urandom | base64)" > "whsec.$key"; done)
start_server webhook_receiver.py "$(cat whsec.right)"
webhook=$(fact endpoint)
start_server fault_server.py
fault=$(fact endpoint)

# The answer of an endpoint of one's own with an upload URL. The query of that URL is secret.
upload=$(tool sigv4.py "$s3/$bucket/presigned" us-east-1 "$(cat access)" "$(cat secret)")
ticket=$(jq -rn --arg url "$upload" '{objectKey: "presigned", uploadUrl: $url, assetUrl: "https://photos.example/p"} | tojson | @uri')

# Each: kind, name, the wrong setting, where it is seen, its cause, and the sentence. A fault at `-` only a message can tell.
# The room without a setting has no address but its conversation's name.
cat > gallery <<EOF
s3|wrong-secret|secretKeyFile: wrong|store|auth_expired|the S3 service at ${good#*//} does not accept the access key or its secret; check or renew them (403 SignatureDoesNotMatch)
s3|wrong-key|accessKeyFile: wrong|store|auth_expired|the S3 service at ${good#*//} does not accept the access key or its secret; check or renew them (403 SignatureDoesNotMatch)
s3|wrong-bucket|bucket: elsewhere|store|config_error|the S3 service at ${good#*//} has no bucket of the configured name; check the bucket (404 NoSuchBucket)
s3|wrong-region|region: mars-1|store|config_error|the S3 service at ${good#*//} keeps the bucket elsewhere; check the region and the URL (400 AuthorizationHeaderMalformed)
s3|expired|endpoint: "$expired"|store|config_error|the certificate of ${expired#*//} has expired; ask its operator to renew it
s3|self-signed|endpoint: "$selfsigned"|store|config_error|the certificate of ${selfsigned#*//} is from an authority that is not trusted here; check the URL, or name the authority's file in \`http.authorityFile\`
s3|wrong-host|endpoint: "$wronghost"|store|config_error|the certificate of ${wronghost#*//} is for another host; check the URL
s3|unknown-host|endpoint: "https://photos.invalid"|store|unreachable|the name photos.invalid cannot be looked up; check the name and this machine's network
s3|refused|endpoint: "https://127.0.0.1:1"|store|unreachable|cannot connect to 127.0.0.1:1; check the address and whether the service is up
s3|no-tls|endpoint: "https://${fault#*//}"|store|network|no encrypted connection to ${fault#*//} could be made; check the URL and whether the server uses TLS
s3|only-tls|endpoint: "http://${good#*//}"|store|config_error|the S3 service at ${good#*//} refuses the upload; check its URL and settings (400)
s3|moved|endpoint: "$fault/redirect"|store|config_error|the S3 service at ${fault#*//} wants to be called at another address; check its URL and region (307)
s3|login-page|endpoint: "$fault/html/200"|store|network|the S3 service at ${fault#*//} answered with a page for people; check its URL, and whether a proxy or a login page stands before it (200)
presigned|page-for-json|endpoint: "$fault/html/200?key=SECRETQUERY"|store|network|the upload endpoint at ${fault#*//} answered with a page for people; check its URL, and whether a proxy or a login page stands before it (200)
presigned|text-for-json|endpoint: "$fault/json?text=SECRETQUERY"|store|config_error|the upload endpoint at ${fault#*//} answered without an \`objectKey\`, \`uploadUrl\` and \`assetUrl\` that can be used; check its URL
media|media-token|tokenFile: wrong|store|auth_expired|the homeserver at ${homeserver#*//} does not accept the access token; log in again and replace it (401 M_UNKNOWN_TOKEN)
matrix|room-token|tokenFile: wrong|network|auth_expired|the homeserver at ${homeserver#*//} does not accept the access token; log in again and replace it (401 M_UNKNOWN_TOKEN)
matrix|room-page|homeserver: "$fault/html/200"|network|network|the homeserver at ${fault#*//} answered with something else than Matrix; check its URL, and whether a login page stands before it (200)
matrix|room-refused|homeserver: "https://127.0.0.1:1"|network|unreachable|cannot connect to 127.0.0.1:1; check the address and whether the service is up
room|foreign-room|$foreign|conversation|forbidden|the homeserver at ${homeserver#*//} does not let the account send there; join the room or ask for leave to send (403 M_FORBIDDEN)
room|wrong-alias|#nowhere:localhost|conversation|room_gone|the homeserver at ${homeserver#*//} knows no room of that alias; check how it is written (404)
room|no-room||conversation|room_gone|the conversation is no Matrix room; it has to be a room's id (\`!…\`) or alias (\`#…\`)
webhook|webhook-secret|secretFile: whsec.wrong|-|auth_expired|the webhook at ${webhook#*//} does not accept the signature; check the secret and this machine's clock (401)
webhook|webhook-path|url: "$fault/status/404"|-|config_error|the webhook at ${fault#*//} takes no webhooks; check its URL (404)
webhook|webhook-page|url: "$fault/html/403"|-|auth_expired|the webhook at ${fault#*//} does not accept the signature; check the secret and this machine's clock (403)
EOF

# settings KIND [WRONG]: those of one section, of which one is wrong.
settings() {
  local all setting
  case $1 in
    s3) all="endpoint: \"$good\"|bucket: $bucket|region: us-east-1|accessKeyFile: access|secretKeyFile: secret" ;;
    presigned) all="endpoint: \"$fault/json?text=$ticket\"" ;;
    media | matrix | room) all="homeserver: \"$homeserver\"|tokenFile: token" ;;
    webhook) all="url: \"$webhook\"|secretFile: whsec.right|allowPrivate: true" ;;
  esac
  while read -r setting; do
    if [ -n "${2-}" ] && [ "${setting%%:*}" = "${2%%:*}" ]; then echo "$2"; else echo "$setting"; fi
  done <<< "${all//|/$'\n'}" | paste -sd,
}

# configure wrong|right: every entry of the gallery is a store or a network and a conversation of its own.
configure() {
  local kind name wrong as stores networks='' routes=''
  stores="  media: {type: matrix, $(settings media)}"$'\n'
  while IFS='|' read -r kind name wrong _; do
    [ "$1" = wrong ] || wrong=
    as=${wrong:-$room}
    case $kind in
      s3 | presigned)
        stores+="  $name: {type: $kind, $(settings $kind "$wrong")}"$'\n'
        networks+="  $name: {type: local, store: $name}"$'\n' ;;
      media)
        stores+="  $name: {type: matrix, $(settings $kind "$wrong")}"$'\n'
        networks+="  $name: {type: matrix, store: $name, seal: matrix, $(settings matrix)}"$'\n' ;;
      webhook) networks+="  $name: {type: webhook, $(settings $kind "$wrong")}"$'\n' ;;
      *) networks+="  $name: {type: matrix, store: media, seal: matrix, $(settings $kind "$wrong")}"$'\n' ;;
    esac
    case $kind in
      room)
        [ "$1" = right ] || [ -n "$wrong" ] || as=
        routes+="  - {conversation: $name, network: $name${as:+, as: \"$as\"}}"$'\n' ;;
      media | matrix) routes+="  - {conversation: $name, network: $name, as: \"$room\"}"$'\n' ;;
      *) routes+="  - {conversation: $name, network: $name}"$'\n' ;;
    esac
  done < gallery
  printf '%s\n' "http: {authorityFile: \"$authority\"}" stores: "$stores" networks: "$networks" routes: "$routes" > photospool.yaml
}
