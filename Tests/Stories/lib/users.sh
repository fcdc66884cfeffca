# The user of a spool (61000), and others of its group (61001, 61002). Only root can be several users.

[ "$(id -u)" = 0 ] || skip 'only root can be several users'
chmod 755 .
# as USER COMMAND...: in a group of the user's own and the spool's. mine COMMAND...: as the spool's user.
as() { setpriv --reuid "$1" --regid "$1" --groups 61000 "${@:2}"; }
mine() { setpriv --reuid 61000 --regid 61000 --clear-groups "$@"; }
as 61002 "$photospool" --version > /dev/null 2>&1 || skip 'other users cannot run the program here'

# give_spool: a new directory of the spool's user. start_mine: that user's daemon, until it is ready.
give_spool() { install -d -o 61000 -g 61000 -m 750 "$spool"; }
start_mine() {
  : > start.log
  setpriv --reuid 61000 --regid 61000 --clear-groups "$photospool" run > start.log 2>&1 &
  daemon=$!
  wait_for_line start.log event=ready
}
