#!/usr/bin/env bash
# Builds the documentation of clients' modules to .build/docs, for any web server.
# Every warning but one is an error: broken links, unknown symbols, missing files of tutorials.
#
#     Scripts/build-docs.sh MODULES [NAME…]   the folder of the built modules, such as .build/debug/Modules, and the
#                                             modules; by default those of all products for clients
set -euo pipefail
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
modules=${1:?name the folder of the built modules}
shift
names=("$@")
if [ ${#names[@]} = 0 ]; then names=(
  OTCore SocketMessages ParleyClientCore ParleyClient ParleyUI ParleyOffline ParleyChat ParleyGroups ParleyTwakeCubits
  ParleyDialectModels
); fi
tools=$(dirname -- "$(readlink -f -- "$(command -v swiftc)")")
docc=$(command -v docc || echo "$tools/docc")
target=$(swiftc -print-target-info | sed -n 's/.*"triple": "\([^"]*\)".*/\1/p' | head -1)
for module in "${names[@]}"; do
  graphs=.build/docs/graphs/$module
  rm -rf "$graphs"
  mkdir -p "$graphs"
  swift symbolgraph-extract -module-name "$module" -target "$target" -I "$modules" \
    -I Sources/SystemLibraries/CParleyClientSQLite/include -I Sources/SystemLibraries/CParleyClientTLS/include \
    -minimum-access-level public -skip-inherited-docs -output-dir "$graphs"
  # Extensions of other modules, such as conformances of String, belong to the other modules' pages.
  rm -f "$graphs/$module@"*.json
  log=$("$docc" convert "Sources/$module/$module.docc" --fallback-display-name "$module" \
    --fallback-bundle-identifier "parley.$module" --additional-symbol-graph-dir "$graphs" \
    --transform-for-static-hosting --output-path ".build/docs/$module" 2>&1) || { echo "$log"; exit 1; }
  # Comments describe only the parameters that need a description.
  if grep -E "^(warning|error): " <<<"$log" | grep -v "^warning: Parameter '.*' is missing documentation"
  then
    echo "$log"
    exit 1
  fi
  echo "$module's documentation is in .build/docs/$module"
done
