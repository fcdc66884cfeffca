# `photospool prepare` on a folder as people have it: every photo in order, every refused file with its reason, and nothing
# overwritten unasked. PHOTOSPOOL_FOLDER_COUNT says how many photos (60).
. "$(dirname "$0")/../lib/library.sh"

count=${PHOTOSPOOL_FOLDER_COUNT:-60}
# The program takes its own variables only.
unset PHOTOSPOOL_FOLDER_COUNT
mkdir -p folder/later folder/.hidden
convert "$photos/Bridge_by_Sander_Klootwijk.jpg" -strip -resize '160x100!' kind-0.png
convert kind-0.png -quality 85 kind-1.jpg
convert kind-0.png -quality 85 -interlace JPEG kind-2.jpg
cwebp -quiet -q 75 kind-0.png -o kind-3.webp
convert kind-0.png kind-4.gif
heif-enc -q 50 kind-0.png -o kind-5.heic > heif-enc.log
kinds=(kind-*)
for number in $(seq "$count"); do
  kind=${kinds[number % ${#kinds[@]}]}
  if [ $((number % 4)) = 0 ]; then into=folder/later; else into=folder; fi
  cp "$kind" "$(printf '%s/img-%05d.%s' "$into" "$number" "${kind##*.}")"
done
cp kind-1.jpg 'folder/a name with spaces.jpg'
cp kind-1.jpg "folder/$(printf 'an\033]0;owned\007 and\nline.jpg')"
cp kind-1.jpg folder/-dash.jpg
cp kind-1.jpg folder/twin.jpg
cp kind-5.heic folder/later/twin.heic
cp kind-0.png folder/wrongly-named.jpg
# Neither hidden files nor links are taken of a folder.
cp kind-1.jpg folder/.hidden.jpg
cp kind-1.jpg folder/.hidden/photo.jpg
ln -s ../kind-1.jpg folder/link.jpg
ln -s . folder/loop
# And these are refused.
echo 'Dear Anna' > folder/letter.txt
: > folder/empty.jpg
head -c 2000 kind-1.jpg > folder/truncated.jpg
truncate -s 10000001 folder/huge.jpg
good=$((count + 6)) refused=4

# prepare STATUS ARGUMENT...: what it prints goes into out.log and err.log.
prepare() { ends "$1" prepare "${@:2}"; }

prepare 65 folder -o out
# One line for each in the order of the names, folders in their place among them.
expect "$(wc -l < out.log)" "$good"
expect "$(find out -type f -printf x | wc -c)" "$good"
expect "$(sed 's/ -> .*//' out.log)" "$(sed 's/ -> .*//' out.log | LC_ALL=C sort)"
expect "$(grep -c '^folder/img-' out.log) $(grep -c '^folder/later/img-' out.log)" "$((count - count / 4)) $((count / 4))"
grep -q '^folder/later/twin.heic -> out/twin.jpg: 160x100, ' out.log || fail 'the first twin is not there'
grep -q '^folder/twin.jpg -> out/twin-2.jpg: 160x100, ' out.log || fail 'the second twin is not there'
grep -q '^folder/a name with spaces.jpg -> out/a name with spaces.jpg: ' out.log || fail 'a name lost its spaces'
! grep -q 'hidden\|link\|loop' out.log err.log || fail 'a hidden file or a link was taken'
! LC_ALL=C grep -P '[\x00-\x09\x0b-\x1f\x7f]' out.log err.log || fail 'control characters were printed'
expect "$(grep -c 'owned' out.log)" 1
# Progress is not drawn into a file.
expect "$(wc -l < err.log)" "$((refused + 1))"
while read -r name sentence; do
  grep -q "^photospool: folder/$name: .*$sentence" err.log || fail "$name: $(cat err.log)"
done <<'LIST'
letter.txt not an image
empty.jpg this file is empty
truncated.jpg ends before its picture does
huge.jpg 10000001 bytes
LIST
expect "$(tail -n 1 err.log)" "photospool: $refused of $((good + refused)) photos were refused"
# Every result is a photo that other programs can show, and good input is kept as it was.
for photo in out/*; do djpeg -strict -outfile shown.ppm "$photo" || fail "$photo is damaged"; done
cmp <(djpeg kind-1.jpg) <(djpeg out/twin-2.jpg) || fail 'a small JPEG was not kept'

# A second time nothing is overwritten, unless it is asked for; then the same comes out.
sums() { (cd out && sha256sum -- *); }
sums > first.sum
touch before
prepare 65 folder -o out
[ ! -s out.log ] || fail 'something was written'
expect "$(grep -c 'is there already; use --force' err.log)" "$good"
expect "$(find out -newer before -type f)" ''
prepare 65 --force folder -o out
expect "$(wc -l < out.log)" "$good"
sums | cmp - first.sum || fail 'the same photos came out otherwise'

# Good ones that are named, also by a link: exit status 0 and nothing to complain of.
prepare 0 folder/link.jpg kind-3.webp -o named
expect "$(sed 's/:.*//' out.log | paste -sd,)" 'folder/link.jpg -> named/link.jpg,kind-3.webp -> named/kind-3.jpg'
[ ! -s err.log ] || fail "$(cat err.log)"
prepare 65 kind-1.jpg missing.jpg -o missing
grep -q '^photospool: .*missing.jpg' err.log || fail "$(cat err.log)"
expect "$(wc -l < out.log)" 1

# Progress is drawn for people.
"$python" - "$photospool" > terminal.log <<'PYTHON'
import os, pty, sys
photos = ["kind-1.jpg", "kind-3.webp", "folder/letter.txt", "kind-4.gif"]
status = pty.spawn([sys.argv[1], "prepare", *photos, "-o", "seen"])
sys.exit(os.waitstatus_to_exitcode(status) != 65)
PYTHON
for progress in '1 of 4 photos' '2 of 4 photos' '3 of 4 photos, 1 refused'; do
  grep -qF "$progress" terminal.log || fail "no '$progress' on the terminal: $(cat -v terminal.log)"
done
expect "$(ls seen | paste -sd' ')" 'kind-1.jpg kind-3.jpg kind-4.jpg'
echo "$good photos of a folder"
