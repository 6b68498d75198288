#!/usr/bin/env bash
# Makes the Python package parley as two wheels: one for this kind of machine, with the client core as a library, and
# one for any other, with WebAssembly alone: Scripts/build-python.sh [FOLDER [OPTION OF PIP...]]
#
# They are put into .build/python where no folder is named.
# make page and Scripts/build-library.sh have compiled the cores.
set -euo pipefail

cd "$(dirname "$0")/.."
target=${1:-.build/python}
shift || true
core=Web/generated/client.wasm
library=.build/library/libparleyclient.so
for file in "$core" "$library"; do
  [ -f "$file" ] || { echo "$file is missing; make python makes it" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R Clients/python/. LICENSE "$work/"
cp "$core" "$work/parley/client.wasm"
mkdir -p "$target"
rm -f "$target"/parley-*.whl
wheel() {
  rm -rf "$work/build" "$work"/*.egg-info
  "${PYTHON:-python3}" -m pip wheel --quiet --disable-pip-version-check --no-deps "$@" \
    --wheel-dir "$target" "$work"
}
wheel "$@"
# build-library.sh has seen to it that it asks for no version of any C library: glibc and musl alike. 2.17 and 1.1
# are the oldest that installers know by names of their own.
machine=$(uname -m)
echo "manylinux_2_17_$machine.musllinux_1_1_$machine" >"$work/platform-tag"
cp "$library" "$library.sha256" "$work/parley/"
wheel "$@"
ls "$target"/parley-*.whl
