#!/usr/bin/env bash
# Fuzzes one target of Fuzz/ with libFuzzer and the address sanitizer.
#
#   Scripts/fuzz.sh Messages 60     for 60 seconds
#   Scripts/fuzz.sh                 lists the targets
#   MERGE=1 Scripts/fuzz.sh Messages    stores what was learned in Fuzz/Corpora, for `make test`
#   Scripts/fuzz.sh replay          runs the stored inputs of all targets, and the same few more each time, with the
#                                   modules that `swift build -c release --build-tests` has compiled
#
# The learned inputs stay in .build/fuzz/corpus, where the next run begins. An input that finds a bug is stored in
# artifacts/fuzz, and the script fails. Before you fix the bug, make the input a test, or a line of
# Fuzz/Corpora/TARGET.base64, which `make test` replays.
#
# A package cannot link a fuzzer, which has its own main, so the compiler is called directly.
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

all=$(for file in Fuzz/*.swift; do basename "$file" .swift; done)
if [ $# -eq 0 ]; then
  echo "$all"
  exit 0
fi
target=$1
seconds=${2:-60}

build=.build/fuzz
imported=$build
optimisation=-O
sanitizers=fuzzer,address
package=parley
findings=artifacts/fuzz
if [ "$target" = replay ]; then
  # Compiling the modules again would take ten times as long as all runs. Without coverage instrumentation the fuzzer
  # learns nothing, but still mutates the stored inputs; and Swift itself traps on most errors that the address
  # sanitizer finds.
  build=.build/fuzz/plain
  imported=.build/release/Modules
  optimisation=-Onone
  sanitizers=fuzzer
  # SwiftPM derives the package's name from its folder.
  package=$(basename "$root" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9_]/_/g')
elif [ ! -f "Fuzz/$target.swift" ]; then
  echo "No target is called '$target'. There are: $(paste -sd ' ' <<<"$all")" >&2
  exit 2
fi
mkdir -p "$build" "$findings"

flags=(
  "$optimisation" -swift-version 6 -parse-as-library -wmo -sanitize="$sanitizers" -package-name "$package"
  -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility
  -warnings-as-errors -I "$imported" -Xcc -fmodule-map-file=Sources/SystemLibraries/CParleyOpenSSL/module.modulemap
)
objects=()
# The inputs of a compilation: the compiler, this script and the sources; for a module, also the sources of the modules
# before it.
stamp=$(swiftc --version 2>/dev/null | head -n 1; cksum Scripts/fuzz.sh)

# Whether a module or target has been compiled from the inputs in the stamp.
is_compiled() { [ "$(cat "$build/$1.stamp" 2>/dev/null)" = "$2" ]; }

# Compiles the modules that a target may import, in the order of their dependencies, if something has changed.
compile_modules() {
  local folder module sources source
  for folder in OTCore ParleyJSON ParleyModel ParleyRichForms SocketMessages Kits/ParleyOTWorkloads ParleySocketIO ParleyBayeux ParleyPusher ParleyShareDB ParleyRustpad ParleyOTEvents ParleyWebSocketFrames \
    ParleyGatewayPorts ParleyImporting Adapters/ParleyHashing Adapters/ParleyCryptoOpenSSL ParleyHTTP1 ParleyDialectModels ParleyClientCore; do
    module=${folder##*/}
    sources=$(find "Sources/$folder" -name '*.swift' -not -path '*.docc/*' | LC_ALL=C sort)
    # shellcheck disable=SC2086
    stamp=$(echo "$stamp"; cat $sources | cksum)
    if [ "$target" = replay ]; then
      # Not all objects in the folder: those of renamed files remain there.
      for source in $sources; do objects+=(".build/release/$module.build/${source##*/}.o"); done
      continue
    fi
    objects+=("$build/$module.o")
    if is_compiled "$module" "$stamp"; then continue; fi
    # shellcheck disable=SC2086
    swiftc "${flags[@]}" -module-name "$module" -emit-module \
      -emit-module-path "$build/$module.swiftmodule" -c -o "$build/$module.o" $sources
    echo "$stamp" >"$build/$module.stamp"
  done
}

# Compiles a target and links it with the modules.
compile_target() {
  local own
  own=$(echo "$stamp"; cksum "Fuzz/$1.swift")
  if [ "$target" = replay ]; then own=$(echo "$own"; ls -l --full-time "${objects[@]}"); fi
  if is_compiled "Fuzz$1" "$own"; then return; fi
  swiftc "${flags[@]}" -module-name "Fuzz$1" -o "$build/$1" "Fuzz/$1.swift" "${objects[@]}" -lcrypto
  echo "$own" >"$build/Fuzz$1.stamp"
}

# Writes the initial inputs of a target to a folder.
fill_corpus() {
  local folder=$2 kept=Fuzz/Corpora/$1.base64 number=0 line
  mkdir -p "$folder"
  # The examples of the protocol's page.
  if [ -f Documentation/Protocol.md ]; then
    awk -v prefix="$folder/example-" '
      /^```json/ { file = sprintf("%s%03d", prefix, ++count); printf "" >file; next }
      /^```/     { file = ""; next }
      file != "" { print >>file }' Documentation/Protocol.md
  fi
  # The stored inputs.
  [ -f "$kept" ] || return 0
  while read -r line; do
    number=$((number + 1))
    base64 -d <<<"$line" >"$folder/kept-$(printf %04d "$number")"
  done <"$kept"
}

# Prints the dictionary of a target; by default the one of JSON.
dictionary() { if [ -f "Fuzz/$1.dict" ]; then echo "Fuzz/$1.dict"; else echo Fuzz/json.dict; fi; }

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

# Runs the stored inputs of a target, and reports the result.
replay() {
  # The folder contains only committed inputs.
  local corpus=$build/replay/$1 log=$build/$1.log
  rm -rf "$corpus"
  fill_corpus "$1" "$corpus"
  if ! "$build/$1" "$corpus" -seed=1 -runs="${RUNS:-10000}" -keep_seed=1 -timeout=60 -rss_limit_mb=2048 -max_len=1024 \
    -dict="$(dictionary "$1")" -artifact_prefix="$findings/$1-" >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "fuzz $1: failed"
    return
  fi
  echo "fuzz $1: $(find "$corpus" -name 'kept-*' | wc -l) kept inputs and ${RUNS:-10000} runs passed"
}

compile_modules
if [ "$target" = replay ]; then
  for one in $all; do compile_target "$one"; done
  for one in $all; do replay "$one"; done | tee "$build/replay.log"
  if grep -q ': failed$' "$build/replay.log"; then exit 1; fi
  exit 0
fi

compile_target "$target"
corpus=$build/corpus/$target
fill_corpus "$target" "$corpus"

# Selects few inputs that reach as much code as all found inputs, the shortest first.
if [ "${MERGE:-}" = 1 ]; then
  merged=$build/merged
  rm -rf "$merged"
  mkdir "$merged"
  "$build/$target" -set_cover_merge=1 -use_counters=0 -max_len=512 "$merged" "$corpus"
  for input in "$merged"/*; do
    base64 -w0 "$input"
    echo
  done | LC_ALL=C sort -u | awk '{ print length($0) "\t" $0 }' | sort -s -n | cut -f 2 >"Fuzz/Corpora/$target.base64"
  exit 0
fi

exec "$build/$target" "$corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
  -max_len=4096 -dict="$(dictionary "$target")" -artifact_prefix="$findings/$target-" -print_final_stats=1
