"""A note's past over HTTP, and a store's backup beside a running server."""

import json
import subprocess

import pytest
from native_client import NativeClient
from parley_server import PROGRAM


def get(server, path):
    status, _, body = server.request("GET", path)
    return status, json.loads(body)


def post(server, path, body):
    status, _, answer = server.request("POST", path, body)
    return status, json.loads(answer)


@pytest.fixture
def written(server):
    """A note in which Ada wrote “one”, Bo “ two”, and Ada took the first letter away."""
    document = server.create_note()
    with NativeClient(server, "Ada") as ada, NativeClient(server, "Bo") as bo:
        here = ada.join(document)
        ada.change(document, here, 1, ["one"])
        there = bo.join(document)
        bo.change(document, there, 1, [3, " two"])
        ada.change(document, here, 2, [-1, 6], revision=2)
    return f"/api/notes/{document}"


@pytest.mark.parametrize(
    ("point", "text", "authors"),
    [
        ("", "ne two", [["Ada", 2], ["Bo", 4]]),
        ("?revision=0", "", []),
        ("?revision=1", "one", [["Ada", 3]]),
        ("?revision=2", "one two", [["Ada", 3], ["Bo", 4]]),
        ("?revision=3", "ne two", [["Ada", 2], ["Bo", 4]]),
        ("?time=0", "", []),
    ],
)
def test_the_text_at_any_moment_with_its_authors(server, written, point, text, authors):
    status, answer = get(server, f"{written}/text{point}")
    assert status == 200
    assert answer["text"] == text
    assert [[run["author"], run["count"]] for run in answer["authors"]] == authors


def test_who_wrote_what(server, written):
    status, answer = get(server, f"{written}/history")
    assert (status, answer["head"]) == (200, 3)
    groups = answer["groups"]
    assert [(g["author"], g["inserted"], g["deleted"]) for g in groups] == [
        ("Ada", 3, 0), ("Bo", 4, 0), ("Ada", 0, 1),
    ]  # fmt: skip
    assert [(g["firstRevision"], g["lastRevision"]) for g in groups] == [(1, 1), (2, 2), (3, 3)]
    status, rest = get(server, f"{written}/history?after=1&limit=1")
    assert (status, rest["groups"]) == (200, groups[1:2])


def test_versions_are_named_listed_and_unnamed(server, written):
    status, version = post(
        server, f"{written}/versions", {"name": "First draft", "revision": 2, "author": "Ada"})
    assert (status, version["name"], version["revision"]) == (201, "First draft", 2)
    assert get(server, f"{written}/versions") == (200, {"versions": [version]})
    assert server.request("DELETE", f"{written}/versions/2")[0] == 204
    assert get(server, f"{written}/versions") == (200, {"versions": []})


def test_a_version_of_a_note_nobody_has_open_can_be_named(server, written):
    server.kill()
    server.start()
    assert post(server, f"{written}/versions", {"name": "v", "revision": 1})[0] == 201


def test_an_old_text_comes_back_as_an_edit_that_everybody_sees(server, written):
    with NativeClient(server, "Cleo") as cleo:
        cleo.join(written.rsplit("/", 1)[1])
        status, answer = post(server, f"{written}/restore", {"revision": 1, "author": "Cleo"})
        assert (status, answer) == (200, {"revision": 4})
        changes = cleo.expect("changes")
        assert changes["revision"] == 4
    assert get(server, f"{written}/text")[1]["text"] == "one"
    assert get(server, f"{written}/text?revision=3")[1]["text"] == "ne two"


def test_what_cannot_be_answered_is_said(server, written):
    for path in ("text?revision=x", "text?revision=1&time=1", "history?after=-1", "history?limit=0"):
        assert get(server, f"{written}/{path}")[0] == 400
    for path in ("versions", "restore"):
        for body in (b"", b"{", {"revision": "1"}, {"name": 1, "revision": 1}, {"name": ""}):
            assert post(server, f"{written}/{path}", body)[0] == 400
    assert post(server, f"{written}/versions", {"name": "x", "revision": 99})[0] == 409
    assert post(server, f"{written}/restore", {"revision": 99})[0] == 409
    for path in ("text?revision=99", "comments?revision=99"):
        assert get(server, f"{written}/{path}")[0] == 409
    assert server.request("DELETE", f"{written}/text")[0] == 405
    for path in ("text", "history", "versions"):
        assert get(server, f"/api/notes/nobody-made-this/{path}")[0] == 404
    for path, body in (("restore", {"revision": 0}), ("versions", {"revision": 0, "name": "x"})):
        assert post(server, f"/api/notes/nobody-made-this/{path}", body)[0] == 404


def test_ready(server):
    assert server.request("GET", "/ready")[0] == 200


def parley(server, *words):
    return subprocess.run(
        [PROGRAM, *words, "--data-dir", str(server.data)], capture_output=True, text=True,
        check=False)


def test_a_backup_beside_a_running_server_and_its_restoring(server, written, tmp_path):
    backup = tmp_path / "backup"
    assert parley(server, "backup", str(backup)).returncode == 0
    assert parley(server, "backup", str(backup)).returncode == 1, "a file is never written over"
    document = written.rsplit("/", 1)[1]
    with NativeClient(server, "Ada") as ada:
        joined = ada.join(document)
        ada.change(document, joined, 1, [6, "!"])
        point = {"epoch": joined["epoch"], "revision": 4}

    refused = parley(server, "restore", str(backup), "--replace")
    assert refused.returncode == 1
    assert str(server.process.pid) in refused.stderr
    assert server.stop() == 0
    assert parley(server, "restore", str(backup), "--verify").returncode == 0
    assert parley(server, "restore", str(backup)).returncode == 1
    assert parley(server, "restore", str(backup), "--replace").returncode == 0
    server.start()

    # Who has seen more than the backup holds is told that this is another history.
    with NativeClient(server, "Ada") as ada:
        again = ada.join(document, resume=point)
        assert again["epoch"] != point["epoch"]
        assert (again["revision"], again["text"]) == (3, "ne two")


def test_export_of_all_formats(server, written):
    document = written.rsplit("/", 1)[1]
    assert parley(server, "export", document).stdout == "ne two"
    assert parley(server, "export", document, "--format", "txt").stdout == "ne two"
    assert json.loads(parley(server, "export", document, "--format", "json").stdout)["text"] == "ne two"
    lines = parley(server, "export", document, "--format", "ops").stdout.splitlines()
    assert [json.loads(line)["operation"] for line in lines[1:]] == [
        ["one"], [3, " two"], [-1, 6],
    ]  # fmt: skip
