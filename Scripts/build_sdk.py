#!/usr/bin/env python3
"""Builds the SDK for web pages, which the gateway serves below /sdk/1: Scripts/build_sdk.py FOLDER

    parley.js            the module, which loads the core from the same folder
    notes.js             requests about notes, which parley.js loads with the first one
    authority.js         steps of editors that rebase them, which parley.js loads with the first document
    rich.js              bindings of editors of formatted text, for apps that have one
    values.js            values of rooms, for pages that import it
    client.wasm          the client core
    types/sdk/*.d.ts     its types, and the types of the modules that they name
    parley-client.tgz    all of it as a package that npm installs from its address, with node.js for Node

The number is the version of the interface: code that works with /sdk/1 works with each gateway that serves it.
"""

import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEB = ROOT / "Web"
ESBUILD = os.environ.get("ESBUILD", "esbuild")
# Debian's Node finds Debian's modules; another one must be told where they are.
TOOLS = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}


NODE_TYPES = """\
import { Parley, connect as connectInPage } from "./parley.js";
export * from "./parley.js";
/** Connects to a gateway. `WebSocket`: the class for connections, if Node has none. */
export function connect(
  url: string | URL,
  options?: NonNullable<Parameters<typeof connectInPage>[1]> & { WebSocket?: unknown },
): Promise<Parley>;
"""


def version():
    """Returns the program's version."""
    source = (ROOT / "Sources" / "ParleyServer" / "Values" / "Version.swift").read_text()
    return re.search(r'"(\d+\.\d+\.\d+[^"]*)"', source)[1]


def run(*command, source=None):
    """Runs a tool and returns its output, and ends the script if the tool is missing or fails."""
    try:
        done = subprocess.run(
            [str(word) for word in command], input=source, capture_output=True, text=True, env=TOOLS
        )
    except FileNotFoundError:
        sys.exit(f"build_sdk.py: {command[0]} is missing: Scripts/install-packages.sh serve installs it")
    if done.returncode != 0:
        sys.exit(f"build_sdk.py: {command[0]} said:\n{done.stdout}{done.stderr}")
    return done.stdout


def smaller(module):
    """Minifies a module that esbuild has minified: terser inlines more.

    The module must not have private fields (`#name`), which Debian's terser moves out of their classes.
    """
    return run("terser", "--module", "--ecma", "2020", "--compress", "--mangle", source=module)


def build(target):
    """Writes the SDK to an existing folder."""
    for name in ("parley.js", "notes.js", "authority.js", "rich.js", "values.js"):
        run(
            ESBUILD, WEB / "sdk" / name, "--bundle", "--minify", "--format=esm", "--target=es2022",
            "--external:./notes.js", "--external:./authority.js", "--legal-comments=none", "--log-level=warning",
            f"--outfile={target / name}",
        )  # fmt: skip
    (target / "client.wasm").write_bytes((WEB / "generated" / "client.wasm").read_bytes())
    if shutil.which("tsc"):
        types(target)
    package(target)


def types(target):
    """Writes the types, if a TypeScript compiler is installed: `make test` and packages have one."""
    run(
        "tsc", "--allowJs", "--declaration", "--emitDeclarationOnly", "--target", "es2022",
        "--module", "esnext", "--moduleResolution", "node", "--lib", "es2022,es2022.intl,dom,dom.iterable",
        "--rootDir", WEB, "--outDir", target / "types",
        *(WEB / "sdk" / f"{name}.js" for name in ("parley", "rich", "values")),
    )  # fmt: skip
    for name in ("parley", "rich", "values"):
        (target / f"{name}.d.ts").write_text(f'export * from "./types/sdk/{name}.js";\n')


def package(target):
    """Writes the package for npm."""
    kinds = {"default": "./parley.js"}
    node = {"default": "./node.js"}
    rich, values = {"default": "./rich.js"}, {"default": "./values.js"}
    has_types = (target / "parley.d.ts").exists()
    if has_types:
        kinds, node = {"types": "./parley.d.ts", **kinds}, {"types": "./node.d.ts", **node}
        rich, values = {"types": "./rich.d.ts", **rich}, {"types": "./values.d.ts", **values}
    described = {
        "name": "parley-client",
        "version": version(),
        "description": "Notes that several people write, in any web page.",
        "license": "Apache-2.0",
        "type": "module",
        "exports": {
            ".": {"node": node, **kinds}, "./rich.js": rich, "./values.js": values, "./client.wasm": "./client.wasm",
        },
        "sideEffects": ["./parley.js", "./node.js"],
        "engines": {"node": ">=18"},
    }
    files = {"package.json": json.dumps(described, indent=2).encode() + b"\n"}
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    # For Node alone, which installs the package: the gateway does not serve them.
    files["node.js"] = (WEB / "sdk" / "node.js").read_bytes()
    if has_types:
        files["node.d.ts"] = NODE_TYPES.encode()
    for path in sorted(target.rglob("*")):
        if path.is_file():
            files[str(path.relative_to(target))] = path.read_bytes()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in files.items():
            # npm expects this folder name. No times are included, so equal files have equal archives.
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(content))
    (target / "parley-client.tgz").write_bytes(gzip.compress(archive.getvalue(), 9, mtime=0))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    build(folder)
