#!/usr/bin/env python3
"""Measures Parley beside the null server, and says which targets are reached.

    Benchmarks/bench_load.py                        everything, about six minutes; prints
    Benchmarks/bench_load.py --write                the same; writes Benchmarks/load-results.md
    Benchmarks/bench_load.py --only echo,room       some of it
    Benchmarks/bench_load.py --peer uws='./uws {port}'   another server with /echo, /sub and /pub

Server and load are pinned to a core each, and rounds are interleaved, so that what else the machine
does falls on all alike. Of each number the median of the rounds is shown; a ratio is the median of the
rounds' ratios. Processor time for each message moves less than rates do; where the two disagree,
believe it.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from typing import NamedTuple

from load_servers import LOAD, NULL, PARLEY, ROOT, BUILT
from load_servers import Server, cost, machine, measure, median, rate, tail, write

RESULTS = ROOT / "Benchmarks" / "load-results.md"
# With TLS, each server by its own words.
PARLEY_TLS = f"{PARLEY} --tls-certificate {{certificate}} --tls-key {{key}}"
NULL_TLS = f"{NULL} --certificate {{certificate}} --key {{key}}"


class Workload(NamedTuple):
    """A row: how the null server is asked, and how Parley is."""

    title: str
    null: list
    parley: list
    # Whether Parley's store is in memory, which tells what the disk costs.
    memory: bool = False
    tls: bool = False


# Some workloads by their names on the command line.
COMPARED = {
    "echo": Workload("echo, 64 B, 100 connections", ["echo"], ["echo"]),
    "echo8": Workload(
        "the same, 8 in flight on each", ["echo", "--depth", "8"], ["echo", "--depth", "8"]
    ),
    "idle-echo": Workload(
        "echo beside 8,000 idle connections",
        ["echo", "--idle", "8000"], ["echo", "--idle", "8000"],
    ),
    "room": Workload(
        "a room, 1 → 1,000, 200 B, 4 in flight, store in memory",
        ["fanout"], ["room"], memory=True,
    ),
    "note-memory": Workload(
        "a note, 1 → 1,000, 4 in flight, store in memory", ["fanout"], ["note"], memory=True
    ),
    "note-disk": Workload("the same, synced before delivery", ["fanout"], ["note"]),
    "note-rate": Workload(
        "a note, 1 → 1,000 at 40 changes a second, synced",
        ["fanout", "--rate", "40"], ["note", "--rate", "40"],
    ),
    "connect": Workload("connections opened and closed", ["connect"], ["connect"]),
    "echo-tls": Workload("echo, 64 B, 100 connections, TLS", ["echo"], ["echo"], tls=True),
    "connect-tls": Workload(
        "connections opened and closed, TLS", ["connect"], ["connect"], tls=True
    ),
}  # fmt: skip


class Target(NamedTuple):
    """A figure of Parley's to the null server's, what it must be, and what it should."""

    title: str
    workload: str
    figure: str
    must: float
    goal: float
    # Whether more is better.
    isRate: bool = True


TARGETS = [
    Target("echo, 64 B: rate", "echo", "rate", 0.95, 1.0),
    Target("echo, 8 in flight: rate", "echo8", "rate", 0.95, 1.0),
    Target("room 1 → 1,000, 200 B: rate", "room", "rate", 1.0, 1.2),
    Target("note 1 → 1,000, synced: rate", "note-disk", "rate", 1.2, 1.5),
    Target("note, 40 changes a second: processor time", "note-rate", "cost", 1.4, 1.1, False),
    Target("note, 40 changes a second: p99", "note-rate", "tail", 1.3, 1.1, False),
    Target("connections: rate", "connect", "rate", 0.9, 1.0),
    Target("connections: processor time", "connect", "cost", 1.5, 1.2, False),
]
FIGURES = {"rate": rate, "cost": cost, "tail": tail}
IDLE_TARGETS = {"plain": (3.0, 2.0), "TLS": (17.0, 15.0)}
TYPISTS_TARGET = (2_000, 3_000)
# A letter is late after so many milliseconds.
LATE = 100


def reached(value, must, goal, isRate):
    """The word of the last column, as in Benchmarks/Core/results.md."""
    sign = 1 if isRate else -1
    if sign * value >= sign * goal:
        return "goal"
    return "must" if sign * value >= sign * must else "**short**"


class Results:
    """What was measured, as lines of the page."""

    def __init__(self):
        self.targets = []
        self.sections = []

    def show(self, line=""):
        print(line, flush=True)
        self.sections.append(line)

    def target(self, title, base, value, unit, ratio, must, goal, isRate=True):
        word = reached(ratio, must, goal, isRate)
        sign = "≥" if isRate else "≤"
        self.targets.append(
            f"| {title} | {base} | {value} | {unit} | {ratio:,.2f} | {sign} {must:,g} "
            f"| {sign} {goal:,g} | {word} |"
        )

    def target_table(self):
        return [
            "| what | null server, or as named | Parley | | ratio, or figure | must | goal | reached |",
            "| --- | ---: | ---: | --- | ---: | ---: | ---: | --- |",
            *self.targets,
        ]


def compare(name, rounds, seconds, peers, results):
    workload = COMPARED[name]
    servers = {
        "null server": (NULL_TLS if workload.tls else NULL, workload.null, False),
        "Parley": (PARLEY_TLS if workload.tls else PARLEY, workload.parley, workload.memory),
    }
    for peer, command in peers.items():
        servers[peer] = (command, workload.null, False)
    runs = {server: [] for server in servers}
    for number in range(rounds):
        # Each goes first in every other round.
        order = list(servers) if number % 2 == 0 else list(reversed(servers))
        for server in order:
            command, words, in_memory = servers[server]
            with Server(command, in_memory) as running:
                runs[server].append(measure(running, [*words, "--seconds", str(seconds)]))
    for server, figures in runs.items():
        figures = median(figures)
        if not figures:
            continue
        ratios = {
            figure: ratio(runs["null server"], runs[server], read)
            for figure, read in FIGURES.items()
        }
        line = f"| {workload.title} | {server} | {rate(figures):,.0f}/s | {ratios['rate']:.2f} "
        line += f"| {cost(figures):.2f} µs | {ratios['cost']:.2f} "
        p99 = tail(figures)
        line += f"| {p99:.2f} ms | {ratios['tail']:.2f} " if p99 is not None else "| | "
        line += f"| {figures['server_cores']:.2f} + {figures['load_cores']:.2f} |"
        results.show(line)
    base, value = median(runs["null server"]), median(runs["Parley"])
    for target in TARGETS:
        if target.workload == name and base and value:
            read = FIGURES[target.figure]
            unit = {"rate": "/s", "cost": "µs each", "tail": "ms"}[target.figure]
            digits = ",.0f" if target.figure == "rate" else ".2f"
            results.target(
                target.title, format(read(base), digits), format(read(value), digits), unit,
                ratio(runs["null server"], runs["Parley"], read),
                target.must, target.goal, target.isRate,
            )  # fmt: skip


def ratio(bases, others, read):
    """The median of the rounds' ratios of a figure; 0 where it is in no round."""
    ratios = [
        read(other) / read(base)
        for base, other in zip(bases, others, strict=True)
        if base and other and read(base) and read(other)
    ]
    return statistics.median(ratios) if ratios else 0


