# A gallery of wrong settings. Each is told in one sentence, the same in `check`, in `queue` and in the log, which says
# what is wrong, where, and what to do, and neither a secret nor a URL's query. Nothing is lost by any of them: once the
# configuration is mended, all that waited goes out, in order and once; what the network refused, after `retry`.
. "$(dirname "$0")/../lib/library.sh"

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

# What leads to an upload URL, as an endpoint of one's own would tell it: its query is nobody's business.
upload=$(tool sigv4.py "$s3/$bucket/presigned" us-east-1 "$(cat access)" "$(cat secret)")
ticket=$(jq -rn --arg url "$upload" '{objectKey: "presigned", uploadUrl: $url, assetUrl: "https://photos.example/p"} | tojson | @uri')

# The gallery: what it is called, what is wrong about it, where it is seen, its cause, and the sentence. A `-` for where
# is what only a message can tell.
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
room|no-room|family|conversation|room_gone|the conversation is no Matrix room; it has to be a room's id (\`!…\`) or alias (\`#…\`)
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
  local kind name wrong stores networks='' routes=''
  stores="  media: {type: matrix, $(settings media)}"$'\n'
  while IFS='|' read -r kind name wrong _; do
    [ "$1" = wrong ] || wrong=
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
      room) routes+="  - {conversation: $name, network: $name, as: \"${wrong:-$room}\"}"$'\n' ;;
      media | matrix) routes+="  - {conversation: $name, network: $name, as: \"$room\"}"$'\n' ;;
      *) routes+="  - {conversation: $name, network: $name}"$'\n' ;;
    esac
  done < gallery
  printf '%s\n' "http: {authorityFile: \"$authority\"}" stores: "$stores" networks: "$networks" routes: "$routes" > photospool.yaml
}
export PHOTOSPOOL_CONFIG=$PWD/photospool.yaml

# told FIELDS WHERE...: what the gallery says, of those that are seen there.
told() { awk -F'|' -v fields="$1" -v where=" ${*:2} " 'index(where, " " $4 " ") {
  line = fields; sub("WHERE", $4, line); sub("NAME", $2, line); sub("CAUSE", $5, line); print line $6 }' gallery; }
# same WHAT FOUND EXPECTED: two lists in one order.
same() { diff <(sort "$2") <(sort "$3") > difference || fail "$1 says other things (<) than expected (>): $(cat difference)"; }

noise 300x200 photo.jpg
configure wrong
start_daemon
status=0
"$photospool" check > check.log 2> complaints || status=$?
expect "$status" 78
{ told 'photospool: WHERE NAME: ' store network conversation; echo "photospool: $(told x store network conversation | wc -l) problems to fix"; } > expected
same check complaints expected

# Everybody sends; each waits for its own, and the one who has nothing wrong does not wait.
names=$(cut -d'|' -f2 gallery)
drop fine fine 'nothing is wrong' photo.jpg
for name in $names; do drop "$name" "$name" "text of $name" photo.jpg; done
"$photospool" wait --timeout 120 fine
while IFS='|' read -r kind name _ _ cause _; do
  if [ $kind = room ]; then wait_for_line start.log "event=failed .*request=$name "
  else wait_for_line start.log "level=warning event=.*waits.* cause=$cause destination=$name " 60
  fi
done < gallery
stop_daemon
# What may be one conversation's own is told with its message, and the rest once for all.
sed -nE 's/^.* level=warning event=("destination waits"|waits) .*cause=([a-z_]*) destination=([^ ]*) error="(.*)" (step=[a-z]* )?wait=[0-9.]*$/\3: \2: \4/p' \
  start.log run.log | sort -u > all
