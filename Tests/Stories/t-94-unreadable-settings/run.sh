# `check` and `run` refuse settings that cannot be read, in the same words, before anything is taken from a client.
. "$(dirname "$0")/../lib/library.sh"

start_server tls_server.py http://127.0.0.1:1
good=$(fact good)
(umask 077; echo access > access; echo secret > secret)
start_daemon
stop_daemon
drop late late 'after all'
# refuse SENTENCE: both end with it, and the request stays where it is.
refuse() {
  local command
  for command in check run; do
    ends 78 $command
    expect "$(grep -m 1 '^photospool: ' err.log)" "photospool: $1" "$command"
  done
  expect "$(ls "$spool/new")" late
}
# s3_with SETTING: a store of which only that is wrong.
s3_with() {
  local right="endpoint: \"$good\", bucket: photos, accessKeyFile: access, secretKeyFile: secret"
  configure <<< "store: {type: s3, $(sed "s|${1%%:*}: [^,]*|$1|" <<< "$right")}"
}
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
configure <<< 'network: {type: webhook, url: "https://hooks.example.org", secretFile: wrong}'
refuse "network webhook: a webhook's secret has to be \`whsec_\` and 24 to 64 bytes in base64"
s3_with 'bucket: photos'
echo 'http: {authorityFile: "/nowhere.pem"}' >> photospool.yaml
ends 78 check
expect "$(head -n 1 err.log)" 'photospool: store s3: the file with the trusted authorities cannot be read; check `http.authorityFile`'

# Mended, what was there all the time goes out.
configure <<< 'seal: none'
start_daemon
"$photospool" wait --timeout 60 late
stop_daemon
