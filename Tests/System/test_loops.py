"""Several loops in one process: each is a gateway of its own, behind one port."""

import contextlib
import http.client
import json
import ssl

import pytest
from crash_run import CrashRun
from engine_client import EnginePoll, EngineSocket
from native_client import Editor, NativeClient, settle
from patience import SECONDS
from postgres_server import PostgresServer
from test_bayeux import BayeuxSocket, post
from test_invitations import invite, join, token_of
from test_login import PASSWORD, add_user, log_in, tokens, users  # noqa: F401 (a fixture)
from test_login import post as post_json
from test_metrics import one, scrape
from test_operators import ask, listed, whaler
from test_postgres import parley
from test_rates import as_user
from test_search import found, make, wait_until
from test_tls import hang_up, make_certificate, presented
from test_tokens import EVERYTHING, SECRET, bearer, greet, new_key, token
from test_users import OTHER, user
from whaler_client import WhalerEditor

LOOPS = 2
HANDSHAKE = {
    "channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["long-polling"],
}  # fmt: skip


@pytest.fixture(scope="module")
def postgres():
    server = PostgresServer().start()
    yield server
    server.remove()


@pytest.fixture
def begin(start, postgres):
    """Starts a server with two loops."""

    def begin(*flags):
        return start("--store-url", postgres.new_database(), "--loops", str(LOOPS), *flags)

    return begin


@pytest.fixture
def guarded(begin, tmp_path):
    """One that checks tokens, and has an operator."""
    (tmp_path / "secret").write_bytes(SECRET)
    operator = new_key(tmp_path, "admin", "operator")

    def guarded(*flags):
        server = begin(
            "--hmac-secret-file", tmp_path / "secret", "--audience", "parley", "--clock-skew", "0s",
            "--api-key-file", tmp_path / "api-keys", "--connect-hold", "2s", *flags,
        )  # fmt: skip
        server.operator = operator
        return server

    return guarded


def loop_of(connection):
    """The loop that has given a connection its name."""
    return int(connection["id"]) >> 56 & 127


def loops(server):
    """The loops of all connections that are listed, by the clients' ids."""
    return {entry["clientId"]: loop_of(entry) for entry in listed(server)["connections"]}


def publish(server, room, data):
    status, _, body = server.request(
        "POST", "/api/publish", {"publications": [{"room": room, "data": data}]},
        bearer(token(EVERYTHING)),
    )  # fmt: skip
    assert status == 200, body


def test_clients_of_both_loops_write_one_note(begin, tmp_path):
    key = new_key(tmp_path, "admin", "operator")
    server = begin("--api-key-file", tmp_path / "api-keys")
    server.operator = key
    document = server.create_note("Shared")
    native = [Editor(f"N{number}", document).attach(server) for number in range(4)]
    whalers = [WhalerEditor(server, document) for _ in range(3)]
    assert set(loops(server).values()) == {0, 1}
    for round in range(12):
        for number, editor in enumerate(native + whalers):
            word = f"{number}.{round} "
            editor.edit([word, *([len(editor.text)] if editor.text else [])])
        settle(native)
    for editor in whalers:
        editor.settle()
    # One more, behind all others, for all to meet at.
    native[0].edit(["end ", len(native[0].text)])
    head = settle(native)
    for editor in whalers:
        editor.reach(head)
    texts = {editor.text for editor in native + whalers}
    assert len(texts) == 1
    assert sorted(texts.pop().split()) == sorted(
        ["end"] + [f"{number}.{round}" for number in range(7) for round in range(12)]
    )
    # A newcomer is notified of all, on any loop.
    with NativeClient(server, "Cleo") as cleo:
        seen = {one["clientId"] for one in cleo.join(document)["presence"]}
        while not seen >= loops(server).keys() - {cleo.id}:
            seen |= {one["clientId"] for one in cleo.expect("presence")["joined"]}
    # A client that reconnects to the other loop resumes there, as the same client.
    ada = native[0]
    before = loops(server)[ada.claim["id"]]
    with contextlib.ExitStack() as others:
        while loops(server)[ada.claim["id"]] == before:
            others.enter_context(NativeClient(server, "Filler"))
            ada.edit(["again ", len(ada.text)])
            ada.attach(server)
        ada.edit(["there ", len(ada.text)])
        settle(native)
    assert len({editor.text for editor in native}) == 1
    # Each loop has counted, and the page is of all, as of their last ticks.
    while True:
        samples, _ = scrape(server)
        of_loops = [
            one(samples, "parley_loop_connections", loop=str(loop)) for loop in range(LOOPS)
        ]  # fmt: skip
        if one(samples, "parley_changes_total") >= head and min(of_loops) > 0:
            break
    assert one(samples, "parley_adopted_entries_total") > 0
    assert one(samples, "parley_hints_heard_total") > 0
    assert one(samples, "parley_connections", dialect="whaler") == len(whalers)
    for editor in native:
        editor.client.close()
    for editor in whalers:
        editor.client.close()
    code, said = parley(tmp_path, "check", *server.store_flags)
    assert code == 0, said


