"""Folders, and groups of users with rights to them, against the real program."""

import json
import os
import subprocess
import urllib.parse

import pytest
from parley_server import PROGRAM
from test_login import PASSWORD, add_user, guarded, put_user, tokens  # noqa: F401
from test_search import wait_until
from test_tokens import bearer, greet


def run(*words):
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=settings)


def group(*words, file):
    done = run("group", *words, "--file", file)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def users(tmp_path):
    """A team with a folder, a board with another, and Ada, who may do everything."""
    file = tmp_path / "users"
    put_user(file, "ada@example.org", "document:*=all")
    group("set", "team", "folder:team/*=read,write,presence,manage", file=file)
    group("set", "board", "folder:board%20room/*=all", file=file)
    put_user(file, "bea@example.org", "group:team")
    return file


class Person:
    def __init__(self, server, user):
        self.server = server
        self.token = tokens(server, user)["accessToken"]

    def ask(self, method, path, body=None):
        status, _, answer = self.server.request(method, path, body, bearer(self.token))
        return status, json.loads(answer) if answer else None

    def make(self, title, folder):
        status, note = self.ask("POST", "/api/notes", {"title": title, "folder": folder})
        assert status == 201, note
        return note["id"]

    def titles(self, folder):
        query = urllib.parse.quote(folder, safe="")
        status, answer = self.ask("GET", f"/api/notes?folder={query}")
        assert status == 200, answer
        return [note["title"] for note in answer["notes"]]


@pytest.fixture
def ada(guarded):  # noqa: F811
    return Person(guarded, "ada@example.org")


@pytest.fixture
def bea(guarded):  # noqa: F811
    return Person(guarded, "bea@example.org")


def test_a_group_has_its_folder(guarded, users, ada, bea):  # noqa: F811
    minutes = bea.make("Minutes", " team// minutes ")
    # Users with a right to a folder are notified when the list of notes changes.
    listener, _ = greet(guarded, bea.token)
    assert listener.request("subscribe", {"room": "notes"})[0] == "subscribed"
    secret = ada.make("Secret", "board room")
    assert listener.expect("resourceUpdate")["resourceId"] == "notes"
    assert bea.titles("team/minutes") == ["Minutes"]
    assert bea.titles("board room") == []
    assert bea.ask("GET", f"/api/notes/{secret}")[0] == 403
    assert bea.ask("POST", "/api/notes", {"title": "T", "folder": "board room"})[0] == 403
    assert bea.ask("POST", "/api/notes", {"title": "T"})[0] == 403
    status, answer = bea.ask("GET", "/api/folders")
    assert [(one["folder"], one["notes"]) for one in answer["folders"]] == [("team/minutes", 1)]
    assert [one["match"] for one in answer["granted"]] == ["team/*"]
    status, listed = bea.ask("GET", "/api/notes")
    assert [(note["id"], note["folder"]) for note in listed["notes"]] == [(minutes, "team/minutes")]
    # The board takes Bea in, while she is there; the token is the same.
    client, _ = greet(guarded, bea.token)
    assert client.join(minutes)["access"] == "write"
    group("join", "board", "bea@example.org", file=users)
    group("set", "team", "folder:team/*=read", file=users)
    assert client.expect("accessChanged") == {"documentId": minutes, "access": "read"}
    assert bea.ask("GET", f"/api/notes/{secret}")[0] == 200
    assert client.join(secret)["access"] == "write"
    listing = json.loads(group("list", "--json", file=users))
    assert {one["name"]: one["members"] for one in listing["groups"]} == {
        "team": ["bea@example.org"], "board": ["bea@example.org"],
    }  # fmt: skip
    # And lets her go: the group has other rights, then none at all.
    group("set", "board", "folder:board%20room/*=read", file=users)
    assert client.expect("accessChanged") == {"documentId": secret, "access": "read"}
    group("remove", "board", file=users)
    assert client.expect("accessChanged") == {"documentId": secret, "access": "none"}
    assert "group:board" not in users.read_text()


def test_who_loses_a_folder_is_out_at_once(guarded, ada, bea):  # noqa: F811
    note = bea.make("Plan", "team")
    client, _ = greet(guarded, bea.token)
    joined = client.join(note)
    assert client.change(note, joined, 1, ["mine"])[0] == "acknowledged"
    assert bea.ask("PATCH", f"/api/notes/{note}", {"folder": "board room"})[0] == 403
    status, moved = ada.ask("PATCH", f"/api/notes/{note}", {"folder": "board room"})
    assert (status, moved["folder"], moved["revision"]) == (200, "board room", 1)
    assert client.expect("accessChanged") == {"documentId": note, "access": "none"}
    for path in ["", "/text", "/history", "/versions", "/files"]:
        assert bea.ask("GET", f"/api/notes/{note}{path}")[0] == 403
    # Back again, with all that it had.
    assert ada.ask("PATCH", f"/api/notes/{note}", {"folder": "team", "title": "P"})[0] == 200
    assert bea.ask("GET", f"/api/notes/{note}/text")[1]["text"] == "mine"
    assert client.join(note)["access"] == "write"


