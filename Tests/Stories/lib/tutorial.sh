# A tutorial, whose commands are carried out as they are printed, in one shell.

PATH=$(dirname "$photospool"):$PATH
unset PHOTOSPOOL_SPOOL
at_end() { kill $(jobs -p) 2> /dev/null; }
fail() { echo "FAILED: $*" >&2; tail -n 20 "$story"/*/{log,page.log,watch.log} >&2 2> /dev/null || true; exit 1; }
story=$PWD
cp "$photos/Wine_by_Jakkub_Mede.jpg" cat.jpg

# follow PAGE [SED...]: carries out its commands, after these substitutions of names that readers have to replace as well. The
# function `meanwhile`, if there is one, gets the file of each block after it.
follow() {
  local block
  mkdir blocks
  tool tutorial.py cut "$here/../../docs/tutorials/$1" blocks
  [ "$(ls blocks/*.sh | wc -l)" -ge 4 ] || fail "$1 has hardly any commands"
  for block in "$story"/blocks/*.sh; do
    [ $# = 1 ] || sed -i "${@:2}" "$block"
    . "$block" > "$story/printed"
    [ ! -e "${block%.sh}.txt" ] || tool tutorial.py compare "${block%.sh}.txt" "$story/printed" || fail "block $(cat "$block")"
    if declare -F meanwhile > /dev/null; then meanwhile "$block"; fi
  done
}
