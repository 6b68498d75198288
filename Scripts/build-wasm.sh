#!/bin/sh
# Compiles the client core behind its door (Web/core) for the page, as Embedded Swift without imports, to
# Web/generated/client.wasm.
#
# Nothing is done when no source has changed since.
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

# stamp_of FOLDER...: what a module made of these is known by.
stamp_of() {
  # shellcheck disable=SC2046
  cat $(find "$@" -name '*.swift' | LC_ALL=C sort) Web/core/shim.c Scripts/build-wasm.sh | cksum
  swiftc --version 2>/dev/null | head -n 1
}

is_current() { [ -f "$1" ] && [ "$(cat "$1.stamp" 2>/dev/null)" = "$2" ]; }

# compile MODULE FOLDER OPTION...: to $work/MODULE.o
compile() {
  module=$1
  folder=$2
  shift 2
  swiftc -target wasm32-unknown-none-wasm -swift-version 6 -enable-experimental-feature Embedded \
    -wmo -parse-as-library -module-name "$module" -package-name parley -I "$work" "$@" \
    -c "$folder"/*.swift -o "$work/$module.o"
}

# link TARGET STAMP OBJECT...
link() {
  target=$1
  stamp=$2
  shift 2
  "$tools/clang" --target=wasm32-unknown-none -O2 -ffreestanding -fno-builtin -mbulk-memory \
    -nostdlib -Wall -Wextra -Werror -c Web/core/shim.c -o "$work/shim.o"
  "$tools/wasm-ld" --no-entry --export-memory --gc-sections --stack-first -z stack-size=262144 \
    --strip-all "$@" "$work/shim.o" -o "$work/linked.wasm"
  mv "$work/linked.wasm" "$target"
  printf '%s' "$stamp" >"$target.stamp"
  echo "$target: $(wc -c <"$target" | tr -d ' ') bytes, $(gzip -9 -c "$target" | wc -c | tr -d ' ') compressed"
}

# Of former versions.
rm -f Web/generated/otcore.wasm Web/generated/otcore.wasm.stamp

target=Web/generated/client.wasm
stamp=$(stamp_of Sources/OTCore Sources/JSON Sources/ParleyModel Sources/SocketMessages Sources/ParleyClientCore Web/core)
if ! is_current "$target" "$stamp"; then
  objects=
  for folder in Sources/OTCore Sources/JSON Sources/ParleyModel Sources/SocketMessages Sources/ParleyClientCore Web/core; do
    module=$(basename "$folder")
    [ "$folder" = Web/core ] && module=ClientDoor
    compile "$module" "$folder" -Osize -enable-upcoming-feature InternalImportsByDefault \
      -emit-module -emit-module-path "$work/$module.swiftmodule"
    objects="$objects $work/$module.o"
  done
  # shellcheck disable=SC2086
  link "$target" "$stamp" $objects
fi