def test_links_keep_what_they_were_made_for(guarded, users, ada, bea):  # noqa: F811
    note = bea.make("Shared", "team")
    status, link = bea.ask("POST", f"/api/notes/{note}/share", {"access": "read"})
    assert status == 201
    status, written = ada.ask("POST", f"/api/notes/{note}/share", {"access": "write"})
    assert status == 201

    def listed(person):
        status, answer = person.ask("GET", f"/api/notes/{note}/share")
        assert status == 200, answer
        return {one["access"]: one.get("path") for one in answer["links"]}

    # Rights by the folder show the keys of what they give, and of nothing more.
    assert listed(bea) == listed(ada) == {"read": link["path"], "write": written["path"]}
    client, _ = greet(guarded, bea.token)
    assert client.join(note)["access"] == "write"
    group("set", "team", "folder:team/*=read,presence,manage", file=users)
    assert client.expect("accessChanged") == {"documentId": note, "access": "read"}
    assert listed(bea) == {"read": link["path"], "write": None}
    assert ada.ask("PATCH", f"/api/notes/{note}", {"folder": "board room"})[0] == 200
    visitor = bearer(link["token"])
    assert guarded.request("GET", f"/api/notes/{note}/text", None, visitor)[0] == 200
    assert bea.ask("DELETE", f"/api/notes/{note}/share")[0] == 403
    assert ada.ask("DELETE", f"/api/notes/{note}/share")[0] == 204
    assert guarded.request("GET", f"/api/notes/{note}/text", None, visitor)[0] == 401


def test_a_folder_moves_and_a_store_keeps_its_folders(guarded, ada, tmp_path):  # noqa: F811
    for index in range(3):
        ada.make(f"n{index}", "old/sub" if index else "old")
    status, moved = ada.ask("POST", "/api/folders/move", {"from": "old", "to": "new/place"})
    assert (status, moved) == (200, {"moved": 3, "more": False})
    assert ada.titles("new/place/sub") == ["n2", "n1"]
    data = guarded.data
    guarded.stop()
    out = tmp_path / "out"
    assert run("export", "--all", "--output", out, "--data-dir", data).returncode == 0
    assert len(list((out / "new" / "place" / "sub").glob("*.md"))) == 2
    (out / "..hidden").mkdir()
    (out / "new" / "bad*name").mkdir()
    (out / "new" / "bad*name" / "x.md").write_text("x")
    taken = run("import", out, "--folder", "again", "--data-dir", data)
    assert taken.returncode == 0
    assert len(taken.stdout.splitlines()) == 4
    # A second run makes nothing twice.
    again = run("import", out, "--folder", "again", "--data-dir", data)
    assert (again.returncode, again.stdout) == (0, "") and "4 notes were there already" in again.stderr
    listed = json.loads(run("notes", "--json", "--data-dir", data).stdout)
    folders = sorted(note.get("folder", "") for note in listed["notes"])
    assert folders == sorted(
        ["new/place", "new/place/sub", "new/place/sub"]
        + ["again/new/place", "again/new/place/sub", "again/new/place/sub", "again/new/bad name"]
    )
    guarded.start()


def test_rejects_malformed_groups(users):
    assert run("group", "set", "team", "folder:te*m=read", "--file", users).returncode == 2
    assert run("group", "set", "-x", "--file", users).returncode == 2
    assert run("group", "join", "none", "ada@example.org", "--file", users).returncode == 1
    assert run("group", "join", "team", "nobody", "--file", users).returncode == 1
    assert add_user(users, "cem@example.org", "group:none").returncode == 1
    assert "cem@example.org" not in users.read_text()


def test_tags_count_what_may_be_read(guarded, ada, bea):  # noqa: F811
    for title, folder, text in (
        ("One", "team", "#plan"), ("Two", "board room", "#Plan #secret"), ("Three", "team", "`#plan`"),
    ):  # fmt: skip
        note = ada.make(title, folder)
        change = {"revision": 0, "operation": [text]}
        assert ada.ask("POST", f"/api/notes/{note}/changes", change)[0] == 200
    every = [{"tag": "plan", "notes": 2}, {"tag": "secret", "notes": 1}]
    wait_until(lambda: ada.ask("GET", "/api/tags")[1]["tags"] == every)
    assert bea.ask("GET", "/api/tags")[1] == {"tags": [{"tag": "plan", "notes": 1}]}
    for asker, path, found in (
        (ada, "/api/notes?tag=%23PLAN", ["Two", "One"]), (bea, "/api/notes?tag=plan", ["One"]),
        (bea, "/api/notes?tag=secret", []), (bea, "/api/search?q=tag:secret", []),
        (ada, "/api/search?q=tag:secret", ["Two"]),
    ):  # fmt: skip
        titles = [note["title"] for note in asker.ask("GET", path)[1]["notes"]]
        assert sorted(titles) == sorted(found), path
    assert ada.ask("GET", "/api/notes?tag=a%20b")[0] == 400
