# A text that is changed after Send is not sent: its request fails with the cause, and those behind it go on.
. "$(dirname "$0")/../lib/library.sh"

start_daemon
"$photospool" hold texts > /dev/null
drop text texts 'before'
wait_for_line start.log 'event=accepted.*request=text'
drop behind texts 'as it was'
echo after > "$spool/cur/text/text"
"$photospool" release texts > /dev/null
ends 69 wait --timeout 60 text
ends 0 wait --timeout 60 behind
told() { "$photospool" show --json "$1" | jq -c '.messages[0] | [.state, .cause, (.attempts[-1] | .step, .cause)]'; }
expect "$(told text)" '["failed","text_changed","publish","text_changed"]'
wait_for_line start.log 'request=text .*cause=text_changed.*step=publish'
expect "$(published texts | jq -r .text)" 'as it was'
