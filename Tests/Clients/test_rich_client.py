"""A client that was written from Documentation/Protocol.md alone: its rules give the recorded results, and it writes in a
note with the program and with clients of text, while the server is killed."""

import gzip
import json
import os
import pathlib
import random

import native_client
import pytest
from operations import splice
from parley_server import ROOT
from rich_client import (
    RichClient,
    apply,
    compose,
    invert,
    random_change,
    read_change,
    read_text,
    transform,
    write_change,
)

VECTORS = ROOT / "Tests" / "OTCoreTests" / "Vectors"
# A file of results of quill-delta, one case a line: `doc`, `committed`, `incoming`, and what ShareDB makes of them.
RECORDED = os.environ.get("RICH_TEXT_VECTORS", "")
BOLD, RED, BLUE = {"bold": True}, {"color": "red"}, {"color": "blue"}
# Cases of the same form, worked out by hand.
DELTAS = [
    {
        "doc": [{"insert": "The fox"}],
        "committed": [{"retain": 5, "attributes": RED}],
        "incoming": [{"retain": 2}, {"retain": 5, "attributes": BLUE | BOLD}],
        "result": [{"retain": 2}, {"retain": 3, "attributes": BOLD}, {"retain": 2, "attributes": BLUE | BOLD}],
        "composed": [
            {"insert": "Th", "attributes": RED}, {"insert": "e f", "attributes": RED | BOLD},
            {"insert": "ox", "attributes": BLUE | BOLD},
        ],
        "inverse": [{"retain": 2}, {"retain": 5, "attributes": {"color": None, "bold": None}}],
    },
    {
        "doc": [{"insert": "a👍b", "attributes": BOLD}],
        "committed": [{"retain": 1}, {"insert": "X"}, {"delete": 2}],
        "incoming": [{"retain": 1}, {"insert": "y", "attributes": RED}, {"retain": 2, "attributes": {"bold": None}}],
        "result": [{"retain": 2}, {"insert": "y", "attributes": RED}],
        "composed": [
            {"insert": "a", "attributes": BOLD}, {"insert": "X"}, {"insert": "y", "attributes": RED},
            {"insert": "b", "attributes": BOLD},
        ],
        "inverse": [{"retain": 1}, {"delete": 1}, {"retain": 2, "attributes": BOLD}],
    },
]  # fmt: skip


def units(text):
    """Returns the UTF-16 units of a text, which Quill's Delta counts."""
    data = text.encode("utf-16-le")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


def steps_of(delta, length):
    """Returns the steps of a Delta on a text of a length."""
    steps = []
    for op in delta:
        attributes = op.get("attributes", {})
        if "insert" in op:
            steps += [("insert", unit, attributes) for unit in units(op["insert"])]
        else:
            steps += [("keep", attributes)] * op.get("retain", 0) + [("delete",)] * op.get("delete", 0)
    return steps + [("keep", {})] * (length - sum(step[0] != "insert" for step in steps))


def insertions_first(steps):
    """Returns steps in the order of Quill's Delta: at one place, insertions are before deletions."""
    result, deleted = [], []
    for step in steps:
        if step[0] == "keep":
            result += [*deleted, step]
            deleted = []
        else:
            (result if step[0] == "insert" else deleted).append(step)
    return result + deleted


def text_of(delta):
    return [step[1:] for step in steps_of(delta, 0)]


def check_delta(case):
    """Compares a case of quill-delta, which has no growth."""
    text = text_of(case["doc"])
    committed, incoming = (steps_of(case[name], len(text)) for name in ("committed", "incoming"))
    first, second = transform(committed, incoming, grows=False)
    middle, other = apply(text, committed), apply(text, incoming)
    assert insertions_first(second) == steps_of(case["result"], len(middle))
    assert apply(middle, second) == apply(other, first) == text_of(case["composed"])
    assert apply(text, compose(committed, second)) == text_of(case["composed"])
    # quill-delta also removes what was not there.
    rest, inverse = iter(other), []
    for step in steps_of(case["inverse"], len(other)):
        attributes = {} if step[0] == "insert" else next(rest)[1]
        if step[0] == "keep":
            step = ("keep", {key: value for key, value in step[1].items() if value is not None or key in attributes})
        inverse.append(step)
    assert insertions_first(invert(text, incoming)) == inverse


