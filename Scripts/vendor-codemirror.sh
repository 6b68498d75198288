#!/bin/sh
# Fetches CodeMirror 6, built as browser modules, into Web/vendor/codemirror.
#
# The modules are taken from a Python wheel that contains them ready to serve, so no bundler and no package manager for
# JavaScript is needed. The wheel's hash is pinned: any other file is rejected. Of its hundred languages the script
# keeps Markdown, HTML with its embedded languages, and languages that notes often contain; two modules are slightly
# changed. It does nothing if the pinned version is already installed.
#
# Usage: Scripts/vendor-codemirror.sh     (PYTHON=… chooses the interpreter whose pip is used)
set -eu

version=3.18.0
hash=a2bd51642312d98aab6d8b641245d796ff1b89da5829777170bcc488140c3dcd

# The version of the changes below.
edition=3

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
target=$root/Web/vendor/codemirror
python=${PYTHON:-python3}

if [ -f "$target/.version" ] && [ "$(cat "$target/.version")" = "$hash $edition" ]; then
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
import re
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


def only(pattern, text):
    """Returns the only match of a pattern. The file's hash is pinned, so any other count is an error in this script."""
    found = re.findall(pattern, text)
    if len(found) != 1:
        sys.exit(f"vendor-codemirror.sh: expected one {pattern} in the bundle, found {len(found)}")
    return found[0]


index = (target / "index.js").read_text()
core_name = only(r'from"\./(index-[^"]+)"', index)
core = (target / core_name).read_text()
markdown_name = only(r'name:"Markdown",[^}]*?import\("\./([^"]+)"\)', core)
html_name = only(r'name:"HTML",[^}]*?import\("\./([^"]+)"\)', core)

# The bundle exports the keys of its search only within a set-up with many other features.
keys = only(r'[,;](\w+)=\[\{key:"Mod-f",run:', core)
source_map = re.compile(r"//# sourceMappingURL=.*\s*$")
# It does not export the function that makes a language of a tokenizer, or the one that finds highlighting either.
streamed = only(r"function (\w+)\(\w+\)\{return new \w+\(\w+\.define\(\w+\)\)\}", core)
colours = only(r"function (\w+)\(\w+,\w+,\w+,\w+=0,\w+=\w+\.length\)\{let \w+=new \w+\(\w+,Array\.isArray", core)
# How the list of languages loads each retained language, by its name in the list.
loaders = {
    name: only(rf'name:"{re.escape(name)}",[^}}]*?import\("\./([^"]+)"\)\.then\(\w+=>\w*\(?\w+\.(\w+)', core)
    for name in (
        "C#", "diff", "Dockerfile", "Go", "JSON", "Kotlin", "Lua", "Nginx", "Objective-C", "Perl", "PowerShell",
        "Properties files", "R", "Ruby", "Rust", "Scala", "Shell", "Swift", "TOML", "XML", "YAML",
    )
}
script_name = only(r'name:"JavaScript",[^}]*?import\("\./([^"]+)"\)', core)
style_name = only(r'name:"CSS",[^}]*?import\("\./([^"]+)"\)', core)
# These two have their own loading helpers, or are smaller as tokenizers.
queries_name = only(r'return import\("\./([^"]+)"\)\.then\(\w+=>\w+\.sql\(', core)
python_name = only(r'name:"Cython",[^}]*?import\("\./([^"]+)"\)', core)
core = (
    source_map.sub("", core).rstrip()
    + f"export{{{keys} as searchKeymap,{streamed} as streamed,{colours} as highlightTree}};\n"
)
# The list of languages remains, but none of them can be loaded.
core = re.sub(r'import\("\./[^"]+"\)', "Promise.reject(new Error)", core)
(target / core_name).write_text(core)
(target / "index.js").write_text(
    source_map.sub("", index).rstrip() + f'export{{highlightTree,searchKeymap}}from"./{core_name}";\n'
)

# Markdown includes HTML, with CSS and JavaScript; here the caller passes the languages instead.
markdown = (target / markdown_name).read_text()
only(r'import\{html as \w+,htmlCompletionSource as \w+\}from"[^"]*";(?:import"[^"]*";)*', markdown)
markdown = re.sub(
    r'import\{html as (\w+),htmlCompletionSource as (\w+)\}from"[^"]*";(?:import"[^"]*";)*',
    r"const \1=()=>({support:[],language:{parser:null}}),\2=()=>null;",
    markdown,
)
(target / "markdown.js").write_text(source_map.sub("", markdown))
(target / "html.js").write_text(
    f'export{{html}}from"./{html_name}";export{{javascript}}from"./{script_name}";export{{css}}from"./{style_name}";\n'
)
(target / "languages.js").write_text(
    f'export{{streamed}}from"./{core_name}";export{{sql}}from"./{queries_name}";'
    f'export{{mkPython as python}}from"./{python_name}";\n'
    + f'export{{c,cpp,java}}from"./{loaders["C#"][0]}";\n'
    + "".join(f'export{{{name}}}from"./{module}";\n' for module, name in loaders.values())
)

# C, C++ and Java are created there only for their side effects, and not exported.
family = target / loaders["C#"][0]
kin = {"c": "cTokens", "cpp": "cppTokens", "java": "javaTokens"}
source = source_map.sub("", family.read_text()).rstrip()
for name, variable in kin.items():
    made = rf'(?<=[,;}}])(\w+\(\{{name:"{name}",)'
    only(made, source)
    source = re.sub(made, rf"{variable}=\1", source)
kept = ",".join(f"{variable} as {name}" for name, variable in kin.items())
family.write_text(f'let {",".join(kin.values())};{source}export{{{kept}}};\n')

wanted = {"index.js", "markdown.js", "html.js", "languages.js"}
waiting = list(wanted)
while waiting:
    for name in re.findall(r'(?:from|import)"\./([^"]+)"', (target / waiting.pop()).read_text()):
        if name not in wanted:
            wanted.add(name)
            waiting.append(name)
for path in target.glob("*.js"):
    if path.name not in wanted:
        path.unlink()
PYTHON
cp "$root/Web/licences/codemirror.txt" "$work/codemirror/LICENSE.codemirror.txt"
printf '%s %s' "$hash" "$edition" >"$work/codemirror/.version"

rm -rf "$target"
mv "$work/codemirror" "$target"
echo "CodeMirror is in Web/vendor/codemirror"
