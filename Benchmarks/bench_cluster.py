#!/usr/bin/env python3
"""Measures gateways on PostgreSQL, several of them and several loops, for Benchmarks/cluster.md.

    .venv/bin/python Benchmarks/bench_cluster.py                     everything, about ten minutes
    .venv/bin/python Benchmarks/bench_cluster.py --only acknowledge  some of it

    acknowledge   a hundred typists: SQLite, PostgreSQL, and PostgreSQL whose standby commits wait for
    nodes         what one and two gateways deliver, each held to a part of a core
    loops         what one and two loops of one gateway deliver, held alike
    elsewhere     how long after a change's acknowledgement readers at the other gateway receive it

Rounds are interleaved, so that what else the machine does falls on all alike; of each number the
median is shown. Data is on the disk that the current folder's temporary folder is on. Parts of cores
are held by control groups, which takes root.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "System"))

from nats_server import NatsServer  # noqa: E402 (the folder is known from here on)
from parley_server import ParleyServer  # noqa: E402
from postgres_server import PostgresServer  # noqa: E402

LOAD = pathlib.Path(os.environ.get("BUILT", ROOT / ".build" / "release")) / "parley-load"
FLAGS = (
    "--log-level", "warning", "--connection-message-rate", "0", "--connection-byte-rate", "0",
    "--user-connections-max", "0", "--user-connect-rate", "0",
)  # fmt: skip
PERIOD = 10_000


class Quota:
    """A part of a core that a process may use, in periods of ten milliseconds."""

    def __init__(self, cores):
        parents = [pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")]
        parent = next(path for path in parents if (path / "cgroup.procs").exists())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-", dir=parent))
        part = int(cores * PERIOD)
        if (self.folder / "cpu.max").exists():
            (self.folder / "cpu.max").write_text(f"{part} {PERIOD}")
        else:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(part))

    def hold(self, process):
        (self.folder / "cgroup.procs").write_text(str(process))

    def remove(self):
        self.folder.rmdir()


class Scene:
    """What a round needs, all of it ended when the round is over."""

    def __init__(self):
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.folder = pathlib.Path(
            self.stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-bench-"))
        )
        self.folder.chmod(0o755)
        return self

    def __exit__(self, *_):
        self.stack.close()

    def database(self, with_standby=False):
        """The address of an empty database on the disk."""
        server = PostgresServer(parent=self.folder).start()
        self.stack.callback(server.remove)
        if with_standby:
            standby = PostgresServer(parent=self.folder, follows=server).start()
            self.stack.callback(standby.remove)
            server.has_commits_wait(True)
            self.stack.callback(server.has_commits_wait, False)
        return server.new_database()

    def broker(self):
        server = NatsServer().start()
        self.stack.callback(server.stop)
        return server.address

    def gateway(self, name, *flags, cores=None):
        folder = self.folder / name
        folder.mkdir()
        server = ParleyServer(folder, *FLAGS, *flags)
        if cores:
            quota = Quota(cores)
            # Undone after the server has ended: a group with processes cannot be removed.
            self.stack.callback(quota.remove)
        server.start()
        self.stack.callback(server.stop)
        if cores:
            quota.hold(server.process.pid)
        return server


def load(servers, *words):
    ports = ",".join(str(server.port) for server in servers)
    pids = ",".join(str(server.process.pid) for server in servers)
    ended = subprocess.run(
        [LOAD, *map(str, words), "--port", ports, "--pid", pids],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise SystemExit(f"parley-load {words[0]} ended with {ended.returncode}: {ended.stderr}")
    return json.loads(ended.stdout)


def rounds(cases, count):
    """Runs each case in turn, again and again; the medians of each case's figures."""
    figures = {name: [] for name in cases}
    for _ in range(count):
        for name, case in cases.items():
            with Scene() as scene:
                figures[name].append(case(scene))
            print(f"  {name}: {json.dumps(figures[name][-1])}", file=sys.stderr, flush=True)
    return {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0] if key != "mode"}
        for name, runs in figures.items()
    }


