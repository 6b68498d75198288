#!/usr/bin/env python3
"""Checks that tests find deliberate bugs.

    Scripts/mutations.py [--jobs N] [NAME …]

Each patch in Tests/Mutations adds one bug to a copy of the sources, under artifacts/mutations. The copy is built,
and the test that must find the bug is run. The patch names the test before its first line of difference, together
with what the bug breaks:

    Killed by: seeds                                   the seeds that `make test` runs (default)
    Killed by: seeds --nodes 0                         as many, with these arguments of `simulate`
    Killed by: swift BayeuxTests/channelNames          a suite and its test
    Killed by: pytest Tests/Clients/test_x.py::test_y  a node of pytest, against the copy's program

An undetected bug is a failure, as is a patch that does not apply or build. So is a test that fails or does not run
without any bug.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATCHES = ROOT / "Tests" / "Mutations"
COPY = ROOT / "artifacts" / "mutations"
PYTHON = os.environ.get("PYTHON", ".venv/bin/python")
# Seeds run several times faster optimised; tests mostly wait for the compiler, which is faster without.
CONFIGURATION = {"seeds": "release", "swift": "debug", "pytest": "debug"}
if "CONFIGURATION" in os.environ:
    CONFIGURATION = dict.fromkeys(CONFIGURATION, os.environ["CONFIGURATION"])
# Everything that the manifest names must exist; only what a patch needs is built.
COPIED = ["Package.swift", "Sources", "Tests", "Benchmarks", "Examples"]
SECONDS_MAX = 1800


def sources():
    """Returns the files of the working tree that belong to the package, changed and new ones included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *COPIED],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    return {name for name in listed if name and (ROOT / name).is_file()}


def refresh():
    """Makes the copy equal to the sources. Only files that differ are touched, so the rest need not be rebuilt."""
    wanted = sources()
    for folder in COPIED:
        for path in (COPY / folder).rglob("*") if (COPY / folder).is_dir() else []:
            if path.is_file() and str(path.relative_to(COPY)) not in wanted:
                path.unlink()
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    # Tests that start the program need the page that it serves.
    if not (COPY / "Web").exists():
        (COPY / "Web").symlink_to(ROOT / "Web")


def detecting_test(patch):
    """Returns what must find a patch's bug: the kind, and its argument."""
    preamble = patch.read_text(encoding="utf-8").split("\n--- ", 1)[0]
    found = re.findall(r"^Killed by: (seeds|swift|pytest)\b *(.*)$", preamble, re.MULTILINE)
    if len(found) > 1 or ("Killed by" in preamble and not found):
        sys.exit(f"{patch.name}: expected one line such as 'Killed by: swift FILTER'")
    kind, what = found[0] if found else ("seeds", "")
    if kind != "seeds" and not what:
        sys.exit(f"{patch.name}: expected 'Killed by: seeds', or a kind and a name of a test")
    return kind, what


