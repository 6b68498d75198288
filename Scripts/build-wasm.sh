#!/bin/sh
# Compiles two modules for the page, as Embedded Swift without imports: the client core behind its door (Web/core) to
# Web/generated/client.wasm, and the rules of imports (Sources/ParleyImporting, Web/core/import) to Web/generated/import.wasm.
#
# A module is compiled when one of its sources has changed since.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
swiftc=$(command -v swiftc)
# The toolchain's own clang and linker; the system's may not know WebAssembly. A resolved path, for
# swiftc may be a link into the toolchain.
tools=$(dirname -- "$(readlink -f -- "$swiftc")")
[ -x "$tools/wasm-ld" ] || tools=$(dirname -- "$swiftc")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p Web/generated

# Of former versions.
rm -f Web/generated/otcore.wasm Web/generated/otcore.wasm.stamp

# Passes that copy code to make it faster make it larger: without these three it is 4 kB less to load.
smaller='-Xfrontend -mergeable-traps'
for pass in closure-specialize jump-threading-simplify-cfg loop-rotate; do
  smaller="$smaller -Xllvm -sil-disable-pass=$pass"
done

# compile NAME OPTIONS [LIBRARY]: the sources in $work/NAME as Web/generated/NAME.wasm, optimised with these options and linked
# with a library of the toolchain.
compile() {
  target=Web/generated/$1.wasm
  # What the module is known by.
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
  # No address below 1,024 is used, where the last bytes of the stack are. Functions with one caller stay by themselves:
  # inlined, they make what is alike different, and Brotli's form is 4 kB more.
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
# Swift checks indices itself, and traps where a check fails: that stays. A load or a division by itself is taken never to
# trap.
compile client --ignore-implicit-traps

# Of the shared vocabulary, what Importing uses: without the rest, no module of the client is needed.
mkdir -p "$work/import"
for file in Sources/ParleyImporting/*.swift Sources/ParleyModel/WholeText.swift Sources/ParleyModel/CharacterRules.swift \
  Web/core/Fields.swift Web/core/import/*.swift; do
  sed '/^import ParleyModel$/d' "$file" >"$work/import/$(basename "$file")"
done
# Titles and names of folders need the tables of Unicode's properties, which are most of this module. Their code relies on
# loads that are not moved before their checks.
compile import '' "$tools/../lib/swift/embedded/wasm32-unknown-none-wasm/libswiftUnicodeDataTables.a"
