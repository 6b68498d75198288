#!/usr/bin/env python3
"""Builds the page as it is served into Web/built, from the modules in Web, with few requests and few bytes.

    Scripts/build-page.py            (does nothing if no source has changed)

esbuild minifies the modules into a few files. `app` contains what the page starts with; each dynamic import is a
separate part that is fetched when it is needed. A module that several parts import is in `app`, and the parts import
it from there, so each module exists once, but for a few (`COPIED`). CodeMirror is a separate file, without its unused code, and so is
ProseMirror, which only formatted notes fetch.

Texts are in `Web/js/languages`, one file per language. The pages are built with the English texts; each other
language is a separate part, and a browser fetches the one that it needs. English texts that only a later part names
are in that part.

CodeMirror is minified again by terser, which makes it 3 % smaller in its Brotli form.

Every file except the pages has a hash of its content in its name and is in `immutable`, so a browser requests it once.
Each file has its gzip and Brotli forms beside it.
"""

import base64
import gzip
import hashlib
import html as markup
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import build_sdk

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEB = ROOT / "Web"
BUILT = WEB / "built"
ESBUILD = os.environ.get("ESBUILD", "esbuild")
STATIC = re.compile(r'^(?:import|export)\b[^;]*? from "(\.[^"]+)";$', re.M)
IMPORTED = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.M)
EFFECTS = re.compile(r'^import "(\.[^"]+)";$', re.M)
DYNAMIC = re.compile(r'\bimport\("(\.[^"]+)"\)')
# An import of another part, as esbuild minifies it, and all imports at the start of a module.
PART_IMPORT = r'import\{([^}]*)\}from"(@[\w/]+)";'
PART_IMPORTS = re.compile(f"^(?:{PART_IMPORT})+")
# Types in comments use `import`, too.
COMMENT = re.compile(r"/\*\*.*?\*/", re.S)
# A text without plural forms, as a file of texts contains it.
TEXT = re.compile(r'^  ("[^"]+"): ("(?:[^"\\]|\\.)*"),$', re.M)
# The prefix of a text's name that is combined with a value.
COMPOSED = re.compile(r"`([\w.]+\.)\$\{")
CODEMIRROR = WEB / "vendor" / "codemirror"
CODEMIRROR_NOTICE = "// CodeMirror, under the MIT licence: see licences/ on this server.\n"
PROSEMIRROR = WEB / "vendor" / "prosemirror"
# Pure modules that two later parts contain: otherwise they would be in the page's start.
COPIED = {
    "editing/editorsheet.js", "editing/pasting/htmlblocks.js", "editing/pasting/inline.js", "editing/pasting/markup.js",
    "editing/writing/choices.js", "editing/writing/emoji.js", "editing/writing/writingsheet.js", "formatted/elements.js",
    "links/uploading.js", "reading/headings.js", "reading/pagesheet.js",
}  # fmt: skip
# Modules under a name of the page that name vendored code. Each is a file of its own.
VENDORED = ("codemirror", "prosemirror")


def fail(text):
    sys.exit(f"build-page.py: {text}")


def esbuild(*arguments, source=None):
    """Runs esbuild and returns its output."""
    try:
        done = subprocess.run(
            [ESBUILD, *map(str, arguments), "--log-level=warning"],
            input=source, capture_output=True, text=True,
        )  # fmt: skip
    except FileNotFoundError:
        fail("esbuild is missing: Scripts/install-packages.sh serve installs it")
    if done.returncode != 0 or done.stderr:
        fail(f"esbuild said:\n{done.stderr}")
    return done.stdout


def minified(text, loader):
    return esbuild("--minify", "--target=es2022", "--charset=utf8", f"--loader={loader}", source=text).strip()


def bundled(entry, *options):
    return esbuild(
        entry, "--bundle", "--format=esm", "--target=es2022", "--charset=utf8", "--legal-comments=none", *options
    )


def with_joined_imports(module):
    """Joins a part's imports from each other part, for which esbuild writes a statement a name."""

    def joined(imports):
        names = {}
        for imported, part in re.findall(PART_IMPORT, imports[0]):
            names.setdefault(part, []).append(imported)
        return "".join(f'import{{{",".join(imported)}}}from"{part}";' for part, imported in names.items())

    return PART_IMPORTS.sub(joined, module)


