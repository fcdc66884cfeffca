#!/bin/sh
# deb-page.sh LINK TEXT: opens the page by its link as a browser does, finds the conversation family, and sends it the text by
# the form. deb-check.sh and deb-boot.sh run it inside the Debian that they test.
set -eu
link=$1 text=$2
site=${link%%/login/*}
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT

# visit PATH [OPTION...]: the answer; an error for one that is none.
visit() { path=$1; shift; curl -sS --fail-with-body -m 30 -b "$jar" -c "$jar" -H 'Sec-Fetch-Site: same-origin' "$@" "$site$path"; }
visit "${link#"$site"}" | grep -q 'Open photospool' || { echo "$link opens nothing" >&2; exit 1; }
visit "${link#"$site"}" -X POST
visit / | grep -q 'family' || { echo 'the page does not list the conversation' >&2; exit 1; }
page=$(visit '/conversation?name=family')
id=$(echo "$page" | sed -n 's/.*name="id" value="\([^"]*\)".*/\1/p')
sent() { grep -c 'Sent <time' || true; }
before=$(echo "$page" | sent)
visit '/conversation?name=family' -F "id=$id" -F "text=$text"
end=$(($(date +%s) + 60))
until [ "$(visit '/conversation?name=family' | sent)" = $((before + 1)) ]; do
  [ "$(date +%s)" -lt "$end" ] || { echo 'the page does not show it sent' >&2; exit 1; }
  sleep 0.2
done
