# The page for other computers: TLS with HTTP/2, a certificate that is renewed, a reverse proxy, and passwords.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/web.sh"

# certify NAME: a certificate for this name, which certifies itself, in NAME.pem, and its key in NAME.key.
certify() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=DNS:$1" \
    -keyout "$1.key" -out "$1.pem" 2> /dev/null
  chmod 600 "$1.key" "$1.pem"
}
# id_of NAME: the session's id.
id_of() { "$photospool" web sessions --json | jq -r "select(.name == \"$1\").id"; }
# rest: no session was used for 13 hours.
rest() { touch -d '13 hours ago' "$spool"/state/web/sessions/*; }

start_daemon
certify photos.test
certify other.test

# Without TLS or a name, nobody outside is served; neither are half a pair, another's key, or a key for everybody.
ends 78 web --address 0.0.0.0
has err.log 'the page listens on 127.0.0.1 alone without TLS; set web.certificate and web.key'
ends 69 web --address photos.test
has err.log "'photos.test' is no IP address"
# refused SENTENCE SETTING: the page does not start.
refused() { configure <<< "web: {$2}"; ends 78 web --address 0.0.0.0; has err.log "$1"; }
refused 'set web.names, such as photos.example.org:' 'certificate: photos.test.pem, key: photos.test.key'
refused 'belong together' 'certificate: photos.test.pem, names: photos.test'
refused 'is not that of the certificate' 'certificate: photos.test.pem, key: other.test.key, names: photos.test'
refused 'holds no private key' 'certificate: photos.test.pem, key: photos.test.pem, names: photos.test'
refused 'holds no certificate' 'certificate: photos.test.key, key: photos.test.key, names: photos.test'
refused 'nowhere.pem' 'certificate: nowhere.pem, key: photos.test.key, names: photos.test'
chmod 644 other.test.key
refused 'every user can use the key' 'certificate: other.test.pem, key: other.test.key, names: photos.test'
refused 'web.names' 'certificate: photos.test.pem, key: photos.test.key, names: "Photos.Test"'

# The name has the port, so the port is chosen first.
free_port
reach=(--cacert photos.test.pem --connect-to "photos.test:$port:127.0.0.1:$port")
configure <<< "web: {certificate: photos.test.pem, key: photos.test.key, names: \"photos.test:$port\"}"
start_page --address 0.0.0.0 --port "$port" --name first
expect "$site" "https://photos.test:$port"
ask 200 anna "$(path_of < link)"
has head '^HTTP/2 200'
has head '^strict-transport-security: max-age=31536000'
post 303 anna "$(path_of < link)"
has head '^set-cookie: __Host-photospool-.*; Path=/; HttpOnly; SameSite=Strict; Secure; '
ask 200 anna / --http1.1
has head '^HTTP/1.1 200'
for version in 1.2 1.3; do ask 200 anna / "--tlsv$version" --tls-max "$version"; done
ask 000 anna / --tlsv1.1 --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0 2> /dev/null
expect "$(curl -sS -m 5 "http://127.0.0.1:$port/" 2> /dev/null || echo nothing)" nothing 'it spoke without TLS'
for name in "127.0.0.1:$port" photos.test "other.test:$port"; do ask 421 anna / -H "Host: $name"; done
has answer 'web.names'
ask 403 anna '/conversation?name=family' -H "Origin: http://photos.test:$port" -F text=forged -F id=web-1
post 303 anna '/conversation?name=family' -F text=hello -F id=web-2
wait_until grep -q '"text":"hello"' "$spool/published/family.jsonl"

# A new certificate is taken at the next connection. A bad one is said once, and the former one stays.
certificate_of() { openssl s_client -connect "127.0.0.1:$port" < /dev/null 2> /dev/null | openssl x509 -noout -subject; }
expect "$(certificate_of)" 'subject=CN = photos.test'
echo nonsense > new.pem
mv new.pem photos.test.pem
for _ in 1 2 3; do expect "$(certificate_of)" 'subject=CN = photos.test'; done
expect "$(grep -c 'the former certificate stays' page.log)" 1
chmod 600 other.test.key
cp other.test.pem new.pem
mv other.test.key photos.test.key
mv new.pem photos.test.pem
expect "$(certificate_of)" 'subject=CN = other.test'
has page.log 'certificate replaced'
reach=(--insecure --connect-to "photos.test:$port:127.0.0.1:$port")
ask 200 anna /

# One who reads nothing holds neither a stream nor a connection, and others are served meanwhile.
"$photospool" send --to family --photo "$photos/Wine_by_Jakkub_Mede.jpg" --wait > /dev/null
photo=$("$photospool" photos --json | jq -r .message | head -n 1)
cookie=$(awk '/__Host-photospool/ { print $6 "=" $7 }' anna)
"$python" "$(dirname "$0")/stall.py" "$port" "photos.test:$port" "/photo/$photo/original" "$cookie" > stalled 2>&1 &
stalled=$!

# From another computer, a session may have a password. This computer is another one here, on another of its addresses.
away=$(ip -4 -o addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
[ -n "$away" ] || away=127.0.0.2
reach=(--insecure --connect-to "photos.test:$port:$away:$port")
enter phone --name phone
id=$(id_of phone)
expect "$("$photospool" web sessions --json | jq -r 'select(.name == "phone") | "\(.kind) \(.user)"')" 'session null'
expect "$("$photospool" web sessions --json | jq -r 'select(.name == "first") | "\(.kind) \(.user)"')" "session $(id -u)"
ends 64 web password "$(id_of first)"
has err.log 'belongs to a user of this computer'
ends 66 web password nobody
echo short | ends 64 web password "$id"
echo 'correct horse' | "$photospool" web password "$id"
! grep -rq 'correct horse' "$spool" || fail 'the password is in the spool'
ask 200 phone /
rest
for path in / '/conversation?name=family' "/photo/$photo/original"; do ask 401 phone "$path"; done
has answer 'name="password"'
post 401 phone '/conversation?name=family' -F text=forged -F id=web-3
post 401 phone /unlock -d password=wrong
ask 401 phone /
post 303 phone /unlock --data-urlencode 'password=correct horse'
ask 200 phone /
rest
for _ in 1 2 3; do post 401 phone /unlock -d password=wrong; done
post 429 phone /unlock --data-urlencode 'password=correct horse'
"$photospool" web password --remove "$id"
ask 200 phone /
# A cookie of this computer is void on another, and the other way round.
ask 401 anna /
"$photospool" web sessions --end "$id"
ask 401 phone /
ends 66 web sessions --end "$id"

wait "$stalled" || fail "$(cat stalled)"
stop_page

# Behind a reverse proxy, the page is on a Unix socket and has the proxy's name.
if command -v systemd-socket-activate > /dev/null; then
  activate() { systemd-socket-activate -E PHOTOSPOOL_SPOOL -E PHOTOSPOOL_CONFIG -E HOME -l "$PWD/page.socket" "$(dirname "$photospool")/photospool-web" 2> proxied.log & server=$!; beside+=" $server"; }
  configure <<< 'texts: drop'
  activate
  wait_for_line proxied.log "Listening on"
  curl -sS -m 10 --unix-socket page.socket http://photos.test/ > /dev/null 2>&1 || true
  wait_for_line proxied.log 'the page behind a proxy needs the proxy.s name; set web.names'
  stop_beside "$server" 2> /dev/null || true
  rm -f page.socket
  configure <<< 'web: {names: photos.test}'
  activate
  wait_for_line proxied.log "Listening on"
  # As a proxy does: it ends TLS and passes the name on.
  site=https://photos.test
  proxied() { curl -sS -m 60 -D head -o answer -w '%{http_code}' --unix-socket page.socket "${@:2}" "http://${as:-photos.test}$1"; }
  expect "$(proxied /healthz)" 204
  path=$("$photospool" web link --name proxied | path_of)
  expect "$(proxied "$path" -X POST -H "Origin: $site")" 303
  has head '^Set-Cookie: __Host-photospool=.*; Secure; '
  cookie=$(sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p' head)
  expect "$(proxied / -H "Cookie: $cookie" -H 'X-Forwarded-For: 127.0.0.1')" 200
  expect "$(as=other.test proxied / -H "Cookie: $cookie")" 421
  expect "$("$photospool" web sessions --json | jq -r 'select(.name == "proxied").user')" null
else
  leave_out 'systemd-socket-activate is missing'
fi
stop_daemon
