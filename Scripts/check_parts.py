#!/usr/bin/env python3
"""Checks that each part of the gateway compiles without the parts that it must not use.

    Scripts/check_parts.py [--scratch-path FOLDER] [PART …]

Tests/ParleyArchitectureTests/GatewayPartTests.swift contains the table of parts, and checks which types each part
names. It cannot see methods that one part adds to types of another. Here the compiler checks the files of each part
with the files of the parts below it only. A debug build must exist: make try leaves one in .build/try.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GATEWAY = ROOT / "Sources" / "Gateway"
TABLE = ROOT / "Tests" / "ParleyArchitectureTests" / "GatewayPartTests.swift"


def allowed() -> dict[str, set[str]]:
    """Returns the parts that each part may name."""
    table = re.search(r"let allowed: [^\n]*= \[\n(.*?)\n  \]\n", TABLE.read_text(), re.DOTALL)
    rows = re.findall(r'"([^"]+)":\s*\[([^\]]*)\]', table[1])
    return {part: set(re.findall(r'"([^"]+)"', names)) for part, names in rows}


def below(part: str, table: dict[str, set[str]]) -> set[str]:
    """Returns a part, and all parts that it may name directly or indirectly."""
    found = {part}
    rest = [part]
    while rest:
        more = table[rest.pop()] - found
        found |= more
        rest += more
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scratch-path", default=".build/try")
    parser.add_argument("part", nargs="*")
    options = parser.parse_args()
    binaries = subprocess.run(
        ["swift", "build", "--scratch-path", options.scratch_path, "--show-bin-path"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    # SwiftPM derives the package's name from its folder.
    package = re.sub(r"\W", "_", ROOT.name.lower())
    table = allowed()
    failed = False
    for part in options.part or sorted(table):
        files = [file for folder in sorted(below(part, table))
                 for file in sorted((GATEWAY / folder).glob("*.swift"))]
        check = subprocess.run(
            ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6",
             "-enable-upcoming-feature", "InternalImportsByDefault",
             "-enable-upcoming-feature", "MemberImportVisibility",
             "-module-name", "Gateway", "-package-name", package,
             "-I", f"{binaries}/Modules", "-module-cache-path", f"{binaries}/ModuleCache",
             *map(str, files)],
            cwd=ROOT, capture_output=True, text=True)
        errors = sorted(set(re.findall(r"^(/\S+: error: .*)$", check.stderr, re.MULTILINE)))
        if check.returncode == 0:
            print(f"{part} compiles with {len(files)} files", flush=True)
        else:
            failed = True
            print(f"{part} does not compile by itself:", flush=True)
            print("\n".join(errors).replace(f"{ROOT}/", "") or check.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
