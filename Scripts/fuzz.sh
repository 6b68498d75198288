#!/usr/bin/env bash
# Fuzzes one target of Fuzz/ with libFuzzer and the address sanitizer.
#
#   Scripts/fuzz.sh Messages 60     for 60 seconds
#   Scripts/fuzz.sh                 lists the targets
#   MERGE=1 Scripts/fuzz.sh Messages    keeps what was learned in Fuzz/Corpora, for `make test`
#   Scripts/fuzz.sh replay          tries what is kept, and a little more, always the same: all targets
#
# What it learns stays in .build/fuzz/corpus and is gone on from the next time. An input that breaks
# something is kept in artifacts/fuzz, and the script fails. Before you mend it, make it a test, or a
# line of Fuzz/Corpora/TARGET.base64: `make test` replays those.
#
# A package cannot link a fuzzer, which brings its own main; hence the compiler is called directly.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

if [ $# -eq 0 ]; then
  for file in Fuzz/*.swift; do basename "$file" .swift; done
  exit 0
fi
if [ "$1" = replay ]; then
  status=0
  for target in $("$0"); do REPLAY=1 "$0" "$target" || status=1; done
  exit "$status"
fi
target=$1
seconds=${2:-60}
if [ ! -f "Fuzz/$target.swift" ]; then
  echo "No target is called '$target'. There are: $(for file in Fuzz/*.swift; do
    basename "$file" .swift; done | paste -sd ' ')" >&2
  exit 2
fi

build=.build/fuzz
optimisation=-O
# A replay takes longer to compile than to run.
if [ "${REPLAY:-}" = 1 ]; then
  build=.build/fuzz/plain
  optimisation=-Onone
fi
corpus=$build/corpus/$target
kept=Fuzz/Corpora/$target.base64
findings=artifacts/fuzz
mkdir -p "$build" "$corpus" "$findings"

# Words of the target's own language, or of JSON.
dictionary=Fuzz/$target.dict
[ -f "$dictionary" ] || dictionary=Fuzz/json.dict

flags=(
  "$optimisation" -swift-version 6 -parse-as-library -wmo -sanitize=fuzzer,address -package-name parley
  -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility
  -warnings-as-errors -I "$build" -Xcc -fmodule-map-file=Sources/SystemLibraries/COpenSSL/module.modulemap
)

# The modules that a target may import, each after those that it imports itself. Compiled again only
# when something has changed.
objects=()
stamp=$(swiftc --version 2>/dev/null | head -n 1; cksum Scripts/fuzz.sh)
for folder in OTCore JSON ParleyModel SocketMessages Kits/OTWorkloads SocketIO Bayeux WebSocketFrames \
  GatewayPorts Adapters/Hashing Adapters/CryptoOpenSSL HTTP1 DialectModels ParleyClientCore; do
  module=${folder##*/}
  sources=$(find "Sources/$folder" -name '*.swift' | LC_ALL=C sort)
  # shellcheck disable=SC2086
  stamp=$(echo "$stamp"; cat $sources | cksum)
  objects+=("$build/$module.o")
  # The algebra is small, and most of what its target runs.
  faster=()
  case $module in OTCore | OTWorkloads) faster=(-O) ;; esac
  if [ "$(cat "$build/$module.stamp" 2>/dev/null)" = "$stamp" ]; then continue; fi
  # shellcheck disable=SC2086
  swiftc "${flags[@]}" "${faster[@]}" -module-name "$module" -emit-module \
    -emit-module-path "$build/$module.swiftmodule" -c -o "$build/$module.o" $sources
  echo "$stamp" >"$build/$module.stamp"
done
swiftc "${flags[@]}" -module-name "Fuzz$target" -o "$build/$target" \
  "Fuzz/$target.swift" "${objects[@]}" -lcrypto

# What is in the folder of a replay is in it by what is committed, nothing else.
if [ "${REPLAY:-}" = 1 ]; then
  corpus=$build/replay/$target
  rm -rf "$corpus"
  mkdir -p "$corpus"
fi

# The examples of the protocol's page are where the search begins.
if [ -f Documentation/Protocol.md ]; then
  awk -v prefix="$corpus/example-" '
    /^```json/ { file = sprintf("%s%03d", prefix, ++count); printf "" >file; next }
    /^```/     { file = ""; next }
    file != "" { print >>file }' Documentation/Protocol.md
fi

# And what was worth keeping.
number=0
if [ -f "$kept" ]; then
  while read -r line; do
    number=$((number + 1))
    base64 -d <<<"$line" >"$corpus/kept-$(printf %04d "$number")"
  done <"$kept"
fi

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

# Few inputs that reach as much code as all that were found, the shortest first.
if [ "${MERGE:-}" = 1 ]; then
  merged=$build/merged
  rm -rf "$merged"
  mkdir "$merged"
  "$build/$target" -set_cover_merge=1 -use_counters=0 -max_len=512 "$merged" "$corpus"
  for input in "$merged"/*; do
    base64 -w0 "$input"
    echo
  done | LC_ALL=C sort -u | awk '{ print length($0) "\t" $0 }' | sort -s -n | cut -f 2 >"$kept"
  exit 0
fi

if [ "${REPLAY:-}" = 1 ]; then
  log=$build/$target.log
  if ! "$build/$target" "$corpus" -seed=1 -runs="${RUNS:-5000}" -timeout=60 -rss_limit_mb=2048 \
    -max_len=1024 -dict="$dictionary" -artifact_prefix="$findings/$target-" >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "fuzz $target: failed"
    exit 1
  fi
  echo "fuzz $target: $(find "$corpus" -name 'kept-*' | wc -l) kept inputs and ${RUNS:-5000} runs passed"
  exit 0
fi

exec "$build/$target" "$corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
  -max_len=4096 -dict="$dictionary" -artifact_prefix="$findings/$target-" -print_final_stats=1
