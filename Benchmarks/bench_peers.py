#!/usr/bin/env python3
"""Measures Parley beside other servers, in one run, for Benchmarks/peers.md.

    Benchmarks/bench_peers.py                   about four minutes; prints
    Benchmarks/bench_peers.py --write           the same; writes the table into Benchmarks/peers.md
    Benchmarks/bench_peers.py --only nats,yjs   some of them beside Parley and the null server

What is not there is fetched by its own registry's client into .build/peers, and nothing is installed:
Debian's packages are unpacked, Python's go into an environment. A peer that cannot be had is left out,
and the page says so. Other servers with /echo, /sub and /pub: `bench_load.py --peer`.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

from load_servers import LOAD, NULL, PARLEY, ROOT
from load_servers import Server, cost, machine, measure, median, rate, tail, write

PAGE = ROOT / "Benchmarks" / "peers.md"
SOURCES = ROOT / "Benchmarks" / "Peers"
FOLDER = ROOT / ".build" / "peers"
UNPACKED = FOLDER / "debian"
PYTHON = FOLDER / "python" / "bin" / "python"
PACKAGES = ["node-ws", "mosquitto", "libcjson1", "libmosquitto1", "libdlt2", "libwrap0"]
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


class Peer(NamedTuple):
    """A server, and the words of the load program for each question."""

    title: str
    command: str
    # Empty where a server does not do what the question asks.
    echo: list = []
    relay: list = []
    connect: list = []
    idle: list = []
    # What has to be there.
    needs: str = "parley-load"
    # The variables of its process.
    environment: dict = {}
    memory: bool = False


def plain(title, command, needs, environment=None):
    return Peer(
        title, command, ["echo"], ["fanout"], ["connect"], ["idle", "--path", "/sub"], needs,
        environment or {},
    )  # fmt: skip


def speaking(title, command, word, needs, environment=None):
    """A server with a protocol of its own within WebSocket."""
    return Peer(
        title, command, ["echo", "--speaks", word], ["fanout", "--speaks", word],
        ["connect", "--path", "/", *(["--subprotocol", "mqtt"] if word == "mqtt" else [])], [], needs,
        environment or {},
    )  # fmt: skip


def peers():
    python = str(PYTHON)
    libraries = ":".join(str(UNPACKED / path / "x86_64-linux-gnu") for path in ("usr/lib", "lib"))
    mosquitto = str(UNPACKED / "usr" / "sbin" / "mosquitto")
    return {
        "null": plain("null server", NULL, str(LOAD)),
        "parley": Peer(
            "Parley, a room, synced before delivery", PARLEY, ["echo"], ["room"],
            ["connect"], ["idle", "--path", "/ws"],
        ),
        "parley-memory": Peer(
            "Parley, a room, store in memory", PARLEY, [], ["room"], [], [], memory=True,
        ),
        "uws": plain(
            "uWebSockets (socketify 0.0.31)",
            f"{python} {SOURCES}/socketify_server.py {{port}}", python,
        ),
        "picows": plain(
            "picows 2.3.1 on uvloop", f"{python} {SOURCES}/picows_server.py {{port}}", python
        ),
        "websockets": plain(
            "websockets 17.4 on uvloop", f"{python} {SOURCES}/websockets_server.py {{port}}", python
        ),
        "node": plain(
            "node's ws 8.11", f"node {SOURCES}/node_ws.js {{port}}",
            str(UNPACKED / "usr" / "share" / "nodejs" / "ws"),
            {"NODE_PATH": str(UNPACKED / "usr" / "share" / "nodejs")},
        ),
        "nats": speaking(
            "nats-server 2.9 over WebSocket", "nats-server -c {folder}/nats.conf", "nats",
            "nats-server",
        ),
        "mosquitto": speaking(
            "Mosquitto 2.0 over WebSocket", f"{mosquitto} -c {{folder}}/mosquitto.conf", "mqtt",
            mosquitto, {"LD_LIBRARY_PATH": libraries},
        ),
        "parley-note": Peer(
            "Parley, a note, synced before delivery", PARLEY, [], ["note"], [], [],
        ),
        "parley-note-memory": Peer(
            "Parley, a note, store in memory", PARLEY, [], ["note"], [], [], memory=True,
        ),
        "parley-values": Peer(
            "Parley, values of a room, synced before delivery", PARLEY, [], ["room", "--names", "10"],
            [], [],
        ),
        "parley-values-memory": Peer(
            "Parley, values of a room, store in memory", PARLEY, [], ["room", "--names", "10"], [], [],
            memory=True,
        ),
        "yjs-map": Peer(
            "Yjs, a map (pycrdt-websocket 0.16.5 on uvloop), in memory",
            f"{python} {SOURCES}/yjs_server.py {{port}}", [], ["fanout", "--speaks", "yjs-map"], [], [],
            python,
        ),
        "yjs": Peer(
            "Yjs (pycrdt-websocket 0.16.5 on uvloop), in memory",
            f"{python} {SOURCES}/yjs_server.py {{port}}", [],
            ["fanout", "--speaks", "yjs"], ["connect", "--path", "/bench"],
            ["idle", "--path", "/bench"], python,
        ),
    }  # fmt: skip


# The configurations of servers that take them from files.
FILES = {
    "nats": (
        "nats.conf",
        'listen: "127.0.0.1:-1"\n'
        'websocket {{ listen: "127.0.0.1:{port}", no_tls: true, compression: false }}\n'
        "max_connections: 20000\n",
    ),
    "mosquitto": (
        "mosquitto.conf",
        # Without a listener of its own protocol, this version does not start.
        "user root\nlistener 0 mosquitto.sock\nlistener {port} 127.0.0.1\nprotocol websockets\n"
        "allow_anonymous true\n"
        "persistence false\nset_tcp_nodelay true\nlog_type error\nmax_queued_messages 0\n",
    ),
}


def fetch():
    """Has what is missing fetched; what cannot be is left out later."""
    if not UNPACKED.exists():
        packages = FOLDER / "packages"
        packages.mkdir(parents=True, exist_ok=True)
        for package in PACKAGES:
            subprocess.run(["apt-get", "download", "-q", package], cwd=packages, check=False,
                           capture_output=True)  # fmt: skip
        for package in packages.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, UNPACKED], check=False)
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "python"], check=False)
        subprocess.run(
            [PYTHON, "-m", "pip", "install", "-q", "-r", SOURCES / "requirements.txt"], check=False
        )


def start(name, peer):
    """The peer, listening; `None` if it does not start."""
    files = dict([FILES[name]]) if name in FILES else None
    try:
        return Server(peer.command, peer.memory, peer.environment, files)
    except RuntimeError as error:
        print(f"    {error}", flush=True)
        return None


# A question, what the load program is asked beside a peer's words, and what is shown.
QUESTIONS = {
    "echo": ("Echo, 64 B, 100 connections", "echo"),
    "relay": ("One to 1,000, 200 B, 4 in flight", "relay"),
    "connect": ("Connections opened and closed", "connect"),
    "idle": ("An idle connection, 4,000 of them", "idle"),
    "edits": ("Edits of a text to 1,000 readers, 4 in flight", "relay"),
    "map": ("Changes of one of ten entries of a map to 1,000 readers, 4 in flight", "relay"),
}
EDITS = ("null", "parley-note", "parley-note-memory", "yjs")
MAP = ("null", "parley-values", "parley-values-memory", "yjs-map")


def ask(question, asked, rounds, seconds):
    title, field = QUESTIONS[question]
    meant = {
        name: peer
        for name, peer in asked.items()
        if getattr(peer, field)
        and (question != "relay" or name == "null" or name not in (*EDITS, *MAP))
        and (question != "edits" or name in EDITS)
        and (question != "map" or name in MAP)
    }
    runs = {name: [] for name in meant}
    # Memory hardly moves between rounds.
    for number in range(1 if question == "idle" else rounds):
        for name in list(meant) if number % 2 == 0 else list(reversed(meant)):
            peer = meant[name]
            words = list(getattr(peer, field))
            words += ["--connections", "4000"] if question == "idle" else []
            server = start(name, peer)
            if not server:
                continue
            with server:
                runs[name].append(measure(server, [*words, "--seconds", str(seconds)]))
    lines = ["", f"### {title}", ""]
    if question == "idle":
        lines += ["| server | bytes each | opened in |", "| --- | ---: | ---: |"]
    else:
        lines += ["| server | rate | processor time each | p99 |", "| --- | ---: | ---: | ---: |"]
    results = {name: median(figures) for name, figures in runs.items()}
    order = sorted(
        (name for name in results if results[name]),
        key=lambda name: results[name].get("bytes_per_connection", -rate(results[name])),
    )
    for name in order:
        figures, peer = results[name], meant[name]
        if question == "idle":
            lines.append(
                f"| {peer.title} | {figures['bytes_per_connection']:,.0f} "
                f"| {figures['opened_in_seconds']:.2f} s |"
            )
            continue
        p99 = tail(figures)
        lines.append(
            f"| {peer.title} | {rate(figures):,.0f}/s | {cost(figures):.2f} µs "
            f"| {'' if p99 is None else f'{p99:.1f} ms'} |"
        )
    for name in meant:
        if not results[name]:
            lines.append(f"| {meant[name].title} | failed | | |")
    print("\n".join(lines), flush=True)
    return lines


def main():
    everybody = peers()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(everybody))
    parser.add_argument("--questions", default=",".join(QUESTIONS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    os.environ.pop("PARLEY_PROGRAM", None)
    fetch()
    wanted = {"null", "parley", *arguments.only.split(",")}
    asked, missing = {}, []
    for name, peer in everybody.items():
        if name not in wanted:
            continue
        if peer.needs == "parley-load" or shutil.which(peer.needs) or pathlib.Path(peer.needs).exists():
            asked[name] = peer
        else:
            missing.append(peer.title)
    lines = [*machine(), f"| run | {arguments.rounds} rounds in turn, {arguments.seconds:g} s each |"]
    if missing:
        lines.append(f"| not to be had here | {', '.join(missing)} |")
    for question in arguments.questions.split(","):
        lines += ask(question, asked, arguments.rounds, arguments.seconds)
    if arguments.write:
        text = PAGE.read_text()
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        write(PAGE, [before.rstrip("\n"), "", BEGIN, "", *lines, "", END + after.rstrip("\n")])


if __name__ == "__main__":
    main()
