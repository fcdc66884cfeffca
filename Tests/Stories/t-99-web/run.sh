# The words of `web` and `web link`, a page that is asked by curl as a browser asks, and a socket of systemd.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/web.sh"

cat=$photos/Wine_by_Jakkub_Mede.jpg
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
command_ends 78 env -u LISTEN_FDS "$(dirname "$photospool")/photospool-web"
has err.log 'run `photospool web`, or start photospool-web.socket'

start_page
has link '^http://ps-[0-9a-f]*.localhost:[0-9]*/login/[0-9a-f]*$'
ends 69 web --port "$port"
has err.log "cannot listen on 127.0.0.1 port $port: Address already in use; choose another port with --port"

# By the link, a session, and by the session a message.
enter anna
ask 200 anna '/conversation?name=family'
id=$(sed -n 's/.*name="id" value="\([^"]*\)".*/\1/p' answer)
post 303 anna '/conversation?name=family' -F "id=$id" -F "photo=@$cat" -F 'text=Look at this'
wait_until grep -q '"text":"Look at this"' "$spool/published/family.jsonl"
expect "$(published family | jq -r .kind | paste -sd' ')" 'photo text'

# A service manager starts the page for the first who connects. Sessions are on disk.
stop_page
if command -v systemd-socket-activate > /dev/null; then
  free_port
  systemd-socket-activate -E PHOTOSPOOL_SPOOL -E HOME -l "127.0.0.1:$port" "$(dirname "$photospool")/photospool-web" 2> activated.log &
  beside+=" $!"
  wait_for_line activated.log "Listening on 127.0.0.1:$port"
  site=${site%:*}:$port
  ask 200 nobody "$("$photospool" web link --port "$port" | path_of)"
  # It has written down where it is.
  enter anna
  ask 200 anna '/conversation?name=family'
  expect "$(grep -c 'data-test="message"' answer)" 2
else
  leave_out 'systemd-socket-activate is missing'
fi
stop_daemon
