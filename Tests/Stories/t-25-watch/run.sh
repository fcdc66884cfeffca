# `queue --watch` draws on a real terminal, shows what changes, follows the terminal's size, and changes none of its settings;
# without a terminal it says so.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
"$photospool" hold family
drop cat family 'Check this out!' "$photos/Wine_by_Jakkub_Mede.jpg"
for number in $(seq 30); do drop "more-$number" family "$number"; done
"$photospool" hold "$(printf 'bold \342\200\256name')"
drop evil "$(printf 'bold \342\200\256name')" text
wait_for_line start.log 'event=accepted.*request=evil'
"$photospool" hold late

watch() { tool watch_queue.py "$1" "$2" "$3" "$photospool" queue --watch "${@:4}" > facts.json \
  || fail "watch $*: $(cat facts.json)"; }
seen() { jq -e "$1" facts.json > /dev/null || fail "not so: $1: $(cat facts.json)"; }

CHANGE="'$photospool' send --to late --text late" SHOWS='late, held' watch 24 80 ctrl-c
seen '.isUntouched and .status == -2'
seen '.shown[0] == "33 messages wait in 2 conversations"'
seen '.shown | any(startswith("family, 32 messages, held; `photospool release` lets it go on"))'
seen '.shown | any(test("^  \\[-{20}\\] pending  cat  photo, [0-9.]+ kB$"))'
seen '.shown | any(. == "  [--------------------] pending  more-1  text, 2 B")'
seen '.shown | any(startswith("bold \\u{202e}name, held"))'
seen '.changed[0] == "34 messages wait in 3 conversations"'
seen '.resized[0] == "34 messages wait in"'
for ending in sigterm:-15 hangup:-1; do
  watch 40 120 "${ending%:*}"
  seen ".isUntouched and .status == ${ending#*:}"
done
watch 24 80 ctrl-c --to family
seen '[.shown[] | select(test("held"))] | length == 1'

# It shows when no daemon answers.
stop_daemon
watch 24 80 ctrl-c
seen '.shown[0] | contains("no daemon answers")'

ends 64 queue --watch < /dev/null
has err.log '--watch needs a terminal'
ends 64 queue --watch --json < /dev/null
