# The identity that another client made for the account is never replaced: messages to encrypted rooms are held until the
# right recovery key is there, and are then read as those of a signed device. A device without one-time keys gets the key with the
# next message after it has some.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"

(umask 077; fact alice > token)
master() { api alice POST keys/query '{"device_keys": {"@alice:localhost": []}}' | jq -c '.master_keys[].keys'; }
encrypt_room
start_script BOB encrypted_reader.py mautrix "$endpoint" bob
start_script ALICE encrypted_reader.py mautrix "$endpoint" alice unsigned
ask BOB start
ask ALICE start
ask ALICE recovery
(umask 077; jq -r .key <<< "$answer" > right; tr 'a-y' 'b-z' < right > wrong
  echo 'EsT1 H3Wm yHnZ VYce KwM9 c6Gk nX71 3FkR Yz9x vary hjQh 5m7X' > foreign)
before=$(master)

configure < <(matrix_settings)
start_daemon
drop first family 'for the signed'
wait_until has_error first 'set recoveryKeyFile to sign the device'
stop_daemon
for key in wrong foreign right; do
  configure < <(matrix_settings | sed "s/listen: false/listen: false, recoveryKeyFile: $key/")
  start_daemon
  "$photospool" flush > /dev/null
  case $key in
    wrong) wait_until has_error first 'the recovery key is not one' ;;
    foreign) wait_until has_error first 'the recovery key is not that of @alice:localhost' ;;
    right) "$photospool" wait --timeout 60 first || fail "$("$photospool" queue --json)" ;;
  esac
  [ "$key" = right ] || stop_daemon
done
expect "$(master)" "$before" 'the identity'
ask BOB read 1
expect "$(jq -r '.messages[] | "\(.body) \(.trust)"' <<< "$answer")" 'for the signed cross-signed-tofu'
"$photospool" check > check.log || fail "check: $(cat check.log)"
has check.log 'is signed by the identity that another client made'

# All one-time keys of bob's second device are claimed before photospool asks; a new key comes later.
start_script LAPTOP encrypted_reader.py mautrix "$endpoint" bob unsigned
ask LAPTOP start
laptop=$(jq -r .device <<< "$answer")
stop_daemon
configure < <(matrix_settings | sed "s/listen: false/listen: false, recoveryKeyFile: right, devices: all/")
claim() {
  api alice POST keys/claim "{\"one_time_keys\": {\"@bob:localhost\": {\"$laptop\": \"signed_curve25519\"}}}" \
    | jq -e '.one_time_keys | length > 0' > /dev/null
}
while claim; do :; done
start_daemon
drop second family 'without keys'
"$photospool" wait --timeout 60 second
ask BOB read 2
expect "$(jq -r '.messages[-1].body' <<< "$answer")" 'without keys'
# Reading uploads new keys.
ask LAPTOP read 1
expect "$(jq '.unreadable | length' <<< "$answer")" 1
drop third family 'with keys'
"$photospool" wait --timeout 60 third
ask LAPTOP read 2
expect "$(jq -r '.messages[].body' <<< "$answer")" 'with keys'
stop_daemon
