# A user whom the system counts among the spool's group gets a link that may send, for that user alone, and no other right;
# other users get none. The same holds if the page speaks TLS.
. "$(dirname "$0")/../lib/library.sh"

[ "$(id -u)" = 0 ] || skip 'only root can be several users'
# Users and names of this story alone, in a view of the files of its own.
if [ -z "${OF_ITS_OWN:-}" ]; then exec env OF_ITS_OWN=1 unshare --mount bash "$0"; fi
{ cat /etc/passwd; printf '%s\n' spooler:x:62000:62000::/: anna:x:62001:62001::/: berta:x:62002:62002::/: carla:x:62003:62000::/:; } > passwd
{ cat /etc/group; printf '%s\n' spoolers:x:62000:anna anna:x:62001: berta:x:62002:; } > group
{ cat /etc/hosts; echo '127.0.0.1 photos.test'; } > hosts
for file in passwd group hosts; do mount --bind $file /etc/$file; done
chmod 755 .
# as USER COMMAND...: with the groups that the system knows.
as() { setpriv --reuid "$1" --regid "$(id -g "$1")" --init-groups "${@:2}"; }
as berta "$photospool" --version > /dev/null 2>&1 || skip 'other users cannot run the program here'

install -d -o spooler -g spoolers -m 750 spool
start_daemon
# start_page [OPTION...]: as the spool's user.
start_page() {
  rm -f page.log
  as spooler "$photospool" web "$@" > link 2> page.log &
  page=$!
  beside+=" $page"
  wait_for_line page.log 'page ready'
  site=$(sed 's|/login/.*||' link) port=$(sed -E 's|.*:([0-9]+)/login.*|\1|' link)
}
reach=()
# ask USER STATUS PATH [OPTION...]: as that user, whose session is in of-USER/jar; the answer is in of-USER/answer.
ask() {
  local status
  install -d -o "$1" "of-$1"
  status=$(as "$1" curl -sS -m 60 -o "of-$1/answer" -w '%{http_code}' -b "of-$1/jar" -c "of-$1/jar" -H "Origin: $site" \
    "${reach[@]}" "${@:4}" "$site$3")
  expect "$status" "$2" "$1 $3: $(cat "of-$1/answer")"
}
# link_of USER: the path of a link by the command.
link_of() { as "$1" "$photospool" web link "${named[@]}" | sed "s|^$site||"; }
# may_send USER: what the session of a member may do.
may_send() {
  ask "$1" 303 '/conversation?name=family' -F "text=by $1 at $site" -F "id=$1-${#reach[@]}"
  wait_until grep -sqF "\"by $1 at $site\"" "$spool/published/family.jsonl"
  for path in /queue /storage /check /metrics.txt /sessions '/conversation/settings?name=family' '/events?view=list'; do
    ask "$1" 403 "$path"
  done
  for path in '/conversation/hold?name=family' /queue/flush /check '/storage/clear?name=family' '/conversation/purge?name=family' \
    '/conversation/prefs?name=family'; do ask "$1" 403 "$path" -X POST; done
}

start_page
named=(--port "$port")
# The rights are neither in the words of the command nor in the request.
for words in '--may see' '--may operate' '--may see,send,operate' '--inbox anna' '--days 365' '--name root'; do
  # shellcheck disable=SC2086
  command_ends 77 as anna "$photospool" web link --port "$port" $words
  has err.log "only root and the spool's user choose what a link permits"
done
ask anna 200 '/link?may=operate&rights=see' -d may=see,send,operate -d rights=operate -d user=0
for user in anna carla; do
  link=$(link_of $user)
  expect "$("$photospool" web sessions --json | jq -r "select(.user == $(id -u $user)) | \"\(.kind) \(.rights | join(\",\"))\"" | sort -u)" \
    'link send'
  # Nobody else opens it, not even the spool's user.
  for other in berta spooler; do ask $other 410 "$link" -X POST; done
  ask $user 303 "$link" -X POST
  may_send $user
done
# The session is of no use to others, and no one else gets a link.
install -m 644 of-anna/jar stolen
ask berta 401 / -b stolen
ask berta 403 /link -X POST
has of-berta/answer 'group get a link here'
command_ends 77 as berta "$photospool" web link --port "$port"
[ ! -s out.log ] || fail 'there is a link'
# A group that a process has and the system does not know of makes no member.
expect "$(setpriv --reuid berta --regid berta --groups spoolers curl -sS -o /dev/null -w '%{http_code}' -X POST -H "Origin: $site" "$site/link")" 403

# With TLS, the page has a name of the configuration, which leads here.
stop_beside "$page"
rm -rf of-*
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=photos.test \
  -addext subjectAltName=DNS:photos.test -keyout key.pem -out certificate.pem 2> /dev/null
chown spooler key.pem
chmod 644 certificate.pem
free_port
named=()
configure <<< "{http: {authorityFile: certificate.pem}, web: {certificate: certificate.pem, key: key.pem, names: \"photos.test:$port\"}}"
command_ends 69 as anna "$photospool" web link
[ ! -s out.log ] || fail 'there is a link'
has err.log "the page does not answer at https://photos.test:$port"
start_page --port "$port"
reach=(--cacert certificate.pem)
ask anna 303 "$(link_of anna)" -X POST
may_send anna
command_ends 77 as anna "$photospool" web link --may see
stop_daemon
