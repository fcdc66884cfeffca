# The avatar of an account on a homeserver is never missing while it is changed and removed and the daemon is killed.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/profile.sh"

make_profile_photos
start_server synapse.py
(umask 077; fact alice > token)
configure <<YAML
store: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
network: {type: matrix, homeserver: "$(fact endpoint)", tokenFile: token}
seal: matrix
profile: {side: 256}
YAML
start_script MATRIX watch_profile.py matrix "$(fact endpoint)" @alice:localhost "$(fact bob)"
avatar() { curl -sf "$(fact endpoint)/_matrix/client/v3/profile/@alice:localhost/avatar_url" | jq -r '.avatar_url // ""'; }
start_daemon
"$photospool" profile set planted.jpg --wait > name
expect "$(avatar)" "$(show .url)"
curl -sf -H "Authorization: Bearer $(fact bob)" -o seen.jpg \
  "$(fact endpoint)/_matrix/client/v1/media/download/$(show .url | sed 's|mxc://||')"
cmp seen.jpg "$(show .path)"
expect "$(size seen.jpg)" 256x256
! grep -q MARKER seen.jpg || fail 'the avatar has metadata'
stop_daemon
sweep MATRIX
reported MATRIX
expect "$(avatar)" ''
expect "$(show .state)" removed
