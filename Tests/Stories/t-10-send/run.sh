# `photospool send` drops a request durably with the daemon up or down, in order, once per id, and says what is wrong.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
stop_daemon
first=$("$photospool" send --to family --text one)
second=$(echo two | "$photospool" send --to family --text - --photo "$photos/Wine_by_Jakkub_Mede.jpg" --id key-1)
third=$("$photospool" send --to family --text three --from me)
(cd "$spool/new/$second" && sha256sum -c <(awk '{ print $1 "  " $3 }' .sum)) > sums.log || fail "$(cat sums.log)"
[ "$first" \< "$second" ] && [ "$second" \< "$third" ] || fail 'names do not sort in order of arrival'
start_daemon
"$photospool" wait --timeout 60 "$first" "$second" "$third"
expect "$(published family | jq -r '.text // .kind' | paste -sd' ')" 'one photo two three'
expect "$(published family | tail -n 1 | jq -r .inbox)" me

# The same id with the same contents is not sent again; with other contents it is refused.
again=$(echo two | "$photospool" send --to family --text - --photo "$photos/Wine_by_Jakkub_Mede.jpg" --id key-1)
"$photospool" wait --timeout 60 "$again"
expect "$(jq -r '.state + " " + .duplicateOf' "$spool/sent/$again/receipt.json")" "duplicate $second"
other=$("$photospool" send --to family --text other --id key-1)
ends 69 wait --timeout 60 "$other"
has "$spool/failed/$other/error" "the id key-1 was used by request $second with other contents"
expect "$(published family | wc -l)" 4

expect "$("$photospool" send --to family --text waited --wait | wc -l)" 1
refused() { ends "$1" send "${@:2}" < /dev/null; [ ! -s out.log ] || fail "a name was printed for $*"; }
refused 64 --to family
refused 64 --text x
refused 65 --to "$(printf 'a\nb')" --text x
refused 65 --to family --text x --id 'a b'
refused 66 --to family --photo missing.jpg
refused 65 --to family --photo /dev/null --text x
truncate -s 10000001 huge.jpg
refused 65 --to family --photo huge.jpg
mkdir not-a-spool; refused 73 --to family --text x --spool "$PWD/not-a-spool"
is_empty "$spool/tmp"
stop_daemon
