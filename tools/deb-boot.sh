#!/usr/bin/env bash
# deb-boot.sh TREE PACKAGE WEB-PACKAGE PHOTO: boots the Debian in TREE with its own systemd and installs the packages there.
# Sends to the service, by the page too, reloads, hangs and removes it, and runs the janitor's unit. PHOTOSPOOL_DEB_BEFORE names
# the package of an earlier version, whose full spool they take over. Root only; 77 if this machine cannot boot it.
set -euo pipefail
tree=$1 package=$2 web=$3 photo=$4
scratch=$(mktemp -d)
machine= leader=

skip() { echo "NOT BOOTED: $*"; exit 77; }
fail() {
  echo "FAILED: $*" >&2
  [ -z "$leader" ] || in_debian journalctl -b --no-pager -n 30 >&2 || true
  exit 1
}
ok() { echo "ok $*"; }
in_debian() { nsenter -t "$leader" --all /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as() { in_debian setpriv --reuid "$1" --regid "$1" --init-groups "${@:2}"; }
shows() { in_debian systemctl show -P "$2" "$1"; }
# wait_until SECONDS COMMAND...
wait_until() {
  local end=$((SECONDS + $1))
  until "${@:2}" > /dev/null 2>&1; do [ "$SECONDS" -lt "$end" ] || return 1; sleep 0.2; done
}
says() { in_debian journalctl -b --no-pager -o cat -u "$1" | grep -q -- "$2"; }
end() {
  set +e
  if [ -n "$machine" ]; then
    # The second signal ends it at once.
    kill -TERM "$machine" 2> /dev/null && sleep 2 && kill -TERM "$machine" 2> /dev/null
    wait "$machine" 2> /dev/null
  fi
  rm -rf "$scratch"
}
trap end EXIT

command -v systemd-nspawn > /dev/null || skip 'systemd-nspawn is not installed'
[ -x "$tree/sbin/init" ] || skip 'there is no systemd in it'
rm -f "$tree/usr/sbin/policy-rc.d" "$tree/dev/ptmx"
cp "$package" "$tree/root/photospool.deb"
cp "$web" "$tree/root/photospool-web.deb"
cp "$(dirname "$0")/deb-page.sh" "$tree/root/"
cp "$photo" "$tree/root/cat.jpg"
systemd-nspawn --quiet --directory="$tree" --machine=photospool-check --boot --register=no --keep-unit --private-network --console=pipe \
  < /dev/null > "$scratch/console" 2>&1 &
machine=$!
# Its only child is the other systemd.
has_leader() { leader=$(pgrep -P "$machine" | head -n 1) && [ -n "$leader" ]; }
wait_until 10 has_leader && leader=$(pgrep -P "$machine" | head -n 1) || skip "systemd-nspawn does not run here: $(head -n 3 "$scratch/console")"
is_up() { in_debian systemctl is-system-running | grep -qE '^(running|degraded)$'; }
wait_until 60 is_up || skip 'systemd does not come up here'
ok "booted: $(in_debian systemctl --version | head -n 1)"

in_debian useradd --user-group sender
in_debian install -o sender -m 644 /root/cat.jpg /tmp/cat.jpg
if [ -n "${PHOTOSPOOL_DEB_BEFORE:-}" ]; then
  cp "$PHOTOSPOOL_DEB_BEFORE" "$tree/root/before.deb"
  in_debian dpkg -i /root/before.deb > "$scratch/log" 2>&1 || fail "the earlier version cannot be installed: $(cat "$scratch/log")"
  before=$(in_debian photospool --version | head -n 1)
  as photospool photospool hold waiting > /dev/null
  as photospool photospool send --wait --to done --photo /tmp/cat.jpg --text 'Before the upgrade' > /dev/null || fail "$before does not send"
  for number in $(seq 100); do
    photo=(); [ $((number % 10)) != 0 ] || photo=(--photo /tmp/cat.jpg)
    as photospool photospool send --to waiting --text "$number" "${photo[@]}"
  done > "$scratch/waiting"
fi

in_debian dpkg -i /root/photospool.deb > "$scratch/log" 2>&1 || fail "it cannot be installed: $(cat "$scratch/log")"
[ "$(shows photospool ActiveState)/$(shows photospool Type)" = active/notify ] || fail 'installing does not start the daemon'
[ "$(shows photospool-janitor.timer ActiveState)" = active ] || fail 'installing does not start the timer'
in_debian systemctl cat photospool.service photospool-janitor.service photospool-janitor.timer || fail 'systemctl cat does not show the units'
ok 'installed: systemctl cat shows the units, the daemon runs and the timer is armed'

if [ -n "${before:-}" ]; then
  as photospool photospool release waiting > /dev/null
  mapfile -t waiting < "$scratch/waiting"
  as photospool photospool wait --timeout 120 "${waiting[@]}" || fail "not everything of $before was sent"
  in_debian cat /var/spool/photospool/published/waiting.jsonl | sed -n 's/.*"text":"\([0-9]*\)".*/\1/p' | cmp - <(seq 100) || fail "$before's requests are not in order"
  [ "$(in_debian grep -c '"kind":"photo"' /var/spool/photospool/published/waiting.jsonl)" = 10 ] || fail "photos of $before"
  in_debian ls /var/spool/photospool/sent | wc -l | grep -qx 101 || fail 'receipts'
  ok "upgraded from $before: what waited was sent, in order"
fi

in_debian usermod -a -G photospool sender
in_debian systemctl stop photospool-janitor.timer
name=$(as sender photospool send --to family --photo /tmp/cat.jpg) || fail 'a user of the group cannot send'
as photospool photospool wait --timeout 120 "$name" || fail "$name was not sent"
ok "sent by the service: $(in_debian ls /var/spool/photospool/published)"

in_debian dpkg -i /root/photospool-web.deb > "$scratch/log" 2>&1 || fail "the page cannot be installed: $(cat "$scratch/log")"
[ "$(shows photospool-web.socket ActiveState)/$(shows photospool-web ActiveState)" = active/inactive ] || fail 'the page waits for no visit'
link=$(as photospool photospool web link --port 7377) || fail 'no link before the first visit'
in_debian /root/deb-page.sh "$link" 'By the page' || fail 'the page'
[ "$(shows photospool-web ActiveState)" = active ] || fail 'the visit did not start the page'
sessions=/var/spool/photospool/state/web/sessions
in_debian grep -rq '"user":0' $sessions || fail "the page does not know who visits: $(in_debian grep -r . $sessions)"
inside() { in_debian nsenter -t "$(shows photospool-web MainPID)" -m setpriv --reuid photospool --regid photospool --clear-groups "$@"; }
[ "$(inside ls -A /etc/photospool)" = photospool.yaml ] || fail "the page sees secrets: $(inside ls -A /etc/photospool)"
for place in '' photos cur sent state objects; do
  if [ -z "$place" ]; then inside touch /var/spool/photospool/new/.x && inside rm /var/spool/photospool/new/.x || fail 'it cannot send'
  elif inside touch "/var/spool/photospool/$place/x" 2> /dev/null; then fail "the page may write $place/"; fi
done
# A program in its unit connects to nothing, not even on this computer. Outside of it, the same program does.
probe='/usr/bin/curl -sS -m 5 -o /dev/null http://127.0.0.1:7377/'
# shellcheck disable=SC2086
in_debian $probe || fail 'nobody can connect to the page'
in_debian systemctl cat photospool-web | sed "/^Requires=/d; s#^ExecStart=.*#Type=oneshot\nExecStart=$probe#" > "$scratch/probe"
in_debian tee /run/systemd/system/photospool-probe.service < "$scratch/probe" > /dev/null
in_debian systemctl daemon-reload
! in_debian systemctl start photospool-probe 2> /dev/null || fail 'from inside its unit, the page could connect to a port'
[ "$(shows photospool-probe ExecMainStatus)" = 7 ] || fail "the probe ended with $(shows photospool-probe ExecMainStatus)"
ok 'from inside the unit of the page nothing can be connected to'
# Without the daemon, it reads and takes what is sent.
in_debian systemctl stop photospool
in_debian systemctl restart photospool-web.socket
link=$(as photospool photospool web link) || fail 'no link'
in_debian /root/deb-page.sh "$link" 'While it is down' 2> "$scratch/log" &
visitor=$!
waits() { in_debian sh -c 'ls /var/spool/photospool/new/*/text'; }
wait_until 30 waits || fail "the page takes nothing without a daemon: $(cat "$scratch/log")"
in_debian systemctl start photospool
wait $visitor || fail "the page: $(cat "$scratch/log")"
in_debian systemd-analyze security --no-pager photospool-web | tail -n 1
ok "the page sent, also while the daemon was down: $(shows photospool-web MemoryCurrent) bytes of memory"

in_debian systemctl start photospool-janitor || fail 'the janitor does not run'
[ "$(shows photospool-janitor Result)/$(shows photospool-janitor ExecMainStatus)" = success/0 ] || fail 'the janitor did not end well'
! in_debian journalctl -b --no-pager -o cat | grep 'thread priority' || fail 'the runtime complains in the journal'
said=$(in_debian journalctl -b --no-pager -o cat -u photospool-janitor _COMM=photospool)
[ -z "$said" ] || fail "the janitor said: $said"
printf '[Service]\nEnvironment=PHOTOSPOOL_CACHE_TOTAL=1kB\n' > "$scratch/limit"
in_debian mkdir -p /run/systemd/system/photospool-janitor.service.d
in_debian tee /run/systemd/system/photospool-janitor.service.d/limit.conf < "$scratch/limit" > /dev/null
in_debian systemctl daemon-reload
for run in first second; do in_debian systemctl start photospool-janitor || fail "its $run run beyond a limit failed"; done
[ "$(in_debian journalctl -b --no-pager -o cat -u photospool-janitor _COMM=photospool | grep -c 'beyond the limit')" = 1 ] \
  || fail 'the journal does not have the warning once'
ok 'the janitor ran by its unit: silent, and a limit that was passed said once in the journal'

in_debian systemctl reload photospool || fail 'it cannot be reloaded'
wait_until 30 says photospool 'configuration reloaded' || fail 'the journal does not tell of a reload'
[ "$(shows photospool ActiveState)" = active ] || fail 'it does not live after a reload'
ok 'reloaded'

# systemd restarts a daemon that hangs.
in_debian mkdir -p /run/systemd/system/photospool.service.d
printf '[Service]\nWatchdogSec=10s\nTimeoutAbortSec=5s\n' > "$scratch/watchdog"
in_debian tee /run/systemd/system/photospool.service.d/watchdog.conf < "$scratch/watchdog" > /dev/null
in_debian systemctl daemon-reload
in_debian systemctl restart photospool
hung=$(shows photospool MainPID)
in_debian sh -c "kill -STOP $hung"
is_anew() { [ "$(shows photospool ActiveState)" = active ] && [ "$(shows photospool MainPID)" != "$hung" ]; }
wait_until 60 is_anew || fail 'a daemon that hangs is not started again'
says photospool 'atchdog timeout' || fail 'the watchdog did not end it'
as sender photospool send --to family --text 'still here' > "$scratch/name"
as photospool photospool wait --timeout 60 "$(cat "$scratch/name")" || fail 'it does not send after it was started again'
ok "a daemon that hung was ended by the watchdog, started again and sends ($(shows photospool NRestarts) restart)"

in_debian dpkg -r photospool-web photospool > "$scratch/log" 2>&1 || fail 'they cannot be removed'
! in_debian systemctl is-active --quiet photospool-web.socket || fail 'the page is served after it was removed'
! in_debian systemctl is-active --quiet photospool || fail 'it runs after it was removed'
ok 'removed: nothing runs'