def test_a_room_is_one_in_all_dialects_at_both_loops(guarded):
    server = guarded()
    room = "orders-1"
    with contextlib.ExitStack() as stack:
        natives = [
            stack.enter_context(as_user(server, f"n{number}")) for number in range(4)
        ]  # fmt: skip
        for client in natives:
            assert client.request("subscribe", {"room": room})[0] == "subscribed"
        pools = [stack.enter_context(whaler(server, room)) for _ in range(4)]
        sockets = [stack.enter_context(EngineSocket(server)) for _ in range(4)]
        for number, socket in enumerate(sockets):
            socket.begin()
            socket.authenticate(token(EVERYTHING, sub=f"s{number}"))
            socket.join(room)
        by_dialect = {}
        for entry in listed(server)["connections"]:
            by_dialect.setdefault(entry["dialect"], set()).add(loop_of(entry))
        assert by_dialect == {
            "native": {0, 1}, "whaler": {0, 1}, "socketIO": {LOOPS - 1},
        }  # fmt: skip
        for number in range(10):
            publish(server, room, {"n": number})
        for client in natives:
            heard = [client.expect("publication")["data"]["n"] for _ in range(10)]
            assert heard == list(range(10))
        for socket in sockets:
            heard = [socket.event()[1]["data"]["n"] for _ in range(10)]
            assert heard == list(range(10))
        for pool in pools:
            heard = [json.loads(pool.recv(timeout=SECONDS))["data"] for _ in range(10)]
            assert len(heard) == 10
        # Operators see all of it, wherever they ask.
        for _ in range(3):
            (entry,) = ask(server, "GET", "/api/rooms")[1]["rooms"]
            assert (entry["room"], entry["subscribers"]) == (room, 12)
            assert listed(server)["total"] == 12
            first = listed(server, "?limit=5")
            assert (len(first["connections"]), first["more"], first["total"]) == (5, True, 12)
            rest = listed(server, f"?after={first['connections'][-1]['id']}")
            assert len(rest["connections"]) == 7 and not rest["more"]


@pytest.mark.parametrize("generation", [3, 4])
def test_a_session_that_polls_finds_its_loop(guarded, generation):
    server = guarded()
    polls = [EnginePoll(server, generation) for _ in range(6)]
    for number, poll in enumerate(polls):
        poll.begin()
        # Each request is a connection of its own, and is dealt to either loop.
        credentials = {"token": token(EVERYTHING, sub=f"u{number}")}
        poll.post("42" + json.dumps(["authenticate", credentials]))
        assert poll.poll() == ['42["authenticated"]']
        poll.post("42" + json.dumps(["realtime:join", {"name": "room", "token": None}]))
        assert "realtime:join:success" in poll.poll()[0]
    assert {loop_of(entry) for entry in listed(server)["connections"]} == {LOOPS - 1}
    publish(server, "room", {"n": 1})
    for poll in polls:
        assert '"n": 1' in poll.poll()[0]
    # And continues over a WebSocket.
    for poll in polls:
        with EngineSocket(server, generation, f"&sid={poll.sid}") as socket:
            socket.send("2probe")
            assert socket.receive() == "3probe"
            assert poll.poll() == ["6"]
            socket.send("5")
            socket.emit("realtime:leave", {"name": "room"})
            assert socket.event() == ("realtime:leave:success", {"name": "room"})
    for name in ("nobody", "no one", "nowhere"):
        status, _, body = server.request(
            "GET", f"/socket/?EIO={generation}&transport=polling&sid={name.replace(' ', '+')}"
        )
        assert (status, json.loads(body)["code"]) == (400, 1)