def changed_folder(patch):
    """Returns the folder of the first file that a patch changes."""
    found = re.search(r"^\+\+\+ (?:b/)?(\S+)/", patch.read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


# What must be built for each kind.
BUILT = {
    "seeds": ["--product", "parley-simulate"],
    "swift": ["--build-tests"],
    "pytest": ["--product", "parley"],
}


def build(kind):
    """Builds what a kind needs. Returns the compiler's error; None if the build succeeded."""
    command = ["swift", "build", "-c", CONFIGURATION[kind], *BUILT[kind]]
    done = subprocess.run(
        command, cwd=COPY, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode == 0:
        return None
    wrong = [line for line in done.stdout.splitlines() if "error:" in line]
    return wrong[0] if wrong else done.stderr.strip()[-500:]


# Swift's backtrace of a trap takes minutes in a debug build, and may hang afterwards.
QUIET = {"SWIFT_BACKTRACE": "enable=no"}


def execute(command, folder, **environment):
    """Runs a command. Returns its exit status, `None` if it timed out, and its output."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS_MAX,
            env={**os.environ, **QUIET, **environment},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


# Each function returns whether the bug was found (`None` if unknown), and a report.


def run_seeds(arguments, jobs):
    program = COPY / ".build" / CONFIGURATION["seeds"] / "parley-simulate"
    status, said = execute([program, *arguments.split(), "--jobs", str(jobs)], COPY)
    if status == 0:
        return False, "no seed finds it"
    found = re.search(r"^VIOLATION (seed \d+: .*)$", said, re.MULTILINE)
    if status is None or not found:
        return None, f"ended with status {status} and named no seed"
    return True, found.group(1)


def run_swift(name, _):
    command = ["swift", "test", "-c", CONFIGURATION["swift"], "--disable-xctest", "--skip-build"]
    status, said = execute([*command, "--filter", rf"\.{name}\("], COPY)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said)
    run = re.search(r"Test run with (\d+) tests?\b.* (passed|failed) after", plain)
    if run and run.group(1) == "0":
        return None, f"no test is called {name}"
    if status == 0 and run:
        return False, f"{name} passes"
    found = re.search(r"^\S+ +Test (?!case |run )(.*) recorded an issue\b", plain, re.MULTILINE)
    if run and found:
        return True, f"{found.group(1).split(' with ')[0]} fails"
    # A trap ends the whole run; the test that was running is the one that started last.
    began = re.findall(r"^\S+ +Test (?!case |run )(.*) started\.$", plain, re.MULTILINE)
    if status is not None and began:
        return True, f"{began[-1]} traps"
    return None, f"ended with status {status} and named no test"


def run_pytest(node, _):
    program = str(COPY / ".build" / CONFIGURATION["pytest"] / "parley")
    command = [str(ROOT / PYTHON), "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]
    status, said = execute(
        [*command, node], ROOT, PARLEY_PROGRAM=program, PARLEY=program,
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    if status == 0:
        return (False, f"{node} passes") if " passed" in said else (None, "every test was skipped")
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    if status != 1 or not found:
        return None, f"pytest ended with status {status}: {said.strip()[-200:]}"
    return True, f"{found.group(1)} fails"


RUN = {"seeds": run_seeds, "swift": run_swift, "pytest": run_pytest}


def try_patch(patch, jobs):
    """Returns whether the bug was found, and a report."""
    applied = subprocess.run(
        ["patch", "-p1", "--forward", "--batch", "--no-backup-if-mismatch", "-i", patch],
        cwd=COPY, capture_output=True, text=True,
    )
    if applied.returncode != 0:
        return False, "does not apply: " + " ".join(applied.stdout.split())[-300:]
    kind, what = detecting_test(patch)
    complaint = build(kind)
    if complaint is not None:
        return False, "does not build: " + complaint
    is_found, words = RUN[kind](what, jobs)
    if is_found is None:
        return False, words
    return is_found, words if is_found else "survived: " + words


def check_unchanged(killers, jobs):
    """Ends the program unless all tests pass without any bug."""
    for kind in BUILT:
        wanted = sorted({what for each, what in killers if each == kind})
        if not wanted:
            continue
        complaint = build(kind)
        if complaint is not None:
            sys.exit(f"the unchanged sources do not build: {complaint}")
        for what in wanted:
            is_found, words = RUN[kind](what, jobs)
            if is_found is not False:
                sys.exit(f"without any bug: {words}")
    print("      no bug                          nothing found, as it should be", flush=True)


def main(arguments):
    jobs = 2
    if arguments[:1] == ["--jobs"]:
        jobs = int(arguments[1])
        arguments = arguments[2:]
    patches = sorted(PATCHES.glob("*.patch"))
    if arguments:
        patches = [patch for patch in patches if patch.stem in arguments]
    if not patches:
        sys.exit(f"no such patch in {PATCHES.relative_to(ROOT)}")
    COPY.mkdir(parents=True, exist_ok=True)
    # Sorted by kind, then by the changed folder, so that little is rebuilt between patches.
    patches.sort(key=lambda patch: (list(BUILT).index(detecting_test(patch)[0]), changed_folder(patch), patch.name))

    refresh()
    check_unchanged([detecting_test(patch) for patch in patches], jobs)

    survivors = 0
    for patch in patches:
        refresh()
        began = time.monotonic()
        good, words = try_patch(patch, jobs)
        survivors += not good
        took = time.monotonic() - began
        print(f"{'ok ' if good else 'BAD'}   {patch.stem:30}  {words}  ({took:.0f} s)", flush=True)
    refresh()
    print(f"\n{len(patches) - survivors} of {len(patches)} bugs found")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
