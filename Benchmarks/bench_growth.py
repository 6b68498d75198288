#!/usr/bin/env python3
"""Measures how Parley's work grows with its load, and writes Benchmarks/growth.md.

    Benchmarks/bench_growth.py                       about five minutes; prints
    Benchmarks/bench_growth.py --write               the same; writes the page
    Benchmarks/bench_growth.py --only rooms,storm    some of it
    Benchmarks/bench_growth.py --store-megabytes 10240 --only store    a store of 10 GB

Each row is measured at four or five sizes. The law is the exponent k of size^k that fits what was
measured best, in logarithms: 0 for a cost that does not grow, 1 for one in proportion. It is taken of
processor time or of memory, which move less than waiting times do.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from typing import NamedTuple

from load_servers import BUILT, LOAD, PARLEY, ROOT
from load_servers import Server, machine, measure, write

PAGE = ROOT / "Benchmarks" / "growth.md"
STORE_BENCH = BUILT / "parley-store-bench"
PARLEY_TLS = f"{PARLEY} --tls-certificate {{certificate}} --tls-key {{key}}"
# For a note of ten megabytes.
PARLEY_LARGE = (
    f"{PARLEY} --message-size-max 32MiB --document-length-max 20000000 "
    "--queue-size-max 256MiB --responses-size-max 1GiB --store-queue-size-max 1GiB"
)


class Figure(NamedTuple):
    """A column: its name, how it is read from what was measured, and the law it should have at most."""

    title: str
    read: object
    # Decimal places.
    digits: int = 2
    # The exponent that it should not exceed; `None` where nothing is asked.
    law: float | None = None


class Row(NamedTuple):
    """What grows, and how it is measured at a size."""

    title: str
    size: str
    sizes: list
    run: object
    figures: list
    note: str


def cost(figures):
    return figures["server_microseconds_each"]


def loaded(words, command=PARLEY, seconds="2"):
    def run(size):
        with Server(command) as server:
            return measure(server, [*(word(size) if callable(word) else word for word in words),
                                    "--seconds", seconds])  # fmt: skip

    return run


def history(sizes):
    """One process that goes through all sizes: a history is as long as what was written before."""
    output = subprocess.run(
        ["taskset", "-c", "0,1", STORE_BENCH, "history", *map(str, sizes)],
        capture_output=True, text=True, timeout=600, check=False,
    ).stdout  # fmt: skip
    lines = [json.loads(line) for line in output.splitlines()]
    return {line["revisions"]: line for line in lines}


class Store:
    """A store that is filled step by step, backed up and checked at each.

    The law is that of the bytes in its files, and each command's best of a few runs counts: what the kernel does for
    a copy differs from run to run by up to a half.
    """

    runs = 3

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="parley-growth-")

    def run(self, megabytes):
        data = os.path.join(self.folder.name, "data")
        os.makedirs(data, exist_ok=True)
        path = os.path.join(data, "notes.parley")
        subprocess.run([STORE_BENCH, "fill", path, str(megabytes)], check=True)
        figures = {"megabytes": sum(
            os.path.getsize(os.path.join(data, name)) for name in os.listdir(data)
        ) / 2**20}  # fmt: skip
        backup = os.path.join(self.folder.name, "backup")
        for name, words in (("copy", ["backup", backup, "--no-verify"]), ("check", ["check"])):
            for _ in range(self.runs):
                if os.path.exists(backup):
                    os.remove(backup)
                began, before = time.monotonic(), children_seconds()
                result = subprocess.run(
                    [BUILT / "parley", *words, "--data-dir", data],
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                if result.returncode:
                    print(f"    failed: {name}: {result.stderr.strip()}", flush=True)
                    return None
                processor = children_seconds() - before
                if processor < figures.get(f"{name}_processor_seconds", math.inf):
                    figures[f"{name}_seconds"] = time.monotonic() - began
                    figures[f"{name}_processor_seconds"] = processor
                    figures[f"{name}_lines"] = len(result.stderr.splitlines())
        return figures


def children_seconds():
    times = os.times()
    return times.children_user + times.children_system


def rows(store_megabytes):
    megabytes = [store_megabytes >> shift for shift in (4, 3, 2, 1, 0)]
    store = Store()
    return {
        "documents": Row(
            # From as many on as rest between two changes: what rests for two seconds is put into the index of words,
            # and fewer documents would leave that out.
            "Documents that are open at once", "documents", [2_500, 4_000, 6_300, 10_000, 16_000],
            loaded(["typists", "--typists", str, "--notes", str,
                    # A thousand changes a second over all of them.
                    "--interval", str]),
            [
                Figure("to make and join one, µs", lambda it: it["opening_microseconds_each"], 0, 0.1),
                Figure("a change, µs", lambda it: it["server_cores"] / it["edits_per_second"] * 1e6,
                       0, 0.15),
                Figure("memory, MB", lambda it: it["server_bytes"] / 1e6, 1, 1.0),
                Figure("p95, ms", lambda it: it["acknowledgement_p95_ms"], 1),
            ],
            "One person types in each; a thousand changes a second in total, each synced. A document rests between two\n"
            "changes, so that each is followed by an entry in the index of words, which is about a third of the work. Below\n"
            "about 2,000 documents none rests at this rate, and a change costs less: 159 µs at 625 and 191 at 1,250, beside 260\n"
            "at 2,500 and 319 at 10,000, in an earlier run on an Intel Xeon. Over those sizes the law was 0.26, for the index\n"
            "joins in between; this table begins where all documents rest. It is also why making one costs more for many: 2,500\n"
            "are made in less than the two seconds after which the index takes them up; of 16,000, which take ten, it is a quarter\n"
            "of the work (perf, e9deda5). Loop and store alone took 514 µs for each of 2,500 and 567 of 16,000, a law of 0.05.",
        ),
        "rooms": Row(
            "Rooms of 20 subscribers", "rooms", [62, 125, 250, 500, 1_000],
            loaded(["rooms", "--rooms", str]),
            [
                Figure("a delivery, µs", cost, 2, 0.15),
                Figure("memory, MB", lambda it: it["server_bytes"] / 1e6, 1, 1.0),
                Figure("p99, ms", lambda it: it["delivery_p99_ms"], 1),
            ],
            "Each connection is in two rooms; 500 publications a second, in turn to all rooms.",
        ),
        "idle": Row(
            "Idle connections with TLS, subscribed", "connections", [1_200, 2_400, 4_750, 9_500, 19_000],
            loaded(["idle", "--path", "/ws", "--connections", lambda size: str(size - 100)],
                   PARLEY_TLS, "1"),
            [
                Figure("memory, MB",
                       lambda it: it["bytes_per_connection"] * it["connections"] / 1e6, 1, 1.0),
                Figure("to open one, µs", lambda it: it["opening_microseconds_each"], 0, 0.1),
                Figure("cores while idle", lambda it: it["server_cores"], 4),
            ],
            "All of them follow one room without publications.",
        ),
        "storm": Row(
            "A storm of joins", "people", [312, 625, 1_250, 2_500, 5_000],
            loaded(["storm", "--people", str, "--text", "10000"]),
            [
                Figure("a join, µs", cost, 0, 0.3),
                Figure("until all have joined, s", lambda it: it["all_joined_seconds"], 2),
                Figure("largest memory, MB", lambda it: it["server_largest_bytes"] / 1e6, 1, 1.0),
            ],
            "All clients connect and join one note of 10 kB; all receive presence.",
        ),
        "text": Row(
            "A long note with 50 people on it", "bytes of text",
            [625_000, 1_250_000, 2_500_000, 5_000_000, 10_000_000],
            loaded(["typists", "--typists", "50", "--interval", "1000", "--text", str, "--warm", "0.5"],
                   PARLEY_LARGE),
            [
                Figure("to join, µs", lambda it: it["opening_microseconds_each"], 0, 1.0),
                Figure("a change, µs", lambda it: it["server_cores"] / it["edits_per_second"] * 1e6,
                       0, 0.3),
                Figure("memory, MB", lambda it: it["server_bytes"] / 1e6, 1, 1.0),
                Figure("p95, ms", lambda it: it["everyone_p95_ms"], 1),
            ],
            "Each reads all of it and types a letter a second at a random place; 50 changes a second.",
        ),
        "typists": Row(
            "Typists on one note", "typists", [125, 250, 500, 1_000, 2_000],
            loaded(["typists", "--typists", str, "--interval", lambda size: str(5 * size),
                    "--patience", "10"]),
            [
                Figure("a change, µs", lambda it: it["server_cores"] / it["edits_per_second"] * 1e6,
                       0, 1.0),
                Figure("a delivery, µs", lambda it: it["server_cores"] / it["edits_per_second"] * 1e6
                       / it["typists"], 2, 0.0),
                Figure("memory, MB", lambda it: it["server_bytes"] / 1e6, 1, 1.0),
                Figure("p95, ms", lambda it: it["everyone_p95_ms"], 0),
            ],
            "Two hundred letters a second in total; each change goes to all clients. `make bench-load` measures how "
            "many people can type five letters a second each.",
        ),
        "history": Row(
            "A history of 300 authors at random places", "revisions",
            [62_500, 125_000, 250_000, 500_000, 1_000_000], history,
            [
                Figure("a change, µs", lambda it: it["change_microseconds"], 1, 0.15),
                Figure("newest text at most, ms", lambda it: it["newest_text_microseconds"] / 1e3, 1, 1.0),
                Figure("text of the middle, ms", lambda it: it["middle_text_microseconds"] / 1e3, 1, 1.0),
            ],
            "Processor time of the store for a change, without sockets; a text as long as its history. The newest "
            "text is read eight times on the way from one length to the next, and the slowest counts: it is folded "
            "from the last snapshot, and the next is due when the text has doubled. A change takes longer to fold "
            "the longer the text is, most likely because the caches hold less of it: each is at a random place.",
        ),
        "store": Row(
            "Backup and check of a store", "MB", megabytes, store.run,
            [
                Figure("copy, s", lambda it: it["copy_seconds"], 2),
                Figure("processor, s", lambda it: it["copy_processor_seconds"], 2, 1.0),
                Figure("check, s", lambda it: it["check_seconds"], 2),
                Figure("processor, s", lambda it: it["check_processor_seconds"], 2, 1.0),
                Figure("lines of progress", lambda it: it["copy_lines"] + it["check_lines"], 0),
            ],
            "Notes of a megabyte in a hundred changes. With `--store-megabytes 10240`, beside other work on the "
            "machine (2026-11-26): 10 GB were copied in 105 s and checked in 227 s, with 15 and 41 s of processor "
            "time and a line of progress about each second. A copy takes two calls of the kernel for each page, which are "
            "85 % of its processor time: 1.7 ms for each megabyte at 97 MB, 1.6 at 484 MB, 1.8 at 994 MB and 1.5 at 10 GB "
            "(best of four, 2026-11-29; a law of 0.91 from 49 MB on). Single runs differ by up to a half, and a new store "
            "is smaller than was asked for: measured once, over the sizes asked for, the law of the copy was 1.26 before.",
        ),
    }  # fmt: skip


def law(points):
    """The exponent that fits best; `None` for too few points."""
    points = [(math.log(size), math.log(value)) for size, value in points if value > 0]
    if len(points) < 3:
        return None
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    square = sum((point[0] - x) ** 2 for point in points)
    return sum((point[0] - x) * (point[1] - y) for point in points) / square


def table(row):
    if row.run is history:
        measured = history(row.sizes)
    else:
        measured = {size: row.run(size) for size in row.sizes}
    measured = {size: figures for size, figures in measured.items() if figures}
    lines = [
        f"## {row.title}", "", row.note, "",
        f"| {row.size} | " + " | ".join(figure.title for figure in row.figures) + " |",
        "| ---: |" + " ---: |" * len(row.figures),
    ]  # fmt: skip
    for size in row.sizes:
        if size not in measured:
            lines.append(f"| {size:,} | failed |" + " |" * (len(row.figures) - 1))
            continue
        values = [f"{figure.read(measured[size]):,.{figure.digits}f}" for figure in row.figures]
        lines.append(f"| {size:,} | " + " | ".join(values) + " |")
    laws, asked = [], []
    for figure in row.figures:
        # A store says its own size, which is not exactly what was asked for.
        exponent = law([(it.get("megabytes", size), figure.read(it)) for size, it in measured.items()])
        isWorse = figure.law is not None and exponent is not None and exponent > figure.law + 0.1
        laws.append("" if exponent is None else f"**{exponent:.2f}**" if isWorse else f"{exponent:.2f}")
        asked.append("" if figure.law is None else f"{figure.law:g}")
    lines.append("| law: size to the power of | " + " | ".join(laws) + " |")
    lines.append("| required, at most | " + " | ".join(asked) + " |")
    print("\n".join(["", *lines]), flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(rows(0))
    parser.add_argument("--only", default=",".join(names), help=f"some of {', '.join(names)}")
    parser.add_argument("--store-megabytes", type=int, default=1_024, metavar="MB")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    unknown = set(arguments.only.split(",")) - set(names)
    if unknown:
        parser.error(f"--only takes {', '.join(names)}; not {', '.join(unknown)}")
    if not LOAD.is_file() or not STORE_BENCH.is_file():
        parser.error("the programs are not built: make bench-growth builds them")
    os.environ.pop("PARLEY_PROGRAM", None)
    began = time.monotonic()
    chosen = rows(arguments.store_megabytes)
    tables = [table(chosen[name]) for name in arguments.only.split(",")]
    minutes = (time.monotonic() - began) / 60
    lines = [
        "# Growth",
        "",
        "Written by `make bench-growth`; do not edit. The server's work and memory as its "
        "load grows,",
        "with the law of each: the exponent *k* of size to the power of *k* that fits best. 0 is a constant "
        "cost, 1 a",
        "proportional one. A law in bold is worse than required by more than 0.1, which runs differ by. Server and load",
        "program have a core each.",
        "",
        *machine(),
        f"| the run took | {minutes:.1f} min |",
    ]
    for part in tables:
        lines += ["", *part]
    if arguments.write:
        write(PAGE, lines)


if __name__ == "__main__":
    main()
