# The words of all commands, in files below out/, also for names with everything in them that a terminal obeys: $plain is
# a good name, $escapes is none.

plain=$(printf 'a\342\200\256b \342\201\246c\357\273\277\342\200\250')
escapes=$(printf '\033]52;c;TUFSS0VS\a\033[2J\r\b\302\233 \342\200\256')
mkdir out
# told NAME.txt|NAME.json COMMAND...: what a command says, each way, whatever its status.
told() { local status=0; "$photospool" "${@:2}" > "out/$1" 2> "out/$1.err.txt" || status=$?; [ "$status" -lt 128 ] || fail "${*:2}: $status"; }

# everything MARK NAME...: all that is said, of each of these names.
everything() {
  local name command number=0
  for command in queue shape photos storage; do
    told "$command.$1.txt" "$command"
    [ "$command" = shape ] || told "$command.$1.json" "$command" --json
  done
  for name in "${@:2}"; do
    number=$((number + 1))
    told "show-$number.$1.txt" show "$name"
    for command in wait retry cancel hold release prefs view reveal hide; do
      case $command-$name in retry-fine | cancel-waits) continue ;; esac
      told "$command-$number.$1.txt" "$command" $([ "$command" != wait ] || echo --timeout=100ms) "$name"
    done
    told "queue-$number.$1.txt" queue --to "$name"
  done
  for name in fine refuses waits; do told "show-$name.$1.json" show --json "$name"; done
  told "send.$1.txt" send --to "$plain$escapes" --text "$escapes" --photo "$escapes"
  told "check.$1.txt" check
  told "metrics.$1.prom" metrics
  told "janitor.$1.json" janitor --json
  told "config.$1.txt" queue --config "$escapes"
  told "spool.$1.txt" queue --spool "$escapes"
  told "option.$1.txt" queue "--$escapes"
  told "long.$1.txt" show "$(printf 'y%.0s' {1..100000})"
  told "prepare.$1.txt" prepare "$escapes" "$plain.jpg" -o prepared
}
