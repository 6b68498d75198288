"""Several gateways on one database: features without a log also work across gateways."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

import pytest
from database_line import DatabaseLine
from fault_library import Faults
from hook_receiver import HookReceiver
from native_client import Editor, NativeClient, Unavailable, settle
from parley_server import PROGRAM, ParleyServer
from patience import SECONDS, wait_until
from postgres_server import USER, PostgresServer
from test_access import issued
from test_metrics import one, scrape
from test_postgres import parley
from test_tokens import SECRET, bearer, greet, make_note, new_key
from test_webhooks import QUICK, patch
from websockets.exceptions import WebSocketException


@pytest.fixture(scope="module")
def postgres():
    server = PostgresServer().start()
    yield server
    server.remove()


def test_a_revocation_at_one_gateway_applies_at_all(start, postgres, tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    operator = bearer(new_key(tmp_path, "admin", "operator"))
    flags = [
        "--hmac-secret-file", tmp_path / "secret", "--audience", "parley", "--clock-skew", "0s",
        "--api-key-file", tmp_path / "api-keys", "--store-url", postgres.new_database(),
    ]  # fmt: skip
    first, second = start(*flags), start(*flags)
    note = make_note(first)
    client, _ = greet(second, issued(jti="t-1"))
    client.join(note)
    other, _ = greet(second, issued(sub="bea", jti="t-2"))
    # As of yet no such client is connected here.
    status, _, body = first.request("POST", "/api/revoke", {"token": "t-1"}, operator)
    assert (status, json.loads(body)) == (200, {"connections": 0})
    assert client.close_code() == 4508
    # What happens while one is away it hears when it is back; and keeps, without the others.
    assert second.stop() == 0
    assert first.request("POST", "/api/revoke", {"user": "bea"}, operator)[0] == 200
    second.start()
    try:
        late, reply = greet(second, issued(sub="bea", jti="t-3"))
        # It was there before the news.
        assert reply != "welcome" or late.close_code() == 4508
    except WebSocketException:
        pass
    assert other is not None
    # The received revocations are in its own file at the latest when it ends.
    assert second.stop() == 0
    assert "bea" in (second.data / "revocations").read_text()
    second.start()


def test_another_gateway_sends_the_events_after_the_sender_has_ended(start, postgres):
    receiver = HookReceiver()
    try:
        flags = ["--webhook-url", receiver.url, *QUICK, "--store-url", postgres.new_database()]
        servers = [start(*flags), start(*flags)]
        notes = [server.create_note(f"By {number}") for number, server in enumerate(servers)]
        heard = []

        def hear(count):
            while len(heard) < count:
                heard.extend(receiver.next_taken().events)
            return heard

        for number in range(10):
            for server, note in zip(servers, notes):
                patch(server, note, f"{number}")
        # Beside these: two servers that have started, two notes that were made.
        events = hear(24)
        assert len({event["id"] for event in events}) == 24, "told twice"
        for note in notes:
            titles = [
                event["data"]["note"]["title"] for event in events
                if event["data"].get("note", {}).get("id") == note
            ]  # fmt: skip
            assert titles[1:] == [str(number) for number in range(10)], "out of order"
        calls = [
            one(scrape(server)[0], "parley_webhook_calls_total", outcome="accepted")
            if ("parley_webhook_calls_total", (("outcome", "accepted"),)) in scrape(server)[0] else 0
            for server in servers
        ]  # fmt: skip
        assert sorted(calls)[0] == 0, f"both of them have told: {calls}"
        sender = calls.index(max(calls))
        servers[sender].kill()
        patch(servers[1 - sender], notes[0], "after")

        def hear_of(title):
            """An event that was sent and not settled may be sent again, unchanged; nothing else comes."""
            nonlocal place
            while True:
                event = hear(place + 1)[place]
                place += 1
                if event["id"] not in known and event["type"] != "server.started":
                    break
                assert known.setdefault(event["id"], event) == event
            known[event["id"]] = event
            assert event["data"]["note"]["title"] == title

        known, place = {event["id"]: event for event in heard}, len(heard)
        hear_of("after")
        servers[sender].start()
        patch(servers[sender], notes[0], "back")
        hear_of("back")
    finally:
        receiver.close()


def test_people_in_a_note_see_each_other_whichever_gateway_they_are_at(start, postgres):
    address = postgres.new_database()
    servers = [start("--store-url", address) for _ in range(2)]
    note = servers[0].create_note("Seen")
    ada, ben = NativeClient(servers[0], "Ada"), NativeClient(servers[1], "Ben")
    try:
        joined = ada.join(note)
        ben.join(note)

        def meet(client, other):
            data = client.expect(
                "presence", lambda data: other.id in {one["clientId"] for one in data["joined"]}
            )
            return next(one for one in data["joined"] if one["clientId"] == other.id)

        assert (meet(ada, ben)["name"], meet(ben, ada)["name"]) == ("Ben", "Ada")
        assert ada.change(note, joined, 1, ["one two"])[0] == "acknowledged"
        assert ben.expect("changes")["revision"] == 1
        ben.send("select", {"documentId": note, "revision": 1, "selections": [[4, 7]]})
        assert ada.expect("selections") == {
            "documentId": note, "revision": 1, "clientId": ben.id, "selections": [[4, 7]],
        }  # fmt: skip
        # A new client of the first one learns where the caret is after the next change.
        assert ada.change(note, joined, 2, [4, "and ", 3], 1)[0] == "acknowledged"
        with NativeClient(servers[0], "Cleo") as cleo:
            people = {one["name"]: one.get("selections") for one in cleo.join(note)["presence"]}
        assert people["Ben"] == [[4, 11]]
        servers[1].kill()
        ada.expect("presence", lambda data: ben.id in data["left"])
        servers[1].start()
    finally:
        ada.close()
        ben.close()


def version():
    said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[1]


def nodes(server, operator):
    status, _, body = server.request("GET", "/api/stats", headers=operator)
    assert status == 200
    return {node["name"]: node for node in json.loads(body)["nodes"]}


def test_every_gateway_reports_all_gateways_to_operators(start, postgres, tmp_path):
    operator = bearer(new_key(tmp_path, "admin", "operator", "document:*=all"))
    flags = ["--api-key-file", tmp_path / "api-keys", "--store-url", postgres.new_database()]
    first = start(*flags, "--node-name", "erster")
    second = start(*flags, "--node-name", "zweiter", "--loops", "2")
    for server, name in ((first, "erster"), (second, "zweiter")):
        # A report is on its way as soon as the other one is heard.
        wait_until(lambda: len(nodes(server, operator)) == 2)
        seen = nodes(server, operator)
        assert [node for node, facts in seen.items() if facts["isAsked"]] == [name]
        assert seen["zweiter"]["loops"] == 2 and seen["erster"]["loops"] == 1
        assert {facts["version"] for facts in seen.values()} == {version()}
        assert all(facts["silentMilliseconds"] < 60_000 for facts in seen.values())
    with NativeClient(second, "Ada") as client:
        client.join(json.loads(second.request("POST", "/api/notes", {"title": "N"}, operator)[2])["id"])
        wait_until(lambda: nodes(first, operator)["zweiter"]["documents"] >= 1)
        assert nodes(first, operator)["zweiter"]["connections"] >= 1
    second.kill()
    wait_until(lambda: nodes(first, operator)["zweiter"]["silentMilliseconds"] >= 2_500)
    second.start()
    # It is another run of the same node: the former one stays on the board for a while.
    status, _, body = first.request("GET", "/api/stats", headers=operator)
    assert status == 200 and len(json.loads(body)["nodes"]) in (2, 3)


class Cut:
    """A gateway with a line to the database that can be cut."""

    def __init__(self, start, postgres, address, *flags):
        self.line = DatabaseLine(postgres.folder)
        self.server = start(
            "--store-url", address.replace(str(postgres.folder), self.line.folder), *flags
        )


def test_a_database_that_stops_for_some_seconds(start):
    postgres = PostgresServer().start()
    try:
        address = postgres.new_database()
        servers = [start("--store-url", address) for _ in range(2)]
        note = servers[0].create_note("Slow")
        editors = [Editor(name, note).attach(servers[n]) for n, name in enumerate(("Ada", "Ben"))]
        for word in ("one ", "two "):
            postgres.freeze(True)
            timer = threading.Timer(2, postgres.freeze, [False])
            timer.start()
            for editor in editors:
                editor.edit([word, *([len(editor.text)] if editor.text else [])])
            settle(editors)
            timer.join()
        assert editors[0].text == editors[1].text and len(editors[0].text.split()) == 4
        for editor in editors:
            editor.client.close()
        for server in servers:
            assert server.stop() == 0
            server.flags = []
            server.start()
    finally:
        postgres.remove()


def test_a_gateway_without_its_database_answers_all_pending_requests(start, postgres):
    address = postgres.new_database()
    cut, whole = Cut(start, postgres, address), start("--store-url", address)
    try:
        note = whole.create_note("Away")
        ada, ben = Editor("Ada", note).attach(cut.server), Editor("Ben", note).attach(whole)
        ada.edit(["before "])
        settle([ada, ben])
        cut.line.tell("down")
        ada.edit([len(ada.text), "meanwhile "])
        ben.edit(["elsewhere ", len(ben.text)])
        ben.settle()
        # It says that it cannot, and that the change is to be sent again; not that it is lost.
        with pytest.raises((Unavailable, WebSocketException)):
            while True:
                ada.pump(SECONDS)
        assert cut.server.request("GET", "/ready")[0] == 503
        # The same change at the other gateway.
        ada.attach(whole)
        settle([ada, ben])
        cut.line.tell("mend")
        wait_until(lambda: cut.server.request("GET", "/ready")[0] == 200)
        cleo = Editor("Cleo", note).attach(cut.server)
        # It is ready once it has read the changes of other nodes.
        assert cleo.text == "elsewhere before meanwhile "
        settle([ada, ben, cleo])
        assert cleo.text == ada.text == ben.text == "elsewhere before meanwhile "
        cleo.client.close()
    finally:
        for editor in (ada, ben):
            editor.client.close()
        cut.line.close()


def is_refused(server, token):
    """The connection that a token is refused at; none if it is taken, or it was too many connections."""
    client, reply = greet(server, token)
    if reply == "error" and client.welcome["code"] != "tooFast":
        return client
    client.close()


def test_a_gateway_that_cannot_read_revocations_rejects_every_token(start, postgres, tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    operator = bearer(new_key(tmp_path, "admin", "operator"))
    flags = [
        "--hmac-secret-file", tmp_path / "secret", "--audience", "parley", "--clock-skew", "0s",
        "--api-key-file", tmp_path / "api-keys",
    ]  # fmt: skip
    address = postgres.new_database()
    whole, cut = start(*flags, "--store-url", address), Cut(start, postgres, address, *flags)
    try:
        there, _ = greet(cut.server, issued(sub="cleo", jti="t-3"))
        cut.line.tell("down")
        assert whole.request("POST", "/api/revoke", {"token": "t-1"}, operator)[0] == 200
        # For some seconds it is as if the news were on their way.
        client = wait_until(lambda: is_refused(cut.server, issued(jti="t-2")))
        assert (client.welcome["code"], client.welcome["retryable"]) == ("unavailable", True)
        assert client.close_code() == 4002
        for value in (issued(jti="t-1"), issued(jti="t-2")):
            status, headers, body = cut.server.request("GET", "/api/notes", headers=bearer(value))
            assert (status, json.loads(body)["code"]) == (503, "unavailable")
            assert b"evocations cannot be read" in body and int(headers["retry-after"]) > 0
            assert greet(cut.server, value)[1] == "error"
        assert cut.server.request("GET", "/ready")[0] == 503
        assert cut.server.request("GET", "/api/connections", headers=operator)[0] == 200
        assert there.request("ping", {})[0] == "pong", "who is there stays for a while"
        cut.line.tell("mend")
        wait_until(lambda: cut.server.request("GET", "/api/notes", headers=bearer(issued(jti="t-2")))[0] == 200)
        assert cut.server.request("GET", "/api/notes", headers=bearer(issued(jti="t-1")))[0] == 401
        there.close()
    finally:
        cut.line.close()


def test_a_database_restored_to_the_past_gets_another_epoch(start, postgres):
    address = postgres.new_database()
    name = address.split("///")[1].split("?")[0]
    server = start("--store-url", address)
    note = server.create_note("Restored")
    ada = Editor("Ada", note).attach(server)
    ada.edit(["kept "])
    ada.settle()
    epoch = ada.epoch
    # A copy requires that no gateway is connected: the gateways wait.
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    wait_until(lambda: not postgres.execute(end))
    postgres.execute(f"CREATE DATABASE {name}_backup TEMPLATE {name}")
    postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    ada.edit([len(ada.text), "lost "])
    ada.settle()
    assert ada.revision == 2
    postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false; {end}")
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")
    postgres.execute(f"ALTER DATABASE {name}_backup RENAME TO {name}")
    postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    # A client that has seen lost changes is notified, and not left to guess.
    while True:
        with NativeClient(server, "Ada", ada.claim) as client:
            kind, joined = client.request(
                "join", {"documentId": note, "resume": {"epoch": epoch, "revision": ada.revision}}
            )
            if kind == "joined":
                break
            assert joined["code"] == "unavailable", joined
    assert joined["epoch"] != epoch
    assert joined["text"] == "kept "
    ada.client.close()


def test_a_gateway_whose_clock_is_wrong(start, postgres, tmp_path):
    address = postgres.new_database()
    faults = Faults(tmp_path / "faults")
    wrong = ParleyServer(tmp_path, "--store-url", address, environment=faults.environment)
    faults.begin("clock", 40 * 86_400_000)
    try:
        wrong.start()
        right = start("--store-url", address)
        note = wrong.create_note("Of the future")
        ada, ben = Editor("Ada", note).attach(wrong), Editor("Ben", note).attach(right)
        for round in range(10):
            for editor in (ada, ben):
                editor.edit([f"{round} ", *([len(editor.text)] if editor.text else [])])
            settle([ada, ben])
        assert ada.text == ben.text and len(ada.text.split()) == 20
        ada.attach(right)
        ada.edit(["back ", len(ada.text)])
        settle([ada, ben])
        assert ada.text == ben.text
        for editor in (ada, ben):
            editor.client.close()
        assert right.request("GET", f"/api/notes/{note}/history")[0] == 200
        assert wrong.stop() == 0
    finally:
        if wrong.is_running:
            wrong.kill()


def test_a_connection_pooler_is_reported(postgres, tmp_path_factory):
    address = postgres.new_database()
    name = address.split("///")[1].split("?")[0]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-pool-", dir="/tmp"))
    pool = None
    try:
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n{name} = host={postgres.folder} user=parley\n[pgbouncer]\nlisten_addr =\n"
            f"unix_socket_dir = {folder}\nauth_type = any\npool_mode = transaction\n"
            "default_pool_size = 5\nignore_startup_parameters = extra_float_digits\n"
        )
        if os.getuid() == 0:
            for place in (folder, *folder.iterdir()):
                shutil.chown(place, USER)
        pool = subprocess.Popen(
            ["/usr/sbin/pgbouncer", "-q", folder / "pgbouncer.ini"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **postgres.owner,
        )  # fmt: skip
        while not (folder / ".s.PGSQL.6432").exists():
            assert pool.poll() is None, pool.stdout.read()
        pooled = f"postgres:///{name}?host={folder}&port=6432&user=parley"
        code, said = parley(
            tmp_path_factory.mktemp("pooled"), "serve", "--port", 0, "--store-url", pooled
        )
        assert code != 0 and "pooler" in said, said
    finally:
        if pool:
            pool.kill()
            pool.wait()
            pool.stdout.close()
        shutil.rmtree(folder)


@pytest.mark.parametrize("trouble", ["full", "only to be read"])
def test_a_database_that_takes_nothing_for_a_while(start, postgres, trouble):
    address = postgres.new_database()
    name = address.split("///")[1].split("?")[0]
    server = start("--store-url", address)
    note = server.create_note("Kept")
    ada = Editor("Ada", note).attach(server)
    ada.edit(["before "])
    ada.settle()
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    if trouble == "full":
        postgres.execute(
            "CREATE FUNCTION parley.is_full() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$;"
            + "".join(
                f"CREATE TRIGGER is_full BEFORE INSERT OR UPDATE ON parley.{table} "
                "FOR EACH STATEMENT EXECUTE FUNCTION parley.is_full();"
                for table in ("log", "writers")
            ),
            name,
        )
    else:
        postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on; {end}")
    ada.edit([len(ada.text), "meanwhile "])
    # It is refused, to be sent again, and stays with its author; reading still works.
    with pytest.raises((Unavailable, WebSocketException)):
        while True:
            ada.pump(SECONDS)
    assert server.request("GET", "/ready")[0] == 503
    status, _, body = server.request("GET", f"/api/notes/{note}/text?format=text")
    assert (status, body) == (200, b"before ")
    if trouble == "full":
        postgres.execute("DROP FUNCTION parley.is_full CASCADE", name)
    else:
        postgres.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only; {end}")
    wait_until(lambda: server.request("GET", "/ready")[0] == 200)
    ada.attach(server)
    ada.settle()
    status, _, body = server.request("GET", f"/api/notes/{note}/text?format=text")
    assert (status, body) == (200, b"before meanwhile ")
    ada.client.close()
