# The tutorial of a phone and a conversation, as printed; curl is the phone, which reads the code and sends a photo.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/code.sh"
. "$here/lib/tutorial.sh"

command -v zbarimg > /dev/null || skip 'zbarimg is missing'
free_port
site=https://photos.example.org:$port
# phone PATH [OPTION...]: the status of its answer, which is in `answer`.
phone() {
  curl -sS -o answer -w '%{http_code}' -b jar -c jar --cacert certificate.pem --connect-to "photos.example.org:$port:127.0.0.1:$port" \
    -H "Origin: $site" "${@:2}" "$site$1"
}
meanwhile() {
  [ "$(tail -n 1 "$1")" = 'cat link' ] || return 0
  local login
  login=$(read_code link)
  expect "$login" "$(head -n 1 link)"
  login=${login#"$site"}
  expect "$(phone "$login")" 200
  has answer 'Open photospool'
  expect "$(phone "$login" -X POST)" 303
  expect "$(phone /)" 200
  has answer 'Name of the conversation'
  expect "$(phone '/conversation?name=family')" 200
  expect "$(phone '/conversation?name=family' -F id=phone-1 -F text=Hello -F "photo=@../cat.jpg")" 303
  wait_until grep -qs '"text":"Hello"' spool/published/family.jsonl
}
follow phone-to-conversation.md -e "s/7377/$port/"
expect "$(jq -r '.inbox + " " + .kind' spool/published/family.jsonl | paste -sd,)" 'anna photo,anna text'
