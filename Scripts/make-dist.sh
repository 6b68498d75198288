#!/usr/bin/env bash
# Makes a tarball that runs without a compiler and without further packages:
# .build/parley-VERSION-linux-ARCHITECTURE.tar.gz, with a folder of that name inside.
#
# Swift's library is linked into the program; the C libraries lie beside it and are found by the place
# of the program, but for the C library itself, which belongs to the system: the machine that it is
# made on decides which is old enough (Debian 12 has 2.36).
set -euo pipefail

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tree=$work/tree
version=$(Scripts/stage-program.sh "$tree")
name=parley-$version-linux-$(uname -m)
mv "$tree" "$work/$name"
tree=$work/$name
install -m 644 Packaging/parley.service "$tree/share/doc/parley/"

# The C library, its loader and what comes with it are of one piece with the system.
of_the_system='^(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|anl|BrokenLocale|nss_.*))\.so'
mkdir -p "$tree/lib" "$tree/share/doc/parley/libraries"
while read -r library; do
  if [[ $(basename "$library") =~ $of_the_system ]]; then continue; fi
  install -m 644 "$(realpath "$library")" "$tree/lib/$(basename "$library")"
  package=$(dpkg-query --search "*/$(basename "$(realpath "$library")")" | head -n 1 | cut -d : -f 1)
  install -m 644 "/usr/share/doc/$package/copyright" \
    "$tree/share/doc/parley/libraries/$package.txt"
done < <(ldd "$tree/bin/parley" | awk '$3 ~ /^\// { print $3 }')
# A run path of this kind counts for the libraries' own libraries, too.
patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$tree/bin/parley"

tarball=.build/$name.tar.gz
# Names, owners and times that do not depend on who makes it.
tar --create --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" --directory "$work" "$name" |
  gzip -9 -n >"$tarball"
echo "The tarball is $tarball ($(du -k "$tarball" | cut -f 1) kB)"