def hash_of(*contents):
    digest = hashlib.sha256()
    for content in contents:
        digest.update(content if isinstance(content, bytes) else content.encode())
        digest.update(b"\0")
    return base64.b32encode(digest.digest()).decode()[:10].lower()


class Modules:
    """The page's modules and their imports."""

    def __init__(self, folder):
        self.folder = folder
        self.sources = {
            str(path.relative_to(folder)): COMMENT.sub("", path.read_text())
            for path in folder.rglob("*.js")
        }
        self.imports = {name: self.paths(name, STATIC) | self.paths(name, EFFECTS) for name in self.sources}

    def paths(self, name, pattern):
        """Returns the names of the modules that a module imports, without vendored ones."""
        here = pathlib.PurePosixPath(name).parent
        found = {os.path.normpath(here / path) for path in pattern.findall(self.sources[name])}
        return {path for path in found if path in self.sources}

    def part(self, name, path):
        """Returns the part that a module imports dynamically by a path, such as `history/historyview`."""
        return os.path.normpath(pathlib.PurePosixPath(name).parent / path).removesuffix(".js")

    def reached(self, name):
        """Returns a module with all its direct and indirect imports."""
        done, waiting = set(), [name]
        while waiting:
            name = waiting.pop()
            if name not in done:
                done.add(name)
                waiting += self.imports[name]
        return done

    def names(self, importers, module):
        """Returns the names that the importers import from a module."""
        taken = set()
        for importer in importers:
            here = pathlib.PurePosixPath(importer).parent
            for names, path in IMPORTED.findall(self.sources[importer]):
                if os.path.normpath(here / path) == module:
                    taken |= {one.split(" as ")[0].strip() for one in names.split(",") if one.strip()}
        return taken


# CodeMirror.


def without_effects(text):
    """Marks a bundle's top-level statements as free of side effects, so that esbuild removes unused ones.

    The vendored bundle contains no such marks. In esbuild's layout each top-level statement begins at the left margin;
    the definitions of facets, themes and tables have no effect except their value.
    """
    statements = []
    for statement in re.split(r"\n(?=[^\s})\]])", text.replace("/* @__PURE__ */ ", "")):
        parts = re.match(r"((?:var|let|const) [\w$]+ = )([\s\S]*);\s*$", statement)
        if parts and not re.match(r"class\b|(?:async )?function\b|[\[{][\]}]$|-?\d|true$|false$|[\w$]+$", parts[2]):
            statement = f"{parts[1]}/* @__PURE__ */ (() => ({parts[2]}))();"
        statements.append(statement)
    return "\n".join(statements)


# Separate parts of CodeMirror, which few notes need: the page's module, and its vendored module.
LANGUAGES = {"html": "html.js", "code": "languages.js"}


def codemirror(work, modules):
    """Builds CodeMirror with what the page and its languages use, and the separate parts of the languages."""
    core = re.search(r'from"\./(index-[^"]+)"', (CODEMIRROR / "index.js").read_text())[1]
    used = set().union(*(modules.names([name], "codemirror.js") for name in modules.sources))
    own = {"markdown", "markdownLanguage"}
    # The names that the languages import from the core, made unique.
    taken, done, waiting = set(), set(), list(LANGUAGES.values())
    while waiting:
        name = waiting.pop()
        if name in done or name == core:
            continue
        done.add(name)
        source = (CODEMIRROR / name).read_text()
        waiting += re.findall(r'(?:from|import)"\./([^"]+)"', source)
        for names in re.findall(r'(?:import|export)\{([^}]*)\}from"\./%s"' % re.escape(core), source):
            taken |= {one.split(" as ")[0] for one in names.split(",")}
    entry = CODEMIRROR / "entry.js"
    folder = work / "codemirror"
    shutil.copytree(CODEMIRROR, folder)
    entry = folder / "entry.js"
    entry.write_text(
        f'export {{ {", ".join(sorted(used - own))} }} from "./index.js";\n'
        f'export {{ {", ".join(sorted(own))} }} from "./markdown.js";\n'
        f'export {{ {", ".join(f"{name} as core{name}" for name in sorted(taken))} }} from "./{core}";\n'
    )
    whole = work / "codemirror.js"
    whole.write_text(without_effects(bundled(entry)))
    editor = CODEMIRROR_NOTICE + build_sdk.smaller(bundled(whole, "--minify"))
    (folder / core).write_text(
        f'export {{ {", ".join(f"core{name} as {name}" for name in sorted(taken))} }} from "@codemirror";\n'
    )
    languages = {
        part: bundled(folder / module, "--minify", "--external:@codemirror") for part, module in LANGUAGES.items()
    }
    return editor, languages


