#!/usr/bin/env bash
# Builds the Python package parley as two wheels: one for this kind of machine, with the client core as a library, and
# one for all others, with WebAssembly only: Scripts/build-python.sh [FOLDER [OPTION OF PIP...]]
#
# Without a folder they are written to .build/python. `make page` and Scripts/build-library.sh must have compiled the
# cores.
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
# build-library.sh has checked that the library depends on no version of any C library, so glibc and musl both work.
# 2.17 and 1.1 are the oldest versions that installers can name.
machine=$(uname -m)
echo "manylinux_2_17_$machine.musllinux_1_1_$machine" >"$work/platform-tag"
cp "$library" "$library.sha256" "$work/parley/"
wheel "$@"
ls "$target"/parley-*.whl
