#!/usr/bin/env bash
# Makes the Python package parley as a wheel in .build/python: Scripts/build-python.sh
#
# The client core inside is the page's; make page has compiled it.
set -euo pipefail

cd "$(dirname "$0")/.."
core=Web/generated/client.wasm
[ -f "$core" ] || { echo "$core is missing; make page makes it" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R Clients/python/. LICENSE "$work/"
cp "$core" "$work/parley/client.wasm"
rm -rf .build/python
mkdir -p .build/python
"${PYTHON:-python3}" -m pip wheel --quiet --disable-pip-version-check --no-deps \
  --wheel-dir .build/python "$work"
ls .build/python/*.whl
