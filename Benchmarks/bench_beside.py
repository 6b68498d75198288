#!/usr/bin/env python3
"""Compares the server's processor time for each message with another build's.

    Benchmarks/bench_beside.py ../before/.build/release           every row of Benchmarks/load.md
    Benchmarks/bench_beside.py FOLDER --only note-disk,bayeux     some of them

FOLDER holds the other build's `parley`; the load program is this build's for both. Rounds alternate,
so that what else the machine does falls on both alike. Of each row the median of the rounds' ratios is
shown, this build's to the other's, with the smallest and the largest.
"""

import argparse
import pathlib
import statistics

import bench_load
import load_servers

# A row: what the load program is asked for, and whether the store is in memory.
ROWS = {
    **{
        name: (row.parley, row.memory)
        for name, row in bench_load.COMPARED.items()
        if not row.tls and name != "room"
    },
    **{
        f"room-{dialect}": (["room", "--dialect", dialect], True)
        for dialect in bench_load.DIALECTS
    },
    "typists": (["typists", "--typists", "100"], False),
    "typists-notes": (["typists", "--typists", "400", "--notes", "400"], False),
}


def cost(figures):
    """Microseconds of the server for each message."""
    if "server_microseconds_each" in figures:
        return figures["server_microseconds_each"]
    return figures["server_cores"] / figures["edits_per_second"] * 1e6


def compare(name, other, rounds, seconds):
    words, memory = ROWS[name]
    here = load_servers.PARLEY
    programs = [here.replace(f"{load_servers.BUILT}/parley", f"{other}/parley"), here]
    pairs = []
    for number in range(rounds):
        pair = [None, None]
        for build in (0, 1) if number % 2 else (1, 0):
            with load_servers.Server(programs[build], memory) as server:
                figures = load_servers.measure(server, [*words, "--seconds", str(seconds)])
            pair[build] = figures and cost(figures)
        if all(pair):
            pairs.append(pair)
    if not pairs:
        print(f"| {name} | failed |", flush=True)
        return
    ratios = [after / before for before, after in pairs]
    before, after = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"| {name} | {before:.2f} µs | {after:.2f} µs | {statistics.median(ratios):.3f} "
        f"| {min(ratios):.2f} to {max(ratios):.2f} | {len(pairs)} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--only", default=",".join(ROWS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5)
    arguments = parser.parse_args()
    print("| row | before | now | ratio | from, to | rounds |\n| --- | --- | --- | --- | --- | --- |")
    for name in arguments.only.split(","):
        compare(name, arguments.other.resolve(), arguments.rounds, arguments.seconds)


if __name__ == "__main__":
    main()
