#!/bin/sh
# Compiles OTCore and the page's glue to Web/generated/otcore.wasm: Embedded Swift, no imports.
#
# Nothing is done when no source has changed since.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
target=Web/generated/otcore.wasm
swiftc=$(command -v swiftc)
# The toolchain's own clang and linker; the system's may not know WebAssembly. A resolved path, for
# swiftc may be a link into the toolchain.
tools=$(dirname -- "$(readlink -f -- "$swiftc")")
[ -x "$tools/wasm-ld" ] || tools=$(dirname -- "$swiftc")

sources=$(find Sources/OTCore Web/wasm -name '*.swift' | LC_ALL=C sort)
stamp=$(cat $sources Web/wasm/shim.c Scripts/build-wasm.sh | cksum; swiftc --version 2>/dev/null | head -n 1)
if [ -f "$target" ] && [ "$(cat "$target.stamp" 2>/dev/null)" = "$stamp" ]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# One module for both: whole-module optimisation sees across, and nothing else is in there.
# shellcheck disable=SC2086
swiftc -target wasm32-unknown-none-wasm -swift-version 6 -enable-experimental-feature Embedded \
  -wmo -O -parse-as-library -module-name OTWeb \
  -package-name parley -c $sources -o "$work/otcore.o"
"$tools/clang" --target=wasm32-unknown-none -O2 -ffreestanding -fno-builtin -mbulk-memory \
  -nostdlib -Wall -Wextra -Werror -c Web/wasm/shim.c -o "$work/shim.o"
"$tools/wasm-ld" --no-entry --export-memory --gc-sections --stack-first -z stack-size=262144 \
  --strip-all "$work/otcore.o" "$work/shim.o" -o "$work/otcore.wasm"

mkdir -p Web/generated
mv "$work/otcore.wasm" "$target"
printf '%s' "$stamp" >"$target.stamp"
echo "OTCore is in $target ($(wc -c <"$target" | tr -d ' ') bytes)"
