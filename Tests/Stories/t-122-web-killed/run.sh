# A page that is killed at any moment of an upload and a Send loses nothing and doubles nothing: the person sends again, and
# one message is published. A message that the page calls sent is on disk.
#
# CI takes a sample of the moments; WEB_KILLS=all takes all of them, and WEB_PHOTOS=10 makes them more than a hundred.
. "$(dirname "$0")/../lib/library.sh"

photo=photo.jpg photos=${WEB_PHOTOS:-1}
noise 300x200 $photo
cc -shared -fPIC -O1 -o killpoint.so "$here/../Torture/killpoint.c" -ldl
page=
trap '[ -z "$daemon$page" ] || kill -KILL $daemon $page 2> /dev/null || true' EXIT

# start_page [VARIABLE=VALUE...]: on the port of the first one, so that its session goes on.
start_page() {
  rm -f page.log
  env "$@" "$photospool" web --port "${port:-0}" > link 2> page.log &
  page=$!
}
stop_page() { kill -KILL "$page" 2> /dev/null || true; wait "$page" 2> /dev/null || true; page=; }
# ready: whether the page answers; false if it was killed before.
ready() { until curl -sS -m 5 -o /dev/null "$site/healthz" 2> /dev/null; do kill -0 "$page" 2> /dev/null || return 1; sleep 0.02; done; }
ask() { rm -f answer; curl -sS -m 20 -o answer -w '%{http_code}' -b jar -H "Origin: $site" "${@:2}" "$site$1" 2> /dev/null || true; }
# compose NAME: uploads the photos that are not in the draft of this conversation, then sends them with a text. Prints the
# status of Send.
compose() {
  local status draft there
  ask "/draft?name=$1" -X POST > status
  draft=$(jq -r '.draft // empty' answer 2> /dev/null || true)
  there=$(jq '.photos | length' answer 2> /dev/null || true)
  if [ ! -e "sending.$1" ]; then
    [ -n "$there" ] || return 0
    for ((; there < photos; there++)); do
      [ "$(ask "/draft/${draft:-new}/photo?name=$1&file=$there.jpg" -T $photo)" = 201 ] || return 0
      draft=$(jq -r .draft answer)
    done
  fi
  # Once Send was pressed, the browser only repeats it.
  [ -e "sending.$1" ] || echo "$draft" > "sending.$1"
  status=$(ask "/conversation?name=$1" -F "id=torture-$1" -F "text=text of $1" -F "draft=$(cat "sending.$1")")
  echo "$status"
}

start_daemon
start_page
wait_for_line page.log 'page ready'
site=$(sed 's|/login/.*||' link) port=$(sed -E 's|.*:([0-9]+)/login.*|\1|' link)
curl -sS -o /dev/null -c jar -X POST -H "Origin: $site" "$(cat link)"
stop_page

# One that is not killed shows the moments. Before it says that the message is sent, the directory of requests is synced.
start_page LD_PRELOAD="$PWD/killpoint.so" KILLPOINT_AT=0 KILLPOINT_COUNTER="$PWD/counter" KILLPOINT_TRACE="$PWD/trace"
ready
expect "$(compose whole)" 303
stop_page
moments=$(wc -l < trace)
[ "$moments" -gt 20 ] || fail "only $moments moments: $(cat trace)"
moved=$(grep -n '^renameat2 web-' trace | tail -n 1 | cut -d: -f1)
tail -n "+$moved" trace > after
grep -q '^fsync .*/spool/new$' after || fail "new/ is not synced after the move: $(cat after)"

step=$((moments / 8 + 1))
[ "${WEB_KILLS:-}" != all ] || step=1
killed=0
for ((k = 1 + RANDOM % step; k <= moments; k += step)); do
  rm -f counter
  start_page LD_PRELOAD="$PWD/killpoint.so" KILLPOINT_AT="$k" KILLPOINT_COUNTER="$PWD/counter" 2> /dev/null
  status=
  if ready; then status=$(compose "c$k"); fi
  kill -0 "$page" 2> /dev/null || killed=$((killed + 1))
  stop_page
  [ "$status" = 303 ] && continue
  start_page
  ready || fail "the page does not start after $k: $(cat page.log)"
  expect "$(compose "c$k")" 303 "k=$k: $(cat answer)"
  stop_page
done
[ "$killed" -gt 3 ] || fail "only $killed of the moments were reached"
for file in sending.*; do
  name=${file#sending.}
  wait_until grep -q '"kind":"text"' "$spool/published/$name.jsonl"
done
# Receipts are written after the messages are published.
is_done() { [ -z "$(ls "$spool/new")$(ls "$spool/cur")" ]; }
wait_until is_done
stop_daemon
for file in sending.*; do
  name=${file#sending.}
  expect "$(published "$name" | jq -r '.kind + " " + (.text // "")' | paste -sd,)" \
    "$(printf 'photo ,%.0s' $(seq "$photos"))text text of $name"
done
is_empty "$spool/new" "$spool/cur" "$spool/failed" "$spool/draft"
