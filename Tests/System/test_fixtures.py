"""Files of released versions, opened by this one: `Scripts/make_fixtures.py` made them."""

import gzip
import json
import subprocess

import pytest
from parley_server import PROGRAM, ROOT, ParleyServer
from test_files import picture
from test_search import wait_until

FIXTURES = ROOT / "Tests" / "Fixtures" / "0.1.0"
TEXT = (FIXTURES / "plan.txt").read_text()


def parley(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def unpack(folder):
    """Puts the store of 0.1.0 into a new data folder."""
    folder.mkdir(parents=True)
    (folder / "notes.parley").write_bytes(gzip.decompress((FIXTURES / "store.parley.gz").read_bytes()))
    return folder


@pytest.fixture
def fixture_server(tmp_path):
    """A server on the store of 0.1.0."""
    (tmp_path / "server").mkdir()
    server = ParleyServer(tmp_path / "server")
    unpack(server.data)
    yield server.start()
    assert server.stop() == 0


def get(server, path):
    status, _, body = server.request("GET", path)
    assert status == 200, (path, body)
    return json.loads(body)


def opened(folder):
    """The data folder of a store of 0.1.0 that a server of this version has opened, and so has migrated."""
    folder.mkdir()
    server = ParleyServer(folder)
    unpack(server.data)
    assert server.start().stop() == 0
    return server.data


def test_a_store_is_sound(tmp_path):
    refused = parley("check", "--data-dir", unpack(tmp_path / "data"))
    assert refused.returncode != 0 and "start parley serve with it once" in refused.stderr, refused
    checked = parley("check", "--data-dir", opened(tmp_path / "opened"))
    assert checked.returncode == 0 and "sound" in checked.stdout + checked.stderr, checked


def test_a_store_is_served(fixture_server):
    server = fixture_server
    assert {note["title"] for note in get(server, "/api/notes")["notes"]} == {"Plan é", "Without an id"}
    note = get(server, "/api/notes/plan")
    assert (note["folder"], note["revision"]) == ("team/minutes", 4)
    assert get(server, "/api/notes/plan/text")["text"] == TEXT
    assert get(server, "/api/notes/plan/text?revision=1")["text"] == "# Plan é\n\nBuy milk 🐦 #shopping\n"
    assert [version["name"] for version in get(server, "/api/notes/plan/versions")["versions"]] == ["First"]
    first, second = get(server, "/api/notes/plan/comments")["comments"]
    assert (first["text"], first["made"]["quote"], second["text"]) == ("Which?", "milk", "Oat")
    file = get(server, "/api/notes/plan/files")["files"][0]
    assert server.request("GET", f"/api/notes/plan/{file['path']}")[2] == picture()
    assert [each["data"] for each in get(server, "/api/rooms/team/history")["publications"]] == [
        {"number": number} for number in (1, 2, 3)
    ]
    assert get(server, "/api/rooms/team/group")["name"] == "Team"
    # The index of words is made beside, once the server runs.
    wait_until(lambda: get(server, "/api/search?q=milk")["notes"])
    assert get(server, "/api/search?q=milk")["notes"][0]["id"] == "plan"


def test_exports_are_imported(tmp_path):
    data = tmp_path / "data"
    for format in ("ops", "json", "md", "txt"):
        imported = parley("import", FIXTURES / f"plan.{format}", "--data-dir", data)
        assert imported.returncode == 0, imported
    notes = json.loads(parley("notes", "--data-dir", data, "--json").stdout)["notes"]
    assert len(notes) == 4
    for note in notes:
        assert parley("export", note["id"], "--data-dir", data, "--format", "txt").stdout == TEXT

