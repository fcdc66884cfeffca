# Users of the spool's group type the four lines of README, each with the umask of their own, on file systems of several kinds.
# Only the daemon can read their requests. A start upgrades an earlier spool.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/users.sh"

noise 300x200 cat.jpg
cp cat.jpg secret.jpg
chmod 644 cat.jpg
chmod 600 secret.jpg
chown 61001 secret.jpg
at_end() { umount -l xfs tmpfs plain 2> /dev/null || true; }

check() { mine "$photospool" check > check.log 2>&1 || true; }

# four_lines UMASK USER NAME PHOTO: as README has them, with cp or with cp -p.
four_lines() {
  (umask "$1" && as "$2" sh -ec '
    mkdir "$1/tmp/$2"
    cp $4 "$3" "$1/tmp/$2/photo.jpg"
    echo family > "$1/tmp/$2/to"
    mv "$1/tmp/$2" "$1/new/"' _ "$spool" "$3" "$4" "${5:-}")
}

tell() { # place
  spool=$PWD/$1
  export PHOTOSPOOL_SPOOL=$spool
  give_spool
  start_mine
  check
  has check.log 'requests of other users: taken, whatever their umask'
  for mask in 022 027 077 007; do
    four_lines $mask 61001 "cat-$mask" cat.jpg
    name=$(umask $mask && as 61002 "$photospool" send --to family --text "$mask" --photo cat.jpg)
    "$photospool" wait --timeout 60 "cat-$mask" "$name" || fail "$1: umask $mask"
  done
  expect "$(published family | jq -r .kind | sort | uniq -c | tr -s ' \n' ' ')" ' 8 photo 4 text ' "$1"
  # Another user of the group reads nothing of it, whatever its umask.
  (umask 000 && as 61001 sh -c 'mkdir "$1/tmp/open" && echo mine > "$1/tmp/open/text"' _ "$spool")
  as 61002 cat "$spool/tmp/open/text" > /dev/null 2>&1 && fail "$1: another user read it"
  # A file whose mode keeps the daemon out is refused, whole, in one sentence.
  four_lines 022 61001 secret secret.jpg -p
  ends 69 wait --timeout 60 secret
  expect "$(grep -o 'cannot be read' "$spool/failed/secret/error" | wc -l)" 1 "$(cat "$spool/failed/secret/error")"
  [ -s "$spool/failed/secret/photo.jpg" ] || fail "$1: not whole"
  expect "$(stat -c %a "$spool/tmp/.order")" 660
  as 61001 test -w "$spool/tmp/.order" || fail "$1: clients cannot count"
  stop_daemon
}

mkdir xfs tmpfs plain
tell spool
if mount -t tmpfs none tmpfs 2> /dev/null; then tell tmpfs/spool; umount -l tmpfs; fi
truncate -s 320M xfs.img
if mkfs.xfs -q xfs.img 2> /dev/null && mount -o loop xfs.img xfs 2> /dev/null; then tell xfs/spool; umount -l xfs; fi

# Where the file system keeps no ACLs, `check` says what clients need, and a request that lacks it is refused.
truncate -s 160M plain.img
if mkfs.btrfs -q plain.img > /dev/null 2>&1 && mount -o loop,noacl plain.img plain 2> /dev/null; then
  spool=$PWD/plain/spool
  export PHOTOSPOOL_SPOOL=$spool
  give_spool
  start_mine
  check
  has check.log 'requests of other users: only those built with `umask 007`'
  four_lines 022 61001 refused cat.jpg
  ends 69 wait --timeout 60 refused
  four_lines 007 61001 taken cat.jpg
  "$photospool" wait --timeout 60 taken
  stop_daemon
  umount -l plain
fi

# A spool of an earlier version lacks these ACLs: `check` says so, and a start adds them.
spool=$PWD/spool
export PHOTOSPOOL_SPOOL=$spool
"$python" -c 'import os, sys
for name in ("tmp", "draft", "new"): os.removexattr(f"{sys.argv[1]}/{name}", "system.posix_acl_default")' "$spool"
check
has check.log "$spool/tmp has no default ACL"
start_mine
four_lines 022 61001 mended cat.jpg
"$photospool" wait --timeout 60 mended
stop_daemon
! grep -q 'level=error' run.log || fail 'an error in the log'

# The group can enter a new spool, whatever the umask of the daemon's start.
install -d -o 61000 -g 61000 -m 750 home
spool=$PWD/home/spool
export PHOTOSPOOL_SPOOL=$spool
start_mine
expect "$(stat -c %a "$spool")" 750
stop_daemon
