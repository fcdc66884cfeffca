# Three NATS servers with JetStream. Their addresses are in $nats_servers, those for monitoring in $nats_monitors, both with
# commas; the token is in $nats_token.
# `nats kill 1`, `start`, `stop` (suspends), `continue`, `empty` (also its disk), for 1 to 3 or `all`.

[ -x "$(dirname "$python")/nats-server" ] || skip "nats-server is not installed"
mkdir nats_servers
coproc NATS { exec "$python" "$here/../Support/python/nats_servers.py" nats_servers; }
read -r facts <&"${NATS[0]}" || fail "nats_servers.py did not start"
nats_servers=$(fact servers)
nats_token=$(fact token)
nats_monitors=$(fact monitors)

nats() { ask NATS "$@"; }
