# `check` says before the first run what works, where each setting is from and what to mend, and makes nothing.
. "$(dirname "$0")/../lib/library.sh"

ends 0 check
has out.log '^  spool.directory from PHOTOSPOOL_SPOOL$'
has out.log 'none yet; `photospool run` makes it'
has out.log "^store directory: keeps objects in $spool/objects$"
[ ! -e "$spool" ] || fail 'check made the spool'
echo "network: {type: exec, program: $PWD/missing}" > photospool.yaml
ends 78 check --config photospool.yaml
has err.log "$PWD/missing cannot be run"
(umask 077; echo "whsec_$(printf 'a secret of some length, long enough' | base64)" > hook.secret)
echo 'network: {type: webhook, url: "https://hooks.example.org/", secretFile: hook.secret}' > photospool.yaml
ends 0 check --config photospool.yaml
has out.log '^network webhook: .*the receiver CANNOT open its photos, .*give the store directory a `url`'
sed -i 's,https://hooks.example.org,http://localhost:9,' photospool.yaml
ends 0 check --config photospool.yaml
! grep -q 'CANNOT open' out.log || fail "$(cat out.log)"
ends 78 check --spool "$PWD/no/where"
has err.log "$PWD/no is not there either; make that with .mkdir -p $PWD/no.$"
ends 66 run --spool "$PWD/no/where"
has err.log "make $PWD/no with .mkdir -p.*"
ends 78 check --json --spool "$PWD/no/where"
expect "$(jq -r 'select(.good | not) | .subject' out.log)" "spool $PWD/no/where"

start_daemon
ends 0 check --spool "$spool"
has out.log '^  spool.directory from command line$'
has out.log "^daemon: running, process $daemon$"
# A spool that is not whole says what is missing.
mv "$spool/new" "$spool/gone"
ends 73 queue
has err.log "the directory new is missing; start .photospool run. there once, or where it runs already .mkdir -m 3770 $spool/new."
mv "$spool/gone" "$spool/new"
stop_daemon