def test_a_session_of_bayeux_finds_its_loop(guarded):
    server = guarded()
    for number in range(6):
        (shake,) = post(server, HANDSHAKE)
        client = shake["clientId"]
        subscribe = {
            "channel": "/meta/subscribe", "clientId": client, "subscription": "/group/2",
            "ext": {"access_token": token(EVERYTHING, sub=f"u{number}")},
        }  # fmt: skip
        assert post(server, subscribe)[0]["successful"]
        publish(server, "/group/2", {"n": 1})
        poll = {"channel": "/meta/connect", "clientId": client, "connectionType": "long-polling"}
        event, reply = post(server, poll)
        assert event["data"] == {"n": 1} and reply["successful"]
        # As Faye does it: hands were shaken over requests, and a WebSocket carries what follows.
        with BayeuxSocket(server) as socket:
            socket.client_id = client
            socket.send("[]")
            socket.connect()
            publish(server, "/group/2", {"n": 2})
            heard = []
            while {"n": 2} not in heard:
                heard += [message.get("data") for message in socket.receive()]
            unsubscribe = {
                "channel": "/meta/unsubscribe", "clientId": client, "subscription": "/group/2",
                "id": "9",
            }  # fmt: skip
            socket.send(unsubscribe)
            while "9" not in [message.get("id") for message in socket.receive()]:
                pass
    (reply,) = post(server, poll | {"clientId": "nobody"})
    assert not reply["successful"] and reply["error"].startswith("401")


def test_sessions_are_recovered(guarded):
    server = guarded()
    for number in range(3):

        def enter(hello):
            with EngineSocket(server) as socket:
                socket.receive()
                socket.send("40" + json.dumps(hello))
                return json.loads(socket.receive()[2:])

        credentials = {"token": token(EVERYTHING, sub=f"u{number}")}
        first = enter({"recovery": True} | credentials)
        # Another client connects, so that the next one is dealt to the other loop.
        with NativeClient(server, greet=False):
            assert enter({"pid": first["pid"]} | credentials) == first


def test_limits_and_operators_requests_apply_to_the_whole_process(guarded):
    server, name = guarded("--user-connections-max", "3"), "ada/of"
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(as_user(server, name)) for _ in range(3)]
        assert set(loops(server).values()) == {0, 1}
        for _ in range(4):
            late, kind = greet(server, token(EVERYTHING, sub=name))
            assert (kind, late.welcome["code"]) == ("error", "tooMany")
            late.close()
        ben = stack.enter_context(as_user(server, "ben"))
        # One of them by its name, whichever loop is asked.
        for entry in listed(server, f"?user={name}")["connections"][:2]:
            path = f"/api/connections/{entry['id']}/disconnect"
            assert ask(server, "POST", path) == (200, {"connections": 1})
        assert ask(server, "POST", f"/api/users/{name}/disconnect") == (200, {"connections": 1})
        assert [client.close_code() for client in clients] == [4509] * 3
        more = [stack.enter_context(as_user(server, name)) for _ in range(3)]
        # A loop that sees the revocation by itself has closed its connections before it is asked.
        status, closed = ask(server, "POST", "/api/revoke", {"user": name})
        assert status == 200 and 1 <= closed["connections"] <= 3
        assert [client.close_code() for client in more] == [4508] * 3
        assert ask(server, "POST", "/api/revoke", {"client": ben.id}) == (200, {"connections": 1})
        assert ben.close_code() == 4508


def test_a_request_with_a_key_is_performed_once_across_loops(guarded):
    server = guarded()
    order = ("POST", "/api/users/ada/disconnect", None, bearer(server.operator) | {"Idempotency-Key": "one"})
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(as_user(server, "ada")) for _ in range(4)]
        assert set(loops(server).values()) == {0, 1}
        status, _, body = server.request(*order)
        assert (status, json.loads(body)) == (200, {"connections": 4})
        assert [client.close_code() for client in clients] == [4509] * 4
        for _ in range(4):
            stack.enter_context(as_user(server, "ada"))
        # Any loop gives the same answer as before, and no client has to leave.
        for _ in range(3):
            status, answered, body = server.request(*order)
            assert (status, json.loads(body)) == (200, {"connections": 4})
            assert answered["idempotency-replayed"] == "true"
        assert listed(server)["total"] == 4


def test_a_request_to_all_loops_counts_once(guarded):
    server = guarded("--user-request-rate", "1", "--rate-burst-seconds", "4")
    # As many as there may be at once; each is one, at however many loops.
    for _ in range(4):
        assert ask(server, "GET", "/api/connections")[0] == 200


