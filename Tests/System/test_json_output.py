"""The output of commands with --json, and the export of all notes to files."""

import json
import os
import sqlite3

import pytest
from parley_server import ROOT
from test_command_line import run

TITLES = ["Plan", "Plan", "../../etc/passwd", "a/b\0c\n", "Größe: 5 €", "", "." * 300, "読書会 " * 60]


@pytest.fixture
def filled(server):
    server.notes = {}
    for title in TITLES:
        status, _, body = server.request("POST", "/api/notes", {"title": title})
        if status == 201:
            note = json.loads(body)["id"]
            assert server.request("PUT", f"/api/notes/{note}/text", f"text of {note}".encode())[0] == 200
            server.notes[note] = title
    assert len(server.notes) >= len(TITLES) - 2
    return server


def answer(*arguments, code=0):
    ended = run(*map(str, arguments), "--json")
    assert ended.returncode == code, ended.stderr
    assert ended.stdout.count("\n") == 1
    return json.loads(ended.stdout)


def test_check(server):
    found = answer("check", "--data-dir", server.data, "--web-dir", ROOT / "Web")
    settings = {setting["name"]: setting for setting in found["settings"]}
    assert settings["data-dir"] == {"name": "data-dir", "value": str(server.data), "from": "command line"}
    assert settings["host"]["from"] == "default"
    assert found["problems"] == [] and found["store"]["state"] == "sound"
    assert found["store"]["notes"] == 0


def test_check_of_what_is_wrong(tmp_path):
    file = tmp_path / "parley.conf"
    file.write_text("prot = 1\n")
    found = answer("check", "--config", file, code=2)
    assert "prot is not a setting" in found["problems"][0] and found["store"]["state"] == "unknown"
    found = answer("check", "--port", "x", code=2)
    assert "--port expects" in found["problems"][0] and found["settings"] == []
    (tmp_path / "notes.parley").write_text("no database")
    found = answer("check", "--data-dir", tmp_path, "--web-dir", ROOT / "Web", code=1)
    assert found["store"]["state"] == "unreadable" and len(found["store"]["problems"]) == 1


def test_doctor(tmp_path):
    found = answer("doctor", "--port", "0", "--data-dir", tmp_path, "--web-dir", ROOT / "Web")
    assert {"subject", "severity", "text"} == set(found["findings"][0])
    assert "disk" in {finding["subject"] for finding in found["findings"]}


def test_notes(filled):
    found = answer("notes", "--data-dir", filled.data)
    assert {note["id"] for note in found["notes"]} == set(filled.notes)
    assert [note["title"] for note in found["notes"]].count("Plan") == 2
    gone = next(iter(filled.notes))
    assert filled.request("DELETE", f"/api/notes/{gone}")[0] in (200, 204)
    found = answer("notes", "--deleted", "--data-dir", filled.data)
    assert [note["id"] for note in found["notes"]] == [gone]
    assert found["notes"][0]["deletedAt"] > found["notes"][0]["createdAt"]


def test_all_notes_become_files(filled, tmp_path):
    folder = tmp_path / "out"
    ended = run("export", "--all", "--output", str(folder), "--data-dir", str(filled.data))
    assert ended.returncode == 0, ended.stderr
    texts = {path.read_text() for path in folder.iterdir()}
    assert texts == {f"text of {note}" for note in filled.notes}
    names = sorted(os.listdir(folder))
    assert all(name.endswith(".md") and len(name.encode()) < 255 for name in names)
    assert sum(name.startswith("Plan-") for name in names) == 2
    assert any(name.startswith("etc-passwd-") for name in names)
    assert any(name.startswith("Größe-5-") for name in names)
    # Existing files are not changed.
    again = run("export", "--all", "--output", str(folder), "--data-dir", str(filled.data))
    assert again.returncode == 1 and "not empty" in again.stderr
    for words in (["--all"], ["--all", "--output", "x", "id"]):
        assert run("export", *words, "--data-dir", str(filled.data)).returncode == 2


def test_no_note_hinders_the_export_of_the_others(server, tmp_path):
    long = "x" * 200
    made = {"a.b": ("Same", ""), "a-b": ("Same", ""), "a~b": ("Same", "Same-a-b.md"), long: ("t" * 500, "deep")}
    for note, (title, place) in made.items():
        status, _, _ = server.request("PUT", f"/api/notes/{note}", {"title": title, "folder": place})
        assert status == 201
        assert server.request("PUT", f"/api/notes/{note}/text", f"text of {note}".encode())[0] == 200
    ended = run("export", "--all", "--output", str(tmp_path / "out"), "--data-dir", str(server.data))
    assert ended.returncode == 0 and "4 notes" in ended.stdout, ended.stderr
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {path.read_text() for path in files} == {f"text of {note}" for note in made}
    assert server.stop() == 0
    connection = sqlite3.connect(server.data / "notes.parley")
    connection.execute("UPDATE log SET operation = '[]' WHERE document = (SELECT number FROM documents WHERE id = 'a.b')")
    connection.execute("DELETE FROM snapshots")
    connection.commit()
    connection.close()
    ended = run("export", "--all", "--output", str(tmp_path / "rest"), "--data-dir", str(server.data))
    assert ended.returncode == 1 and "3 notes" in ended.stdout
    assert ended.stderr.count("\n") == 1 and "a.b: " in ended.stderr and "damaged" in ended.stderr
    files = [path for path in (tmp_path / "rest").rglob("*") if path.is_file()]
    assert {path.read_text() for path in files} == {f"text of {note}" for note in made if note != "a.b"}
    server.start()