def prosemirror(work, modules):
    """Builds ProseMirror with what the page uses."""
    used = modules.names(modules.sources, "prosemirror.js")
    folder = work / "prosemirror"
    shutil.copytree(PROSEMIRROR, folder)
    facade = modules.sources["prosemirror.js"].replace("../vendor/prosemirror/", "./")
    (folder / "facade.js").write_text(facade)
    entry = folder / "entry.js"
    entry.write_text(f'export {{ {", ".join(sorted(used))} }} from "./facade.js";\n')
    notice = "// ProseMirror, under the MIT licence: see licences/ on this server.\n"
    return notice + build_sdk.smaller(bundled(entry, "--minify"))


# The texts.


def texts(name):
    """Returns the texts of a language, except texts with plural forms."""
    source = (WEB / "js" / "languages" / f"{name}.js").read_text()
    return {json.loads(key): json.loads(text) for key, text in TEXT.findall(source)}


def later_texts(modules, first, parts):
    """Returns, for each part, the English texts that only later parts name; they are fetched with the part."""
    pages_text = "".join((WEB / page).read_text() for page in ("index.html", "admin.html"))
    composed = tuple({prefix for source in modules.sources.values() for prefix in COMPOSED.findall(source)})
    named = pages_text + "".join(modules.sources[name] for name in sorted(first - {"languages/en.js"}))
    english = {
        key: text for key, text in texts("en").items() if not key.startswith(composed) and f'"{key}"' not in named
    }  # fmt: skip
    return {
        part: {
            key: text for key, text in english.items() if any(f'"{key}"' in modules.sources[name] for name in members)
        }
        for part, members in parts.items()
    }


def with_later_texts(modules, folder, first, parts):
    """Moves English texts from the page's first files to the parts that name them."""
    later = later_texts(modules, first, parts)
    moved = set().union(*later.values())
    english = folder / "languages" / "en.js"
    english.write_text(
        TEXT.sub(lambda line: "" if json.loads(line[1]) in moved else line[0], modules.sources["languages/en.js"])
    )
    for part, own in later.items():
        if own:
            added = folder / f"texts-of-{part.replace('/', '-')}"
            added.write_text(
                f'import {{ english }} from "@app";\nObject.assign(english, {json.dumps(own, ensure_ascii=False)});\n'
            )
            module = folder / part
            # The import comes first, as the part may use a text when it starts.
            module.write_text(f'import "{added}";\n{module.read_text()}')


def in_english(html):
    """Returns a page's HTML with its English texts inserted, as language.js inserts texts."""
    english = texts("en")

    def filled(match):
        tag = match[0]
        for name, attribute in (
            ("label", "aria-label"), ("title", "title"), ("placeholder", "placeholder"), ("content", "content")
        ):  # fmt: skip
            tag = re.sub(
                rf'\bdata-{name}="([^"]*)"',
                lambda key: f'{key[0]} {attribute}="{markup.escape(english[key[1]])}"',
                tag,
            )
        text = re.search(r'\bdata-text="([^"]*)"', tag)
        return tag + markup.escape(english[text[1]], quote=False) if text else tag

    return re.sub(r"<[a-z][^>]*\bdata-(?:text|label|title|placeholder|content)=[^>]*>", filled, html)


# The parts.


