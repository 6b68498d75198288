#!/bin/sh
# Fetches CodeMirror 6, built as browser modules, into Web/vendor/codemirror.
#
# The modules are taken from a Python wheel that carries them ready to serve, so no bundler and no
# package manager for JavaScript is needed. The wheel's hash is pinned: another file is refused.
# Nothing is done when the pinned version is already there.
#
# Usage: Scripts/vendor-codemirror.sh     (PYTHON=… chooses the interpreter whose pip is used)
set -eu

version=3.18.0
hash=a2bd51642312d98aab6d8b641245d796ff1b89da5829777170bcc488140c3dcd

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
target=$root/Web/vendor/codemirror
python=${PYTHON:-python3}

if [ -f "$target/.version" ] && [ "$(cat "$target/.version")" = "$hash" ]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

printf 'nicegui==%s --hash=sha256:%s\n' "$version" "$hash" >"$work/requirements.txt"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
  --only-binary :all: --dest "$work" --requirement "$work/requirements.txt"

mkdir -p "$work/codemirror" "$root/Web/vendor"
"$python" - "$work"/nicegui-*.whl "$work/codemirror" <<'PYTHON'
import pathlib
import sys
import zipfile

wheel, target = sys.argv[1], pathlib.Path(sys.argv[2])
folder = "nicegui/elements/codemirror/dist/"
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(folder) and name.endswith(".js"):
            (target / name[len(folder):]).write_bytes(archive.read(name))
        elif name.endswith("/licenses/LICENSE"):
            (target / "LICENSE.bundle.txt").write_bytes(archive.read(name))
PYTHON
cp "$root/Web/licences/codemirror.txt" "$work/codemirror/LICENSE.codemirror.txt"
printf '%s' "$hash" >"$work/codemirror/.version"

rm -rf "$target"
mv "$work/codemirror" "$target"
echo "CodeMirror is in Web/vendor/codemirror"
