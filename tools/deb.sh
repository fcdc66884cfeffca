#!/usr/bin/env bash
# Makes two Debian packages of the programs in .build/release, byte for byte reproducible from a commit and the lists of
# .build/functions: .build/photospool_VERSION_ARCHITECTURE.deb, and photospool-web_VERSION_ARCHITECTURE.deb with the page.
set -euo pipefail
cd "$(dirname "$0")/.."
programs=.build/release
photospool=$programs/photospool
version=$("$photospool" --version 2> /dev/null | head -n 1 | awk '{ print $NF }')
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022

# begin PACKAGE: the package that all that follows is put into, in the place that dpkg-shlibdeps expects.
begin() { package=$1 tree=$stage/debian/$1; mkdir -p "$tree"; }

# put MODE DIRECTORY FILE...
put() { mkdir -p "$tree/$2"; install -m "$1" -t "$tree/$2" "${@:3}"; }
# pack FILE: compresses manual pages and changelogs as Debian requires.
pack() { gzip -9n "$tree/$1"; }
put_page() { put 644 "usr/share/man/man${1##*.}" "$1"; pack "usr/share/man/man${1##*.}/${1##*/}"; }
# put_program DIRECTORY PROGRAM
put_program() {
  put 755 "$1" "$2"
  strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/$1/${2##*/}"
}
# finish SCRIPTS PROGRAM...: with the maintainer's scripts; it depends on the shared libraries that its programs use.
finish() {
  local scripts=$1 depends
  shift
  mkdir "$tree/DEBIAN"
  put 644 usr/share/lintian/overrides "$scripts/$package"
  printf 'Source: photospool\n\nPackage: %s\nArchitecture: any\n' "$package" > "$stage/debian/control"
  depends=$(cd "$stage" && dpkg-shlibdeps -O "${@/#/-edebian/$package/}")
  sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/${depends#shlibs:Depends=}/" \
    -e "s/@SIZE@/$(du -sk --apparent-size --exclude=DEBIAN "$tree" | cut -f1)/" "$scripts/control" > "$tree/DEBIAN/control"
  install -m 755 -t "$tree/DEBIAN" "$scripts"/{postinst,prerm,postrm}
  [ ! -e "$scripts/conffiles" ] || install -m 644 -t "$tree/DEBIAN" "$scripts/conffiles"
  (cd "$tree" && find . -type f ! -path './DEBIAN/*' ! -path './etc/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz --build "$tree" ".build/${package}_${version}_$architecture.deb"
}

begin photospool
put_program usr/bin "$photospool"
put_program usr/libexec/photospool "$programs/photospool-darkroom"
put 644 usr/libexec/photospool Sources/photospool-xmtp/photospool-xmtp.py
# The daemon starts it with the configured Python.
sed -i '1{/^#!/d}' "$tree/usr/libexec/photospool/photospool-xmtp.py"
put 644 lib/systemd/system etc/systemd/photospool.service etc/systemd/photospool-watch.service etc/systemd/photospool-janitor.*
put 644 usr/lib/sysusers.d etc/sysusers.d/photospool.conf
put 644 usr/lib/tmpfiles.d etc/tmpfiles.d/photospool.conf
put 644 etc/cron.d etc/cron.d/photospool-janitor
put 644 etc/photospool etc/photospool.yaml
sed -i 's|^  #directory: ./spool$|  directory: /var/spool/photospool|' "$tree/etc/photospool/photospool.yaml"
[ "$(grep -c '^  directory: /var/spool/photospool$' "$tree/etc/photospool/photospool.yaml")" = 1 ]

for page in docs/man/*.[158]; do [ "$page" = docs/man/photospool-web.8 ] || put_page "$page"; done
mkdir -p "$tree"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
"$photospool" --generate-completion-script bash | sed '1{/^#!/d}' > "$tree/usr/share/bash-completion/completions/photospool"
"$photospool" --generate-completion-script zsh > "$tree/usr/share/zsh/vendor-completions/_photospool"
"$photospool" --generate-completion-script fish > "$tree/usr/share/fish/vendor_completions.d/photospool.fish"

doc=usr/share/doc/photospool
put 644 $doc docs/*.md
put 644 $doc/tutorials docs/tutorials/*.md
put 644 $doc/decisions docs/decisions/*.md
put 644 $doc/examples etc/examples/*
sed '/^@LICENSE@$/,$d' tools/deb/copyright > "$tree/$doc/copyright"
sed -e '1,4d' -e 's/^$/./' -e 's/^/ /' LICENSE >> "$tree/$doc/copyright"
for checkout in .build/checkouts/*/; do
  name=$(basename "$checkout")
  mkdir -p "$tree/$doc/licenses/$name"
  find "$checkout" -maxdepth 1 -type f \( -name 'LICENSE*' -o -name 'NOTICE*' \) -exec install -m 644 -t "$tree/$doc/licenses/$name" {} +
done
runtime=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/share/swift/LICENSE.txt
[ ! -f "$runtime" ] || { mkdir -p "$tree/$doc/licenses/swift"; install -m 644 -t "$tree/$doc/licenses/swift" "$runtime"; }
cat > "$tree/$doc/changelog" <<END
photospool ($version) stable; urgency=medium

  * CHANGELOG.md tells what is new.

 -- $(sed -n 's/^Maintainer: //p' tools/deb/control)  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
pack $doc/changelog
put 644 $doc CHANGELOG.md

finish tools/deb usr/bin/photospool usr/libexec/photospool/photospool-darkroom

begin photospool-web
put_program usr/libexec/photospool "$programs/photospool-web"
put 644 lib/systemd/system etc/systemd/photospool-web.*
put 644 usr/lib/tmpfiles.d etc/tmpfiles.d/photospool-web.conf
put_page docs/man/photospool-web.8
# It depends on this very photospool, so one copyright and one changelog serve both.
mkdir -p "$tree/usr/share/doc"
ln -s photospool "$tree/usr/share/doc/photospool-web"
finish tools/deb/web usr/libexec/photospool/photospool-web
