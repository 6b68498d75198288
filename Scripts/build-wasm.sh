#!/bin/sh
# Compiles two modules for the page, as Embedded Swift without imports: the client core with its interface (Web/core) to
# Web/generated/client.wasm, and the import rules (Sources/ParleyImporting, Web/core/import) to
# Web/generated/import.wasm.
#
# A module is compiled only if one of its sources has changed.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
swiftc=$(command -v swiftc)
# The toolchain's own clang and linker, as the system's may not support WebAssembly. The path is resolved, as swiftc may
# be a link into the toolchain.
tools=$(dirname -- "$(readlink -f -- "$swiftc")")
[ -x "$tools/wasm-ld" ] || tools=$(dirname -- "$swiftc")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p Web/generated

# Files of earlier versions.
rm -f Web/generated/otcore.wasm Web/generated/otcore.wasm.stamp

# These three passes copy code to make it faster; without them the module is 4 kB smaller.
smaller='-Xfrontend -mergeable-traps'
for pass in closure-specialize jump-threading-simplify-cfg loop-rotate; do
  smaller="$smaller -Xllvm -sil-disable-pass=$pass"
done

# compile NAME OPTIONS [LIBRARY]: compiles the sources in $work/NAME to Web/generated/NAME.wasm, optimised with the
# options and linked with a library of the toolchain.
compile() {
  target=Web/generated/$1.wasm
  # Identifies the module's sources and compiler.
  stamp=$(
    cat "$work/$1"/*.swift Web/core/shim.c Scripts/build-wasm.sh | cksum
    swiftc --version 2>/dev/null | head -n 1
  )
  if [ -f "$target" ] && [ "$(cat "$target.stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
  if ! command -v wasm-opt >/dev/null; then
    echo "build-wasm.sh: wasm-opt is missing: Scripts/install-packages.sh serve installs it" >&2
    exit 1
  fi
  # shellcheck disable=SC2086
  swiftc -target wasm32-unknown-none-wasm -swift-version 6 -enable-experimental-feature Embedded \
    -wmo -parse-as-library -module-name ParleyPage -package-name parley -Osize $smaller \
    -c "$work/$1"/*.swift -o "$work/$1.o"
  "$tools/clang" --target=wasm32-unknown-none -O2 -ffreestanding -fno-builtin -mbulk-memory \
    -nostdlib -Wall -Wextra -Werror -c Web/core/shim.c -o "$work/shim.o"
  "$tools/wasm-ld" --no-entry --export-memory --gc-sections --stack-first -z stack-size=262144 \
    --strip-all "$work/$1.o" "$work/shim.o" ${3:+"$3"} -o "$work/linked.wasm"
  # Addresses below 1,024 are not used: the end of the stack is there. Functions with one caller are not inlined,
  # because inlining makes similar code different, and the Brotli form 4 kB larger.
  # shellcheck disable=SC2086
  wasm-opt --enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int \
    $2 --low-memory-unused \
    --one-caller-inline-max-function-size 30 --always-inline-max-function-size 4 \
    --flatten --rereloop --simplify-locals-nonesting --dae-optimizing -Oz -Oz -Oz "$work/linked.wasm" -o "$work/$1.wasm"
  mv "$work/$1.wasm" "$target"
  printf '%s' "$stamp" >"$target.stamp"
  echo "$target: $(wc -c <"$target" | tr -d ' ') bytes, $(brotli -q 11 -w 24 -c "$target" | wc -c | tr -d ' ') in Brotli, $(gzip -9 -c "$target" | wc -c | tr -d ' ') in gzip"
}

Scripts/core-sources.sh "$work/client" Web/core/*.swift
# Swift checks indices itself and traps when a check fails, which is unaffected. The option assumes that loads and
# divisions themselves never trap.
compile client --ignore-implicit-traps

# The part of the shared vocabulary that ParleyImporting uses; without the rest, it needs no module of the client.
mkdir -p "$work/import"
for file in Sources/ParleyImporting/*.swift Sources/ParleyModel/WholeText.swift Sources/ParleyModel/CharacterRules.swift \
  Web/core/Fields.swift Web/core/import/*.swift; do
  sed '/^import ParleyModel$/d' "$file" >"$work/import/$(basename "$file")"
done
# Titles and folder names need the tables of Unicode properties, which are most of this module. Their code requires that
# loads are not moved before their checks.
compile import '' "$tools/../lib/swift/embedded/wasm32-unknown-none-wasm/libswiftUnicodeDataTables.a"
