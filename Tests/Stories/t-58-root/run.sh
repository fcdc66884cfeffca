# Commands of root on another user's spool act as that user, who can use everything that they leave. Only root can test
# it.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/users.sh"

# Every entry of the spool belongs to its owner.
is_the_users() { expect "$(find "$spool" ! -uid 61000 -printf '%P ')" '' "$1"; }
all() { find "$spool" -printf '%P %u %m\n' | sort; ledger .dump; }

# A new spool has the user who owns its directory, though root starts the daemon.
give_spool
start_daemon
expect "$(awk '/^(Uid|Gid):/ { print $2, $3, $4, $5 }' "/proc/$daemon/status" | sort -u)" '61000 61000 61000 61000'
is_the_users 'after a start'
stop_daemon

# A dry run of any user leaves nothing behind.
before=$(all)
"$photospool" janitor --dry-run
mine "$photospool" janitor --dry-run
expect "$(all)" "$before" 'after a dry run'

# root's photo, which the spool's user may not read, is sent all the same.
install -m 600 "$photos/Wine_by_Jakkub_Mede.jpg" cat.jpg
for command in 'send --to family --photo cat.jpg --text hello' 'send --draft --to other --photo cat.jpg' queue \
  'hold elsewhere' check 'storage' 'metrics' janitor clear 'purge nobody'; do
  # shellcheck disable=SC2086
  "$photospool" $command > out 2>&1 || fail "$command: $(cat out)"
  is_the_users "$command"
done
mine "$photospool" janitor
mine "$photospool" clear > clear.log

# Beside the daemon of that user, too.
start_mine
name=$("$photospool" send --to family --text again --wait)
expect "$(published family | jq -r 'select(.kind == "text") | .text' | paste -sd,)" 'hello,again'
"$photospool" show "$name" > /dev/null
message=$("$photospool" photos --json | jq -r 'select(.conversation == "family") | .message')
# A photo is saved where the spool's user may write, and nowhere else.
install -d -o 61000 -m 755 album
install -d -m 755 roots
"$photospool" export "$message" album/cat.jpg
expect "$(stat -c %u album/cat.jpg)" 61000
ends 77 export "$message" roots/cat.jpg
has err.log 'root works on this spool as its user 61000, who lacks the permission'
is_the_users 'beside the daemon'
stop_daemon

# The user that is configured gets a new spool, and has to be able to read the configuration.
rm -rf spool
configure <<< 'spool: {user: daemon}'
start_daemon
expect "$(stat -c %U "$spool" "$spool/state/ledger.sqlite" | sort -u)" daemon
stop_daemon
chmod 600 photospool.yaml
ends 78 run
has err.log 'root works on this spool as daemon, who must be able to read the configuration'
configure <<< 'spool: {user: nobody-of-that-name}'
ends 78 run
has err.log 'spool.user: there is no user nobody-of-that-name'

# Without one, a new spool belongs to root, and the log says so.
unset PHOTOSPOOL_CONFIG
rm -rf spool
start_daemon
has start.log 'running as root'
stop_daemon
