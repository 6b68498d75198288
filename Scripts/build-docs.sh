#!/usr/bin/env bash
# Builds OTCore's documentation to .build/docs/OTCore, for any web server; links that lead nowhere fail.
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
docc=$(command -v docc || true)
if [ -z "$docc" ]; then
  docc=$(dirname -- "$(readlink -f -- "$(command -v swiftc)")")/docc
fi
graphs=.build/docs/graphs
mkdir -p "$graphs"
swiftc -emit-module -module-name OTCore -package-name parley -swift-version 6 \
  -enable-upcoming-feature InternalImportsByDefault -emit-symbol-graph \
  -emit-symbol-graph-dir "$graphs" -o "$graphs/OTCore.swiftmodule" Sources/OTCore/*.swift
log=$("$docc" convert Sources/OTCore/OTCore.docc --fallback-display-name OTCore \
  --fallback-bundle-identifier parley.OTCore --additional-symbol-graph-dir "$graphs" \
  --transform-for-static-hosting --output-path .build/docs/OTCore 2>&1) || { echo "$log"; exit 1; }
if grep -q -E "couldn't be|No reference|doesn't exist|ambiguous" <<<"$log"; then
  echo "$log"
  exit 1
fi
echo "OTCore's documentation is in .build/docs/OTCore"
