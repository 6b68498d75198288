"""Every workload of `ot-bench` once, tiny, and the floor beside it, so that none rots."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from parley_server import ROOT, built

BENCH = pathlib.Path(built("ot-bench", "OT_BENCH"))

pytestmark = pytest.mark.skipif(not BENCH.is_file(), reason="ot-bench is not built")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    traces = tmp_path_factory.mktemp("traces")
    trace = {
        "startContent": "a\n",
        "endContent": "ä😀\n",
        "txns": [{"patches": [[1, 0, "😀"]]}, {"patches": [[0, 1, "ä"]]}],
    }
    (traces / "small.json").write_text(json.dumps(trace), encoding="utf-8")
    # Both write at the beginning without having seen the other; the later one goes first.
    concurrent = {
        "numAgents": 2,
        "endContent": "cba",
        "txns": [
            {"agent": 0, "parents": [], "patches": [[0, 0, "a"]]},
            {"agent": 1, "parents": [], "patches": [[0, 0, "b"]]},
            {"agent": 0, "parents": [0, 1], "patches": [[0, 0, "c"]]},
        ],
    }
    (traces / "concurrent").mkdir()
    (traces / "concurrent" / "two.json").write_text(json.dumps(concurrent), encoding="utf-8")
    folder = tmp_path_factory.mktemp("data")
    command = [BENCH, "generate", folder, "--scale", "0.003", "--traces", traces]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def test_every_workload_has_the_results_in_its_file(data):
    result = subprocess.run(
        [BENCH, "all", data, "0.001", "--json"], check=True, stdout=subprocess.PIPE, text=True
    )
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert {line["workload"].split(":")[0] for line in lines} == {
        "pairs", "apply1", "apply", "compose", "decode", "encode", "rebase", "session", "cursors",
        "rich",
    }
    assert {"apply:small", "session:two", "decode:operation-100k", "encode:pairs-large"} <= {line["workload"] for line in lines}
    assert [line["workload"] for line in lines if not line["ok"]] == []


def test_the_same_seed_gives_the_same_bytes(data, tmp_path):
    command = [BENCH, "generate", tmp_path, "--scale", "0.003"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (data / path.name).read_bytes(), path.name


def test_the_floor_has_the_results_in_the_files(data, tmp_path):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    place = ROOT / "Benchmarks" / "bench_core.py"
    spec = importlib.util.spec_from_file_location("bench_core", place)
    bench_core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench_core)
    floor = tmp_path / "floor"
    source = ROOT / "Benchmarks" / "Core" / "floor.c"
    subprocess.run([compiler, "-O2", "-o", floor, source], check=True)
    checked = []
    for workload, has_floor in bench_core.workloads(data):
        if not has_floor:
            continue
        output = tmp_path / "output"
        output.write_bytes(b"")
        command = [floor, workload, data, "0.001", output]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        is_right = bench_core.is_right(workload, data, output)
        assert is_right is not False, workload
        if is_right:
            checked.append(workload.split(":")[0])
    assert set(checked) == {
        "pairs", "apply", "compose", "decode", "encode", "rebase", "session", "cursors",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "line", "agrees"),
    [
        ("transform", {"op": [1, "x"], "otherOp": [1, "y"], "side": "left", "result": [1, "x", 1]}, True),
        ("transform", {"op": [1, "x"], "otherOp": [1, "y"], "side": "right", "result": [2, "x"]}, True),
        ("transform", {"op": [1, "x"], "otherOp": [{"d": 1}], "side": "left", "result": [1, "x"]}, False),
        ("compose", {"op1": ["a", 2], "op2": [1, -1], "result": ["a", {"d": 1}]}, True),
        ("apply", {"str": "é😀", "op": [1, "e\u0301", -1], "result": "ée\u0301"}, True),
        ("apply", {"str": "e\u0301", "op": ["x"], "result": "xé"}, False),
    ],
)
def test_vectors_are_verified(tmp_path, kind, line, agrees):
    file = tmp_path / "vectors.jsonl"
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    command = [BENCH, "verify", kind, file]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    assert result.stdout.startswith(f"{int(agrees)} of 1 agree")
    assert (result.returncode == 0) == agrees


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("transform", "tie-break"),
        ("transform", "transform"),
        ("compose", "order"),
        ("compose", "compose"),
        ("apply", "apply"),
    ],
)
def test_our_own_vectors_are_verified(kind, name):
    file = ROOT / "Tests" / "OTCoreTests" / "Vectors" / f"{name}.jsonl"
    count = file.read_bytes().count(b"\n")
    result = subprocess.run([BENCH, "verify", kind, file], stdout=subprocess.PIPE, text=True)
    assert result.stdout == f"{count} of {count} agree\n"
    assert result.returncode == 0


def test_the_vectors_equal_freshly_generated_ones():
    subprocess.run([sys.executable, ROOT / "Scripts" / "make_vectors.py", "--check"], check=True)
