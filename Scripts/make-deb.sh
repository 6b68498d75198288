#!/usr/bin/env bash
# Makes a Debian package of the program and its page: .build/parley_VERSION_ARCHITECTURE.deb
#
# Swift's library is linked statically, so the package depends only on Debian's packages.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
version=$(Scripts/stage-program.sh "$tree/usr")
architecture=$(dpkg --print-architecture)
install -D -m 644 Packaging/parley.service "$tree/lib/systemd/system/parley.service"
install -D -m 644 Packaging/parley.conf "$tree/etc/parley/parley.conf"
find "$tree" -type d -exec chmod 755 {} +

mkdir "$tree/DEBIAN"
install -m 755 Packaging/debian/{postinst,prerm,postrm} "$tree/DEBIAN/"
install -m 644 Packaging/debian/conffiles "$tree/DEBIAN/"

# The dependencies that the libraries' packages declare for programs linked with them. Indirect dependencies are
# included, which is harmless.
depends=
while read -r library; do
  package=$(dpkg-query --search "*/$(basename "$(realpath "$library")")" | head -n 1 | cut -d : -f 1)
  wanted=$(dpkg-query --control-show "$package" shlibs | awk 'NF >= 3 && $1 !~ /:/ { print }' |
    cut -d ' ' -f 3- | head -n 1)
  case ", $depends" in *", $wanted, "*) continue ;; esac
  depends+="$wanted, "
done < <(ldd "$tree/usr/bin/parley" | awk '$3 ~ /^\// { print $3 }')
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" \
  -e "s/@SIZE@/$(du -sk "$tree" | cut -f 1)/" -e "s/@DEPENDS@/${depends%, }/" \
  Packaging/debian/control >"$tree/DEBIAN/control"

package=.build/parley_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$tree" "$package" >/dev/null
echo "The package is $package ($(du -k "$package" | cut -f 1) kB)"
