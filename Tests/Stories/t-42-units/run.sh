# systemd reads the units, finds them locked down, and makes the user and the spool as they say; and cron's line is one.
. "$(dirname "$0")/../lib/library.sh"

etc=$here/../../etc
mkdir units
for unit in "$etc"/systemd/*; do
  sed -E "s#^ExecStart=/usr/(bin|libexec/photospool)/#ExecStart=$(dirname "$photospool")/#" "$unit" > "units/$(basename "$unit")"
done
expect "$(systemd-analyze verify --man=no units/* 2>&1)" ''
# Exposure in tenths: 1.5 and less.
for unit in units/*.service; do
  systemd-analyze security --offline=true --threshold=15 --no-pager "$unit" > security.log 2>&1 \
    || fail "$unit is too open: $(grep -e ✗ -e Overall security.log)"
done
expect "$(grep -c '^PrivateNetwork=yes$\|^IPAddressDeny=any$' units/photospool-janitor.service)" 2

# The page can be reached from this computer alone, has neither secrets nor a network, and leaves no memory behind.
has units/photospool-web.socket '^ListenStream=127\.0\.0\.1:7377$'
expect "$(grep -c '^RestrictAddressFamilies=AF_UNIX AF_NETLINK$\|^TemporaryFileSystem=/etc/photospool:ro$\|^LimitCORE=0$' \
  units/photospool-web.service)" 3

# Into a directory of our own.
mkdir -p root/etc
systemd-sysusers --root=root "$etc/sysusers.d/photospool.conf" 2> sysusers.log || fail "$(cat sysusers.log)"
grep -q '^photospool:x:[0-9]*:[0-9]*:photospool:/var/spool/photospool:/usr/sbin/nologin$' root/etc/passwd
grep -q '^photospool:x:' root/etc/group
systemd-tmpfiles --root="$PWD/root" --create "$etc"/tmpfiles.d/*.conf 2> tmpfiles.log || [ "$(id -u)" != 0 ] \
  || fail "$(cat tmpfiles.log)"
[ "$(id -u)" != 0 ] || expect "$(stat -c '%a %u' root/var/spool/photospool)" "750 $(grep ^photospool: root/etc/passwd | cut -d: -f3)"
# systemd-tmpfiles sets these modes, which the unit does not let the daemon set.
[ "$(id -u)" != 0 ] || expect "$(stat -c '%a' root/var/spool/photospool/state root/var/spool/photospool/state/web | paste -sd' ')" '700 700'
for name in tmp draft new; do [ "$(id -u)" != 0 ] || expect "$(stat -c %a root/var/spool/photospool/$name)" 3770 "$name"; done

# Minute, hour, day, month and weekday, the user, and a command that a shell understands.
line=$(grep '^[0-9*]' "$etc/cron.d/photospool-janitor")
expect "$(wc -l <<< "$line")" 1
expect "$(awk '{ print $6 }' <<< "$line")" photospool
sh -n -c "$(cut -d' ' -f7- <<< "$line")"