@pytest.mark.parametrize("grows", [True, False], ids=["grows", "stays"])
def test_operations_with_formatting_give_the_public_results(grows):
    cases = (VECTORS / "rich.jsonl").read_text("utf-8").split("\n")[:-1]
    for case in map(json.loads, cases):
        base = read_text(case["base"]["text"], case["base"].get("format"))
        a, b, inverse = (read_change(**renamed(case[name])) for name in ("a", "b", "inverse"))
        expected = case["grows" if grows else "stays"]
        first, second = transform(a, b, grows)
        result = read_text(expected["result"]["text"], expected["result"].get("format"))
        assert write_change(first) == expected["aAfterB"], case["about"]
        assert write_change(second) == expected["bAfterA"], case["about"]
        assert apply(apply(base, a), second) == apply(apply(base, b), first) == result, case["about"]
        assert apply(base, compose(a, second)) == result, case["about"]
        assert invert(base, a) == inverse, case["about"]
    assert len(cases) > 50


def renamed(change):
    return {"operation": change["operation"], "form": change.get("format")}


def test_operations_give_the_results_of_quill_delta():
    for case in DELTAS:
        check_delta(case)


@pytest.mark.skipif(not RECORDED, reason="RICH_TEXT_VECTORS names no file of recorded results of quill-delta")
def test_operations_give_all_recorded_results_of_quill_delta():
    with gzip.open(pathlib.Path(RECORDED), "rt", encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                check_delta(json.loads(line))
            except AssertionError as error:
                error.add_note(f"line {number}")
                raise


def runs_over_http(server, note):
    status, _, body = server.request("GET", f"/api/notes/{note}/text")
    assert status == 200, body
    answer = json.loads(body)
    return read_text(answer["text"], answer.get("format"))


@pytest.mark.parametrize("seed", range(2))
def test_formatting_is_equal_everywhere_after_kills(server, seed):
    rng = random.Random(seed)
    status, _, body = server.request("POST", "/api/notes", {"title": "Minutes", "kind": "rich"})
    assert status == 201, body
    note = json.loads(body)["id"]
    address = f"ws://127.0.0.1:{server.port}"
    writers = [RichClient(address, note, f"Writer {number}").connect() for number in range(3)]
    plain = native_client.Editor("Plain", note).attach(server)
    for round in range(4):
        for _ in range(40):
            writer = rng.choice(writers)
            writer.edit(random_change(writer.text, rng))
            if rng.random() < 0.3:
                place = rng.randint(0, len(plain.text))
                plain.edit(splice(plain.text, place, min(rng.choice((0, 0, 1)), len(plain.text) - place), "plain"))
            for one in [*writers, plain]:
                while rng.random() < 0.6 and one.pump():
                    pass
        server.kill()
        # While the server is away, people go on.
        for writer in writers:
            writer.close()
            writer.edit(random_change(writer.text, rng))
        server.start()
        for one in writers:
            one.connect()
        plain.attach(server)
    assert sum(one.resent for one in writers) > 0
    for one in [*writers, plain]:
        one.settle()
    head = max(one.revision for one in [*writers, plain])
    for one in [*writers, plain]:
        while one.revision < head:
            one.pump(120)
    expected = runs_over_http(server, note)
    assert any(attributes for _, attributes in expected)
    for one in writers:
        assert one.text == expected
        one.close()
    assert plain.text == "".join(scalar for scalar, _ in expected)
    plain.client.close()
    server.kill()
    server.start()
    assert runs_over_http(server, note) == expected

