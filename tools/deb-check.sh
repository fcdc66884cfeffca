#!/usr/bin/env bash
# deb-check.sh PACKAGE WEB-PACKAGE: installs them in a fresh Debian 12, sends photos as another user than the daemon's and by
# the page, checks manual and completions, and removes and purges them; then boots that Debian and runs the services with
# systemd (deb-boot.sh). Root only; 77 if the machine does not permit it.
set -euo pipefail
package=$(realpath "$1") web=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
photo=${PHOTOSPOOL_PHOTO:-/usr/share/backgrounds/Wine_by_Jakkub_Mede.jpg}

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; [ ! -s "$scratch/log" ] || tail -n 20 "$scratch/log" >&2; exit 1; }
ok() { echo "ok $*"; }

if [ "${INSIDE:-}" != 1 ]; then
  [ "$(id -u)" = 0 ] || skip 'only root can make a Debian of its own'
  command -v debootstrap > /dev/null || skip 'debootstrap is not installed'
  unshare --mount --pid --fork true 2> /dev/null || skip 'this machine allows no namespaces'
  status=0
  scratch=$(mktemp -d)
  # Its processes and mounts end with it.
  INSIDE=1 unshare --mount --pid --fork --kill-child "$0" "$package" "$web" "$scratch" || status=$?
  if [ "$status" = 0 ]; then
    "$here/deb-boot.sh" "$scratch/debian" "$package" "$web" "$photo" || status=$?
    if [ "$status" = 77 ]; then
      # The checks that need no running units.
      dpkg-deb -x "$package" "$scratch/unpacked"
      dpkg-deb -x "$web" "$scratch/unpacked"
      systemctl --root="$scratch/unpacked" list-unit-files --no-pager 'photospool*'
      (cd "$scratch/unpacked/lib/systemd/system" && tail -n +1 photospool*)
      echo 'the units were shown and not run: this machine boots no systemd'
      status=0
    fi
  fi
  rm -rf "$scratch"
  exit "$status"
fi

scratch=$3
tree=$scratch/debian
mount --make-rprivate /
# The new Debian uses this machine's package sources.
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^bookworm //p' | head -n 1)
[ -n "$mirror" ] || skip 'this machine knows no mirror of Debian 12'
debootstrap --variant=minbase bookworm "$tree" "$mirror" > "$scratch/log" 2>&1 || { tail -n 5 "$scratch/log"; skip 'debootstrap does not work here'; }
mount -t proc proc "$tree/proc"
mount -t tmpfs tmpfs "$tree/dev/shm" 2> /dev/null || true
mkdir -p "$tree/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
rm -f "$tree/dev/ptmx"
ln -s pts/ptmx "$tree/dev/ptmx"
cp /etc/resolv.conf "$tree/etc/resolv.conf"
cp /etc/hosts "$tree/etc/hosts"
printf '#!/bin/sh\nexit 101\n' > "$tree/usr/sbin/policy-rc.d"
chmod 755 "$tree/usr/sbin/policy-rc.d"

in_debian() { chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=xterm DEBIAN_FRONTEND=noninteractive "$@"; }
as() { in_debian setpriv --reuid "$1" --regid "$1" --init-groups /usr/bin/env HOME=/nonexistent "${@:2}"; }
files() { (cd "$tree" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log \) -prune -o -print | sort); }

echo 'path-include=/usr/share/man/*' > "$tree/etc/dpkg/dpkg.cfg.d/manual"
cp "$package" "$tree/tmp/photospool.deb"
cp "$web" "$tree/tmp/photospool-web.deb"
in_debian apt-get update -q > "$scratch/log" 2>&1
in_debian apt-get install -q -y --no-install-recommends man-db fish zsh curl > "$scratch/log" 2>&1 || fail 'no shells'
in_debian apt-get satisfy -q -y --no-install-recommends "$(dpkg-deb -f "$package" Depends)" "$(dpkg-deb -f "$web" Depends | sed 's/, photospool (= [^)]*)//')" > "$scratch/log" 2>&1 \
  || fail 'it depends on what is not in Debian'
in_debian useradd --user-group guest
files > "$scratch/before"

