#!/bin/sh
# Compiles OTCore alone as Embedded Swift for WebAssembly: what the page needs of it must hold.
set -eu
cd "$(dirname -- "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
swiftc -target wasm32-unknown-none-wasm -swift-version 6 -enable-experimental-feature Embedded \
  -wmo -Osize -parse-as-library -module-name OTCore -package-name parley \
  -c Sources/OTCore/*.swift -o "$work/otcore.o"
echo "OTCore compiles as Embedded Swift ($(wc -c <"$work/otcore.o" | tr -d ' ') bytes of object code)"
