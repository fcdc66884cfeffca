#!/usr/bin/env bash
# Makes a Debian package of the programs in .build/release: .build/photospool_VERSION_ARCHITECTURE.deb, byte for byte
# reproducible from a commit.
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
# The place that dpkg-shlibdeps expects.
tree=$stage/debian/photospool
umask 022

# put MODE DIRECTORY FILE...
put() { mkdir -p "$tree/$2"; install -m "$1" -t "$tree/$2" "${@:3}"; }
# pack FILE: compresses manual pages and changelogs as Debian requires.
pack() { gzip -9n "$tree/$1"; }

put 755 usr/bin "$photospool"
put 755 usr/libexec/photospool "$programs/photospool-darkroom"
put 644 usr/libexec/photospool Sources/photospool-xmtp/photospool-xmtp.py
# The daemon starts it with the configured Python.
sed -i '1{/^#!/d}' "$tree/usr/libexec/photospool/photospool-xmtp.py"
strip --strip-unneeded --remove-section=.comment --remove-section=.note \
  "$tree/usr/bin/photospool" "$tree/usr/libexec/photospool/photospool-darkroom"
put 644 lib/systemd/system etc/systemd/*
put 644 usr/lib/sysusers.d etc/sysusers.d/photospool.conf
put 644 usr/lib/tmpfiles.d etc/tmpfiles.d/photospool.conf
put 644 etc/cron.d etc/cron.d/photospool-janitor
put 644 etc/photospool etc/photospool.yaml
sed -i 's|^  #directory: ./spool$|  directory: /var/spool/photospool|' "$tree/etc/photospool/photospool.yaml"
[ "$(grep -c '^  directory: /var/spool/photospool$' "$tree/etc/photospool/photospool.yaml")" = 1 ]

for page in docs/man/*.[158]; do
  put 644 "usr/share/man/man${page##*.}" "$page"
  pack "usr/share/man/man${page##*.}/${page##*/}"
done
mkdir -p "$tree"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
"$photospool" --generate-completion-script bash | sed '1{/^#!/d}' > "$tree/usr/share/bash-completion/completions/photospool"
"$photospool" --generate-completion-script zsh > "$tree/usr/share/zsh/vendor-completions/_photospool"
"$photospool" --generate-completion-script fish > "$tree/usr/share/fish/vendor_completions.d/photospool.fish"

doc=usr/share/doc/photospool
put 644 $doc README.md docs/*.md
put 644 $doc/decisions docs/decisions/*.md
put 644 $doc/examples etc/examples/*
sed '/^@LICENSE@$/,$d' tools/deb/copyright > "$tree/$doc/copyright"
sed -e '1,4d' -e 's/^$/./' -e 's/^/ /' LICENSE >> "$tree/$doc/copyright"
for package in .build/checkouts/*/; do
  name=$(basename "$package")
  mkdir -p "$tree/$doc/licenses/$name"
  find "$package" -maxdepth 1 -type f \( -name 'LICENSE*' -o -name 'NOTICE*' \) -exec install -m 644 -t "$tree/$doc/licenses/$name" {} +
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
put 644 usr/share/lintian/overrides tools/deb/photospool

# The package depends on the shared libraries that are used.
mkdir "$tree/DEBIAN"
printf 'Source: photospool\n\nPackage: photospool\nArchitecture: any\n' > "$stage/debian/control"
depends=$(cd "$stage" && dpkg-shlibdeps -O -e debian/photospool/usr/bin/photospool \
  -e debian/photospool/usr/libexec/photospool/photospool-darkroom)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/${depends#shlibs:Depends=}/" \
  -e "s/@SIZE@/$(du -sk --apparent-size --exclude=DEBIAN "$tree" | cut -f1)/" tools/deb/control > "$tree/DEBIAN/control"
install -m 755 -t "$tree/DEBIAN" tools/deb/{postinst,prerm,postrm}
install -m 644 -t "$tree/DEBIAN" tools/deb/conffiles
(cd "$tree" && find . -type f ! -path './DEBIAN/*' ! -path './etc/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
find "$tree" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p .build
dpkg-deb --root-owner-group -Zxz --build "$tree" ".build/photospool_${version}_$architecture.deb"
