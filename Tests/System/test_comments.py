"""Comments on notes: storage, moving with the text, notifications, export and import."""

import json
import sqlite3

import pytest
from hook_receiver import HookReceiver
from native_client import NativeClient
from postgres_server import PostgresServer
from test_access import guarded, issued, share  # noqa: F401
from test_files import parley, write
from test_tokens import EVERYTHING, bearer, token


@pytest.fixture(scope="module")
def postgres():
    server = PostgresServer().start()
    yield server
    server.remove()


@pytest.fixture
def receiver():
    receiver = HookReceiver()
    yield receiver
    receiver.close()


def comments(server, note, headers=None, query=""):
    status, _, body = server.request("GET", f"/api/notes/{note}/comments{query}", headers=headers or {})
    assert status == 200, body
    return json.loads(body)["comments"]


def make(server, note, text, headers=None, **fields):
    status, answer, body = server.request("POST", f"/api/notes/{note}/comments", {"text": text, **fields}, headers or {})
    return status, json.loads(body), answer


def anchor(revision, start, end):
    return {"revision": revision, "from": start, "to": end}


def change(server, note, comment, fields, headers=None):
    status, _, body = server.request("PATCH", f"/api/notes/{note}/comments/{comment}", fields, headers or {})
    return status, json.loads(body)


@pytest.mark.parametrize("store", ["file", "database"])
def test_a_comment_from_creation_to_import_on_another_server(start, postgres, receiver, tmp_path, store):
    flags = ["--webhook-url", receiver.url, "--webhook-batch-delay", "0s"]
    if store == "database":
        flags += ["--store-url", postgres.new_database()]
    server = start(*flags)
    store_flags = server.store_flags
    note = server.create_note("Remarked")
    write(server, note, "one 🐦 two three")
    with NativeClient(server) as client:
        assert client.request("subscribe", {"room": f"/note/{note}"})[0] == "subscribed"
        key = {"Idempotency-Key": "k-1"}
        evil = "<img src=x onerror=alert(1)>\n \"é"
        status, first, _ = make(server, note, evil, key, anchor=anchor(1, 6, 9), author="Ann")
        assert status == 201 and first["made"]["quote"] == "two" and first["text"] == evil
        assert client.expect("resourceUpdate")["resourceId"] == f"/note/{note}"
    status, again, headers = make(server, note, evil, key, anchor=anchor(1, 6, 9), author="Ann")
    assert (status, again["id"], headers["idempotency-replayed"]) == (201, first["id"], "true")
    status, answer, _ = make(server, note, "yes", thread=first["id"], author="Ben")
    assert status == 201
    status, gone, _ = make(server, note, "gone?", anchor=anchor(1, 10, 15))
    assert status == 201
    # Text typed before a comment moves it. Deleting its text removes its place, but not the comment.
    write(server, note, "AA one 🐦 two three")
    write(server, note, "AA one 🐦 two ")
    found = {comment["id"]: comment for comment in comments(server, note)}
    assert [found[first["id"]]["place"][name] for name in ("from", "to")] == [9, 12]
    assert found[gone["id"]]["place"] is None and found[gone["id"]]["made"]["quote"] == "three"
    assert found[first["id"]]["made"]["from"] == 6
    past = {comment["id"]: comment for comment in comments(server, note, query="?revision=1")}
    assert past[first["id"]]["place"]["from"] == 6
    status, changed = change(server, note, first["id"], {"text": "new words"})
    assert status == 200 and changed["editedAt"] >= changed["createdAt"]
    assert change(server, note, first["id"], {"resolved": True, "author": "Ben"})[1]["resolved"]["by"] == "Ben"
    assert change(server, note, first["id"], {"resolved": False})[0] == 200
    assert change(server, note, gone["id"], {"resolved": True})[0] == 200
    assert server.request("DELETE", f"/api/notes/{note}/comments/{answer['id']}")[0] == 204
    status, answer, _ = make(server, note, "later", thread=first["id"], author="Ben")
    assert status == 201

    events = []
    while not any(one["type"] == "comment.created" and one["data"]["comment"]["id"] == answer["id"] for one in events):
        events += receiver.calls.get(timeout=30).events
    told = [one["type"] for one in events if one["type"].startswith("comment.")]
    assert told == [
        "comment.created", "comment.created", "comment.created", "comment.edited", "comment.resolved",
        "comment.reopened", "comment.resolved", "comment.deleted", "comment.created",
    ]  # fmt: skip
    created = next(one["data"] for one in events if one["type"] == "comment.created")
    assert created["note"] == {"id": note} and created["comment"]["made"]["quote"] == "two"
    assert created["comment"]["text"] == evil and "mine" not in created["comment"]

    before = comments(server, note)
    server.kill()
    server.start()
    assert comments(server, note) == before, "what was acknowledged is not there"
    assert server.stop() == 0
    exported = tmp_path / "n.ops"
    place = ["--data-dir", server.data, *store_flags]
    assert parley("export", note, "--format", "ops", "--output", exported, *place)[0] == 0
    code, said = parley("check", *place)
    assert code == 0 and "sound" in said, said
    # To the other kind of store and back, or at once.
    if store == "file":
        address = postgres.new_database()
        assert parley("migrate", "--from", server.data, "--to", address)[0] == 0
        server.flags += ["--store-url", address]
        server.start()
        assert comments(server, note) == before
        assert server.stop() == 0
    target = start()
    target.stop()
    code, said = parley("import", exported, "--data-dir", target.data)
    assert code == 0, said
    target.start()
    status, _, body = target.request("GET", "/api/notes")
    imported = json.loads(body)["notes"][0]["id"]
    after = comments(target, imported)
    for kept in (before, after):
        for comment in kept:
            comment.get("made", {}).pop("epoch", None)
    assert after == before
    broken = exported.read_bytes().replace(b'"quote"', b'"quota"')
    exported.write_bytes(broken)
    target.stop()
    code, said = parley("import", exported, "--data-dir", target.data)
    assert code != 0 and "a comment" in said
    target.start()
    server.start()


