#!/bin/sh
# Compiles the client core and its C interface, as Embedded Swift, into a shared library for this machine's
# architecture: .build/library/libparleyclient.so. Clients/c/parley_client.h describes the interface.
#
# The library is linked with no other library: it takes the few C functions that it needs from the process, whichever C
# library that has. Nothing is built if no source has changed.
set -eu

cd "$(dirname -- "$0")/.."
swiftc=$(command -v swiftc)
# The toolchain's own clang and linker. The path is resolved, as swiftc may be a link into the toolchain.
tools=$(dirname -- "$(readlink -f -- "$swiftc")")
[ -x "$tools/ld.lld" ] || tools=$(dirname -- "$swiftc")

target=.build/library/libparleyclient.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p .build/library
Scripts/core-sources.sh "$work/sources" \
  Web/core/Door.swift Web/core/Fields.swift Web/core/Strings.swift Clients/c/Library.swift

stamp=$(
  cat "$work/sources"/*.swift Clients/c/shim.c Clients/c/exports.map Scripts/build-library.sh | cksum
  uname -m
  swiftc --version 2>/dev/null | head -n 1
)
if [ -f "$target" ] && [ "$(cat "$target.stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi

# One section per function, so that the linker drops unused functions.
swiftc -swift-version 6 -enable-experimental-feature Embedded -wmo -parse-as-library \
  -module-name ParleyPage -package-name parley -Osize -Xfrontend -function-sections \
  -c "$work/sources"/*.swift -o "$work/client.o"
"$tools/clang" -O2 -fPIC -ffreestanding -fno-builtin -Wall -Wextra -Werror -c Clients/c/shim.c -o "$work/shim.o"
"$tools/ld.lld" -shared --gc-sections --icf=safe --build-id=none -z relro -z now --strip-all \
  --version-script Clients/c/exports.map -soname libparleyclient.so \
  "$work/client.o" "$work/shim.o" -o "$work/libparleyclient.so"

# Any other dependency would tie the library to one C library.
needed=$(nm --dynamic --undefined-only "$work/libparleyclient.so" | awk '{ print $2 }' |
  grep -vxE '__stack_chk_fail|free|memcmp|memcpy|memmove|memset|posix_memalign' || true)
if [ -n "$needed" ]; then
  echo "build-library.sh: the library needs symbols that not every C library has:" $needed >&2
  exit 1
fi
mv "$work/libparleyclient.so" "$target"
(cd .build/library && sha256sum libparleyclient.so >libparleyclient.so.sha256)
printf '%s' "$stamp" >"$target.stamp"
echo "$target: $(wc -c <"$target" | tr -d ' ') bytes, $(gzip -9 -c "$target" | wc -c | tr -d ' ') in gzip"
