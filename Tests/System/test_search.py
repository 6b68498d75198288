"""Notes are found by words, by users who may read them, also after restarts and failures."""

import json
import subprocess
import threading
import time
import urllib.parse

import pytest
from parley_server import PROGRAM
from patience import SECONDS
from test_tokens import EVERYTHING, SECRET, bearer, token


@pytest.fixture
def guarded(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    return start("--hmac-secret-file", secret, "--audience", "parley")


def found(server, words, headers=None):
    """Returns the ids of notes with these words."""
    status, _, body = server.request("GET", f"/api/search?q={urllib.parse.quote(words)}", headers=headers or {})
    assert status == 200, body
    return {note["id"] for note in json.loads(body)["notes"]}


def wait_until(condition):
    """Asks again and again: a note is found when it rests, and no message announces that."""
    deadline = time.monotonic() + SECONDS
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.1)


def make(server, note, title, text, headers=None):
    assert server.request("PUT", f"/api/notes/{note}", {"title": title}, headers or {})[0] == 201
    sent = {**(headers or {}), "content-type": "text/plain"}
    assert server.request("PUT", f"/api/notes/{note}/text", text.encode(), sent)[0] == 200


def test_rights_hold(guarded):
    everything = bearer(token(EVERYTHING))
    some = bearer(token({"documents": [{"match": "ours-*", "may": ["read"]}]}))
    for note in ("ours-1", "theirs-1"):
        make(guarded, note, "A duck", f"the text of {note}", everything)
    wait_until(lambda: found(guarded, "duck text", everything) == {"ours-1", "theirs-1"})
    assert found(guarded, "duck", some) == {"ours-1"}
    assert found(guarded, "theirs", some) == set()
    assert guarded.request("GET", "/api/search?q=duck")[0] == 401
    guarded.request("DELETE", "/api/notes/ours-1", headers=everything)
    assert found(guarded, "duck", some) == set()
    guarded.request("POST", "/api/deleted/ours-1/restore", headers=everything)
    wait_until(lambda: found(guarded, "duck", some) == {"ours-1"})


def test_a_kill_between_commit_and_index_is_repaired(server):
    make(server, "before", "Before", "a goose and a duck")
    wait_until(lambda: found(server, "goose") == {"before"})
    # Not indexed for two seconds.
    make(server, "after", "After", "another duck")
    server.kill()
    server.start()
    wait_until(lambda: found(server, "duck") == {"before", "after"})


def test_a_lost_or_spoilt_index_is_rebuilt(server):
    make(server, "n", "Plan", "a goose and a duck")
    wait_until(lambda: found(server, "goose") == {"n"})
    index = server.data / "notes.parley-search"
    for spoil in (lambda: index.unlink(), lambda: index.write_bytes(b"no index" * 999)):
        server.stop()
        spoil()
        server.start()
        wait_until(lambda: found(server, "duck") == {"n"})


def test_the_command_finds_and_indexes(server):
    make(server, "n", "Plan", "a goose\nand a duck")
    wait_until(lambda: found(server, "goose") == {"n"})

    def parley(*words):
        return subprocess.run([PROGRAM, *words, "--data-dir", server.data], capture_output=True, text=True)

    assert "n  Plan" in parley("search", "plan", "goo").stdout
    hits = json.loads(parley("notes", "search", "plan", "goo", "--json").stdout)["notes"]
    assert [(hit["id"], hit["title"], "goose" in hit["place"]) for hit in hits] == [("n", "Plan", True)]
    assert parley("search", "geese").stdout == ""
    assert parley("search").returncode == 2
    assert parley("search", "x" * 2_000).returncode == 1
    assert parley("reindex").returncode == 1
    server.stop()
    (server.data / "notes.parley-search").unlink()
    assert parley("search", "goose").returncode == 1
    assert parley("reindex").stdout == "1 notes can be searched\n"
    assert "    a goose and a duck" in parley("search", "duck").stdout
    server.start()
