"""The history of a note over HTTP, and backups of the store of a running server."""

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
    """A note in which Ada wrote “one”, Bo “ two”, and Ada deleted the first letter."""
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


def test_sessions_of_all_people_the_newest_first(server, written):
    status, answer = get(server, f"{written}/sessions")
    assert (status, answer["head"], answer["oldest"]) == (200, 3, 0)
    assert "before" not in answer
    (session,) = answer["sessions"]
    assert (session["firstRevision"], session["lastRevision"]) == (1, 3)
    assert session["firstTime"] <= session["lastTime"]
    assert "cut" not in session
    assert session["authors"] == [
        {"author": "Ada", "lastRevision": 3, "changes": 2, "inserted": 3, "deleted": 1},
        {"author": "Bo", "lastRevision": 2, "changes": 1, "inserted": 4, "deleted": 0},
    ]
    (part,) = get(server, f"{written}/sessions?before=3&limit=1")[1]["sessions"]
    assert [author["author"] for author in part["authors"]] == ["Bo", "Ada"]
    assert get(server, f"{written}/sessions?before=1")[1]["sessions"] == []
    assert get(server, f"{written}/sessions?before=99")[1] == answer


def test_two_who_type_at_once_are_one_session(server):
    note = f"/api/notes/{server.create_note()}"
    for revision in range(180):
        operation = [revision, "x"] if revision else ["x"]
        author = ["Ada", "Bo"][revision % 2]
        post(server, f"{note}/changes", {"revision": revision, "operation": operation, "author": author})
    assert len(get(server, f"{note}/history")[1]["groups"]) == 180
    (session,) = get(server, f"{note}/sessions")[1]["sessions"]
    assert [(author["author"], author["inserted"]) for author in session["authors"]] == [("Bo", 90), ("Ada", 90)]


@pytest.mark.parametrize(
    ("ends", "parts"),
    [
        ((0, 1), [{"inserted": "one", "author": "Ada"}]),
        ((1, 2), [{"kept": 3}, {"inserted": " two", "author": "Bo"}]),
        ((2, 3), [{"deleted": "one"}, {"inserted": "ne", "author": "Ada"}, {"kept": 4}]),
        ((0, 3), [{"inserted": "ne", "author": "Ada"}, {"inserted": " two", "author": "Bo"}]),
        ((3, 3), [{"kept": 6}]), ((0, 0), []),
    ],
)  # fmt: skip
def test_the_words_that_were_changed_between_two_revisions(server, written, ends, parts):
    status, answer = get(server, f"{written}/diff?from={ends[0]}&to={ends[1]}")
    assert (status, answer["parts"]) == (200, parts)
    assert (answer["from"], answer["to"]) == ends
    assert answer["fromTime"] <= answer["toTime"]


def test_a_part_is_restored_by_the_inverse_of_its_difference(server, written):
    parts = get(server, f"{written}/diff?from=1&to=3")[1]["parts"]
    inverse = [
        part.get("deleted") or part.get("kept") or -len(part.get("inserted", "")) for part in parts
    ]
    with NativeClient(server, "Cleo") as cleo:
        document = written.rsplit("/", 1)[1]
        cleo.change(document, cleo.join(document), 1, ["\n", 6])
    change = {"revision": 3, "operation": inverse, "author": "Ada"}
    assert post(server, f"{written}/changes", change) == (200, {"revision": 5})
    # Later text remains.
    assert sorted(get(server, f"{written}/text")[1]["text"]) == sorted("\none")


def test_a_difference_that_is_too_long_is_refused(server):
    note = f"/api/notes/{server.create_note()}"
    texts = ["x" * 900_000, "y" * 900_000, "z" * 900_000]
    revision = 0
    for text in texts:
        operation = [revision * 900_000, text] if revision else [text]
        assert post(server, f"{note}/changes", {"revision": revision, "operation": operation})[0] == 200
        revision += 1
    assert get(server, f"{note}/diff?from=0&to=2")[0] == 200
    status, answer = get(server, f"{note}/diff?from=0&to=3")
    assert (status, answer["code"]) == (413, "tooLarge")


def test_versions_are_named_listed_and_unnamed(server, written):
    status, version = post(
        server, f"{written}/versions", {"name": "First draft", "revision": 2, "author": "Ada"})
    assert (status, version["name"], version["revision"]) == (201, "First draft", 2)
    assert get(server, f"{written}/versions") == (200, {"versions": [version]})
    assert server.request("DELETE", f"{written}/versions/2")[0] == 204
    assert get(server, f"{written}/versions") == (200, {"versions": []})


def test_a_version_of_a_closed_note_can_be_named(server, written):
    server.kill()
    server.start()
    assert post(server, f"{written}/versions", {"name": "v", "revision": 1})[0] == 201


def test_an_old_text_is_restored_by_an_edit_that_all_clients_see(server, written):
    with NativeClient(server, "Cleo") as cleo:
        cleo.join(written.rsplit("/", 1)[1])
        status, answer = post(server, f"{written}/restore", {"revision": 1, "author": "Cleo"})
        assert (status, answer) == (200, {"revision": 4})
        changes = cleo.expect("changes")
        assert changes["revision"] == 4
    assert get(server, f"{written}/text")[1]["text"] == "one"
    assert get(server, f"{written}/text?revision=3")[1]["text"] == "ne two"


def test_impossible_requests_are_refused_with_a_reason(server, written):
    for path in ("text?revision=x", "text?revision=1&time=1", "history?after=-1", "history?limit=0",
                 "sessions?before=x", "sessions?limit=0", "diff", "diff?from=1", "diff?from=2&to=1", "diff?from=x&to=1"):
        assert get(server, f"{written}/{path}")[0] == 400
    for path in ("versions", "restore"):
        for body in (b"", b"{", {"revision": "1"}, {"name": 1, "revision": 1}, {"name": ""}):
            assert post(server, f"{written}/{path}", body)[0] == 400
    assert post(server, f"{written}/versions", {"name": "x", "revision": 99})[0] == 409
    assert post(server, f"{written}/restore", {"revision": 99})[0] == 409
    for path in ("text?revision=99", "comments?revision=99", "diff?from=1&to=99"):
        assert get(server, f"{written}/{path}")[0] == 409
    assert server.request("DELETE", f"{written}/text")[0] == 405
    for path in ("text", "history", "versions", "sessions", "diff?from=0&to=0"):
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

    # A client that has seen more than the backup holds learns that this is another history.
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
