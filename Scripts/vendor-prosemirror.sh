#!/bin/sh
# Fetches ProseMirror, as browser modules, into Web/vendor/prosemirror.
#
# The modules are taken from the source map of a Python wheel that is built from them, so no package manager for
# JavaScript is needed. The wheel's hash is pinned: any other file is rejected. Only the listed modules are copied; the
# wheel's own code is not used. Their imports are made relative. It does nothing if the pinned version is already
# installed.
#
# Usage: Scripts/vendor-prosemirror.sh     (PYTHON=… chooses the interpreter whose pip is used)
set -eu

version=0.28.0
hash=37fd98d7bf4250d535bec24c4f5ad3dc195b22cced9650dcd35a4f8777de71e2

# The version of the steps below.
edition=1

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
target=$root/Web/vendor/prosemirror
python=${PYTHON:-python3}

if [ -f "$target/.version" ] && [ "$(cat "$target/.version")" = "$hash $edition" ]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

printf 'django-prose-editor==%s --hash=sha256:%s\n' "$version" "$hash" >"$work/requirements.txt"
# No code of the wheel is run, so its Python version does not matter.
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --ignore-requires-python \
  --only-binary :all: --dest "$work" --requirement "$work/requirements.txt"

mkdir -p "$work/prosemirror" "$root/Web/vendor"
"$python" - "$work"/django_prose_editor-*.whl "$work/prosemirror" <<'PYTHON'
import json
import pathlib
import re
import sys
import zipfile

wheel, target = sys.argv[1], pathlib.Path(sys.argv[2])
with zipfile.ZipFile(wheel) as archive:
    source_map = json.loads(archive.read("django_prose_editor/static/django_prose_editor/editor.js.map"))
sources = {
    re.sub(r"^.*node_modules/", "", name): text
    for name, text in zip(source_map["sources"], source_map["sourcesContent"])
}
# The packages by the names of their files here.
packages = {
    "orderedmap": "orderedmap",
    "w3c-keyname": "keyname",
    **{f"prosemirror-{name}": name for name in ("model", "transform", "state", "view", "keymap", "dropcursor")},
}


def relative(found):
    if found[2] not in packages:
        sys.exit(f"vendor-prosemirror.sh: a module imports {found[2]}, which is not copied")
    return f'{found[1]}"./{packages[found[2]]}.js"'


for package, name in packages.items():
    text = sources.get(f"{package}/dist/index.js") or sources.get(f"{package}/index.js")
    if not text:
        sys.exit(f"vendor-prosemirror.sh: the source map has no {package}")
    (target / f"{name}.js").write_text(re.sub(r"""(?m)^(import [^'"]*?)['"]([^'"]+)['"]""", relative, text))
PYTHON
cp "$root/Web/licences/prosemirror.txt" "$work/prosemirror/LICENSE.prosemirror.txt"
printf '%s %s' "$hash" "$edition" >"$work/prosemirror/.version"

rm -rf "$target"
mv "$work/prosemirror" "$target"
echo "ProseMirror is in Web/vendor/prosemirror"
