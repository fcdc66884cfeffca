# Several photospools in one story. Each has a directory NAME with its photospool.yaml, its spool and its start.log.

unset PHOTOSPOOL_SPOOL
# They start again and again, which takes a small machine long.
patience=120
declare -A daemons
at_end() { kill -KILL "${daemons[@]}" 2> /dev/null; }

# at NAME WORD...: the command there.
at() { PHOTOSPOOL_CONFIG=$PWD/$1/photospool.yaml "$photospool" "${@:2}"; }

# start NAME: returns when its daemon is ready. stop NAME: in order. strike NAME: at once.
start() {
  : > "$1/start.log"
  PHOTOSPOOL_CONFIG=$PWD/$1/photospool.yaml "$photospool" run > "$1/start.log" 2>&1 &
  daemons[$1]=$!
  wait_for_line "$1/start.log" event=ready
}
stop() { end "$1" TERM || fail "$1 ended with $?"; }
strike() { end "$1" KILL || true; }
end() { # NAME SIGNAL
  local status=0
  kill "-$2" "${daemons[$1]}"
  wait "${daemons[$1]}" 2> /dev/null || status=$?
  unset "daemons[$1]"
  cat "$1/start.log" >> run.log
  return "$status"
}

# received NAME: what it has received, a line each. received_of NAME REMOTE MEMBER: of one message.
received() { at "$1" photos --received --json; }
received_of() { received "$1" | jq -r "select(.remote == \"$2\") | .$3" | paste -sd' '; }
is_received() { [ "$(received_of "$1" "$2" state)" = "$3" ]; }
