# A story on a machine of its own: other mounts, processes and network, with programs of Debian (tools/programs.sh) laid over the
# system. Their servers end with the story and are reached from nowhere else.

# on_a_machine GROUP...: begins the story again on such a machine. photospool is where its package has it, with a user of its
# own; this host is 192.0.2.10; the configuration is /etc/photospool/photospool.yaml.
on_a_machine() {
  local trees=${PHOTOSPOOL_PROGRAMS:-$(realpath "$here/../../.build/programs")} group
  if [ -z "${ON_A_MACHINE:-}" ]; then
    [ "$(id -u)" = 0 ] || skip 'only root can make a machine of its own'
    for group; do [ -d "$trees/$group" ] || skip "the programs are missing; run make .build/programs/ready"; done
    setpriv --reuid 61000 --regid 61000 --clear-groups "$photospool" --version > /dev/null 2>&1 \
      || skip 'other users cannot run the program here'
    unshare --mount --net --pid --fork true 2> unshare.log || skip "a machine cannot be made here: $(cat unshare.log)"
    chmod 755 .
    ON_A_MACHINE=yes exec unshare --mount --net --pid --fork --kill-child --mount-proc bash "$0"
  fi
  # A disk of another story would stay alive here after its power was cut and it was unmounted there.
  umount -l /dev/shm/photospool-disk.*/disk 2> /dev/null || true
  ip link set lo up
  ip address add 192.0.2.10/24 dev lo
  mount -t tmpfs -o mode=755 none /run
  mkdir machine
  mount -t tmpfs none machine
  local top lower
  for top in usr etc var; do
    lower=
    for group; do [ ! -d "$trees/$group/$top" ] || lower+="$trees/$group/$top:"; done
    mkdir -p "machine/$top/upper" "machine/$top/work"
    mount -t overlay overlay -o "lowerdir=$lower/$top,upperdir=$PWD/machine/$top/upper,workdir=$PWD/machine/$top/work" "/$top"
  done
  user photospool 61000
  ln -s "$(realpath "$photospool")" /usr/bin/photospool
  photospool=/usr/bin/photospool
  spool=/var/spool/photospool
  install -d -o photospool -g photospool -m 0750 "$spool"
  mkdir -p /etc/photospool
  unset PHOTOSPOOL_SPOOL PHOTOSPOOL_CONFIG
}

# user NAME ID [HOME]: a user with a group and a home of its own; or the system's, if the program is installed here, too.
user() {
  local home=${3:-$PWD/homes/$1}
  if ! id "$1" > /dev/null 2>&1; then
    echo "$1:x:$2:$2::$home:/bin/bash" >> /etc/passwd
    echo "$1:x:$2:" >> /etc/group
  fi
  install -d "${home%/*}"
  install -d -o "$1" -g "$1" "$home"
}

# member NAME ID: a user of the spool's group.
member() { user "$1" "$2"; sed -i "s/^photospool:x:61000:..*/&,$1/; t; s/^photospool:x:61000:/&$1/" /etc/group; }

# as USER COMMAND...: with the groups of the user and nothing of the story's environment.
as() { setpriv --reuid "$1" --regid "$1" --init-groups env -i PATH="$PATH" HOME="$PWD/homes/$1" USER="$1" LOGNAME="$1" "${@:2}"; }

# configure < SETTINGS: of all that follows; root's daemon becomes the user photospool.
configure() {
  { echo "spool: {directory: $spool, user: photospool}"; cat; } > /etc/photospool/photospool.yaml
}

# install_postfix: as Debian's package leaves it.
install_postfix() {
  user postfix 61001 /var/lib/postfix
  echo postdrop:x:61002: >> /etc/group
  cp /usr/share/postfix/master.cf.dist /etc/postfix/master.cf
  chgrp postdrop /usr/sbin/post{queue,drop}
  chmod g+s /usr/sbin/post{queue,drop}
}
# start_postfix: with the main.cf that is there; $log is its log.
log=/var/log/mail.log
start_postfix() {
  printf 'maillog_file = %s\nminimal_backoff_time = 1s\n' $log >> /etc/postfix/main.cf
  /usr/lib/postfix/configure-instance.sh -
  postfix start || fail "$(cat $log)"
}

# recipe PAGE HEADING NUMBER: the block of a page of docs/, as printed there.
recipe() {
  awk -v heading="$2" -v wanted="$3" '
    /^#+ / { inside = $0 ~ "^#+ " heading "$"; number = 0; isBlock = 0; next }
    inside && /^    / { if (!isBlock) number++; isBlock = 1; if (number == wanted) print substr($0, 5); next }
    inside && /^$/ { next }
    { isBlock = 0 }' "$here/../../docs/$1"
}

# start_vsftpd DIRECTORY: Debian's FTP server on port 2121, into which the user camera uploads.
start_vsftpd() {
  cat > vsftpd.conf <<CONF
listen=YES
listen_port=2121
listen_address=192.0.2.10
background=NO
anonymous_enable=YES
no_anon_password=YES
anon_root=$1
ftp_username=camera
write_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=YES
anon_umask=022
seccomp_sandbox=NO
secure_chroot_dir=/var/run/vsftpd/empty
CONF
  mkdir -p /var/run/vsftpd/empty
  vsftpd "$PWD/vsftpd.conf" > vsftpd.log 2>&1 &
}
