#!/usr/bin/env bash
# Fuzzes one target of Fuzz/ with libFuzzer and the address sanitizer.
#
#   Scripts/fuzz.sh Messages 60     for 60 seconds
#   Scripts/fuzz.sh                 lists the targets
#
# What it learns stays in .build/fuzz/corpus and is gone on from the next time. An input that breaks
# something is kept in artifacts/fuzz, and the script fails. Before you mend it, make it a test.
#
# A package cannot link a fuzzer, which brings its own main; hence the compiler is called directly.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

if [ $# -eq 0 ]; then
  for file in Fuzz/*.swift; do basename "$file" .swift; done
  exit 0
fi
target=$1
seconds=${2:-60}
if [ ! -f "Fuzz/$target.swift" ]; then
  echo "No target is called '$target'. There are: $(for file in Fuzz/*.swift; do
    basename "$file" .swift; done | paste -sd ' ')" >&2
  exit 2
fi

build=.build/fuzz
corpus=$build/corpus/$target
findings=artifacts/fuzz
mkdir -p "$build" "$corpus" "$findings"

flags=(
  -O -swift-version 6 -parse-as-library -wmo -sanitize=fuzzer,address -package-name parley
  -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility
  -warnings-as-errors -I "$build"
)

# The modules that a target may import, each after those that it imports itself. Compiled again only
# when something has changed.
objects=()
stamp=$(swiftc --version 2>/dev/null | head -n 1; cksum Scripts/fuzz.sh)
for module in OTCore SocketMessages; do
  sources=$(find "Sources/$module" -name '*.swift' | LC_ALL=C sort)
  # shellcheck disable=SC2086
  stamp=$(echo "$stamp"; cat $sources | cksum)
  objects+=("$build/$module.o")
  if [ "$(cat "$build/$module.stamp" 2>/dev/null)" = "$stamp" ]; then continue; fi
  # shellcheck disable=SC2086
  swiftc "${flags[@]}" -module-name "$module" -emit-module \
    -emit-module-path "$build/$module.swiftmodule" -c -o "$build/$module.o" $sources
  echo "$stamp" >"$build/$module.stamp"
done
swiftc "${flags[@]}" -module-name "Fuzz$target" -o "$build/$target" \
  "Fuzz/$target.swift" "${objects[@]}"

# The examples of the protocol's page are where the search begins.
if [ -f Documentation/Protocol.md ]; then
  awk -v prefix="$corpus/example-" '
    /^```json/ { file = sprintf("%s%03d", prefix, ++count); printf "" >file; next }
    /^```/     { file = ""; next }
    file != "" { print >>file }' Documentation/Protocol.md
fi

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
exec "$build/$target" "$corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
  -max_len=4096 -dict=Fuzz/json.dict -artifact_prefix="$findings/$target-" -print_final_stats=1
