#!/usr/bin/env bash
# Type-checks on Linux the code for Apple's systems: ParleyUI's views, the examples, and the Swift of the tutorials.
# SwiftUI, UIKit and AppKit are replaced by declarations in Tests/AppleStubs, written from Apple's documentation.
#
#     Scripts/apple-check.sh MODULES     the folder of the built modules, such as .build/debug/Modules
#
# This finds misspelt names, wrong arguments and types, and isolation errors of Swift 6. It does not find differences
# between the stand-ins and Apple's declarations, or errors of appearance and behaviour.
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
  # The ParleyUI of the stand-ins precedes the module that was built for Linux.
  for app in Examples/TwoWindows/*.swift Sources/*/*.docc/Code/*.swift \
    Tests/ParleyClientTests/AppExample.swift Tests/ParleyUITests/AppExample.swift; do
    # Code without views is the same with each kit.
    [ "$kit" = UIKit ] || grep -qE '^import (SwiftUI|UIKit|AppKit|ParleyUI)' "$app" || continue
    echo "$app"
    count=$((count + 1))
  done >"$out/apps"
  xargs -P 2 -I '{}' swiftc -typecheck -module-name app -parse-as-library -I "$stubs" "${flags[@]}" '{}' <"$out/apps"
  # An app with its model in a file of its own, which Linux runs.
  count=$((count + 1))
  swiftc -typecheck -module-name app -parse-as-library -I "$stubs" "${flags[@]}" \
    Examples/board/Board.swift Examples/board/BoardApp.swift
done
echo "apple-check: ParleyUI and $count files type-check, as far as the stand-ins go"