DIALECTS = {
    "native": "native, `parley.v1`",
    "socketio": "Socket.IO",
    "recovery": "Socket.IO, with connection state recovery",
    "bayeux": "Bayeux",
}


def rooms(rounds, seconds, results):
    runs = {dialect: [] for dialect in DIALECTS}
    for _ in range(rounds):
        for dialect in DIALECTS:
            with Server(PARLEY, memory=True) as server:
                words = ["room", "--dialect", dialect, "--seconds", str(seconds)]
                runs[dialect].append(measure(server, words))
    results.show("\n## A room, in each dialect\n")
    results.show("1 → 1,000, 200 B, 4 in flight, store in memory; ratios to native subscribers.\n")
    results.show("| subscribers | deliveries | ratio | processor time each | ratio | p99 |")
    results.show("| --- | ---: | ---: | ---: | ---: | ---: |")
    for dialect, title in DIALECTS.items():
        figures = median(runs[dialect])
        if figures:
            results.show(
                f"| {title} | {rate(figures):,.0f}/s "
                f"| {ratio(runs['native'], runs[dialect], rate):.2f} "
                f"| {cost(figures):.2f} µs | {ratio(runs['native'], runs[dialect], cost):.2f} "
                f"| {tail(figures):.2f} ms |"
            )


class Pair(NamedTuple):
    """What something of rooms costs beside something else, both of Parley."""

    base: str
    base_words: list
    title: str
    words: list
    # The figure that must reach something, and what: of the rate at least, of the processor time at most.
    figure: str
    must: float
    goal: float


# The snapshot comes before the join, whose text is as long.
PAIRS = {
    "value-room": Pair(
        "publications, 1 → 1,000, 200 B", ["room"],
        "changes of one of ten values", ["room", "--names", "10"], "rate", 0.95, 1.0,
    ),
    "value-names": Pair(
        "changes of one of ten values, 1 → 1", ["room", "--connections", "1", "--names", "10"],
        "of one of 10,000", ["room", "--connections", "1", "--names", "10000"], "cost", 1.2, 1.0,
    ),
    "value-join": Pair(
        "joining a note, as many bytes", ["snapshots", "--text", "{bytes_each}"],
        "subscribing to 1,000 values", ["snapshots", "--names", "1000"], "cost", 2.0, 1.0,
    ),
    "signals": Pair(
        "presence with data, 20 people at 30 a second", ["signals", "--sends", "presence"],
        "signals, the same", ["signals"], "cost", 1.1, 1.0,
    ),
}  # fmt: skip


