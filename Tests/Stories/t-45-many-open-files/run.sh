# A daemon that inherits a thousand open files loses its watch and nothing else.
. "$(dirname "$0")/../lib/library.sh"

cat > starter.py <<'PYTHON'
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
for _ in range(1100):
    os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
os.execv(sys.argv[1], sys.argv[1:])
PYTHON
configure <<< 'intake: {rescan: 1s}'
"$python" starter.py "$photospool" run > start.log 2>&1 &
daemon=$!
wait_for_line start.log event=ready
has start.log 'too many files were open before; new/ is looked into every 1 s'
drop one friends 'Hello!'
wait_for_line start.log 'event=sent'
expect "$(published friends | jq -r .text)" 'Hello!'
stop_daemon
