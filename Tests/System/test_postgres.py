"""The program with PostgreSQL behaves as with a file."""

import json
import os
import subprocess

import pytest
from crash_run import CrashRun
from native_client import Editor, settle
from nats_server import NatsServer
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS
from postgres_server import PostgresServer
from test_doctor import examine
from test_tokens import bearer, new_key


@pytest.fixture(scope="module")
def postgres():
    server = PostgresServer().start()
    yield server
    server.remove()


def parley(folder, *arguments):
    """Runs the program. Returns its exit code and output."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    ended = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, env=clean,
        cwd=folder, stdin=subprocess.DEVNULL, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    return ended.returncode, ended.stdout + ended.stderr


def test_kills_lose_and_double_nothing(start, postgres):
    server = start("--store-url", postgres.new_database())
    run = CrashRun(server, seed=34)
    while run.kills < 5:
        run.kill_after(run.rng.randint(5, 60))
        run.come_back()
    figures = run.finish()
    assert figures["acknowledged, native"] > 20
    assert figures["acknowledged, Whaler"] > 5
    server.start()


def test_a_database_outage_is_survived(start):
    postgres = PostgresServer().start()
    try:
        server = start("--store-url", postgres.new_database())
        document = server.create_note()
        editor = Editor("Ada", document).attach(server)
        for number in range(20):
            if number % 7 == 3:
                postgres.kill()
                editor.edit([f"{number} ", *([len(editor.text)] if editor.text else [])])
                postgres.start()
            else:
                editor.edit([f"{number} ", *([len(editor.text)] if editor.text else [])])
            editor.settle()
        assert sorted(map(int, editor.text.split())) == list(range(20)), "lost or doubled"
        editor.client.close()
        status, _, body = server.request("GET", "/metrics")
        assert status == 200
        again = [line for line in body.decode().splitlines() if "store_reconnects_total" in line]
        assert int(float(again[-1].split()[-1])) >= 3
        assert server.stop() == 0
        server.start()
    finally:
        postgres.remove()


def test_the_store_is_described(start, postgres, tmp_path):
    address = postgres.new_database()
    key = new_key(tmp_path, "admin", "operator")
    server = start("--store-url", address, "--api-key-file", tmp_path / "api-keys")
    document = server.create_note("Kept")
    status, _, body = server.request("GET", "/api/stats", headers=bearer(key))
    assert status == 200
    assert json.loads(body)["store"]["durableMachines"] == 1
    code, findings = examine(tmp_path, "--store-url", address)
    assert code == 0
    assert any("durable on one machine" in text for _, text in findings["store"])
    # As many connections as there are.
    _, findings = examine(tmp_path, "--store-url", address, "--loops", 64)
    assert any(
        severity == "warning" and "the database allows 100 connections, and this gateway has 131" in text
        for severity, text in findings["store"]
    )
    # While the server runs, as over a file.
    code, said = parley(tmp_path, "notes", "--store-url", address)
    assert code == 0 and document in said
    code, said = parley(tmp_path, "check", "--store-url", address)
    assert code == 0 and "sound, 1 notes" in said
    # What wants to be alone says so.
    code, said = parley(
        tmp_path, "compact", "--store-url", address, "--history-changes-min", 10
    )  # fmt: skip
    assert code != 0 and "another Parley works with this database" in said
    code, said = parley(tmp_path, "backup", "copy.parley", "--store-url", address)
    assert code != 0 and "pg_dump" in said


# Without hints the gateways look for each other's changes.
@pytest.mark.parametrize("broker", ["the database", "none", "nats"])
def test_two_gateways_serve_one_note(start, postgres, request, broker):
    address = postgres.new_database()
    flags = () if broker == "the database" else ("--broker-url", broker)
    if broker == "nats":
        nats = NatsServer().start()
        request.addfinalizer(nats.stop)
        flags = ("--broker-url", nats.address)
    first, second = (start("--store-url", address, *flags) for _ in range(2))
    document = first.create_note("Shared")
    ada, ben = Editor("Ada", document).attach(first), Editor("Ben", document).attach(second)
    for round in range(20):
        for editor in (ada, ben):
            editor.edit([f"{editor.name}{round} ", *([len(editor.text)] if editor.text else [])])
        settle([ada, ben])
    assert ada.text == ben.text and len(ada.text.split()) == 40
    # A client that goes to the other node resumes there, as the same client.
    ada.attach(second)
    ada.edit(["over there ", len(ada.text)])
    settle([ada, ben])
    ada.attach(first)
    ada.edit(["and back ", len(ada.text)])
    settle([ada, ben])
    assert ada.text == ben.text and ada.text.startswith("and back over there ")
    for editor in (ada, ben):
        editor.client.close()
    code, said = parley(first.data.parent, "check", "--store-url", address)
    assert code == 0, said
    counters = [line.split() for line in second.request("GET", "/metrics")[2].decode().splitlines()]
    counters = {line[0]: float(line[-1]) for line in counters if not line[0].startswith("#")}
    assert counters["parley_adopted_entries_total"] >= 20
    assert ("parley_hints_heard_total" in counters) == (broker != "none")
    assert broker == "none" or counters["parley_hints_heard_total"] > 0


def test_passwords_are_never_printed(postgres, tmp_path):
    secret = "hidden-word"
    address = postgres.new_database().replace("user=parley", f"user=nobody&password={secret}")
    for arguments in (
        ("serve", "--port", 0, "--store-url", address),
        ("check", "--store-url", address),
        ("doctor", "--port", 0, "--store-url", address),
        ("notes", "--store-url", address),
        ("serve", "--store-url", f"postgres://u:{secret}@[no address"),
        ("serve", "--store-url", address, "--broker-url", f"nats://u:{secret}@[no address"),
        ("serve", "--store-url", f"mysql://u:{secret}@host/name"),
    ):
        code, said = parley(tmp_path, *arguments)
        assert code != 0, arguments
        assert said and secret not in said, arguments


def test_a_note_is_exported_and_imported(postgres, tmp_path):
    address = postgres.new_database()
    (tmp_path / "note.md").write_text("# Größe 🐦\n")
    code, said = parley(tmp_path, "import", "note.md", "--store-url", address)
    assert code == 0, said
    code, said = parley(tmp_path, "notes", "--store-url", address)
    (note,) = [line.split()[0] for line in said.splitlines() if line]
    code, said = parley(tmp_path, "export", note, "--format", "ops", "--store-url", address)
    assert code == 0
    (tmp_path / "note.ops").write_text(said)
    code, said = parley(tmp_path, "import", "note.ops", "--store-url", address)
    assert code == 0, said
    code, said = parley(tmp_path, "check", "--store-url", address)
    assert code == 0 and "sound, 2 notes with 2 changes" in said
