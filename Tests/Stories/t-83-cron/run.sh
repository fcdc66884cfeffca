# Under cron's own line and environment the janitor is silent when all is well, and reports a passed limit once.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/cache.sh"

noise 500x400 03.jpg 04.jpg
line=$(sed -n 's/^[0-9*]\+ [^ ]\+ [^ ]\+ [^ ]\+ [^ ]\+ photospool //p' "$here/../../etc/cron.d/photospool-janitor")
# The line runs the tested program, as on a machine without systemd.
line=${line//\/run\/systemd\/system/$PWD/nowhere}
line=${line//\[ -x \/usr\/bin\/photospool \]; then photospool/true; then $photospool}
by_cron() {
  local status=0
  env -i PATH="$PATH" HOME="$PWD" PHOTOSPOOL_SPOOL="$spool" "$@" /bin/sh -c "$line" > cron.out 2> cron.err || status=$?
  echo "$status $(wc -c < cron.out) $(wc -l < cron.err)"
}
start_daemon
send me cron 03.jpg
expect "$(by_cron)" '0 0 0' "$(cat cron.err)"
expect "$(by_cron PHOTOSPOOL_CACHE_TOTAL=1kB)" '0 0 1' "$(cat cron.err)"
grep -q '^photospool: all photos in the cache take [0-9.]* [kM]*B, beyond the limit of 1.0 kB;' cron.err || fail "$(cat cron.err)"
expect "$(by_cron PHOTOSPOOL_CACHE_TOTAL=1kB)" '0 0 0' "said before: $(cat cron.err)"
expect "$(by_cron)" '0 0 0' "within the limit: $(cat cron.err)"
send me cron 04.jpg
expect "$(by_cron PHOTOSPOOL_CACHE_TOTAL=1kB)" '0 0 1' "passed again: $(cat cron.err)"
stop_daemon
