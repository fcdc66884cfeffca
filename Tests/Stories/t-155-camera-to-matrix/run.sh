# The tutorial of a camera and a Matrix room, as printed: the mailed and the uploaded photo are in the room, with the subject.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/matrix.sh"
. "$here/lib/tutorial.sh"

seen() { tool read_room.py "$endpoint" @bob:localhost "$(fact bob)" "$room" | jq -r '.body // .kind' | paste -sd,; }
is_there() { [ "$(seen)" = "$1" ]; }
meanwhile() {
  case $(tail -n 1 "$1") in
    'photospool queue') wait_until is_there 'sealed photo,Motion' ;;
    *uploads/.sent*) wait_until is_there 'sealed photo,Motion,sealed photo' ;;
  esac
}
follow camera-to-matrix.md -e "s,https://matrix.example.org,$endpoint,; s,#door:example.org,$alias," \
  -e 's/"user": "camera"/"user": "alice"/; s/the camera.s password/alice/'
is_there 'sealed photo,Motion,sealed photo' || fail "in the room: $(seen)"
