# The cost of a request in counts that depend little on the machine: system calls, syncs, SQLite statements and write
# transactions. Each bound leaves room for chance, but not for twice the cost.
. "$(dirname "$0")/../lib/library.sh"

# The bound for each cost, and the measured count. One text, and one photo, at a time.
most_calls_of_a_text=315 # 208
most_syncs_of_a_text=25 # 17.1
most_statements_of_a_text=57 # 44
most_writes_of_a_text=6 # 4.0
most_calls_of_a_photo=705 # 466
most_syncs_of_a_photo=42 # 29.2
most_statements_of_a_photo=91 # 74
most_writes_of_a_photo=10.5 # 7.0
# A text of a backlog shares transactions and syncs with others; how many share them is chance, and nothing shared is 5.
most_calls_of_one_in_a_backlog=125 # 83
most_syncs_of_one_in_a_backlog=6 # 3.4
most_statements_of_one_in_a_backlog=18 # 11.3
most_writes_of_one_in_a_backlog=1.5 # 0.3

# Calls for thread synchronisation and memory vary by chance.
chance=futex,sched_yield,restart_syscall,epoll_wait,poll,ppoll,nanosleep,clock_nanosleep
chance+=,mmap,munmap,mprotect,madvise,brk,clone,clone3,exit,rseq,set_robust_list,rt_sigprocmask,gettid
# The daemon is a child of the one who traces it.
at_end() { [ -z "$daemon" ] || pkill -KILL -P "$daemon"; }
strace -f -c -o probe true 2> strace.log || skip "processes cannot be traced here: $(head -n 1 strace.log)"
cc -shared -fPIC -O1 -o statements.so "$here/t-70-counts/statements.c" -ldl

# counted NAME COMMAND...: runs a command beside a daemon, from the daemon's start to its end. Sets NAME to the
# daemon's calls, syncs, statements and write transactions.
counted() {
  : > start.log
  strace -f -c -o "$1.calls" -e trace='!'"$chance" -E LD_PRELOAD="$PWD/statements.so" \
    -E STATEMENTS_COUNTER="$PWD/$1.sql" "$photospool" run > start.log 2>&1 &
  daemon=$!
  wait_for_line start.log event=ready 60
  "${@:2}"
  kill -TERM "$(pgrep -P "$daemon")"
  wait "$daemon"
  daemon=
  cat start.log >> run.log
  { awk '$1 ~ /^[0-9.]+$/ && $NF != "total" {
        calls += $4
        if ($NF ~ /^(fsync|fdatasync|syncfs|sync_file_range)$/) syncs += $4
      }
      END { print calls + 0; print syncs + 0 }' "$1.calls"
    od -An -v -t d8 -w8 "$1.sql"; } | paste -sd' ' > "$1"
}

# send NAME NUMBER [WORD...]: so many requests of a text or a photo, one at a time.
send() {
  local number
  for number in $(seq "$2"); do
    drop "$1$number" family "${@:3}"
    wait_until [ -e "$spool/sent/$1$number" ]
  done
}
backlog() { "$photospool" wait --timeout 120 $(seq -f 'b%g' "$1") > /dev/null; }

# bounded WHAT NUMBER: checks the cost of each of so many requests, beyond that of an idle daemon.
bounded() {
  local kind costs most part
  read -ra costs < <(paste -d' ' "$1" idle | awk -v n="$2" '
    { for (k = 1; k <= 4; k++) printf "%.1f ", ($k - $(k + 4)) / n; print "" }')
  echo "$1: ${costs[0]} calls, ${costs[1]} syncs, ${costs[2]} statements, ${costs[3]} transactions that write"
  part=0
  for kind in calls syncs statements writes; do
    most=most_${kind}_of_$1
    awk -v is="${costs[part]}" -v most="${!most}" 'BEGIN { exit !(is > 0 && is <= most) }' \
      || fail "${costs[part]} $kind of $1, and ${!most} are the most"
    part=$((part + 1))
  done
}

plant_photo "$photos/Dragonfly_by_Bolly.jpg" planted.jpg
start_daemon
stop_daemon
counted idle true
counted a_text send t 100 text
counted a_photo send p 5 '' planted.jpg
for number in $(seq 200); do drop "b$number" "c$((number % 10))" "text $number"; done
# Unwritten data of other programs must not decide how these are synced.
sync
counted one_in_a_backlog backlog 200
# Other file systems do not share syncs, and neither does a disk with much unwritten data.
grep -q syncfs one_in_a_backlog.calls || most_syncs_of_one_in_a_backlog=14
bounded a_text 100
bounded a_photo 5
bounded one_in_a_backlog 200
