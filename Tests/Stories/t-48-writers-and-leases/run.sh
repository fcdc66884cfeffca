# Writers keep files of their requests open, or open them again while they are inspected: the daemon lives, nobody else
# waits for them, and its children handle signals as usual.
. "$(dirname "$0")/../lib/library.sh"

cp "$here/../Support/python/opening_writer.py" .
start_daemon
"$python" opening_writer.py "$spool" 25
kill -0 "$daemon" || fail 'the daemon is dead'
# It ignores SIGIO (29), and what it starts does not.
ignores_sigio() { (( 0x$(sed -n 's/^SigIgn:\t//p' "/proc/$1/status") >> 28 & 1 )); }
ignores_sigio "$daemon" || fail 'SIGIO would end the daemon'
noise 300x200 cat.jpg
drop photo family '' cat.jpg
"$photospool" wait --timeout 60 photo
child=$(pgrep -P "$daemon" -f darkroom | head -n 1)
[ -n "$child" ] || fail 'there is no darkroom'
! ignores_sigio "$child" || fail 'the darkroom ignores SIGIO'

# Requests of which a file stays open are set aside, and refused after a second; others go through meanwhile.
mkdir -p kept
exec 7> kept/none
for number in 1 2 3; do
  mkdir "$spool/tmp/open-$number"
  echo family > "$spool/tmp/open-$number/to"
done
exec 7> "$spool/tmp/open-1/text" 8> "$spool/tmp/open-2/text" 9> "$spool/tmp/open-3/text"
for number in 1 2 3; do mv "$spool/tmp/open-$number" "$spool/new/"; done
drop bystander friends 'in another one'
# The second is closed in time.
echo 'in time' >&8
exec 8>&-
drop behind family 'in their conversation'
"$photospool" wait --timeout 60 bystander
for number in 1 3; do
  ends 69 wait --timeout 60 "open-$number"
  has err.log 'still has text open'
done
exec 7>&- 9>&-
"$photospool" wait --timeout 60 open-2 behind
expect "$(published family | jq -r 'select(.kind == "text") | .text' | tail -n 2 | paste -sd,)" 'in time,in their conversation'
accepted_at() { "$photospool" show --json "$1" | jq -r .acceptedAt; }
[[ $(accepted_at bystander) < $(accepted_at open-1) ]] || fail 'another conversation waited for those that were set aside'
stop_daemon
! grep -q 'level=error' run.log || fail 'an error in the log'
