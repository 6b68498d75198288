#!/usr/bin/env python3
"""Builds and runs the tests that a change can reach.

    Scripts/check_change.py [--since COMMIT] [--only-say]

The change is the difference from the commit (`HEAD` by default), untracked files included. A file of a module reaches
the tests of the modules that depend on it, by the table in Package.swift, and the tests that run the program, the
WebAssembly client or the library if those contain it. A test file reaches itself. Another file reaches the test files
that name it. Files of the build, and unknown files, reach all tests.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

from run_tests import BROWSER_FOLDERS, CLIENT_FOLDERS

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALL = {"growth", "swift", "fuzz", "web", "clients", "browser"}
FOLDERS = {"clients": CLIENT_FOLDERS, "browser": BROWSER_FOLDERS}
# Files that may change the build, or how tests are run.
BUILD = re.compile(r"Package\.swift$|Makefile$|\.ci/|Scripts/(run_tests|install-packages|python-environment|check_change)|Tests/(pytest|requirements)")


class Reach:
    """The tests that a change reaches: whole parts, or a selection of a part."""

    def __init__(self):
        self.whole = set()
        self.selected = {"swift": set(), "clients": set(), "browser": set()}

    def all(self):
        self.whole |= ALL

    def select(self, part, name):
        self.selected[part].add(name)

    def arguments(self):
        """Yields the arguments for run_tests.py, in its order."""
        if self.selected["swift"] and "swift" not in self.whole:
            self.selected["growth"] = self.selected["swift"]
        for part in ("growth", "swift", "fuzz", "web", "clients", "browser"):
            if part in self.whole:
                yield part
            elif self.selected.get(part):
                yield f"{part}={','.join(sorted(self.selected[part]))}"


def package():
    """Returns each target's folder, and the targets that depend on it, itself included."""
    described = json.loads(
        subprocess.run(["swift", "package", "describe", "--type", "json"], cwd=ROOT, check=True, capture_output=True).stdout
    )
    targets = {target["name"]: target for target in described["targets"]}
    dependents = {name: {name} for name in targets}
    # Each target lists its direct and indirect dependencies, so one step is enough.
    for name, target in targets.items():
        for dependency in target.get("target_dependencies", []):
            dependents[dependency].add(name)
    return {name: target["path"] for name, target in targets.items()}, dependents


def words(path, name):
    """Returns the words that a shell variable or loop of a script lists after `name`."""
    text = (ROOT / path).read_text().replace("\\\n", " ")
    return set(re.search(rf"{name}[ ='\"]+([\w/ ]+)", text).group(1).split())


def reach_of_module(module, dependents, reach):
    """Adds the tests that a changed module of the package reaches."""
    reached = dependents[module]
    for target in reached:
        if target.endswith("Tests"):
            reach.select("swift", target)
    if "parley" in reached:
        reach.whole |= {"clients", "browser"}
    # The modules that are also compiled as WebAssembly and as a library.
    if module in words("Scripts/core-sources.sh", "modules=") | {"ParleyImporting"}:
        reach.whole |= {"web", "clients", "browser"}
    if module in {pathlib.PurePath(one).name for one in words("Scripts/fuzz.sh", "for folder in")}:
        reach.whole.add("fuzz")


def naming(name):
    """Yields the test files that contain a file's name, with their parts."""
    for part, folders in FOLDERS.items():
        for path in sorted(path for folder in folders for path in (ROOT / folder).glob("test_*.py")):
            if name in path.read_text():
                yield part, str(path.relative_to(ROOT))


def reach_of(paths, folders, dependents):
    """Returns the tests that a change of these files reaches."""
    reach = Reach()
    # These tests check the layout and style of all files.
    reach.select("swift", "ParleyArchitectureTests")
    for path in paths:
        module = next((name for name, folder in folders.items() if path.startswith(folder + "/")), None)
        folder = str(pathlib.PurePath(path).parent)
        part = next((part for part, folders in FOLDERS.items() if folder in folders), None)
        if BUILD.match(path):
            reach.all()
        elif module is not None:
            reach_of_module(module, dependents, reach)
        elif part is not None:
            if re.search(r"/test_\w+\.py$", path):
                reach.select(part, path)
            else:
                reach.whole.add(part)
        elif path.startswith("Web/"):
            reach.whole |= {"web", "browser"}
        elif path.startswith("Tests/Web/"):
            reach.whole.add("web")
        elif path.startswith("Fuzz/"):
            reach.whole.add("fuzz")
        elif path.startswith("Clients/"):
            reach.whole.add("clients")
        elif path.startswith(("Sources/", "Tests/")):
            reach.all()
        else:
            for part, file in naming(pathlib.PurePath(path).name):
                reach.select(part, file)
    return reach


def changed(since):
    """Returns the files that differ from a commit, and untracked files."""

    def lines(*command):
        return subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()

    return sorted({*lines("diff", "--name-only", since), *lines("ls-files", "--others", "--exclude-standard")})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="HEAD", help="the commit to compare with")
    parser.add_argument("--only-say", action="store_true", help="say what would run")
    options = parser.parse_args()
    paths = changed(options.since)
    parts = list(reach_of(paths, *package()).arguments())
    print(f"{len(paths)} changed files reach: {' '.join(parts)}", flush=True)
    if options.only_say:
        return 0
    made = ["lint", "build-tests"]
    if any(part.split("=")[0] in {"web", "clients", "browser"} for part in parts):
        made += ["setup-test", "page", "library"]
    run = [os.environ.get("MAKE", "make"), *made], [sys.executable, "Scripts/run_tests.py", *parts]
    return next((code for command in run if (code := subprocess.run(command, cwd=ROOT, check=False).returncode)), 0)


if __name__ == "__main__":
    sys.exit(main())