def acknowledge(options):
    words = [
        "typists", "--typists", 100, "--notes", 10, "--interval", 200, "--size", 4_000,
        "--seconds", options.seconds,
    ]  # fmt: skip

    def sqlite(scene):
        return load([scene.gateway("one")], *words)

    def postgres(with_standby):
        def case(scene):
            address = scene.database(with_standby)
            return load([scene.gateway("one", "--store-url", address)], *words)

        return case

    found = rounds(
        {"SQLite": sqlite, "PostgreSQL": postgres(False), "… and a standby": postgres(True)},
        options.rounds,
    )
    base = found["SQLite"]["acknowledgement_p99_ms"]
    print("\n| a hundred typists on ten notes | acknowledged p50 / p99, ms | p99 to SQLite's |")
    print("| --- | --- | --- |")
    for name, figures in found.items():
        p50, p99 = figures["acknowledgement_p50_ms"], figures["acknowledgement_p99_ms"]
        print(f"| {name} | {p50:.1f} / {p99:.1f} | {p99 / base:.2f} |")


def print_deliveries(title, found):
    base = next(iter(found.values()))
    print(f"\n| {title} | deliveries a second | to the first | processor time each, µs | to the first |")
    print("| --- | --- | --- | --- | --- |")
    for name, figures in found.items():
        rate, cost = figures["deliveries_per_second"], figures["server_microseconds_each"]
        print(
            f"| {name} | {rate:,.0f} | {rate / base['deliveries_per_second']:.2f} "
            f"| {cost:.2f} | {cost / base['server_microseconds_each']:.2f} |"
        )


def note_words(options):
    return [
        "note", "--connections", options.readers, "--window", options.authors, "--seconds",
        options.seconds,
    ]  # fmt: skip


def nodes(options):
    def case(count):
        def run(scene):
            flags = ["--store-url", scene.database()]
            if options.broker == "nats":
                flags += ["--broker-url", scene.broker()]
            servers = [
                scene.gateway(f"node{number}", *flags, cores=options.cores)
                for number in range(count)
            ]
            return load(servers, *note_words(options))

        return run

    found = rounds({"one gateway": case(1), "two gateways": case(2)}, options.rounds)
    print_deliveries(f"each held to {options.cores} of a core", found)


def loops(options):
    def case(count):
        def run(scene):
            server = scene.gateway(
                "one", "--store-url", scene.database(), "--loops", str(count),
                cores=options.cores * count,
            )  # fmt: skip
            return load([server], *note_words(options))

        return run

    found = rounds({"one loop": case(1), "two loops": case(2)}, options.rounds)
    print_deliveries(f"held to {options.cores} of a core for each loop", found)


def elsewhere(options):
    def case(broker):
        def run(scene):
            flags = ["--store-url", scene.database()]
            if broker == "NATS":
                flags += ["--broker-url", scene.broker()]
            servers = [scene.gateway(f"node{number}", *flags) for number in range(2)]
            return load(
                servers, "note", "--connections", 100, "--window", 1, "--rate", 20, "--seconds",
                options.seconds,
            )  # fmt: skip

        return run

    found = rounds({"hints by PostgreSQL": case("PostgreSQL"), "hints by NATS": case("NATS")},
                   options.rounds)  # fmt: skip
    print("\n| 20 changes a second, 50 readers at each of two gateways | acknowledged p50 / p99, ms "
          "| readers at the other receive it after that, p50 / p99, ms |")  # fmt: skip
    print("| --- | --- | --- |")
    for name, figures in found.items():
        print(
            f"| {name} | {figures['acknowledgement_p50_ms']:.1f} / "
            f"{figures['acknowledgement_p99_ms']:.1f} | {figures['elsewhere_p50_ms']:.1f} / "
            f"{figures['elsewhere_p99_ms']:.1f} |"
        )


PARTS = {"acknowledge": acknowledge, "nodes": nodes, "loops": loops, "elsewhere": elsewhere}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--cores", type=float, default=0.4)
    parser.add_argument("--readers", type=int, default=2_000)
    parser.add_argument("--authors", type=int, default=1)
    parser.add_argument("--broker", choices=["postgres", "nats"], default="postgres")
    options = parser.parse_args()
    for name in options.only.split(","):
        if name not in PARTS:
            raise SystemExit(f"expected some of {', '.join(PARTS)}; got {name}")
        PARTS[name](options)


if __name__ == "__main__":
    main()
