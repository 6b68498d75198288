#!/usr/bin/env python3
"""Measures the Python package's client core, as a library and as WebAssembly, and writes Benchmarks/python.md.

    .venv/bin/python Benchmarks/bench_python.py [--edits 100000] [--write FILE]

Each way runs in processes of its own, with the package as in its wheels and a server's end of the line that
answers by the letter. Times of calls are processor time, so that what else runs on the machine matters little.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the core is run with, and what that takes from the tests of the server.
FOLDERS = ("Clients/python/tests", "Tests/System")
sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
from python_core import LIBRARY, MODULE, lay_out  # noqa: E402

START = """
import time
began = time.process_time()
from parley.core import Core
from parley.doors import create_core
core = Core(create_core())
print(time.process_time() - began)
"""

CALLS = """
import json, random, sys, time
from python_core import Line, resident_bytes
from parley.core import Core
from parley.doors import create_core
edits = int(sys.argv[1])
found = {}

def timed(line, calls, call):
    rng = random.Random(1)
    for index in range(100):
        call(line, rng.randrange(length), index)
    began = time.process_time()
    for index in range(calls):
        call(line, rng.randrange(length), index)
    return (time.process_time() - began) / calls * 1e6

def edit(line, at, index):
    line.edit(at, 1, "xy"[index % 2])

def receive(line, at, index):
    parts = (at, "xy"[index % 2], -1, length - at - 1)
    line.receive(json.dumps([part for part in parts if part]))

for length in (10_000, 200_000):
    for call in (edit, receive):
        found[f"{call.__name__} {length}"] = timed(Line(Core(create_core()), "x" * length), edits // 20, call)

length = 10_000
core = Core(create_core())
line = Line(core, "x" * length)
timed(line, edits // 10, edit)
before = resident_bytes()
timed(line, edits, edit)
found["grown"] = resident_bytes() - before
print(json.dumps(found))
"""


def run(program, folder, kind, *arguments):
    environment = {
        "PYTHONPATH": ":".join(map(str, [folder, *(ROOT / one for one in FOLDERS)])), "PATH": os.environ["PATH"], "PARLEY_CORE": kind,
    }  # fmt: skip
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def size_of(package):
    """The bytes of a package that is installed in this environment."""
    import importlib.util

    folder = pathlib.Path(importlib.util.find_spec(package).origin).parent
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(kind, edits):
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        starts = sorted(run(START, folder, kind) for _ in range(7))
        return {"start": starts[3] * 1000, **run(CALLS, folder, kind, edits)}


def main():
    arguments = argparse.ArgumentParser(description="Measures the Python package's client core.")
    arguments.add_argument("--edits", type=int, default=100_000)
    arguments.add_argument("--write", type=pathlib.Path, default=ROOT / "Benchmarks" / "python.md")
    options = arguments.parse_args()
    edits = options.edits
    found = [measure(kind, edits) for kind in ("library", "wasm")]

    def row(what, values):
        return f"| {what} | {' | '.join(values)} |"

    def times(key):
        return [f"{each[key]:.0f}" for each in found]

    lines = [
        "# The client core in Python",
        "",
        "    make bench-python",
        "",
        "The package's client core as the shared library and as WebAssembly, through the same interface: bytes in,",
        "bytes out, written and read by the package. An own edit is one character replaced, its message written and its",
        "acknowledgement read; a received change is one character replaced, until the program has it. Microseconds of",
        f"processor time, of {edits // 20:,} calls each at random places, seed 1. The start is the median of 7 processes,",
        "processor time, too, from the first import to a core that answers.",
        "",
        row("", ["library", "WebAssembly"]),
        "| --- | --- | --- |",
        row("own edit, note of 10 kB, µs", times("edit 10000")),
        row("own edit, note of 200 kB, µs", times("edit 200000")),
        row("received change, note of 10 kB, µs", times("receive 10000")),
        row("received change, note of 200 kB, µs", times("receive 200000")),
        row("start, ms", times("start")),
        row(f"memory left by {edits:,} edits, kB", [f"{each['grown'] / 1000:.0f}" for each in found]),
        row("file, kB", [f"{path.stat().st_size / 1000:.0f}" for path in (LIBRARY, MODULE)]),
        row("dependencies, MB", ["0", f"wasmtime, {size_of('wasmtime') / 1e6:.0f}"]),
        "",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
        " with other work.",
        "",
    ]
    options.write.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
