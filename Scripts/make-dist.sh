#!/usr/bin/env bash
# Makes a tarball that runs without a compiler and without further packages:
# .build/parley-VERSION-linux-ARCHITECTURE.tar.gz, with a folder of that name inside.
#
# Swift's library is linked statically. The C libraries are beside the program and found relative to it, except the
# system's C library, so the build machine decides its minimum version (Debian 12 has 2.36).
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

# The C library, its loader and their companions belong to the system.
of_the_system='^(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|anl|BrokenLocale|nss_.*))\.so'
mkdir -p "$tree/lib" "$tree/share/doc/parley/libraries"
while read -r library; do
  if [[ $(basename "$library") =~ $of_the_system ]]; then continue; fi
  install -m 644 "$(realpath "$library")" "$tree/lib/$(basename "$library")"
  package=$(dpkg-query --search "*/$(basename "$(realpath "$library")")" | head -n 1 | cut -d : -f 1)
  install -m 644 "/usr/share/doc/$package/copyright" \
    "$tree/share/doc/parley/libraries/$package.txt"
done < <(ldd "$tree/bin/parley" | awk '$3 ~ /^\// { print $3 }')
# This kind of run path also applies to the libraries' own libraries.
patchelf --force-rpath --set-rpath '$ORIGIN/../lib' "$tree/bin/parley"

tarball=.build/$name.tar.gz
# Names, owners and times are independent of the machine and the user.
tar --create --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" --directory "$work" "$name" |
  gzip -9 -n >"$tarball"
echo "The tarball is $tarball ($(du -k "$tarball" | cut -f 1) kB)"