def test_users_are_the_same_at_every_loop(begin, users):  # noqa: F811
    server = begin("--users-file", users)
    with contextlib.ExitStack() as stack:

        def enter(name):
            access = tokens(server, name)["accessToken"]
            for _ in range(4):
                client, kind = greet(server, access)
                assert kind == "welcome"
                yield stack.enter_context(contextlib.closing(client))

        bea, ada = list(enter("bea@example.org")), list(enter("ada@example.org"))
        assert user("remove", "bea@example.org", "--file", users).returncode == 0
        assert [client.close_code() for client in bea] == [4508] * 4
        # Who changes their password over HTTP ends their sessions at all loops.
        change = {"email": "ada@example.org", "password": PASSWORD, "newPassword": OTHER}
        assert post_json(server, "/api/user/password", change)[1]["code"] == 1000
        assert [client.close_code() for client in ada] == [4508] * 4
        # Who has come by an invitation is known at all of them, too.
        server.users = users
        _, cid = join(server, token_of(invite(server, "make", "document:*=read")), "cid")
        for _ in range(4):
            client, kind = greet(server, cid["data"]["tokens"]["accessToken"])
            assert kind == "welcome"
            stack.enter_context(contextlib.closing(client))
        assert add_user(users, "dan", "document:*=read").returncode == 0
        wait_until(lambda: log_in(server, "dan")["code"] == 1000)


def test_searches_are_answered_at_every_loop(begin):
    server = begin()
    for number in range(4):
        make(server, f"n{number}", "A duck", f"the text of note{number}")
    everything = {f"n{number}" for number in range(4)}
    # Each request is a connection of its own, and is dealt to either loop.
    for _ in range(2 * LOOPS):
        wait_until(lambda: found(server, "duck") == everything)
    server.request("DELETE", "/api/notes/n0")
    for _ in range(2 * LOOPS):
        wait_until(lambda: found(server, "duck") == everything - {"n0"})


def test_a_stopped_server_sends_goodbye_at_every_loop_and_keeps_accepted_changes(begin):
    server = begin()
    document = server.create_note("Kept")
    editors = [Editor(f"N{number}", document).attach(server) for number in range(4)]
    for editor in editors:
        editor.edit([f"{editor.name} ", *([len(editor.text)] if editor.text else [])])
    settle(editors)
    assert server.stop() == 0
    assert [editor.client.close_code() for editor in editors] == [4002] * 4
    server.start()
    for editor in editors:
        editor.attach(server)
    settle(editors)
    assert sorted(editors[0].text.split()) == [f"N{number}" for number in range(4)]


def test_kills_lose_and_double_nothing(begin):
    server = begin()
    run = CrashRun(server, seed=40)
    while run.kills < 3:
        run.kill_after(run.rng.randint(5, 60))
        run.come_back()
    figures = run.finish()
    assert figures["acknowledged, native"] > 10
    server.start()


def test_a_file_has_one_loop(tmp_path, start):
    code, said = parley(tmp_path, "serve", "--port", 0, "--loops", 2)
    assert code == 2 and "set store-url to a PostgreSQL database, or loops to 1" in said
    code, said = parley(tmp_path, "serve", "--port", 0, "--loops", 65)
    assert code == 2 and "a whole number from 1 to 64, or auto" in said
    # As many as are good for it is one.
    server = start("--loops", "auto")
    assert not any(name == "parley_loop_connections" for name, _ in scrape(server)[0])


def test_an_encrypted_connection_moves_with_its_requests(begin, tmp_path):
    certificate, key = make_certificate(tmp_path)
    server = begin("--tls-certificate", str(certificate), "--tls-key", str(key))
    context = ssl.create_default_context(cafile=str(certificate))
    connections = [
        http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=SECONDS)
        for _ in range(3)
    ]  # fmt: skip

    def ask(connection, method, sid, body=None):
        query = "EIO=4&transport=polling" + (f"&sid={sid}" if sid else "")
        connection.request(method, f"/socket/?{query}", body)
        response = connection.getresponse()
        return response.status, response.read().decode()

    sessions = []
    for number in range(6):
        status, body = ask(connections[number % 3], "GET", None)
        assert status == 200
        sessions.append(json.loads(body[1:])["sid"])
    for round in range(3):
        for number, sid in enumerate(sessions):
            connection = connections[(number + round) % 3]
            if round == 0:
                assert ask(connection, "POST", sid, b"40") == (200, "ok")
                assert ask(connection, "GET", sid)[1].startswith("40")
            else:
                # A large one, which the socket does not take at once.
                assert ask(connection, "POST", sid, b"3" + b"x" * 100_000)[0] in (200, 400)
    # The certificate is read again for all.
    new, _ = make_certificate(tmp_path)
    hang_up(server, "certificate reloaded")
    for _ in range(4):
        assert presented(server) == new.read_text().strip()
    for connection in connections:
        connection.close()
