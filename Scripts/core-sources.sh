#!/bin/sh
# Writes the client core's modules and the given files as the sources of one module, ParleyPage:
# Scripts/core-sources.sh FOLDER FILE...
#
# One module compiles in half the time, and more unused code is removed.
set -eu

target=${1:?"a folder"}
shift
modules='OTCore ParleyJSON ParleyModel SocketMessages ParleyClientCore'
mkdir -p "$target"
# The modules no longer import each other, and names qualified by a module refer to the one module.
names=$(echo "$modules" | tr ' ' '|')
as_one="s/^(@_exported )?([a-z]+ )?import ($names)\$//; s/\b($names)\.([A-Z])/ParleyPage.\2/g"
# In browsers, formatting is small, and the compiler decides what to inline in its code.
smaller='/^ *@inline\(__always\)$/d'
for module in $modules; do
  for file in "Sources/$module"/*.swift; do
    name=$(basename "$file")
    case $name in
      Rich*.swift | Format*.swift | RunWord.swift | SetTable.swift) more=$smaller ;;
      *) more='' ;;
    esac
    sed -E "$as_one; $more" "$file" >"$target/$module-$name"
  done
done
for file in "$@"; do
  sed -E "$as_one" "$file" >"$target/$(basename "$file")"
done