in_debian dpkg -i /tmp/photospool.deb > "$scratch/log" 2>&1 || fail 'it cannot be installed'
grep -qi 'warning' "$scratch/log" && fail 'installing warns'
in_debian usermod -a -G photospool guest
[ "$(in_debian stat -c '%a %U %G' /var/spool/photospool)" = '750 photospool photospool' ] || fail 'the spool is not as it should be'
! grep -qsx photospool "$tree"/proc/[0-9]*/comm || fail 'something was started without systemd'
ok "installed: $(in_debian photospool --version | head -n 1), $(dpkg-query --admindir="$tree/var/lib/dpkg" -W -f '${Installed-Size}' photospool) KiB"

chroot "$tree" setpriv --reuid photospool --regid photospool --init-groups \
  /usr/bin/env -i PATH=/usr/bin:/bin photospool run > "$scratch/log" 2>&1 &
daemon=$!
timeout 60 bash -c 'tail -n +1 -F "$1" 2> /dev/null | grep -q -m 1 event=ready' _ "$scratch/log" || fail 'the daemon does not start'
cp "$photo" "$tree/tmp/cat.jpg"
chmod 644 "$tree/tmp/cat.jpg"
as guest sh -c 'umask 007; d=/var/spool/photospool/tmp/cat.$$; mkdir $d &&
  cp /tmp/cat.jpg $d/photo.jpg && echo family > $d/to && echo "Check this out!" > $d/text && mv $d /var/spool/photospool/new/cat' \
  || fail 'a user of the group cannot drop a request'
as photospool photospool wait --timeout 120 cat || fail 'it was not sent'
name=$(as guest photospool send --to family --photo /tmp/cat.jpg) || fail 'a user of the group cannot send'
as photospool photospool wait --timeout 120 "$name" || fail "$name was not sent"
lines=$(sed -E 's/.*"kind":"([a-z]+)".*/\1/' "$tree/var/spool/photospool/published/family.jsonl" | paste -sd' ')
[ "$lines" = 'photo text photo' ] || fail "published: $lines"
as photospool photospool check > "$scratch/check" 2>&1 || fail "check: $(cat "$scratch/check")"
grep -q 'locked process' "$scratch/check" || fail 'no word of the darkroom'
as nobody photospool send --to family --text hello 2> /dev/null && fail 'anybody can send'
ok "sent, by mv and by photospool send: $lines"

# The page is a package of its own, and needs the first.
[ ! -e "$tree/usr/libexec/photospool/photospool-web" ] || fail 'photospool brings the page'
in_debian dpkg -i /tmp/photospool-web.deb > "$scratch/web" 2>&1 || fail "the page cannot be installed: $(cat "$scratch/web")"
grep -qi 'warning' "$scratch/web" && fail "installing the page warns: $(cat "$scratch/web")"
[ "$(in_debian stat -c '%a %U' /var/spool/photospool/state/web)" = '700 photospool' ] || fail 'the page has no place for its links'
[ -L "$tree/etc/systemd/system/sockets.target.wants/photospool-web.socket" ] || fail 'the socket is not enabled'
! in_debian test -e /etc/systemd/system/multi-user.target.wants/photospool-web.service || fail 'the page starts without a visit'
cp "$here/deb-page.sh" "$tree/tmp/"
as photospool systemd-socket-activate -l 127.0.0.1:7377 /usr/libexec/photospool/photospool-web > "$scratch/page" 2>&1 &
page=$!
timeout 60 bash -c 'tail -n +1 -F "$1" 2> /dev/null | grep -q -m 1 Listening' _ "$scratch/page" || fail "no socket: $(cat "$scratch/page")"
link=$(as photospool photospool web link --port 7377) || fail 'no link'
in_debian /tmp/deb-page.sh "$link" 'By the page' || fail "the page: $(cat "$scratch/page")"
grep -q '"text":"By the page"' "$tree/var/spool/photospool/published/family.jsonl" || fail 'the page did not send'
kill -TERM $page
wait $page || true
ok "the page sent, $(dpkg-query --admindir="$tree/var/lib/dpkg" -W -f '${Installed-Size}' photospool-web) KiB"

for page in photospool.1 photospool.conf.5 photospool.yaml.5 photospool-spool.5 photospool-janitor.8 photospool-darkroom.8 photospool-web.8; do
  complaint=$(in_debian man --warnings "${page##*.}" "${page%.*}" 2>&1 > "$scratch/page")
  [ -z "$complaint" ] && [ "$(wc -l < "$scratch/page")" -gt 20 ] || fail "$page: $complaint"
done
ok 'the manual has its pages'

