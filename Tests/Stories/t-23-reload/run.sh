# SIGHUP applies a fixed configuration, also to waiting requests; an invalid one is refused, and the old one stays.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/reload.sh"

# The spool is the configuration's, not the environment's.
start_reloading
drop cat family 'Check this out!' "$photos/Dragonfly_by_Bolly.jpg"
# A second conversation that is refused shows that it concerns all.
drop cousin cousins hello
wait_for_line start.log 'event="destination waits".*cause=auth_expired'
drop other friends hello
"$photospool" wait --timeout 60 other
expect "$(metric 'photospool_destination_available{destination="hook"}')" 0

# Fixed and reloaded: the message arrives at once, without waiting for the next probe.
(umask 077; echo "$good" > hook.secret)
reload
grep -q 'event="configuration reloaded".*anew="network hook"' start.log || fail 'the log does not say what is new'
"$photospool" wait --timeout 60 cat cousin
expect "$(verdicts | grep -c '^verified')" 3
expect "$(metric photospool_config_reload_successful)" 1

# An invalid one: each error is reported with its line, and none of it takes effect.
configuration 'delivery: {lookahead: 0, upload: 3}' 'inbox: nobody'
kill -HUP "$daemon"
wait_for_line start.log 'event="the new configuration is refused; the old one stays in force".*photospool.yaml:6: `delivery.lookahead` is'
wait_for_line start.log 'the old one stays in force.*did you mean `uploads`'
expect "$(metric photospool_config_reload_successful)" 0
drop still friends 'still there'
drop again family 'and here'
"$photospool" wait --timeout 60 still again
expect "$(published friends | tail -n 1 | jq -r .inbox)" default
expect "$(verdicts | grep -c '^verified')" 4
# A valid file with an unreadable secret is refused, too.
configuration 'inbox: nobody'
chmod 644 hook.secret
kill -HUP "$daemon"
wait_for_line start.log 'the old one stays in force.*network hook.*hook.secret is open to others'
chmod 600 hook.secret

# Settings that need a restart are named; the others take effect.
configuration 'inbox: me' 'log: {level: debug, format: json}'
sed -i "s,directory: .*spool},directory: $PWD/elsewhere}," photospool.yaml
kill -HUP "$daemon"
wait_for_line start.log '"event":"a setting takes effect with the next start only".*"setting":"spool.directory"'
drop mine friends mine
"$photospool" wait --timeout 60 mine
expect "$(published friends | tail -n 1 | jq -r .inbox)" me
wait_for_line start.log '"event":"publishing"'
[ ! -e elsewhere ] || fail 'the other spool was made'

# A photo that waits in its store when its seal changes is uploaded anew in the new form, and the former object goes.
configuration 'network: {type: webhook, url: "http://127.0.0.1:1/", secretFile: hook.secret, allowPrivate: true}'
reload
objects() { ls "$spool/objects" | sort; }
drop first friends first
wait_for_line start.log 'event="destination waits".*cause=unreachable'
# A probe may offer one to the network, so this is one that was surely not offered before its conversation was held.
number=0 state=
until [ "$state" = started ]; do
  number=$((number + 1))
  objects > before
  drop "waiting$number" "album$number" '' "$photos/Wine_by_Jakkub_Mede.jpg"
  wait_for_line start.log "event=\"waits for its destination\" request=waiting$number "
  "$photospool" hold "album$number"
  state=$(ledger "SELECT u.state FROM uploads u JOIN messages m USING (message) JOIN requests r ON r.id = m.request_id
    WHERE r.request = 'waiting$number'")
done
sealed=$(objects | comm -13 before -)
[ -n "$sealed" ] || fail 'the photo is not in the store'
configuration 'seal: none'
reload
"$photospool" release "album$number"
"$photospool" wait --timeout 60 first "waiting$number"
expect "$(published "album$number" | jq -r '.attachment | has("secret")')" false
wait_until eval "[ ! -e '$spool/objects/$sealed' ]"
expect "$(objects | comm -13 before - | wc -l)" 1
stop_daemon
