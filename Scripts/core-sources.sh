#!/bin/sh
# Writes the client core's modules and the files named as the sources of one module, ParleyPage:
# Scripts/core-sources.sh FOLDER FILE...
#
# Compiled as one they take half the time, and more of what nothing needs is left out.
set -eu

target=${1:?"a folder"}
shift
modules='OTCore ParleyJSON ParleyModel SocketMessages ParleyClientCore'
mkdir -p "$target"
# They import each other no longer, and what one of them names by its module is in the one.
names=$(echo "$modules" | tr ' ' '|')
as_one="s/^(@_exported )?([a-z]+ )?import ($names)\$//; s/\b($names)\.([A-Z])/ParleyPage.\2/g"
for module in $modules; do
  for file in "Sources/$module"/*.swift; do
    sed -E "$as_one" "$file" >"$target/$module-$(basename "$file")"
  done
done
for file in "$@"; do
  sed -E "$as_one" "$file" >"$target/$(basename "$file")"
done