cp "$here/../Tests/Stories/lib/offered.sh" "$tree/tmp/"
mkdir "$tree/tmp/completions"
ln -s /usr/share/bash-completion/completions/photospool "$tree/tmp/completions/photospool.bash"
ln -s /usr/share/fish/vendor_completions.d/photospool.fish "$tree/tmp/completions/photospool.fish"
ln -s /usr/share/zsh/vendor-completions/_photospool "$tree/tmp/completions/_photospool"
chmod 777 "$tree/tmp" "$tree/tmp/completions"
for shell in bash zsh fish; do
  for question in 'queue:qu' 'cat:show ca'; do
    read -ra words <<< "${question#*:}"
    found=$(as photospool bash -c 'cd /tmp && umask 0 && fail() { echo "$@" >&2; exit 1; } && export completions=/tmp/completions HOME=/tmp &&
      . /tmp/offered.sh && offered_by "$@"' _ $shell photospool "${words[@]}")
    [ "$found" = "${question%%:*}" ] || fail "$shell offers '$found' behind ${question#*:}"
    rm -f "$tree/tmp/offered"
  done
done
ok 'bash, zsh and fish complete commands and requests'

kill -TERM $daemon
wait $daemon || fail 'the daemon did not stop cleanly'

in_debian dpkg -P photospool-web > "$scratch/removed" 2>&1 || fail 'the page cannot be purged'
[ ! -e "$tree/var/spool/photospool/state/web" ] || fail 'purging the page leaves its sessions'
in_debian dpkg -r photospool > "$scratch/removed" 2>&1 || fail 'it cannot be removed'
[ -s "$tree/var/spool/photospool/published/family.jsonl" ] || fail 'removal took what was published'
[ -s "$tree/etc/photospool/photospool.yaml" ] || fail 'removal took the configuration'
in_debian dpkg -P photospool > "$scratch/removed" 2>&1 || fail 'it cannot be purged'
grep -q 'holds messages or photos and is kept' "$scratch/removed" || fail 'purging did not tell of the spool'
# The user and backups of passwd stay, as usual in Debian.
left=$(files | comm -13 "$scratch/before" - | grep -v -e '^./var/spool/photospool\(/\|$\)' -e '^./etc/\(passwd\|group\|shadow\|gshadow\)-$' -e '^./etc/.pwd.lock$' || true)
[ -z "$left" ] || fail "left behind: $left"
ok 'removed, then purged; messages and photos are kept'

rm -rf "$tree/var/spool/photospool"
in_debian dpkg -i /tmp/photospool.deb /tmp/photospool-web.deb > "$scratch/log" 2>&1 || fail 'they cannot be installed again'
as photospool photospool run > "$scratch/log" 2>&1 &
daemon=$!
timeout 60 bash -c 'tail -n +1 -F "$1" 2> /dev/null | grep -q -m 1 event=ready' _ "$scratch/log" || fail 'the daemon does not start again'
kill -TERM "$(cat "$tree/var/spool/photospool/state/daemon.lock")"
wait $daemon || fail 'the daemon did not stop cleanly'
as photospool photospool web link --port 7377 > "$scratch/link" || fail 'no link'
in_debian dpkg -r photospool-web > "$scratch/removed" 2>&1 || fail 'the page cannot be removed'
in_debian dpkg -P photospool > "$scratch/removed" 2>&1 || fail 'it cannot be purged'
in_debian dpkg -P photospool-web >> "$scratch/removed" 2>&1 || fail 'the page cannot be purged after it'
[ ! -e "$tree/var/spool/photospool" ] || fail "an empty spool is left: $(find "$tree/var/spool/photospool" -type f)"
ok 'purged with a spool in which nothing is'

if command -v lintian > /dev/null; then
  lintian --no-cfg --fail-on error "$package" "$web" > "$scratch/lintian" 2>&1 || fail "lintian: $(cat "$scratch/lintian")"
  ok "lintian: no errors, $(grep -c ^W: "$scratch/lintian" || true) warnings"
fi

# For booting, with a policy that starts services.
[ -z "${PHOTOSPOOL_DEB_BEFORE:-}" ] || in_debian apt-get satisfy -q -y --no-install-recommends \
  "$(dpkg-deb -f "$PHOTOSPOOL_DEB_BEFORE" Depends)" > "$scratch/log" 2>&1 || fail 'the earlier version depends on what is not in Debian'
in_debian apt-get install -q -y --no-install-recommends systemd-sysv > "$scratch/log" 2>&1 || fail 'no systemd'
