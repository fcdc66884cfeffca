# The page opens no socket but those that its unit permits, and connects to nothing but the daemon of its spool, whatever it
# is asked to do. As a service it could do nothing else: see t-42 for the unit, and `make deb-check` for a try from inside.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/web.sh"

command -v systemd-socket-activate > /dev/null || skip 'systemd-socket-activate is missing'
photo=$photos/Wine_by_Jakkub_Mede.jpg
start_daemon
free_port
systemd-socket-activate -E PHOTOSPOOL_SPOOL -E HOME -l "127.0.0.1:$port" \
  strace -D -f -qq -o trace -e trace=socket,connect,bind "$(dirname "$photospool")/photospool-web" 2> page.log &
beside+=" $!"
wait_for_line page.log "Listening on 127.0.0.1:$port"

link=$("$photospool" web link --port "$port") site=${link%%/login/*}
form 303 "${link#"$site"}" -X POST
form 201 '/draft/new/photo?name=family&file=cat.jpg' -T "$photo"
form 303 '/conversation?name=family' -F id=web-1 -F text=hello -F "draft=$(jq -r .draft answer)"
wait_until grep -q '"text":"hello"' "$spool/published/family.jsonl"
form 303 '/queue/flush' -X POST
form 303 '/check' -X POST
for path in / '/conversation?name=family' /queue /storage /check /metrics /metrics.txt /profile /sessions \
  "/photo/$("$photospool" photos --json | jq -r .message | head -n 1)/original"; do form 200 "$path"; done
# A stream of events asks the daemon again and again.
curl -sSN -m 120 -b jar -H 'Sec-Fetch-Site: same-origin' "$site/events?view=list" > events 2> /dev/null &
stream=$!
wait_for_line events '^event: trouble'
kill "$stream"
wait "$stream" || true

[ "$(grep -c ' socket(' trace)" -gt 5 ] || fail "it was not looked at: $(cat trace)"
families=$(sed -n 's/.* socket(\(AF_[A-Z0-9]*\).*/\1/p' trace | sort -u | paste -sd' ')
permitted=$(sed -n 's/^RestrictAddressFamilies=//p' "$here/../../etc/systemd/photospool-web.service")
for family in $families; do [[ " $permitted " = *" $family "* ]] || fail "it opens a socket of $family, and may open $permitted"; done
others=$(grep ' connect(' trace | grep -v -F "sun_path=\"" || true)
expect "$others" '' 'connections that are not to a file'
expect "$(grep ' connect(' trace | sed 's/.*sun_path="\([^"]*\)".*/\1/; s|.*/||' | sort -u | paste -sd' ')" control
expect "$(grep ' bind(' trace | grep -v AF_NETLINK || true)" '' 'names that it took'
stop_daemon
