# What clients, programs and servers say reaches terminals, logs and JSON with nothing in it that those obey; and no command, log,
# child or core file has a secret, a key or an address of an upload.
. "$(dirname "$0")/../lib/library.sh"

noise 300x200 photo.jpg
evil=$(printf 'a\342\200\256b \302\205 \342\201\246c\357\273\277')
plain=$(printf 'a\342\200\256b \342\201\246c\357\273\277\342\200\250')
escapes=$(printf '\033]52;c;TUFSS0VS\a\033[2J\r\b\302\233 \342\200\256')
mkdir out
# told NAME.txt|NAME.json COMMAND...: what a command says, each way, whatever its status.
told() { local status=0; "$photospool" "${@:2}" > "out/$1" 2> "out/$1.err.txt" || status=$?; [ "$status" -lt 128 ] || fail "${*:2}: $status"; }

# A network whose program writes all that a terminal obeys, and a conversation, an inbox and files that are called so.
cat > network.sh <<'PROGRAM'
#!/bin/bash
input=$(cat)
printf '\033]0;title\a id \302\205\342\200\256\r\n\033[31m'
printf '\033]52;c;TUFSS0VS\a \033[2J\342\200\256 it said no\n\033[1A' >&2
{ env; tr '\0' ' ' < /proc/$$/cmdline; echo; grep 'core file' /proc/self/limits; } >> "$(dirname "$0")/children.txt"
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
start_daemon MARKERVARIABLE=MARKERVALUE
for kind in fine refuses waits; do
  mkdir "$spool/tmp/$kind"
  printf '%s %s\n' "$plain" "$kind" > "$spool/tmp/$kind/to"
  printf '%s me\n' "$plain" > "$spool/tmp/$kind/from"
  printf '%s\n' "$escapes" > "$spool/tmp/$kind/text"
  cp photo.jpg "$spool/tmp/$kind/photo $plain $escapes.jpg"
  mv "$spool/tmp/$kind" "$spool/new/"
done
mkdir "$spool/tmp/controls"
printf '%s\n' "$evil" > "$spool/tmp/controls/to"
mv "$spool/tmp/controls" "$spool/new/"
mkdir "$spool/tmp/nonsense"
echo family > "$spool/tmp/nonsense/to"
: > "$spool/tmp/nonsense/$escapes"
mv "$spool/tmp/nonsense" "$spool/new/"
mkdir "$spool/tmp/id"
echo family > "$spool/tmp/id/to"
printf '%s\n' "$escapes" > "$spool/tmp/id/id"
echo x > "$spool/tmp/id/text"
mv "$spool/tmp/id" "$spool/new/"
number=0
for name in "$escapes" "$plain" "$(printf 'two\nlines')" "$(printf '\377\376')" "$(printf 'x%.0s' {1..255})"; do
  number=$((number + 1))
  mkdir "$spool/tmp/odd-$number"
  echo family > "$spool/tmp/odd-$number/to"
  mv "$spool/tmp/odd-$number" "$spool/new/$name"
  printf '%s\n' "$name" > "$spool/cancel/odd-$number"
  printf '%s\n' "$name" > "$spool/tmp/purge-$number"
  mv "$spool/tmp/purge-$number" "$spool/purge/odd-$number"
  mkdir -p "$spool/incoming/new/$name"
  printf '%s' "$name" > "$spool/incoming/new/$name/from-conversation" 2> /dev/null || true
done
wait_for_line start.log 'event=refused'
is_taken() { [ -z "$(ls "$spool/new")" ]; }
wait_until is_taken
"$photospool" wait --timeout 60 fine 2> /dev/null || true
wait_for_line start.log 'request=waits.*event=waits\|event=waits.*request=waits'

# everything MARK NAME...: all that is said, of each of these names.
everything() {
  local name
  for command in queue shape photos storage; do
    told "$command.$1.txt" "$command"
    [ "$command" = shape ] || told "$command.$1.json" "$command" --json
  done
  for name in "${@:2}"; do
    number=$((number + 1))
    told "show-$number.$1.txt" show "$name"
    for command in wait retry cancel hold release prefs view reveal; do
      case $command-$name in retry-fine | cancel-waits) continue ;; esac
      told "$command-$number.$1.txt" "$command" $([ "$command" != wait ] || echo --timeout=1) "$name"
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

# Children have nothing of ours, and leave no memory behind.
[ -s children.txt ] || fail 'no child told of itself'
! grep 'MARKER' children.txt || fail 'a child has our environment'
! grep 'core file' children.txt | grep -v 'Max core file size *[01] *[01] ' || fail 'a child may leave its memory in a file'
"$photospool" run 2> /dev/full &
daemon=$!
answers() { "$photospool" metrics 2> /dev/null | grep -q photospool_; }
wait_until answers
grep -q 'Max core file size *[01] *[01] ' "/proc/$daemon/limits" || fail 'the daemon may leave its memory in a file'
drop loud family loud photo.jpg
"$photospool" wait --timeout 60 loud || fail 'a log that nobody can take stops the daemon'
darkrooms=$(pgrep -f -P "$daemon" photospool-darkroom)
[ -n "$darkrooms" ] || fail 'there is no darkroom'
for child in $darkrooms; do
  # What gave up its rights shows nobody its environment, not even to look.
  ! tr '\0' '\n' < "/proc/$child/environ" 2> /dev/null | grep -v '^\(PATH=\|LANG=\|GLIBC_TUNABLES=glibc.malloc.hugetlb=1$\)' | grep . || fail 'the darkroom has an environment'
  grep -q 'Max core file size *[01] *[01] ' "/proc/$child/limits" || fail 'the darkroom may leave its memory in a file'
done
kill -TERM "$daemon"; wait "$daemon" || fail "ended with $?"; daemon=

# Secrets: in the configuration, the environment, tickets and answers; and the keys that were published.
. "$here/lib/secrets.sh"
(umask 077; echo "$secret" > hook.secret)
rm -r out; mkdir out
: > run.log
export SIGNER_TOKEN=MARKERTOKEN
start_daemon
drop story family 'text for nobody else' photo.jpg
"$photospool" wait --timeout 60 story
for child in $(pgrep -P "$daemon"); do
  ! tr '\0' '\n' < "/proc/$child/environ" 2> /dev/null | grep MARKER || fail 'a child has our environment'
done
! tr '\0' ' ' < "/proc/$daemon/cmdline" | grep MARKER || fail 'a secret is in the title'
everything up story
stop_daemon
everything down story
cp run.log out/
# `photos --json` and `show` say where a sealed photo is, which is what they are asked for; elsewhere that is in no line.
sed -i 's/"url":"[^"]*"//g' out/photos.*.json out/show-*.json
sed -i 's/^ *url  .*//' out/show-*.txt
no_secret out
kill "$SIGNER_PID" 2> /dev/null || true