def batches(server):
    """How many batches the store has processed; each is one transaction, with one sync if it writes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as page:
        return int(re.search(r"^parley_store_batches_total (\d+)", page.read().decode(), re.M).group(1))


def pairs(asked, rounds, seconds, results):
    results.show("\n## Values and signals\n")
    results.show("Store in memory. Each row beside the one above it; batches of the store in a whole run.\n")
    results.show("| | rate | ratio | processor time each | ratio | from, to | batches |")
    results.show("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in asked:
        pair = PAIRS[name]
        runs = {pair.title: [], pair.base: []}
        most = dict.fromkeys(runs, 0)
        length = {"bytes_each": 0}
        for number in range(rounds):
            # Each goes first in every other round; the first one tells the length for the other.
            for title in list(runs) if number % 2 == 0 else list(reversed(runs)):
                words = pair.words if title == pair.title else pair.base_words
                with Server(PARLEY, memory=True) as server:
                    measured = measure(
                        server, [*(word.format(**length) for word in words), "--seconds", str(seconds)]
                    )
                    most[title] = max(most[title], batches(server))
                if measured and title == pair.title and "bytes_each" in measured:
                    length["bytes_each"] = measured["bytes_each"]
                runs[title].append(measured)
        for title in reversed(runs):
            figures = median(runs[title])
            if not figures:
                continue
            costs = [
                cost(other) / cost(base)
                for base, other in zip(runs[pair.base], runs[title], strict=True) if base and other
            ]  # fmt: skip
            results.show(
                f"| {title} | {rate(figures):,.0f}/s | {ratio(runs[pair.base], runs[title], rate):.2f} "
                f"| {cost(figures):.2f} µs | {ratio(runs[pair.base], runs[title], cost):.2f} "
                f"| {min(costs):.2f} to {max(costs):.2f} | {most[title]:,} |"
            )
        base, value = median(runs[pair.base]), median(runs[pair.title])
        if base and value:
            read = FIGURES[pair.figure]
            is_rate = pair.figure == "rate"
            digits = ",.0f" if is_rate else ".2f"
            results.target(
                f"{pair.title}: {'rate' if is_rate else 'processor time'} beside {pair.base}",
                format(read(base), digits), format(read(value), digits), "/s" if is_rate else "µs each",
                ratio(runs[pair.base], runs[pair.title], read), pair.must, pair.goal, is_rate,
            )  # fmt: skip


def secrets(folder):
    """A secret to sign with, and a token that may follow every room; returns flags and token."""
    secret = os.path.join(folder, "secret")
    with open(secret, "w") as file:
        file.write("for the measurement of idle connections alone")
    token = subprocess.run(
        [BUILT / "parley", "token", "make", "--user", "idle", "--room", "*=read", "--secret", secret],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    return f"--hmac-secret-file {secret}", token


def idle(rounds, results):
    """What a connection adds to the server's memory that is open and does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        flags, token = secrets(folder)
        rows = (
            ("null server", NULL, ["--path", "/echo"], None),
            ("null server, TLS", NULL_TLS, ["--path", "/echo"], None),
            ("Parley, WebSocket alone", PARLEY, ["--path", "/echo"], None),
            ("Parley, after `hello`, subscribed", PARLEY, ["--path", "/ws"], "plain"),
            ("the same, TLS", PARLEY_TLS, ["--path", "/ws"], "TLS"),
            ("the same, with a token", f"{PARLEY} {flags}", ["--path", "/ws", "--token", token], None),
            ("the same, with a token, TLS", f"{PARLEY_TLS} {flags}",
             ["--path", "/ws", "--token", token], None),
        )  # fmt: skip
        results.show("\n## An idle connection\n")
        results.show("8,000 of them, over what 100 take: growth of the process.\n")
        results.show("| | bytes each | opened in | cores while idle |")
        results.show("| --- | ---: | ---: | ---: |")
        for title, command, words, target in rows:
            runs = []
            for _ in range(rounds):
                with Server(command) as server:
                    runs.append(measure(server, ["idle", "--connections", "8000", *words]))
            figures = median(runs)
            if not figures:
                continue
            each = figures["bytes_per_connection"]
            results.show(
                f"| {title} | {each:,.0f} | {figures['opened_in_seconds']:.2f} s "
                f"| {figures['server_cores']:.3f} |"
            )
            if target:
                results.target(
                    f"idle connection, subscribed, {target}", "", f"{each:,.0f}", "bytes",
                    each / 1000, *IDLE_TARGETS[target], isRate=False,
                )  # fmt: skip


