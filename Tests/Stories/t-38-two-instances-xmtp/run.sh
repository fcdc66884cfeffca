# A photo that one photospool sends to a group on XMTP arrives in the cache of another, bare, hidden, once and in
# order.
# They and their co-processes are killed at random; PHOTOSPOOL_TEST_KILLS says how often (6).
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/xmtp.sh"
. "$here/lib/instances.sh"

kills=${PHOTOSPOOL_TEST_KILLS:-6}
# The daemons take their own variables only.
unset PHOTOSPOOL_TEST_KILLS

# settings NAME [ROUTE]
settings() {
  {
    xmtp_settings "$xmtp" "$1/key" 'listen: true'
    printf '%s\n' "spool: {directory: $PWD/$1/spool}" "inbox: $1" 'receiving: {allowPrivate: true}' \
      'delivery: {backoff: {first: 10ms, longest: 500ms}, probe: 1s}' "${2:+routes: [$2]}"
  } > "$1/photospool.yaml"
}
# send NAME PHOTO: from Anna. sent NAME: its message's id on XMTP is in $message.
send() { local spool=$PWD/anna/spool; drop "$1" family '' "$2"; }
remotes() { # PATTERN: of those she sent, in order
  sqlite3 -readonly anna/spool/state/ledger.sqlite \
    "SELECT m.remote FROM messages m JOIN requests r ON r.id = m.request_id WHERE r.request GLOB '$1' ORDER BY m.id"
}
sent() {
  at anna wait --timeout 60 "$1"
  message=$(remotes "$1")
}

mkdir anna ben
(umask 077; printf '%064d\n' 5 > anna/key; printf '%064d\n' 6 > ben/key)
for name in anna ben; do
  settings $name
  start $name
  stop $name
  at $name check > check.log || fail "check of $name: $(cat check.log)"
  declare "$name=$(checked_inbox check.log)"
done
make_group "$anna" "$ben"
for name in anna ben; do
  settings $name "{conversation: family, network: xmtp, as: \"group:$group\"}"
  start $name
done

# A photo stored on its side with private metadata. Ben does not know the conversation: nothing is fetched.
plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
exiftool -q -n -overwrite_original -Orientation=6 planted.jpg
send first planted.jpg
sent first
first=$message
wait_until is_received ben "$first" offered
[ ! -e ben/spool/photos ] || is_empty ben/spool/photos
# A view requests the photo; a reveal shows it.
expect "$(at ben view "$first" | sed 's|.*/||')" blurred.jpg
expect "$(received_of ben "$first" 'conversation + " " + .inbox')" 'family ben'
at ben reveal "$first" > /dev/null
path=$(at ben view "$first")
expect "${path##*/}" original.jpg
expect "$(exiftool -s3 -ImageSize "$path")" 1536x2048
is_bare "$path"

# From now on photos of the conversation are fetched, and hidden until it is preferred otherwise.
noise 300x200 photo.jpg
send second photo.jpg
sent second
second=$message
wait_until is_received ben "$second" downloaded
expect "$(received_of ben "$second" hidden)" true
at ben prefs family --auto-reveal on > /dev/null
send third photo.jpg
sent third
wait_until is_received ben "$message" downloaded
expect "$(received_of ben "$message" hidden)" false
expect "$(at ben view "$message" | sed 's|.*/||')" original.jpg
expect "$(received_of ben "$second" hidden)" true

# The sender within the group is known. Anna does not receive her own messages.
expect "$(received_of ben "$first" sender)" "$anna"
expect "$(received anna)" ''

# Killed at any time, one of them or a co-process.
RANDOM=${PHOTOSPOOL_TEST_SEED:-1}
for number in $(seq "$kills"); do
  send "k$number" photo.jpg
  sleep "0.$((RANDOM % 900 + 100))"
  victim=$((RANDOM % 4)) name=$([ $((RANDOM % 2)) = 0 ] && echo anna || echo ben)
  case $victim in
    0) for process in $(pgrep -P "${daemons[$name]}" -f photospool-xmtp); do kill -KILL "$process" 2> /dev/null || true; done ;;
    *) strike "$name"; start "$name" ;;
  esac
done
for number in $(seq "$kills"); do sent "k$number"; done
wait_until is_received ben "$message" downloaded
expect "$(received ben | jq -r .remote)" "$(remotes '*')" 'once and in order'
are_all_there() { [ "$(received ben | jq -r .state | sort -u)" = downloaded ]; }
wait_until are_all_there
for name in anna ben; do
  stop $name
  is_empty $name/spool/incoming/{new,cur,tmp,failed} $name/spool/{new,cur,failed}
done
expect "$(stored)" $((3 + kills)) 'messages at the relay'
echo "$kills kills, each photo once and in order"
