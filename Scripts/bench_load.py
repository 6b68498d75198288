#!/usr/bin/env python3
"""Measures Parley beside the null server, and prints the tables of Benchmarks/load.md.

    Scripts/bench_load.py                       everything, some minutes
    Scripts/bench_load.py --only echo,fanout    some of it
    Scripts/bench_load.py --peer uws='./uws {port}'   another server with /echo, /sub and /pub

Server and load are pinned to a core each, and rounds are interleaved, so that what else the machine
does falls on all alike. Of each number the median of the rounds is shown. Processor time for each
message moves less than rates do; where the two disagree, believe it.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

import idle_connections

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = pathlib.Path(os.environ.get("BUILT", ROOT / ".build" / "release"))
LOAD = BUILT / "parley-load"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server under test, on the first core, with a folder of its own."""

    def __init__(self, command, memory=False):
        self.port = free_port()
        parent = "/dev/shm" if memory else None
        self.folder = tempfile.mkdtemp(prefix="parley-load-", dir=parent)
        words = shlex.split(command.format(port=self.port, folder=self.folder))
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, cwd=self.folder,
        )  # fmt: skip
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{command} does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def measure(server, words):
    """One run of the load program, on the second core."""
    result = subprocess.run(
        ["taskset", "-c", "1", LOAD, *words, "--port", str(server.port),
         "--pid", str(server.process.pid)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if result.returncode:
        print(f"    failed: {result.stderr.strip()}", flush=True)
        return None
    return json.loads(result.stdout)


def median(runs):
    """The median of each number over runs."""
    runs = [run for run in runs if run]
    if not runs:
        return {}
    return {
        name: statistics.median(run[name] for run in runs)
        for name, value in runs[0].items()
        if isinstance(value, (int, float))
    }


PARLEY = (
    f"{BUILT}/parley serve --port {{port}} --data-dir {{folder}}/data --web-dir {ROOT}/Web "
    "--echo-path /echo --connections-max 20000 --log-level warning "
    "--connection-message-rate 0 --connection-byte-rate 0 "
    "--user-connections-max 0 --user-connect-rate 0"
)
NULL = f"{LOAD} null --port {{port}}"

# A workload: its name, how the null server is asked, how Parley is, and whether Parley's store is
# in memory, which tells what the disk costs.
COMPARED = {
    "echo": (
        "echo, 64 B, 100 connections",
        ["echo"], ["echo"], False,
    ),
    "echo8": (
        "echo, 64 B, 100 connections, 8 under way on each",
        ["echo", "--depth", "8"], ["echo", "--depth", "8"], False,
    ),
    "idle-echo": (
        "echo, 100 connections beside 8,000 idle ones",
        ["echo", "--idle", "8000"], ["echo", "--idle", "8000"], False,
    ),
    "note-memory": (
        "1 → 1,000, 4 under way: a note, its store in memory",
        ["fanout"], ["note"], True,
    ),
    "note-disk": (
        "1 → 1,000, 4 under way: a note, synced before it is told",
        ["fanout"], ["note"], False,
    ),
    "note-rate": (
        "1 → 1,000 at 40 changes a second: a note, synced",
        ["fanout", "--rate", "40"], ["note", "--rate", "40"], False,
    ),
    "connect": ("connections opened and closed", ["connect"], ["connect"], False),
}  # fmt: skip


def rate(figures):
    return next((value for name, value in figures.items() if name.endswith("_per_second")), 0)


def tail(figures):
    for name in ("echo_p99_ms", "delivery_p99_ms"):
        if name in figures:
            return figures[name]
    return None


def compare(name, rounds, seconds, peers):
    title, null_words, parley_words, memory = COMPARED[name]
    servers = {"null": (NULL, null_words, False), "Parley": (PARLEY, parley_words, memory)}
    for peer, command in peers.items():
        servers[peer] = (command, null_words, False)
    runs = {server: [] for server in servers}
    for _ in range(rounds):
        for server, (command, words, in_memory) in servers.items():
            with Server(command, in_memory) as running:
                runs[server].append(measure(running, [*words, "--seconds", str(seconds)]))
    results = {server: median(figures) for server, figures in runs.items()}
    base = results["null"]
    print(f"\n{title}")
    for server, figures in results.items():
        if not figures:
            continue
        line = f"| {server} | {rate(figures):,.0f}/s"
        line += f" | {rate(figures) / rate(base):.2f}"
        line += f" | {figures['server_microseconds_each']:.2f} µs"
        cost = figures["server_microseconds_each"] / max(base["server_microseconds_each"], 1e-9)
        line += f" | {cost:.2f}"
        if tail(figures) is not None:
            line += f" | {tail(figures):.2f} ms | {tail(figures) / max(tail(base), 1e-9):.2f}"
        print(line + f" | cores {figures['server_cores']:.2f} + {figures['load_cores']:.2f} |")
    return results


DIALECTS = {
    "native": "native, `parley.v1`",
    "socketio": "Socket.IO",
    "recovery": "Socket.IO, with connection state recovery",
    "bayeux": "Bayeux",
}


def rooms(rounds, seconds):
    print("\n1 → 1,000 in a room, 200 B, 4 under way, store in memory, by the subscribers' dialect")
    runs = {dialect: [] for dialect in DIALECTS}
    for _ in range(rounds):
        for dialect in DIALECTS:
            with Server(PARLEY, memory=True) as server:
                words = ["room", "--dialect", dialect, "--seconds", str(seconds)]
                runs[dialect].append(measure(server, words))
    native = median(runs["native"])
    for dialect, title in DIALECTS.items():
        figures = median(runs[dialect])
        if figures:
            cost = figures["server_microseconds_each"]
            print(
                f"| {title} | {rate(figures):,.0f}/s | {rate(figures) / rate(native):.2f} "
                f"| {cost:.2f} µs | {cost / native['server_microseconds_each']:.2f} "
                f"| {tail(figures):.2f} ms "
                f"| cores {figures['server_cores']:.2f} + {figures['load_cores']:.2f} |",
                flush=True,
            )


def idle(rounds):
    print("\nmemory of an idle connection, bytes")
    for title, command, words in (
        ("null", NULL, ["--path", "/echo"]),
        ("Parley, WebSocket alone", PARLEY, ["--path", "/echo"]),
        ("Parley, said hello and subscribed", PARLEY, ["--path", "/ws"]),
    ):
        runs = []
        for _ in range(rounds):
            with Server(command) as server:
                runs.append(measure(server, ["idle", "--connections", "8000", *words]))
        figures = median(runs)
        if figures:
            print(
                f"| {title} | {figures['bytes_per_connection']:,.0f} | opened in "
                f"{figures['opened_in_seconds']:.2f} s | cores {figures['server_cores']:.3f} |"
            )
    for title, tls in (("plain", False), ("TLS", True)):
        runs = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                flags, token = idle_connections.secrets(BUILT / "parley", folder)
                if tls:
                    flags += " " + idle_connections.certificate(folder)
                with Server(f"{PARLEY} {flags}") as server:
                    runs.append(
                        idle_connections.bytes_each(
                            server.process.pid, server.port, token, tls, 4_000
                        )
                    )
        print(f"| Parley, authenticated and subscribed, {title} | {statistics.median(runs):,.0f} |")


def typists(seconds):
    print("\ntypists on one note, 5 edits a second each; edit to everyone, and to its author")
    for memory in (False, True):
        print("store in memory" if memory else "synced to disk")
        late = 0
        for count in (10, 50, 100, 200, 300, 400, 500, 600, 700, 800, 1000, 1200):
            with Server(PARLEY, memory) as server:
                figures = measure(
                    server, ["typists", "--typists", str(count), "--seconds", str(seconds)]
                )
            if not figures:
                break
            show_typists(count, 1, figures)
            # One that is late may have met somebody else's sync; two have not.
            late = late + 1 if figures["everyone_p95_ms"] > 100 else 0
            if late == 2:
                break
    print("\nacknowledgement with sync: typists on notes of their own")
    for count in (1, 10, 100, 400):
        with Server(PARLEY) as server:
            figures = measure(
                server,
                ["typists", "--typists", str(count), "--notes", str(count),
                 "--seconds", str(seconds)],
            )  # fmt: skip
        if figures:
            show_typists(count, count, figures)


def show_typists(count, notes, figures):
    everyone = [figures[f"everyone_{part}_ms"] for part in ("p50", "p95", "p99")]
    known = [figures[f"acknowledgement_{part}_ms"] for part in ("p50", "p95", "p99")]
    print(
        f"| {count} | {notes} | {figures['edits_per_second']:.0f}/s | "
        + " | ".join(f"{value:.1f}" for value in everyone + known)
        + f" | cores {figures['server_cores']:.2f} + {figures['load_cores']:.2f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join([*COMPARED, "rooms", "idle", "typists"]))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in arguments.peer)
    os.environ.pop("PARLEY_PROGRAM", None)
    for name in arguments.only.split(","):
        if name == "idle":
            idle(arguments.rounds)
        elif name == "rooms":
            rooms(arguments.rounds, arguments.seconds)
        elif name == "typists":
            typists(arguments.seconds)
        else:
            compare(name, arguments.rounds, arguments.seconds, peers)


if __name__ == "__main__":
    main()
