# The page, $page, and those who ask it with curl. Its `ask` takes the place of the one for scripts.

reach=()
# start_page [OPTION...]: returns when it is ready. A link to it is in the file `link`, its address in $site, its port in $port.
start_page() {
  rm -f link page.log
  "$photospool" web "$@" > link 2> page.log &
  page=$!
  beside+=" $page"
  wait_for_line page.log 'page ready'
  site=$(sed 's|/login/.*||' link)
  port=${site##*:}
}
stop_page() { stop_beside "$page"; }

# ask STATUS JAR ADDRESS [OPTION...]: with the cookies of a session; the answer is in `answer`, its head in `head`.
ask() {
  local status
  status=$(curl -sS -m 60 -D head -o answer -w '%{http_code}' -b "$2" -c "$2" "${reach[@]}" "${@:4}" "$site$3") || true
  expect "$status" "$1" "$3 ${*:4}: $(cat answer)"
}
# form STATUS ADDRESS [OPTION...]: the same as the page itself asks, in one session.
form() { ask "$1" jar "$2" -H 'Sec-Fetch-Site: same-origin' "${@:3}"; }
# post STATUS JAR ADDRESS [OPTION...]: as a form of the page itself.
post() { ask "${@:1:3}" -X POST -H "Origin: $site" "${@:4}"; }
path_of() { sed "s|^$site||"; }
# enter JAR [OPTION...]: a session by a new link.
enter() {
  "$photospool" web link "${@:2}" | path_of > path
  ask 200 "$1" "$(cat path)"
  post 303 "$1" "$(cat path)"
}