def parts(work, modules):
    """Returns the page's files by name. They refer to each other as `@name`."""
    app = modules.reached("app.js")
    dynamic = {
        f"{modules.part(name, path)}.js"
        for name, source in modules.sources.items()
        for path in DYNAMIC.findall(source)
    } - {"app.js", *(f"{part}.js" for part in LANGUAGES)}
    reached = {name: modules.reached(name) for name in dynamic}
    counts = {}
    for members in reached.values():
        for name in members - COPIED - {f"{one}.js" for one in VENDORED}:
            counts[name] = counts.get(name, 0) + 1
    shared = app | {name for name, count in counts.items() if count > 1 and name not in dynamic}
    for name in list(shared):
        shared |= modules.reached(name)
    if shared & {*(f"{one}.js" for one in (*VENDORED, *LANGUAGES)), *dynamic}:
        fail("the page's start would bring an editor, or a part that is to be fetched later")
    importers = set().union(*reached.values()) - shared
    exports = {module: modules.names(importers, module) for module in sorted(shared)}
    exports = {module: sorted(names) for module, names in exports.items() if names}

    # Short names, as each part repeats the names that it imports.
    short = {pair: f"_{n}" for n, pair in enumerate((module, name) for module in exports for name in exports[module])}

    folder = work / "js"
    for name, source in modules.sources.items():
        (folder / name).write_text(
            DYNAMIC.sub(lambda found, name=name: f'import("@{modules.part(name, found[1])}")', source)
        )
    # The modules of a first visit, and those of the operator's page, which is one file.
    first = shared | modules.reached("main.js") | modules.reached("admin/main.js") | modules.reached("editing/text.js")
    later = {part: members - first for part, members in reached.items() if not part.startswith("languages/")}
    with_later_texts(modules, folder, first, later)
    # Only the vendored editors' own files contain them.
    for vendored in VENDORED:
        (folder / f"{vendored}.js").write_text(
            "".join(
                f'export {{ {name} }} from "@{vendored}";\n'
                for name in sorted(modules.names(modules.sources, f"{vendored}.js"))
            )
        )
    (folder / "entry.js").write_text(
        'import "./app.js";\nexport { default as english } from "./languages/en.js";\n'
        + "".join(
            f"export {{ {', '.join(f'{name} as {short[module, name]}' for name in names)} }}"
            f' from "./{module}";\n'
            for module, names in exports.items()
        )
    )
    options = ["--minify", *(f"--external:@{name}" for name in ("app", *VENDORED, *LANGUAGES))]
    options += [f"--external:@{name.removesuffix('.js')}" for name in dynamic]
    files = {
        "main": bundled(folder / "main.js", *options),
        "app": bundled(folder / "entry.js", *options),
        "admin": bundled(folder / "admin" / "main.js", *options),
    }
    for module in shared:
        names = exports.get(module, [])
        (folder / module).write_text(
            f"export {{ {', '.join(f'{short[module, name]} as {name}' for name in names)} }}"
            ' from "@app";\n'
        )
    for name in dynamic:
        files[name.removesuffix(".js")] = with_joined_imports(bundled(folder / name, *options))
    return files


def pages(read, names):
    """Yields the pages' HTML, with the names of the files."""
    # The icons are inlined, which saves a request.
    icons = re.sub(r">\s+<", "><", read("icons.svg").strip()).replace('<symbol id="', '<symbol id="icon-')
    icons = icons.replace("<svg ", '<svg aria-hidden="true" hidden ', 1)
    icon = "data:image/svg+xml," + quote(re.sub(r">\s+<", "><", read("icon.svg").strip()), safe=" =:/'")
    icon = icon.replace('"', "'")
    for page, styles, scripts, module in (
        ("index.html", "page.css", "first", "main"),
        ("admin.html", "admin.css", "theme", "admin"),
    ):
        html = re.sub(r"^\s+", "", read(page), flags=re.M)
        html = re.sub(r'<link rel="(stylesheet|modulepreload|preload)"[^>]*>\n', "", html)
        html = re.sub(r'<script src="[^"]*"></script>\n', "", html)
        head = [f'<link rel="stylesheet" href="assets/{names[styles]}" />',
                f'<script src="assets/{names[scripts]}"></script>']  # fmt: skip
        if page == "index.html":
            head += [
                f'<link rel="modulepreload" href="assets/{names["app"]}" />',
                f'<link rel="preload" href="assets/{names["client.wasm"]}" as="fetch" crossorigin />',
            ]
        html, count = re.subn(
            r'<script type="module" src="[^"]*"></script>\n',
            "\n".join([*head, f'<script type="module" src="assets/{names[module]}"></script>', ""]),
            html,
        )
        if count != 1 or html.count('href="assets/icon.svg"') != 1:
            fail(f"{page} has to name one module script and one icon")
        html = in_english(html).replace("assets/icons.svg#", "#icon-")
        html, count = re.subn(r"(<body[^>]*>)", lambda body: f"{body[1]}{icons}", html)
        if count != 1:
            fail(f"{page} has to have one body")
        html = html.replace('href="assets/icon.svg"', f'href="{icon}"')
        left = re.findall(r'="assets/(?!immutable/)[^"]*"', html)
        if left:
            fail(f"{page} names files that are not in the build: {left}")
        build = f'<meta name="build" content="{hash_of(html)}" />'
        html = html.replace('<meta charset="utf-8" />', f'<meta charset="utf-8" />\n{build}')
        yield page, html
        if page == "index.html":
            # Below /n/, relative links begin one folder higher.
            yield "index.below.html", html.replace('="assets/', '="../assets/').replace('="./"', '="../"')