# A service that refuses before it has read the photo may look broken to the proxy before it, until it is tried again.
grep -v ': server_busy: the S3 service at .*(502)$' all > log
told 'NAME: CAUSE: ' store network - > expected
same 'the log' log expected
"$photospool" queue --json | jq -r 'select(.error) | "\(.conversation): \(.error)"' > queue
told 'NAME: ' store network - > expected
same queue queue expected
told 'NAME: photo-0.jpg: ' conversation > expected
(cd "$spool/failed" && for name in *; do echo "$name: $(cat "$name/error")"; done) > failed
same failed/ failed expected
is_empty "$spool/new" "$spool/tmp"
expect "$({ ls "$spool/cur"; ls "$spool/failed"; } | sort | xargs)" "$(sort <<< "$names" | xargs)" 'nothing is lost'
for place in check.log complaints run.log queue failed; do
  if grep -e SECRET -e whsec_ -e X-Amz -e "$(cat token)" $place; then fail "$place tells a secret"; fi
done

# Mended in the configuration, and nowhere else.
configure right
"$photospool" check > check.log 2>&1 || fail "the right settings are not right: $(cat check.log)"
start_daemon
for name in $(awk -F'|' '$4 == "conversation" {print $2}' gallery); do "$photospool" retry "$name"; done
# Not every next attempt is due at once.
"$photospool" flush
"$photospool" wait --timeout 120 $names
stop_daemon
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/tmp"
for name in fine $(awk -F'|' '$1 == "s3" || $1 == "presigned" {print $2}' gallery); do
  expect "$(published "$name" | jq -r .kind | xargs)" 'photo text' "$name"
done
tool read_room.py "$homeserver" @bob:localhost "$bob" "$room" > seen.jsonl
for name in $(awk -F'|' '$1 == "media" || $1 == "matrix" || $1 == "room" {print $2}' gallery); do
  expect "$(grep -c "text of $name\"" seen.jsonl)" 1 "$name"
done
expect "$(jq -r .kind seen.jsonl | grep -c photo)" "$(grep -c -e ^media -e ^matrix -e ^room gallery)"
curl -sf "$webhook" | jq -r '.[] | select(.verdict == "verified").body | fromjson.data | "\(.conversation) \(.kind)"' > got
awk -F'|' '$1 == "webhook" {print $2 " photo"; print $2 " text"}' gallery > expected
same 'the receiver' got expected

# What cannot even be read is told before anything is taken from a client: by `check` and by `run`, in the same words.
drop late late 'after all'
refuse() {
  local command status
  for command in check run; do
    status=0
    "$photospool" $command > /dev/null 2> said || status=$?
    expect "$status" 78 "$command: $(cat said)"
    expect "$(grep -m 1 '^photospool: ' said)" "photospool: $1" "$command"
  done
  expect "$(ls "$spool/new")" late
}
s3_with() { echo "store: {type: s3, $(settings s3 "${1-}")}" > photospool.yaml; }
s3_with 'secretKeyFile: nowhere'
refuse "store s3: cannot open $PWD/nowhere: No such file or directory"
echo SECRETOPEN > open; chmod 644 open
s3_with 'secretKeyFile: open'
refuse "store s3: $PWD/open is open to others than its owner; \`chmod 600\` it"
(umask 077; : > empty)
s3_with 'secretKeyFile: empty'
refuse "store s3: $PWD/empty holds no secret; it is empty"
s3_with 'bucket: "two words"'
refuse "$PWD/photospool.yaml:1: \`store.bucket\` is \`two words\`; it has to be the name of a bucket: 1 to 255 letters, digits, \`.\`, \`-\` and \`_\`, or empty"
(umask 077; echo SECRETWRONG > wrong)
echo "network: {type: webhook, $(settings webhook 'secretFile: wrong')}" > photospool.yaml
refuse "network webhook: a webhook's secret has to be \`whsec_\` and 24 to 64 bytes in base64"
printf '%s\n' 'http: {authorityFile: "/nowhere.pem"}' "store: {type: s3, $(settings s3)}" > photospool.yaml
"$photospool" check > /dev/null 2> said && fail 'a file of authorities that is not there is well'
expect "$(head -n 1 said)" 'photospool: store s3: the file with the trusted authorities cannot be read; check `http.authorityFile`'
s3_with
sed -i "\$a http: {authorityFile: \"$authority\"}" photospool.yaml
start_daemon
"$photospool" wait --timeout 60 late
stop_daemon
