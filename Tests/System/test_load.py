"""Tiny runs of the load program, so that every kind of run stays usable."""

import json
import pathlib
import subprocess
import sys

import pytest
from parley_server import ROOT, built

sys.path.insert(0, str(ROOT / "Benchmarks"))

import load_servers  # noqa: E402 (the folder is known from here on)

LOAD = pathlib.Path(built("parley-load", "PARLEY_LOAD"))

pytestmark = pytest.mark.skipif(not LOAD.is_file(), reason="parley-load is not built")


# The first is enough unless the machine is busy.
SECONDS = (0.3, 3, 30)


@pytest.mark.parametrize("dialect", ["native", "socketio", "recovery", "bayeux"])
def test_publications_reach_all_clients_of_a_dialect(server, dialect):
    words = ["room", "--dialect", dialect, "--connections", "5", "--warm", "0.1"]
    for seconds in SECONDS:
        result = subprocess.run(
            [LOAD, *words, "--seconds", str(seconds), "--port", str(server.port)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        report = json.loads(result.stdout)
        assert report["mode"] == "room" and report["subscribers"] == 5
        if report["deliveries_per_second"] > 0:
            return
    assert report["deliveries_per_second"] > 0


@pytest.mark.parametrize(
    ("words", "figure"),
    [
        (["room", "--names", "300", "--connections", "5"], "deliveries_per_second"),
        (["snapshots", "--names", "300", "--connections", "2"], "replies_per_second"),
        (["snapshots", "--text", "20000", "--connections", "2"], "replies_per_second"),
        (["signals", "--people", "3"], "deliveries_per_second"),
        (["signals", "--people", "3", "--sends", "presence"], "deliveries_per_second"),
    ],
    ids=["values", "subscribing", "joining", "signals", "presence"],
)
def test_values_and_signals_arrive(start, words, figure):
    server = start("--connection-message-rate", "0")
    for seconds in SECONDS:
        result = subprocess.run(
            [LOAD, *words, "--warm", "0.1", "--seconds", str(seconds), "--port", str(server.port)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        report = json.loads(result.stdout)
        if report[figure] > 0:
            break
    assert report[figure] > 0
    assert report.get("bytes_each", 20_000) >= 20_000


@pytest.mark.parametrize(
    "words",
    [
        ["rooms", "--rooms", "4", "--members", "3", "--rate", "50"],
        ["typists", "--typists", "2", "--text", "1000", "--interval", "100"],
    ],
    ids=lambda words: words[0],
)
def test_all_metrics_for_growth_exist(server, words):
    result = subprocess.run(
        [LOAD, *words, "--seconds", "0.5", "--port", str(server.port),
         "--pid", str(server.process.pid)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    report = json.loads(result.stdout)
    assert report["mode"] == words[0] and "server_bytes" in report


def test_the_null_server_and_its_client_speak_tls(tmp_path):
    certificate, key = load_servers.make_certificate(tmp_path)
    with load_servers.Server(f"{LOAD} null --port {{port}} --certificate {certificate} --key {key}") as null:
        result = subprocess.run(
            [LOAD, "echo", "--connections", "3", "--warm", "0.1", "--seconds", "0.3",
             "--trust", certificate, "--port", str(null.port)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(result.stdout)["mode"] == "echo"
