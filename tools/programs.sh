#!/bin/bash
# Unpacks programs of Debian that stories talk to, without installing them: programs.sh DIRECTORY
#
# Each group becomes a tree of its own, DIRECTORY/GROUP, which Tests/Stories/lib/machine.sh lays over the system inside of a
# story. So mail and FTP servers that exclude each other can all be tested, and none of them is installed or started here.
set -euo pipefail
# apt takes a relative path for one below its own directories.
place=$(realpath -m "$1")

group() { # NAME PACKAGE...
  local tree=$place/$1 debs=$place/debs/$1 name
  shift
  rm -rf "$tree" "$debs"
  mkdir -p "$tree/usr" "$debs/partial"
  apt-get install -q -y --download-only --no-install-recommends -o Dir::Cache::archives="$debs" "$@" > "$debs.log" 2>&1 || {
    cat "$debs.log" >&2
    exit 1
  }
  # A package that is installed is there already.
  for name in "$debs"/*.deb; do [ ! -e "$name" ] || dpkg-deb -x "$name" "$tree"; done
  # In Debian /bin, /lib and /sbin are links into /usr.
  for name in bin lib lib64 sbin; do
    [ ! -d "$tree/$name" ] || { cp -a "$tree/$name" "$tree/usr/" && rm -r "${tree:?}/$name"; }
  done
}

group postfix postfix
group opensmtpd opensmtpd
group agents maildrop procmail dovecot-core dovecot-imapd isync fetchmail getmail6
group samba samba smbclient
group programs bsd-mailx cron mutt php8.2-cli
group vsftpd vsftpd
group proftpd proftpd-core
rm -r "$place/debs"
touch "$place/ready"
