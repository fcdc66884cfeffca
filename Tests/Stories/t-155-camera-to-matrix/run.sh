# The tutorial of a camera and a Matrix room, as printed: the mailed and the uploaded photo are in the room, with the subject.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"
. "$here/lib/tutorial.sh"

meanwhile() {
  case $(tail -n 1 "$1") in
    'photospool queue') wait_until is_in_room 'sealed photo,Motion' ;;
    *uploads/.sent*) wait_until is_in_room 'sealed photo,Motion,sealed photo' ;;
  esac
}
follow camera-to-matrix.md -e "s,https://matrix.example.org,$endpoint,; s,#door:example.org,$alias," \
  -e 's/"user": "camera"/"user": "alice"/; s/the camera.s password/alice/'
expect "$(read_room | jq -r '.body // .kind' | paste -sd,)" 'sealed photo,Motion,sealed photo'
