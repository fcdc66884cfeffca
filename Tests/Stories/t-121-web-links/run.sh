# Links of the page: as QR codes, of users for themselves, and their list.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/code.sh"
. "$here/lib/web.sh"

start_daemon
start_page

# A phone's camera reads the code that the terminal shows, whatever the length of the link.
if command -v zbarimg > /dev/null; then
  "$photospool" web link --qr > code
  expect "$(read_code code)" "$(head -n 1 code)"
  for length in 1 40 150; do
    configure <<< "web: {names: \"$(head -c "$length" /dev/zero | tr '\0' a).example.org:7377\"}"
    rm -f other.log
    "$photospool" web --port 0 --qr > code 2> other.log &
    other=$!
    wait_for_line other.log 'page ready'
    kill -TERM "$other"
    wait "$other" || true
    expect "$(read_code code)" "$(head -n 1 code)"
  done
  unset PHOTOSPOOL_CONFIG
  rm photospool.yaml
else
  leave_out 'zbarimg is missing'
fi

# The list has links and sessions, and ends them.
"$photospool" web link --port "$port" --name Anna --inbox anna --days 5 > anna
expect "$("$photospool" web sessions --json | jq -r 'select(.name == "Anna") | "\(.kind) \(.inbox) \(.rights | join(","))"')" 'link anna see,send'
"$photospool" web sessions --end "$("$photospool" web sessions --json | jq -r 'select(.name == "Anna").id')"
expect "$(curl -sS -o /dev/null -w '%{http_code}' "$(cat anna)")" 410
"$photospool" web sessions > sessions
! grep -q Anna sessions || fail 'the link is still there'
"$photospool" check > check.log
# Another one was started last.
has check.log "web page: last started at http://ps-.*, with [0-9]* links and 0 sessions"

# Whoever may send gets a link that may, for itself. For members and others see t-126.
expect "$(curl -sS -o mine -w '%{http_code}' -X POST -H "Origin: $site" "$site/link")" 200
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X POST -H 'Origin: http://evil.example' "$site/link")" 403
expect "$(curl -sS -D head -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/link")" 421
has head "^link: <$site/>; rel=\"canonical\""
expect "$("$photospool" web sessions --json | jq -r "select(.user == $(id -u) and .kind == \"link\") | .rights | join(\",\")")" send
expect "$(curl -sS -o /dev/null -w '%{http_code}' -X POST -H "Origin: $site" "$(cat mine)")" 303
stop_daemon
