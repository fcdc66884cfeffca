# Text from clients, programs and servers reaches terminals, logs and JSON without control characters.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/everything.sh"

noise 300x200 photo.jpg
evil=$(printf 'a\342\200\256b \302\205 \342\201\246c\357\273\277')
# A network whose program writes all that a terminal obeys, and a conversation, an inbox and files that are called so.
cat > network.sh <<'PROGRAM'
#!/bin/bash
input=$(cat)
printf '\033]0;title\a id \302\205\342\200\256\r\n\033[31m'
printf '\033]52;c;TUFSS0VS\a \033[2J\342\200\256 it said no\n\033[1A' >&2
case $input in
  *refuses*) exit 65 ;;
  *waits*) exit 75 ;;
esac
PROGRAM
chmod 700 network.sh
configure <<YAML
log: {level: trace}
intake: {rescan: 1s, settle: 300ms}
network: {type: exec, program: $PWD/network.sh}
hooks: {failed: $PWD/network.sh}
YAML
start_daemon
for kind in fine refuses waits; do
  build "$kind" "$plain $kind" "$escapes"
  printf '%s me\n' "$plain" > "$spool/tmp/$kind/from"
  cp photo.jpg "$spool/tmp/$kind/photo $plain $escapes.jpg"
  submit "$kind"
done
drop controls "$evil" ''
build nonsense family ''
: > "$spool/tmp/nonsense/$escapes"
submit nonsense
build id family x
printf '%s\n' "$escapes" > "$spool/tmp/id/id"
submit id
number=0
for name in "$escapes" "$plain" "$(printf 'two\nlines')" "$(printf '\377\376')" "$(printf 'x%.0s' {1..255})"; do
  number=$((number + 1))
  build "odd-$number" family ''
  mv "$spool/tmp/odd-$number" "$spool/new/$name"
  printf '%s\n' "$name" > "$spool/cancel/odd-$number"
  printf '%s\n' "$name" > "$spool/tmp/purge-$number"
  mv "$spool/tmp/purge-$number" "$spool/purge/odd-$number"
  mkdir -p "$spool/incoming/new/$name"
  printf '%s' "$name" > "$spool/incoming/new/$name/from-conversation" 2> /dev/null || true
done
wait_for_line start.log 'event=refused'
is_taken() { [ -z "$(ls "$spool/new" "$spool/incoming/new" | grep -v '^/.*:$')" ]; }
wait_until is_taken
"$photospool" wait --timeout 60 fine 2> /dev/null || true
wait_for_line start.log 'request=waits.*event=waits\|event=waits.*request=waits'

everything up fine refuses waits controls nonsense id "$plain" "$escapes" "$(printf '\377\376')"
stop_daemon
everything down fine waits "$escapes"
cp "$spool"/failed/*/error out/ 2> /dev/null || true
number=0
for error in "$spool"/failed/*/error "$spool"/incoming/failed/*/error; do
  number=$((number + 1))
  cp "$error" "out/error-$number.txt"
  expect "$(wc -l < "$error")" 1 "$error"
done
cp run.log out/daemon.log
tool plain_output.py $(find out -name '*.txt' ! -size 0) out/*.json out/*.prom out/daemon.log || fail 'something obeys'
# A reader that goes away, and a log that nobody can take.
{ "$photospool" photos --json || [ $? = 141 ]; } 2> quiet.txt | head -n 0
[ ! -s quiet.txt ] || fail "$(cat quiet.txt)"
"$photospool" run 2> /dev/full &
daemon=$!
answers() { prints photospool_ metrics; }
wait_until answers
drop loud family loud photo.jpg
"$photospool" wait --timeout 60 loud || fail 'a log that nobody can take stops the daemon'
kill -TERM "$daemon"; wait "$daemon" || fail "ended with $?"; daemon=
