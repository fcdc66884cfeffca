# No command, log, child or core file has a secret, a key, an address of an upload or a variable of the daemon.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/everything.sh"

noise 300x200 photo.jpg
# Children have nothing of ours, and leave no memory behind.
cat > network.sh <<'PROGRAM'
#!/bin/bash
input=$(cat)
{ env; tr '\0' ' ' < /proc/$$/cmdline; echo; grep 'core file' /proc/self/limits; } >> "$(dirname "$0")/children.txt"
[[ $input != *refuses* ]] || exit 65
PROGRAM
chmod 700 network.sh
configure <<< "{network: {type: exec, program: $PWD/network.sh}, hooks: {failed: $PWD/network.sh}}"
start_daemon MARKERVARIABLE=MARKERVALUE
drop fine family fine photo.jpg
drop refuses refuses text
"$photospool" wait --timeout 60 fine
ends 69 wait --timeout 60 refuses
grep -q 'Max core file size *[01] *[01] ' "/proc/$daemon/limits" || fail 'the daemon may leave its memory in a file'
darkrooms=$(pgrep -f -P "$daemon" photospool-darkroom)
[ -n "$darkrooms" ] || fail 'there is no darkroom'
for child in $darkrooms; do
  # Only root can read the environment of a sandboxed process, which is nearly empty.
  ! tr '\0' '\n' < "/proc/$child/environ" 2> /dev/null | grep -v '^\(PATH=\|LANG=\|GLIBC_TUNABLES=glibc.malloc.hugetlb=1$\)' | grep . || fail 'the darkroom has an environment'
  grep -q 'Max core file size *[01] *[01] ' "/proc/$child/limits" || fail 'the darkroom may leave its memory in a file'
done
stop_daemon
[ -s children.txt ] || fail 'no child told of itself'
! grep 'MARKER' children.txt || fail 'a child has our environment'
! grep 'core file' children.txt | grep -v 'Max core file size *[01] *[01] ' || fail 'a child may leave its memory in a file'

# Secrets: in the configuration, the environment, tickets and answers; and the keys that were published.
. "$here/lib/secrets.sh"
(umask 077; echo "$secret" > hook.secret)
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
# `photos --json` and `show` say where a sealed photo is, as they are asked for that; elsewhere it is in no line.
sed -i 's/"url":"[^"]*"//g' out/photos.*.json out/show-*.json
sed -i 's/^ *url  .*//' out/show-*.txt
no_secret out
kill "$SIGNER_PID" 2> /dev/null || true
