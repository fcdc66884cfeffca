# A receiver of webhooks ($hook), a signer of upload URLs ($signer), and a configuration, $PWD/photospool.yaml, of both: with a
# marker in each secret, ticket and address, but for what the caller puts into `hook.secret` ($secret is the right one) and the
# variable SIGNER_TOKEN.

secret=whsec_$(printf 'MARKERSIGNINGSECRET-and-more' | base64)
start_server webhook_receiver.py "$secret"
hook=$(fact endpoint)
exec 7>&"${SERVER[1]}"
coproc SIGNER { exec "$python" "$here/../Support/python/fault_server.py"; }
read -r facts <&"${SIGNER[0]}"
signer=$(fact endpoint)
ticket=$(jq -rn --arg s "$signer" '{objectKey: "MARKEROBJECT", uploadUrl: "\($s)/echo/MARKERUPLOAD?sig=MARKERUPLOADSIGNATURE",
  assetUrl: "https://photos.example.org/MARKERASSET?x=MARKERASSETQUERY"} | tojson | @uri')
configure <<YAML
log: {level: trace}
store: {type: presigned, endpoint: "$signer/json?text=$ticket", tokenVariable: SIGNER_TOKEN}
network: {type: webhook, url: "$hook/MARKERHOOKPATH?key=MARKERHOOKQUERY", secretFile: hook.secret, allowPrivate: true}
delivery: {backoff: {first: 10ms, longest: 50ms}}
YAML
# no_secret FILE...: none of them has a marker, a key that was published, or a whole address.
no_secret() {
  curl -s "$hook" | jq -r '.[].body | fromjson.data.attachment // empty | .secret, .salt, .nonce' | sort -u > keys
  [ "$(wc -l < keys)" -ge 3 ] || fail 'no keys were published'
  ! grep -rn 'MARKER' "$@" || fail 'a marker is shown'
  ! grep -rn -F -f keys "$@" || fail 'a key is shown'
  ! grep -rn 'https\?://[^ ]*/[A-Za-z]' "$@" || fail 'a full URL is shown'
  ! grep -rn "${secret#whsec_}" "$@" || fail 'a secret is shown'
}
