# The first page is short, each page of the documentation is in its index, and links lead to files and headings that are there.
. "$(dirname "$0")/../lib/library.sh"

root=$(realpath "$here/../..")
[ "$(wc -l < "$root/README.md")" -le 150 ] || fail 'README.md is longer than 150 lines'
for page in "$root"/docs/*.md "$root"/docs/tutorials/*.md; do
  name=${page#"$root/docs/"}
  [ "$name" = README.md ] || grep -q "($name[)#]" "$root/docs/README.md" || fail "docs/README.md does not name $name"
done
tool links.py "$root" > links || fail "$(cat links)"
[ "$(cat links)" -gt 100 ] || fail "only $(cat links) links were found"

# It complains of each kind of wrong link.
mkdir wrong
printf '# A page\n\n[good](#a-page) [gone](gone.md) [other](#heading)\n' > wrong/page.md
! tool links.py wrong > links || fail 'wrong links are not seen'
expect "$(cat links)" $'page.md: gone.md is not there\npage.md: #heading is no heading'
