"""Everything that a store holds, moved from a file to PostgreSQL and back: the same, or nothing."""

import gzip
import hashlib
import json
import re
import sqlite3
import struct
import subprocess

import pytest
from native_client import Editor
from parley_server import PROGRAM, ParleyServer
from postgres_server import PostgresServer
from test_files import picture, put
from test_fixtures import FIXTURES, opened
from test_login import put_user, tokens
from test_postgres import parley
from test_tokens import bearer, new_key


@pytest.fixture(scope="module")
def postgres():
    server = PostgresServer().start()
    yield server
    server.remove()


def tables(path):
    """Every table of a file with its rows; what a store numbers for itself alone is left out."""
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    names = [
        name.decode()
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith(b"sqlite_stat")
    ]
    rows = {}
    for name in names:
        found = connection.execute(f"SELECT * FROM {name}").fetchall()
        rows[name] = sorted(map(repr, (row[1:] if name == "snapshots" else row for row in found)))
    connection.close()
    return rows


def lasting(path):
    """The tables without a secret that each server makes itself if its store is older than that."""
    rows = tables(path)
    return {**rows, "meta": [row for row in rows["meta"] if "secret:password resets" not in row]}


def fill(path, document):
    """Gives every table that has none a row, so that none is forgotten; and a note's clock was set back."""
    connection = sqlite3.connect(path)
    value = struct.pack("<qq", 3, 5)
    name = f"clock:{document}".encode()
    record = b"\x06" + struct.pack("<q", len(name)) + name + struct.pack("<q", len(value)) + value
    connection.execute(
        "INSERT INTO meta VALUES (?, ?, ?)", (name.decode(), value, hashlib.sha256(record).digest()[:16])
    )
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table.startswith("sqlite_") or connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
            continue
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        assert "checksum" not in [column[1] for column in columns], f"{table} wants a row of the server's"
        values = [{"INTEGER": 1, "TEXT": "é\0🐦", "BLOB": b"\0\xff"}[column[2]] for column in columns]
        if table == "garbage":
            values = [999]
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)
    connection.execute("INSERT INTO likes VALUES (1, 2, ?, '')", ("nul\0person",))
    connection.commit()
    connection.close()


def make(start, tmp_path):
    """A server with rows in most tables, and the id of a note."""
    operator = bearer(new_key(tmp_path, "admin", "operator"))
    server = start("--webhook-url", "http://127.0.0.1:1/", "--api-key-file", tmp_path / "api-keys")
    status, _, body = server.request("POST", "/api/notes", {"title": "Kept"}, {"Idempotency-Key": "k"})
    assert status == 201, body
    note = json.loads(body)["id"]
    path = f"/api/notes/{note}"
    editor = Editor("Ada", note).attach(server)
    editor.edit(["typed "])
    editor.settle()
    editor.client.close()
    for text in ("Größe 🐦 " * 9_000, "short", "Größe " * 9_000, "the end é"):
        assert server.request("PUT", f"{path}/text", text.encode())[0] == 200
    status, _, body = server.request("POST", f"{path}/versions", {"name": "First", "revision": 2})
    assert status in (200, 201), body
    put(server, note, picture())
    remark = {"text": "é", "anchor": {"revision": 2, "from": 0, "to": 6}}
    assert server.request("POST", f"{path}/comments", remark)[0] == 201
    gone = server.create_note("Gone")
    assert server.request("PUT", f"/api/notes/{gone}/text", b"gone")[0] == 200
    assert server.request("DELETE", f"/api/notes/{gone}")[0] == 204
    for number in range(3):
        status, _, body = server.request("POST", "/api/rooms/team/publish", {"data": {"n": number}})
        assert status == 200, body
    changes = {"values": [{"set": "card", "to": {"column": "todo"}, "ttl": 3600}]}
    assert server.request("PATCH", "/api/rooms/team/values", changes)[0] == 200
    assert server.request("POST", "/api/revoke", {"user": "bea ü"}, operator)[0] == 200
    mention(server, note, tmp_path / "users")
    return server, note


def mention(server, note, users):
    """Adds a notice, which only a server with users has."""
    flags = list(server.flags)
    assert server.stop() == 0
    for user in ("ada", "bob"):
        put_user(users, user, "document:*=all")
    server.flags += ["--users-file", users]
    server.start()
    body = {"text": "which?", "mentions": ["bob"], "anchor": {"revision": 2, "from": 0, "to": 1}}
    ada = bearer(tokens(server, "ada")["accessToken"])
    assert server.request("POST", f"/api/notes/{note}/comments", body, ada)[0] == 201
    assert server.stop() == 0
    server.flags = flags
    server.start()


