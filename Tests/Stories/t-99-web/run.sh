# The page, asked by curl as a browser asks: links and sessions, other web sites, rights, sending, and a socket of systemd.
. "$(dirname "$0")/../lib/library.sh"

cat=$photos/Wine_by_Jakkub_Mede.jpg
dragonfly=$photos/Dragonfly_by_Bolly.jpg
page= server=
trap '[ -z "$daemon$page$server" ] || kill -KILL $daemon $page $server 2> /dev/null || true' EXIT

# ask STATUS JAR ADDRESS [OPTION...]: with the cookies of a session; the answer is in `answer`.
ask() {
  local status
  status=$(curl -sS -m 60 -o answer -w '%{http_code}' -b "$2" -c "$2" "${@:4}" "$site$3")
  expect "$status" "$1" "$3 ${*:4}: $(cat answer)"
}
# post STATUS JAR ADDRESS [OPTION...]: as a form of the page itself.
post() { ask "${@:1:3}" -X POST -H 'Sec-Fetch-Site: same-origin' "${@:4}"; }
# say STATUS JAR [FIELD...]: the form of a message to the family.
say() { local fields=(); for field in "${@:3}"; do fields+=(-F "$field"); done; post "$1" "$2" '/conversation?name=family' "${fields[@]}"; }
# enter JAR [OPTION...]: a session by a new link.
enter() { ask 200 "$1" "$("$photospool" web link "${@:2}" | sed "s|^$site||" | tee path)"; post 303 "$1" "$(cat path)"; }

start_daemon
# Before any page there is no address, unless somebody names the port of the service.
ends 69 web link
has err.log 'no page was started on this spool yet; run `photospool web`, or add --port 7377 for the service'
expect "$("$photospool" web link --port 7377 | sed -E 's/[0-9a-f]{8,}/X/g')" 'http://ps-X.localhost:7377/login/X'
for words in '--may look' '--may see,' '--may=' '--days 0' '--days 366' '--days soon' '--port 70000'; do
  # shellcheck disable=SC2086
  ends 64 web link --port 7377 $words
done
ends 65 web link --port 7377 --inbox ''
status=0
env -u LISTEN_FDS "$(dirname "$photospool")/photospool-web" 2> err.log || status=$?
expect "$status" 78
has err.log 'run `photospool web`, or start photospool-web.socket'

"$photospool" web > link 2> page.log &
page=$!
wait_for_line link '^http://ps-[0-9a-f]*.localhost:[0-9]*/login/[0-9a-f]*$'
wait_for_line page.log 'page ready'
site=$(sed 's|/login/.*||' link)
host=${site#http://} port=${site##*:} login=$(sed "s|^$site||" link)
ends 69 web --port "$port"
has err.log "cannot listen on 127.0.0.1 port $port: Address already in use; choose another port with --port"

# The link opens once, and previews of it spend nothing.
ask 401 nobody /
has answer 'photospool web link'
ask 200 nobody "$login"
post 303 anna "$login"
post 410 other "$login"
ask 410 other "$login"
for path in / '/conversation?name=family' '/conversation/settings?name=family' /photo/x /photo/x/original; do
  ask 401 other "$path"
done
say 401 other text=hello id=web-1
ask 200 anna /

# Other names, other origins, and other methods of theirs.
for name in "127.0.0.1:$port" "localhost:$port" "evil.example:$port" "${host%:*}" "${host%:*}:1"; do ask 421 anna / -H "Host: $name"; done
for origin in null http://evil.example "http://127.0.0.1:$port" "http://${host%:*}:1"; do
  ask 403 anna '/conversation?name=family' -F text=forged -F id=web-2 -H "Origin: $origin"
done
for from in cross-site same-site none; do
  ask 403 anna '/conversation?name=family' -F text=forged -F id=web-3 -H "Sec-Fetch-Site: $from"
done
ask 403 anna '/conversation?name=family' -F text=forged -F id=web-4
ask 403 anna / -H 'Sec-Fetch-Site: cross-site'

# Two photos and a text, in the order of the form; the same form again is no second message.
ask 200 anna '/conversation?name=family'
id=$(sed -n 's/.*name="id" value="\([^"]*\)".*/\1/p' answer)
for _ in 1 2; do say 303 anna "id=$id" "photo=@$cat" "photo=@$dragonfly" $'text=Look at these\r\n<b>'; done
last=$("$photospool" send --to family --text after)
"$photospool" wait --timeout 60 "$last"
expect "$(published family | jq -r '.kind + " " + (.attachment | "\(.width)x\(.height)")' | head -n 2 | paste -sd,)" \
  'photo 1366x2048,photo 2048x1536'
expect "$(published family | jq -r .kind | paste -sd' ')" 'photo photo text text'
expect "$(published family | jq -r 'select(.kind == "text").text' | head -n 2)" $'Look at these\n<b>'
ask 200 anna '/conversation?name=family'
expect "$(grep -c 'data-test="message"' answer)" 4
say 422 anna id=web-5 'text= '

# Rights.
enter sender --may send
ask 200 sender '/conversation?name=family'
! grep -q 'data-test="message"' answer || fail 'it sees what was sent'
photo=$("$photospool" photos --json | jq -r .message | head -n 1)
for path in '/conversation/settings?name=family' "/photo/$photo" "/photo/$photo/original"; do ask 403 sender "$path"; done
say 303 sender id=web-7 text=hello
wait_until grep -q '"text":"hello"' "$spool/published/family.jsonl"
enter viewer --may see
ask 200 viewer "/photo/$photo/original"
expect "$(identify -format %m answer)" JPEG
say 403 viewer id=web-8 text=hello
post 403 viewer '/conversation/hold?name=family'
post 200 viewer /logout
ask 401 viewer /

# A service manager starts the page for the first who connects. Sessions are on disk.
kill -TERM "$page"
wait "$page" || true
page=
if command -v systemd-socket-activate > /dev/null; then
  free_port
  systemd-socket-activate -E PHOTOSPOOL_SPOOL -E HOME -l "127.0.0.1:$port" "$(dirname "$photospool")/photospool-web" 2> activated.log &
  server=$!
  wait_for_line activated.log "Listening on 127.0.0.1:$port"
  site=${site%:*}:$port
  ask 200 nobody "$("$photospool" web link --port "$port" | sed "s|^$site||")"
  # It has written down where it is.
  enter anna
  ask 200 anna '/conversation?name=family'
  expect "$(grep -c 'data-test="message"' answer)" 5
else
  leave_out 'systemd-socket-activate is missing'
fi
stop_daemon