def languages(names):
    """Returns the files of the languages by their names."""
    return {name.split("/")[1]: names[name] for name in sorted(names) if name.startswith("languages/")}


def worker(read, names, html):
    """Returns the service worker, which caches the files that a first visit fetches."""
    build = re.search(r'<meta name="build" content="([^"]+)"', html)[1]
    kept = sorted({*re.findall(r'="assets/(immutable/[^"#]+)', html), names["editing/text"], names["codemirror"]})
    source = read("worker/worker.js").replace('"@build"', json.dumps(build)).replace('["@files"]', json.dumps(kept))
    source = source.replace('{ "@languages": "" }', json.dumps(languages(names)))
    parts = {"formatted": [names["formatted/formatted"], names["prosemirror"]]}
    source = source.replace('{ "@parts": [] }', json.dumps(parts))
    if "@" in re.sub(r"/\*\*.*?\*/", "", source, flags=re.S):
        fail("worker.js has a place that nothing was put into")
    return minified(source, "js")


def drawing(target, names, read, write):
    """Writes the worker that draws formulas. No part of the page imports it, so it is fetched only if needed."""
    line = 'importScripts("../vendor/katex/katex.js");'
    source = read("worker/formulas.js")
    if source.count(line) != 1:
        fail("worker/formulas.js has to import KaTeX once")
    katex = "// KaTeX, under the MIT licence: see licences/ on this server.\n" + read("vendor/katex/katex.js")
    write("formulas.js", katex + minified(source.replace(line, ""), "js"))
    write("diagrams.js", minified(read("worker/diagrams.js"), "js"))
    write("mermaid.js", read("vendor/mermaid/mermaid.js"))
    for ending in ("br", "gz"):
        shutil.copy(WEB / "vendor" / "mermaid" / f"mermaid.js.{ending}", target / f"{names['mermaid']}.{ending}")


def build(target):
    """Writes the page to a folder."""

    def read(name):
        return (WEB / name).read_text()

    names = {}

    def write(name, content):
        """Writes a file under a name with its hash, and records the name for the pages."""
        content = content if isinstance(content, bytes) else content.encode()
        stem, ending = name.split(".")
        names[name.removesuffix(".js")] = f"immutable/{stem}-{hash_of(content)}.{ending}"
        (target / names[name.removesuffix(".js")]).write_bytes(content)

    (target / "immutable").mkdir()
    for name in ("client.wasm", "import.wasm"):
        write(name, (WEB / "generated" / name).read_bytes())
    for name, sheets in (("page.css", ("app", "reading", "editing", "access", "touch")), ("admin.css", ("app", "admin", "touch"))):
        write(name, minified("".join(read(f"css/{sheet}.css") for sheet in sheets), "css"))
    theme = minified(read("js/theme.js"), "js")
    write("theme.js", theme)
    drawing(target, names, read, write)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        shutil.copytree(WEB / "js", work / "js")
        (work / "js" / "reading" / "drawingassets.js").write_text(
            'import { at } from "../ground/base.js";\n'
            + "".join(f'export const {name}Address = at("/assets/{names[name]}");\n' for name in ("formulas", "diagrams", "mermaid"))
        )
        (work / "js" / "ground" / "assets.js").write_text(
            'import { at } from "./base.js";\n'
            f'export const coreAddress = at("/assets/{names["client.wasm"]}");\n'
            f'export const importAddress = at("/assets/{names["import.wasm"]}");\n'
            'export const iconAddress = (name) => `#icon-${name}`;\n'
        )
        sheets = (
            ("editor", "editor", "editing"), ("writing", "writing", "editing/writing"), ("page", "rendered", "reading"),
            ("formatted", "formatted", "formatted"), ("history", "history", "history"), ("search", "search", "search"), ("import", "import", "exchange"),
        )  # fmt: skip
        for name, file, folder in sheets:
            (work / "js" / folder / f"{name}sheet.js").write_text(
                f"const styles = {json.dumps(minified(read(f'css/{file}.css'), 'css'))};\n"
                f"export const {name}Styles = () => Promise.resolve(styles);\n"
            )
        modules = Modules(work / "js")
        editor, code = codemirror(work, modules)
        formatted = prosemirror(work, modules)
        files = parts(work, modules)
    write("codemirror.js", editor)
    write("prosemirror.js", formatted)
    for part, text in code.items():
        write(f"{part}.js", text.replace('"@codemirror"', f'"./{names["codemirror"].split("/")[1]}"'))
    for name in [name for name in files if name.startswith("languages/")]:
        stem = name.replace("/", "-")
        write(f"{stem}.js", files.pop(name))
        names[name] = names.pop(stem)
    chooser = read("js/chooselanguage.js").replace(
        '{ "@languages": "" }',
        json.dumps({name: path.split("/")[1] for name, path in languages(names).items()}),
    )
    write("first.js", "\n".join([theme, minified(chooser, "js"), minified(read("js/starting.js"), "js"), ""]))
    # These files refer to each other, so they share a hash.
    group = [name for name in files if name not in ("main", "admin")]
    common = hash_of(*(files[name] for name in group), *names.values())
    for name in group:
        names[name] = f"immutable/{name.split('/')[-1]}-{common}.js"

    def linked(text):
        text = re.sub(r'"@([\w/]+)"', lambda match: f'"./{names[match[1]].split("/")[1]}"', text)
        return text

    for name in group:
        (target / names[name]).write_text(linked(files[name]))
    for name in ("main", "admin"):
        write(f"{name}.js", linked(files[name]))
    for name, text in pages(read, names):
        (target / name).write_text(text)
    (target / "worker.js").write_text(worker(read, names, (target / "index.html").read_text()))
    for path in (WEB / "install").iterdir():
        shutil.copy(path, target / path.name)
    shutil.copy(WEB / "icon.svg", target / "icon.svg")
    shutil.copytree(WEB / "licences", target / "licences")
    shutil.copy(CODEMIRROR / "LICENSE.bundle.txt", target / "licences" / "codemirror-bundle.txt")
    (target / "sdk" / "1").mkdir(parents=True)
    build_sdk.build(target / "sdk" / "1")
    compress(target)


