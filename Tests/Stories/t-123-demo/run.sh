# `make demo` sends photographs, shows them on the page, and leaves neither processes nor files behind.
. "$(dirname "$0")/../lib/library.sh"

root=$here/../..
# Every process of the demonstration inherits this.
mark=DEMONSTRATION=$$-$RANDOM
processes() { grep -lsz "^$mark\$" /proc/[0-9]*/environ || true; }
mkdir scratch
(cd "$root" && env "$mark" TMPDIR="$OLDPWD/scratch" bash tools/demo.sh) > demo.log 2>&1 || fail "$(tail demo.log)"
if command -v chromium > /dev/null; then
  for scheme in light dark; do
    expect "$(identify -format '%m %wx%h' "$root/.build/demo/page-$scheme.jpg")" 'JPEG 1080x700'
    # One colour would be an empty page.
    [ "$(identify -format %k "$root/.build/demo/page-$scheme.jpg")" -gt 10000 ] || fail "page-$scheme.jpg has no photograph"
  done
else
  has demo.log 'There are none, because chromium is not installed.'
fi
expect "$(grep -cE '^http://ps-[0-9a-f]+\.localhost:[0-9]+/login/[0-9a-f]+$' demo.log)" 1
# A browser's children end a moment after it.
none_is_left() { [ -z "$(processes)" ]; }
wait_until none_is_left
wait_until are_empty scratch
