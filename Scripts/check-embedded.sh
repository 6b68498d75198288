#!/bin/sh
# Compiles OTCore, ParleyJSON, ParleyModel, SocketMessages (without its models), ParleyClientCore, ParleyImporting and
# ParleyWebSocketFrames as Embedded Swift for WebAssembly, which the page and the clients in browsers need.
set -eu
cd "$(dirname -- "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
for module in OTCore ParleyJSON ParleyModel SocketMessages ParleyClientCore ParleyImporting ParleyWebSocketFrames; do
  swiftc -target wasm32-unknown-none-wasm -swift-version 6 -enable-experimental-feature Embedded \
    -wmo -Osize -parse-as-library -module-name "$module" -package-name parley \
    -enable-upcoming-feature InternalImportsByDefault -I "$work" \
    -emit-module -emit-module-path "$work/$module.swiftmodule" \
    -c "Sources/$module"/*.swift -o "$work/module.o"
  size=$(wc -c <"$work/module.o" | tr -d ' ')
  echo "$module compiles as Embedded Swift ($size bytes of object code)"
done
