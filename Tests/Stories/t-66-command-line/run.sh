# The command line: each option once, photos from pipes, mistakes that are named, and a faulty configuration that stops no client.
. "$(dirname "$0")/../lib/library.sh"

# says STATUS PATTERN COMMAND...: ends so, and says that on standard error.
says() { ends "$1" "${@:3}"; [ -z "$2" ] || has err.log "$2"; }

start_daemon
stop_daemon

# An option given twice is an error.
says 64 '^Error: --to is given twice' send --to a --to b --text x
for option in text from id spool config; do says 64 "^Error: --$option is given twice" send --to a --text x "--$option=x" "--$option=y"; done
says 64 '^Error: --state is given twice' queue --state sent --state failed
says 64 '^Error: --timeout is given twice' wait --timeout 1 --timeout=2 x
says 64 '^Error: --output is given twice' prepare -o a --output b x
is_empty "$spool/new"
says 0 '' queue --json --json

# Mistakes.
says 64 'there is no command quue; did you mean queue?' quue
says 64 '^OVERVIEW: Sendmail' --spool "$spool"
says 64 '^USAGE: photospool profile' profile
says 64 '^Usage: photospool send ' send --to a
has err.log '^Error: give at least one --photo'
says 64 'a --text that is not blank' send --to a --text ' '
says 65 'to: the name begins or ends with a blank' send --to 'a ' --text x
says 65 'from: the name begins or ends with a blank' send --to a --from ' a' --text x
"$photospool" --help > help.log
[ "$(wc -L < help.log)" -lt 80 ] || fail 'the help is wider than a terminal'
grep -q '^  0 done, 64 usage.*$' help.log && grep -q '^  78 configuration$' help.log || fail "$(cat help.log)"

# The spool may be named before the command.
(unset PHOTOSPOOL_SPOOL; says 0 '' --spool "$spool" queue; says 66 'no spool at nowhere' --spool=nowhere queue)

# `make build` tells `--version` the commit.
sources=$here/../../Sources/CKernel
"$photospool" --version > version.log
head -n 1 version.log | grep -q '^photospool [0-9]' || fail "$(cat version.log)"
if command -v git > /dev/null; then
  mkdir -p clone/Sources && cp -r "$sources" "$here/../../Makefile" clone && mv clone/CKernel clone/Sources/
  rm -f clone/Sources/CKernel/commit.h
  git -C clone init -q
  git -C clone -c user.name=nobody -c user.email=nobody@localhost commit -q --allow-empty -m empty
  make -s -C clone commit-header
  echo 'int puts(const char *); const char *ckernel_commit(void); int main(void) { puts(ckernel_commit()); }' > told.c
  cc -I clone/Sources/CKernel/include -o told told.c clone/Sources/CKernel/commit.c
  expect "$(./told)" "$(git -C clone rev-parse --short=12 HEAD)"
else
  leave_out 'git is not installed'
fi

# A daemon says at its start that photos cannot be prepared.
mkdir bin && cp "$photospool" bin/
bin/photospool run > alone.log 2>&1 & daemon=$!
wait_for_line alone.log 'level=warning event="photos cannot be prepared: photospool-darkroom is missing; install photospool again"'
wait_for_line alone.log event=ready
kill -TERM "$daemon"; wait "$daemon"; daemon=

# Photos that are no plain files.
head -c 5000 /dev/urandom > cat.jpg
one=$("$photospool" send --to g --photo - < <(cat cat.jpg; sleep 0.1; cat cat.jpg))
two=$(cat cat.jpg | "$photospool" send --to g --photo /dev/stdin)
mkfifo pipe
cat cat.jpg > pipe & three=$("$photospool" send --to g --photo pipe --photo <(cat cat.jpg))
wait
cmp <(cat cat.jpg cat.jpg) "$spool/new/$one/photo-00"
for photo in "$two/photo-00" "$three/photo-00" "$three/photo-01"; do cmp cat.jpg "$spool/new/$photo"; done

# The name of the user's own file stays with the photo, on this computer: receivers never hear of it.
cp "$photos/Wine_by_Jakkub_Mede.jpg" 'IMG 1234.jpg'
own=$("$photospool" send --to own --photo 'IMG 1234.jpg' --photo cat.jpg)
start_daemon
says 69 'photo-01-cat.jpg: ' wait "$own"
must_print '^  photo-00-IMG_1234.jpg: sent$' show "$own"
has printed.log 'photo-01-cat.jpg: failed$'
expect "$("$photospool" photos --json --to own | jq -r .file)" photo-00-IMG_1234.jpg
expect "$(jq -r .attachment.filename "$spool/published/own.jsonl")" photo.jpg
! grep -r IMG_1234 "$spool/published" "$spool/objects" || fail 'the name of a file was published'
stop_daemon
says 65 '/dev/null is empty' send --to g --photo /dev/null
says 65 '/dev/zero has .*the limit is 10000000' send --to g --photo /dev/zero
head -c 12000000 /dev/zero | says 65 'standard input has .*the limit is 10000000' send --to g --photo -
expect "${PIPESTATUS[*]}" '0 0' 'the writer was cut off'
mkdir album
says 65 'album is a directory; name the photos in it, for example with album/' send --to g --photo album
says 64 'standard input can be read once' send --to g --photo - --text - < /dev/null

# A mistake in the configuration is the daemon's to mend; a client finds its spool and goes on.
(
  unset PHOTOSPOOL_SPOOL
  printf 'spool: {directory: %s}\nlgo: {level: loud}\n' "$spool" > wrong.yaml
  says 0 'wrong.yaml:2: unknown key .lgo.' --config wrong.yaml send --to g --text 'all the same'
  [ -d "$spool/new/$(cat out.log)" ] || fail 'it is not dropped'
  says 0 'wrong.yaml:2' --config wrong.yaml queue
  says 78 'wrong.yaml:2' --config wrong.yaml run
  printf 'spol: {directory: %s}\n' "$spool" > wrong.yaml
  says 78 'did you mean .spool.' --config wrong.yaml send --to g --text nowhere
  says 0 'did you mean .spool.' --config wrong.yaml --spool "$spool" send --to g --text 'named'
  expect "$(tail -n 1 err.log)" "photospool: correct the configuration; this command uses the spool $spool"
)