def test_a_damaged_comment_is_found_and_hides_nothing_else(start):
    server = start()
    note = server.create_note()
    write(server, note, "text")
    status, _, _ = make(server, note, "remark", anchor=anchor(1, 0, 4))
    assert status == 201
    assert server.stop() == 0
    connection = sqlite3.connect(server.data / "notes.parley")
    connection.execute("UPDATE comments SET data = replace(data, 'remark', 'forged')")
    connection.commit()
    connection.close()
    code, said = parley("check", "--data-dir", server.data)
    assert code == 1 and "a comment of a note differs from its checksum" in said and "forged" not in said
    server.start()
    assert server.request("GET", f"/api/notes/{note}/comments")[0] == 503
    assert server.request("GET", f"/api/notes/{note}/text")[0] == 200


def test_rights_of_links(guarded):  # noqa: F811
    write = {"content-type": "text/plain", **bearer(issued())}
    assert guarded.request("PUT", f"/api/notes/{guarded.note}/text", b"some words", write)[0] == 200
    for access, expected in (("read", 403), ("comment", 201), ("write", 201)):
        guest = bearer(share(guarded, guarded.note, access)["token"])
        status, made, _ = make(guarded, guarded.note, "hm", guest, anchor=anchor(1, 0, 4), author="Gus")
        assert status == expected, made
        sent = guarded.request("PUT", f"/api/notes/{guarded.note}/text", b"some words", {**write, **guest})[0]
        assert sent == (200 if access == "write" else 403)
        if expected == 201:
            assert made["author"].startswith("Gus") and not made["mine"]
            assert change(guarded, guarded.note, made["id"], {"text": "x"}, guest)[0] == 403
    critic = bearer(token({"documents": [{"match": guarded.note, "may": ["read", "comment"]}]}, sub="critic"))
    status, own, _ = make(guarded, guarded.note, "mine", critic, anchor=anchor(1, 0, 4))
    assert status == 201 and own["mine"]
    ada = bearer(token(EVERYTHING))
    assert change(guarded, guarded.note, own["id"], {"text": "x"}, ada)[0] == 403
    assert guarded.request("DELETE", f"/api/notes/{guarded.note}/comments/{own['id']}", headers=ada)[0] == 204


def test_limits_are_said_and_held(start):
    server = start("--comment-size-max", "64", "--note-comments-max", "2", "--user-comment-rate", "4")
    note = server.create_note()
    write(server, note, "text")
    body = json.loads(server.request("GET", f"/api/notes/{note}/comments")[2])
    assert body["limits"] == {"textBytesMax": 64, "commentsMax": 2, "mentionsMax": 20, "perMinuteMax": 4}
    answers = [make(server, note, text, anchor=anchor(1, 0, 4)) for text in ("é" * 33, "a", "b", "c", "d", "e")]
    assert [(status, body.get("code")) for status, body, _ in answers] == [
        (413, "tooLarge"), (201, None), (201, None), (413, "tooMany"), (413, "tooMany"), (429, "tooFast"),
    ]  # fmt: skip
    assert int(answers[-1][2]["retry-after"]) >= 1
