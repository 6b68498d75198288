#!/usr/bin/env bash
# Type-checks on Linux what is for Apple's systems alone: ParleyUI's views, examples, and the Swift of the
# tutorials. SwiftUI, UIKit and AppKit are replaced by Tests/AppleStubs, declarations written by hand.
#
#     Scripts/apple-check.sh MODULES     the folder of the built modules, such as .build/debug/Modules
#
# Found are misspelt names, wrong arguments and types, and isolation that Swift 6 refuses. Not found is
# where the stand-ins differ from Apple's declarations, and nothing of how the views look or behave.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
modules=${1:?name the folder of the built modules}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

flags=(
  -swift-version 6 -warnings-as-errors -package-name "$(basename "$root")" -I "$modules"
  -I Sources/SystemLibraries/CParleyClientSQLite/include -I Sources/SystemLibraries/CParleyClientTLS/include
  -module-cache-path "$out/cache"
)
strict=(-enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility)

count=0
for kit in UIKit AppKit; do
  stubs=$out/$kit
  mkdir -p "$stubs"
  for stub in "$kit" SwiftUI; do
    swiftc -emit-module -module-name "$stub" -swift-version 6 -parse-as-library -suppress-warnings \
      -I "$stubs" -module-cache-path "$out/cache" -o "$stubs/$stub.swiftmodule" \
      "Tests/AppleStubs/$stub.swift"
  done
  swiftc -emit-module -module-name ParleyUI "${flags[@]}" "${strict[@]}" -I "$stubs" \
    -o "$stubs/ParleyUI.swiftmodule" Sources/ParleyUI/*.swift Sources/ParleyUI/Apple/*.swift
  # The stand-in's ParleyUI comes before the one that was built for Linux.
  for app in Examples/TwoWindows/*.swift Sources/*/*.docc/Code/*.swift \
    Tests/ParleyClientTests/AppExample.swift Tests/ParleyUITests/AppExample.swift; do
    swiftc -typecheck -module-name app -parse-as-library -I "$stubs" "${flags[@]}" "$app"
    count=$((count + 1))
  done
done
echo "apple-check: ParleyUI and $count files type-check, as far as the stand-ins go"
