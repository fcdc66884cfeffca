# Google's emulator of Firestore, $firestore, a stand-in for Cloud Storage, $storage, and another participant with Google's
# own client, whom `ask READER` asks (firestore_reader.py).

tool firestore_emulator.py find || skip 'the emulator of Firestore is not installed'
start_server firestore_emulator.py
firestore=$(fact endpoint)
project=$(fact project)
start_script READER firestore_reader.py "$(fact address)" "$project"
# order_firestore kill|start
exec {firestore_end}>&"${SERVER[1]}" {firestore_start}<&"${SERVER[0]}"
order_firestore() {
  echo "$1" >&"$firestore_end"
  read -r _ <&"$firestore_start" || fail "the emulator did not obey: $1"
}
start_server fake_gcs.py
storage=$(fact endpoint)
storage_process=$(fact process)
exec {storage_end}>&"${SERVER[1]}"

# firebase_settings [KEYFILE]: etc/examples/firebase.yaml with the emulators in place of Google; the network with a key file.
firebase_settings() {
  sed -e "s,bucket: .*,bucket: photos,; s,project: .*,project: $project," \
    -e "0,/keyFile: .*/s,,emulator: \"$storage\"," -e "s,keyFile: .*,emulator: \"$firestore\"${1:+\n  keyFile: $1}," \
    "$here/../../etc/examples/firebase.yaml"
}
# read_conversation NAME: its messages are in seen.jsonl, a line each; its own fields in $answer.
read_conversation() {
  ask READER "{\"do\": \"read\", \"conversation\": \"$1\"}"
  jq -c '.messages[]' <<< "$answer" > seen.jsonl
}
# object URL: what the stand-in keeps at a download address, which it does not serve itself.
object() {
  local name=${1##*/o/}
  curl -sf "$storage/storage/v1/b/photos/o/${name%%\?*}?alt=media"
}