def test_a_database_of_0_1_0_is_its_store_of_sqlite(postgres, tmp_path):
    address = postgres.new_database()
    (postgres.folder / "store.sql").write_bytes(gzip.decompress((FIXTURES / "store.sql.gz").read_bytes()))
    postgres.run("psql", "--quiet", "-v", "ON_ERROR_STOP=1", "-d", address, "-f", postgres.folder / "store.sql")
    # A server migrates it to the present format.
    (tmp_path / "server").mkdir()
    assert ParleyServer(tmp_path / "server", "--store-url", address).start().stop() == 0
    code, said = parley(tmp_path, "check", "--store-url", address)
    assert code == 0 and "sound" in said, said
    (tmp_path / "moved").mkdir()
    code, said = parley(tmp_path, "migrate", "--from", address, "--to", tmp_path / "moved" / "notes.parley")
    assert code == 0, said
    assert lasting(tmp_path / "moved" / "notes.parley") == lasting(opened(tmp_path / "opened") / "notes.parley")


def test_moving_a_store_and_back_gives_the_same_store(start, postgres, tmp_path):
    server, note = make(start, tmp_path)
    address = postgres.new_database()
    source = server.data / "notes.parley"
    code, said = parley(tmp_path, "migrate", "--from", source, "--to", address)
    assert code == 1 and f"process {server.process.pid} has it open" in said
    assert server.stop() == 0
    fill(source, 1)
    before = tables(source)
    assert all(before.values()), [name for name, rows in before.items() if not rows]

    code, said = parley(tmp_path, "migrate", "--from", server.data, "--to", address)
    assert code == 0, said
    assert "sound, 1 notes" in said and "copying log: " in said
    digest = re.search(r"the digest of both stores is ([0-9a-f]{64})", said)[1]
    assert tables(source) == before, "the source has changed"
    code, said = parley(tmp_path, "migrate", "--from", source, "--to", address)
    assert code == 1 and "there is a store already" in said

    back = tmp_path / "back" / "notes.parley"
    back.parent.mkdir()
    ended = subprocess.run(
        [PROGRAM, "migrate", "--from", address, "--to", str(back), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    report = json.loads(ended.stdout)
    assert (report["digest"], report["revocations"], report["notes"]) == (digest, 1, 1)
    assert report["rows"]["publications"] == 4
    assert tables(back) == before
    assert set((back.parent / "revocations").read_text().split("\n")) == set(
        (server.data / "revocations").read_text().split("\n")
    )

    # A gateway continues with it, where the first one ended.
    server.flags += ["--store-url", address]
    server.start()
    status, _, body = server.request("GET", f"/api/notes/{note}/text?format=text")
    assert (status, body.decode()) == (200, "the end é")
    status, _, body = server.request("POST", "/api/notes", {"title": "Kept"}, {"Idempotency-Key": "k"})
    assert (status, json.loads(body)["id"]) == (201, note), "what was done once is done twice"
    status, _, body = server.request("POST", "/api/rooms/team/publish", {"data": 3})
    assert (status, json.loads(body)["offset"]) == (200, 5)
    server.create_note("New")
    code, said = parley(tmp_path, "migrate", "--from", address, "--to", tmp_path / "other.parley")
    assert code == 1 and "it is in use by parley at the database's machine (PostgreSQL's process " in said
    assert not (tmp_path / "other.parley").exists()


@pytest.mark.parametrize("to", ["database", "file"])
def test_a_killed_move_starts_over(start, postgres, tmp_path, to):
    server = start()
    note = server.create_note("Kept")
    editor = Editor("Ada", note).attach(server)
    editor.edit(["kept"])
    editor.settle()
    editor.client.close()
    assert server.stop() == 0
    source, target = server.data / "notes.parley", postgres.new_database()
    connection = sqlite3.connect(source)
    connection.executemany("INSERT INTO last_online VALUES (?, 1)", ((f"p{n}",) for n in range(60_000)))
    connection.commit()
    connection.close()
    flags = ["--store-url", target]
    if to == "file":
        code, said = parley(tmp_path, "migrate", "--from", source, "--to", target)
        assert code == 0, said
        source, folder = target, tmp_path / "moved"
        folder.mkdir()
        target, flags = folder / "notes.parley", ["--data-dir", folder]
    moving = subprocess.Popen(
        [PROGRAM, "migrate", "--from", source, "--to", target], stderr=subprocess.PIPE, text=True
    )
    while "copying last_online: " not in moving.stderr.readline():
        assert moving.poll() is None
    moving.kill()
    moving.wait()
    moving.stderr.close()
    for command in (["serve", "--port", 0], ["check"], ["notes"]):
        code, said = parley(tmp_path, *command, *flags)
        assert code == 1 and "a move into it was interrupted; run parley migrate again" in said, said
    code, said = parley(tmp_path, "migrate", "--from", source, "--to", target)
    assert code == 0, said
    code, said = parley(tmp_path, "notes", *flags)
    assert code == 0 and note in said
    server.flags += flags
    server.start()


def test_impossible_moves_are_refused(tmp_path, postgres):
    for words, reason in (
        (["--from", "none.parley", "--to", "new.parley"], "the file does not exist"),
        (["--from", postgres.new_database(), "--to", "new.parley"], "it has no tables of Parley's"),
        (["--from", "a", "--to", "mysql://u:hidden-word@host/name"], "an address such as postgres://"),
        (["--from", "a"], "expected --from STORE --to STORE"),
    ):
        code, said = parley(tmp_path, "migrate", *words)
        assert code in (1, 2) and reason in said and "hidden-word" not in said, said
        assert not (tmp_path / "new.parley").exists()