def compress(target):
    """Writes the compressed forms that are smaller than their files and do not exist yet."""

    def one(path):
        content = path.read_bytes()
        try:
            brotli = subprocess.run(
                ["brotli", "-q", "11", "-w", "24", "-c", path], capture_output=True, check=True
            ).stdout
        except FileNotFoundError:
            fail("brotli is missing: Scripts/install-packages.sh serve installs it")
        # Without a name and a time in the header, equal files have equal compressed forms.
        for ending, form in (("br", brotli), ("gz", gzip.compress(content, 9, mtime=0))):
            if len(form) < len(content):
                path.with_name(f"{path.name}.{ending}").write_bytes(form)

    kinds = {".html", ".js", ".css", ".svg", ".wasm"}
    files = [path for path in target.rglob("*") if path.suffix in kinds and not path.with_name(f"{path.name}.br").exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, files))


def main():
    sources = [pathlib.Path(__file__), pathlib.Path(build_sdk.__file__), *WEB.glob("*.html"), *WEB.glob("*.svg")]
    for folder in ("js", "sdk", "css", "worker", "install", "vendor", "licences"):
        sources += [path for path in (WEB / folder).rglob("*") if path.is_file()]
    sources = sorted({*sources, WEB / "generated" / "client.wasm", WEB / "generated" / "import.wasm"})
    for path in sources:
        if not path.exists():
            fail(f"{path.relative_to(ROOT)} is missing; make page makes it")
    stamp = hash_of(*(part for path in sources for part in (str(path.relative_to(ROOT)), path.read_bytes())))
    if (BUILT / ".stamp").is_file() and (BUILT / ".stamp").read_text() == stamp:
        return
    with tempfile.TemporaryDirectory(dir=WEB, prefix=".built-") as folder:
        target = pathlib.Path(folder) / "page"
        target.mkdir()
        build(target)
        (target / ".stamp").write_text(stamp)
        if BUILT.exists():
            BUILT.rename(pathlib.Path(folder) / "former")
        target.rename(BUILT)
    sent = [path for path in BUILT.rglob("*.br")]
    print(f"Web/built: {len(sent)} files, {sum(path.stat().st_size for path in sent) / 1000:.0f} kB compressed")


if __name__ == "__main__":
    main()
