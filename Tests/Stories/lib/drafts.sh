# Drafts, and what they leave in the store, in the cache and in the ledger.

noise 900x700 0.jpg 1.jpg 2.jpg
configure <<< 'intake: {rescan: 2s}'

objects() { ls -A "$spool/objects"; }
# leaves COUNT: of drafts that nobody was sent no object, cached photo or row is left, and of COUNT sent photos all are.
leaves() {
  [ "$(objects | wc -l)" = "$1" ] && [ "$(find "$spool/photos" -type f | wc -l)" = "$((3 * $1))" ] \
    && [ "$(ledger "SELECT count(*) FROM uploads WHERE state <> 'published'")" = 0 ] \
    && [ "$(ledger "SELECT count(*) FROM photos")" = "$1" ] \
    && [ "$(ledger "SELECT count(*) FROM requests WHERE state IN ('draft', 'abandoned')")" = 0 ] \
    && [ "$(ledger "SELECT count(*) FROM messages WHERE draft = 1")" = 0 ]
}
# all_uploaded COUNT: so many photos of drafts are in the store.
all_uploaded() { [ "$(ledger "SELECT count(*) FROM messages WHERE draft = 1 AND state = 'uploaded'")" = "$1" ]; }
# draft NAME CONVERSATION PHOTO...: as any shell script drops one.
draft() {
  local name=$1 to=$2
  shift 2
  mkdir "$spool/tmp/$name"
  echo "$to" > "$spool/tmp/$name/to"
  cp "$@" "$spool/tmp/$name/"
  for photo in "$@"; do mv "$spool/tmp/$name/$photo" "$spool/tmp/$name/photo-$photo"; done
  mv "$spool/tmp/$name" "$spool/draft/"
}
uploaded() { wait_for_line start.log "event=uploaded .*request=$1 "; }
digests() { published "$1" | jq -r 'select(.kind == "photo") | .attachment.contentDigest'; }

# send_draft NAME: the rename is Send; until it is sent.
send_draft() {
  mv "$spool/draft/$1" "$spool/new/"
  "$photospool" wait --timeout 60 "$1"
}
