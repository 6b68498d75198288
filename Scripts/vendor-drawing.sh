#!/bin/sh
# Fetches KaTeX and Mermaid, which draw formulas and diagrams, into Web/vendor/katex and Web/vendor/mermaid.
#
# Each is one file of a Python wheel that contains it ready to serve. The wheels' hashes are pinned, and only this file
# is copied. KaTeX is minified here. Mermaid is compressed here, because that takes longer than the rest of the page's
# build. The script does nothing if the pinned versions are already installed.
#
# Usage: Scripts/vendor-drawing.sh     (PYTHON=… chooses the interpreter whose pip is used)
set -eu

katex='pelican-katex==1.8.9 --hash=sha256:c9d8a9957a44cdc4b8b790208b6f6905199911f3a8e4e95da1d94eebffe48a6b'
mermaid='artoo-mermaid==11.16.0 --hash=sha256:fa6d2c8c0fbc4be09a456bfdd62f92eb85e44299a02460b1f4fd4f200a19f01d'
# The version of the steps below.
edition=1

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
vendor=$root/Web/vendor
python=${PYTHON:-python3}
version="$katex $mermaid $edition"

if [ -f "$vendor/mermaid/.version" ] && [ "$(cat "$vendor/mermaid/.version")" = "$version" ]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

printf '%s\n%s\n' "$katex" "$mermaid" >"$work/requirements.txt"
# No code of the wheels is run, so their Python version does not matter.
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --ignore-requires-python \
  --only-binary :all: --dest "$work" --requirement "$work/requirements.txt"
mkdir -p "$work/katex" "$work/mermaid" "$vendor"
unzip -q -p "$work"/pelican_katex-*.whl pelican_katex/katex.0.19.0.js |
  "${ESBUILD:-esbuild}" --minify --target=es2022 --charset=utf8 --log-level=warning >"$work/katex/katex.js"
unzip -q -p "$work"/artoo_mermaid-*.whl artoo_mermaid/assets/mermaid.min.js >"$work/mermaid/mermaid.js"
brotli -q 11 -w 24 "$work/mermaid/mermaid.js"
gzip -9 --no-name --keep "$work/mermaid/mermaid.js"
printf '%s' "$version" >"$work/mermaid/.version"

rm -rf "$vendor/katex" "$vendor/mermaid"
mv "$work/katex" "$work/mermaid" "$vendor"
echo "KaTeX and Mermaid are in Web/vendor"