def typists(seconds, results, counts):
    """Typists on one note, until a letter is late twice running."""
    results.show("\n## Typists on one note\n")
    results.show("Five edits a second each, synced: from a keystroke until all clients have it, and")
    results.show("from sending a change until its acknowledgement. In ms.\n")
    results.show("| typists | edits | everyone p50 | p95 | p99 | author p50 | p95 | p99 | cores |")
    results.show("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    late = 0
    best, best_p95 = 0, 0
    for count in counts:
        with Server(PARLEY) as server:
            figures = measure(
                server, ["typists", "--typists", str(count), "--seconds", str(seconds)]
            )
        if not figures:
            break
        show_typists(count, figures, results)
        if figures["everyone_p95_ms"] <= LATE:
            best, best_p95, late = count, figures["everyone_p95_ms"], 0
        else:
            # A single late one may have met another client's sync; two have not.
            late += 1
        if late == 2:
            break
    results.target(
        f"typists on one note, p95 below {LATE} ms, synced", "", f"{best_p95:.0f} ms", "p95",
        best, *TYPISTS_TARGET,
    )  # fmt: skip


def own_notes(seconds, results):
    results.show("\n## Typists on notes of their own\n")
    results.show("Synced: from sending a change until its acknowledgement. In ms.\n")
    results.show("| typists | edits | everyone p50 | p95 | p99 | author p50 | p95 | p99 | cores |")
    results.show("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for count in (1, 10, 100, 400):
        with Server(PARLEY) as server:
            figures = measure(
                server,
                ["typists", "--typists", str(count), "--notes", str(count),
                 "--seconds", str(seconds)],
            )  # fmt: skip
        if figures:
            show_typists(count, figures, results)


def show_typists(count, figures, results):
    everyone = [figures[f"everyone_{part}_ms"] for part in ("p50", "p95", "p99")]
    known = [figures[f"acknowledgement_{part}_ms"] for part in ("p50", "p95", "p99")]
    results.show(
        f"| {count:,} | {figures['edits_per_second']:,.0f}/s | "
        + " | ".join(f"{value:,.1f}" for value in everyone + known)
        + f" | {figures['server_cores']:.2f} + {figures['load_cores']:.2f} |"
    )


def page(results, arguments):
    return [
        "# Results",
        "",
        "Written by `make bench-load`; do not edit. [load.md](load.md) says how to read this.",
        "",
        *machine(),
        f"| run | {arguments.rounds} rounds in turn, {arguments.seconds:g} s each; dialects "
        f"{min(arguments.rounds, 3)}; idle connections, and typists for {max(3, arguments.seconds):g} s, one |",
        "",
        "## Targets",
        "",
        *results.target_table(),
        "",
        "Connections are in kB each, typists in people.",
        *results.sections,
    ]


def main():
    parts = [*COMPARED, "rooms", *PAIRS, "idle", "typists", "own-notes"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(parts), help=f"some of {', '.join(parts)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--typists", default="500,1000,1500,2000,2500,3000")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    asked = arguments.only.split(",")
    unknown = set(asked) - set(parts)
    if unknown:
        parser.error(f"--only takes {', '.join(parts)}; not {', '.join(unknown)}")
    if not LOAD.is_file():
        parser.error(f"{LOAD} is not built: make bench-load builds it")
    peers = dict(peer.split("=", 1) for peer in arguments.peer)
    os.environ.pop("PARLEY_PROGRAM", None)
    results = Results()
    compared = [name for name in asked if name in COMPARED]
    if compared:
        results.show("\n## Beside the null server\n")
        results.show("| | server | rate | ratio | each | ratio | p99 | ratio | cores |")
        results.show("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name in compared:
            compare(name, arguments.rounds, arguments.seconds, peers, results)
    # Memory and percentiles of long runs hardly move between rounds.
    few = min(arguments.rounds, 3)
    if "rooms" in asked:
        rooms(few, arguments.seconds, results)
    if any(name in asked for name in PAIRS):
        pairs([name for name in asked if name in PAIRS], arguments.rounds, arguments.seconds, results)
    if "idle" in asked:
        idle(1, results)
    if "typists" in asked:
        counts = [int(count) for count in arguments.typists.split(",")]
        typists(max(3, arguments.seconds), results, counts)
    if "own-notes" in asked:
        own_notes(max(3, arguments.seconds), results)
    print("\n" + "\n".join(results.target_table()))
    if arguments.write:
        write(RESULTS, page(results, arguments))
    short = [line for line in results.targets if "**short**" in line]
    if short:
        print(f"{len(short)} of {len(results.targets)} rows are short of their must", file=sys.stderr)


if __name__ == "__main__":
    main()
