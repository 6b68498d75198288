#!/usr/bin/env python3
"""Sees that the simulation finds deliberate bugs.

    Scripts/mutations.py [--jobs N] [NAME …]

Each patch in Tests/Mutations puts one bug into a copy of the sources, under artifacts/mutations. The
copy is built, and the seeds that `make test` goes through are run: one of them has to break a
promise. A bug that no seed finds, and a patch that does not apply or build, is a failure; so is a
violation without any bug. What a patch says before its first line of difference tells what it breaks.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATCHES = ROOT / "Tests" / "Mutations"
COPY = ROOT / "artifacts" / "mutations"
# What the manifest names has to be there; only what `simulate` needs is built.
COPIED = ["Package.swift", "Sources", "Tests", "Benchmarks"]
SECONDS_MAX = 1800


def sources():
    """The files of the working tree that belong to the package, changed and new ones included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *COPIED],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    return {name for name in listed if name and (ROOT / name).is_file()}


def refresh():
    """Makes the copy equal to the sources, and touches only what differs: the rest stays built."""
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


def build():
    """Builds the simulation; returns where it is, or what the compiler said."""
    command = ["swift", "build", "-c", "release", "--product", "simulate"]
    done = subprocess.run(
        command, cwd=COPY, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        wrong = [line for line in done.stdout.splitlines() if "error:" in line]
        return None, wrong[0] if wrong else done.stderr.strip()[-500:]
    return COPY / ".build" / "release" / "simulate", ""


def simulate(program, jobs):
    """Runs the seeds of the tests; returns the exit status and the first violation."""
    try:
        done = subprocess.run(
            [program, "--jobs", str(jobs)],
            cwd=COPY, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        return None, "did not end"
    found = re.search(r"^VIOLATION (seed \d+: .*)$", done.stdout, re.MULTILINE)
    return done.returncode, found.group(1) if found else ""


def try_patch(patch, jobs):
    """Returns whether the bug was found, and what there is to say about it."""
    applied = subprocess.run(
        ["patch", "-p1", "--forward", "--batch", "--no-backup-if-mismatch", "-i", patch],
        cwd=COPY, capture_output=True, text=True,
    )
    if applied.returncode != 0:
        return False, "does not apply: " + " ".join(applied.stdout.split())[-300:]
    program, complaint = build()
    if program is None:
        return False, "does not build: " + complaint
    status, violation = simulate(program, jobs)
    if status == 0:
        return False, "survived: no seed finds it"
    if not violation:
        return False, f"ended with status {status} and named no seed"
    return True, violation


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

    refresh()
    program, complaint = build()
    if program is None:
        sys.exit(f"the unchanged sources do not build: {complaint}")
    status, violation = simulate(program, jobs)
    if status != 0:
        sys.exit(f"the unchanged sources break a promise already: {violation or status}")
    print("      no bug                          nothing found, as it should be", flush=True)

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
