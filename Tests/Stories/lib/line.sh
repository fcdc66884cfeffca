# A line between the daemon and the world that a story can make bad: two network namespaces and a pair of devices. The
# story and its servers are in the world, at 10.77.0.1; the daemon is at home, at 10.77.0.2. All of it ends with the story.

# Who is not root is so in a user namespace, where the kernel lets everybody have one.
as_root=()
[ "$(id -u)" = 0 ] || as_root=(--map-root-user)

# why_no_line: why there can be none on this machine; nothing where there can.
why_no_line() {
  local tool
  for tool in ip nft nsenter tc unshare; do
    command -v "$tool" > /dev/null || { echo "there is no $tool (packages iproute2, nftables, util-linux)"; return; }
  done
  unshare "${as_root[@]}" --net true 2> /dev/null || echo 'no network namespace may be made here; run it as root'
}

# in_world: goes on in a network namespace of the story's own.
in_world() {
  [ -n "${STORY_IS_IN_WORLD:-}" ] || STORY_IS_IN_WORLD=1 exec unshare "${as_root[@]}" --net bash "$0" "$@"
}

# lay_line: the line, whole. `at_home` are the words that start a command at its other end.
lay_line() {
  ip link set lo up
  exec {home_end}> >(exec unshare --net cat)
  local home=$!
  at_home=(nsenter --target "$home" --net)
  until [ "$(readlink "/proc/$home/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
  ip link add name home type veth peer name world netns "$home" || skip 'no pair of devices can be made here'
  ip address add 10.77.0.1/30 dev home
  ip link set home up
  "${at_home[@]}" ip link set lo up
  "${at_home[@]}" ip address add 10.77.0.2/30 dev world
  "${at_home[@]}" ip link set world up
  local end
  for end in '' "${at_home[*]}"; do
    $end nft -f - <<'RULES' || skip 'no rules can be set here'
table inet line {
  counter tries {}
  counter bites {}
  chain in { type filter hook input priority 0; }
  chain out { type filter hook output priority 0; oifname "world" tcp flags & (syn | ack) == syn counter name tries; }
}
RULES
  done
  export TEST_SERVERS_ADDRESS=10.77.0.1
}

# rule RULE...: what happens to what comes out of the line, at both ends.
rule() {
  nft add rule inet line in iifname home "$@"
  "${at_home[@]}" nft add rule inet line in iifname world "$@"
}

# cut_line down|silent: takes the device down, or drops all packets silently.
cut_line() {
  case $1 in
    down) "${at_home[@]}" ip link set world down ;;
    silent) rule drop ;;
  esac
}

mend_line() {
  nft flush chain inet line in
  "${at_home[@]}" nft flush chain inet line in
  "${at_home[@]}" ip link set world up
}

# slow RATE: what the line carries from home, as tc has it; nothing is as much as it can.
slow() {
  if [ $# = 0 ]; then
    "${at_home[@]}" tc qdisc del dev world root
  else
    "${at_home[@]}" tc qdisc add dev world root tbf rate "$1" burst 2kb latency 2s
  fi
}

# tries: how often a connection was tried so far. bites: how many packets a rule with `counter name bites` met.
tries() { "${at_home[@]}" nft -j list counter inet line tries | jq '.nftables[] | .counter // empty | .packets'; }
bites() { nft -j list counter inet line bites | jq '.nftables[] | .counter // empty | .packets'; }
