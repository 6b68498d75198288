"""The requests of operators about connected clients, with the real program."""

import json
import time
import urllib.parse

import pytest
from engine_client import EngineSocket
from native_client import NativeClient
from patience import SECONDS, wait_until
from test_bayeux import BayeuxSocket
from test_login import put_user, tokens
from test_tokens import EVERYTHING, SECRET, bearer, greet, make_note, new_key, token
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

LISTS = ["/api/connections", "/api/rooms", "/api/stats", "/api/audit"]
WORK = [
    "/api/connections/1/disconnect", "/api/users/ada/disconnect", "/api/users/ada/refresh-rights",
]  # fmt: skip


@pytest.fixture
def guarded(start, tmp_path):
    """A server that checks tokens, with an operator's key and one that may only publish."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    operator = new_key(tmp_path, "admin", "operator")
    publisher = new_key(tmp_path, "shop", "room:*=publish")
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--clock-skew", "0s",
        "--api-key-file", tmp_path / "api-keys", "--connect-hold", "2s",
    )  # fmt: skip
    server.operator, server.publisher = operator, publisher
    return server


def ask(server, method, path, body=None):
    status, headers, answer = server.request(method, path, body, bearer(server.operator))
    assert headers["content-type"] == "application/json"
    return status, json.loads(answer)


def listed(server, query=""):
    status, answer = ask(server, "GET", "/api/connections" + query)
    assert status == 200, answer
    return answer


def whaler(server, pool="pool"):
    headers = {"Authorization": token(EVERYTHING), "ObjectId": pool}
    return connect(f"ws://127.0.0.1:{server.port}/socket", additional_headers=headers)


def engine(server, name="ada"):
    socket = EngineSocket(server)
    socket.begin()
    socket.authenticate(token(EVERYTHING, sub=name))
    return socket


@pytest.mark.parametrize("path", LISTS + WORK)
def test_only_operators_are_answered(guarded, path):
    method, other = ("GET", "POST") if path in LISTS else ("POST", "GET")
    for credentials in (token(EVERYTHING), guarded.publisher):
        status, _, answer = guarded.request(method, path, None, bearer(credentials))
        assert (status, json.loads(answer)["code"]) == (403, "notAllowed")
    for headers in ({}, bearer("pk_unknown")):
        status, answered, _ = guarded.request(method, path, None, headers)
        assert (status, answered["www-authenticate"]) == (401, "Bearer")
    status, headers, _ = guarded.request(other, path, None, bearer(guarded.operator))
    assert (status, headers["allow"]) == (405, "GET, HEAD" if method == "GET" else method)


def test_connections_of_every_dialect_are_listed(guarded):
    before = int(time.time() * 1000)
    note = make_note(guarded)
    ada, _ = greet(guarded, token(EVERYTHING, name="Ada L."))
    ada.join(note)
    for room in ("one", "two"):
        assert ada.request("subscribe", {"room": room})[0] == "subscribed"
    silent = NativeClient(guarded, greet=False)
    with whaler(guarded), engine(guarded), BayeuxSocket(guarded) as bayeux:
        bayeux.begin()
        answer = listed(guarded)
        items = {item["dialect"]: item for item in reversed(answer["connections"])}
    assert (answer["total"], answer["more"], len(answer["connections"])) == (5, False, 5)
    assert set(items) == {"native", "whaler", "socketIO", "bayeux"}
    assert len({item["id"] for item in answer["connections"]}) == 5
    first = items["native"]
    assert before - 60_000 < first.pop("since") < before + 60_000
    assert first.pop("id")
    assert first == {
        "dialect": "native", "user": "ada", "isGuest": False, "name": "Ada L.",
        "clientId": ada.id, "address": "127.0.0.1", "documents": 1, "rooms": 2,
        "queuedBytes": 0, "isLagging": False,
    }  # fmt: skip
    # A client without a hello is not listed yet.
    assert set(answer["connections"][1]).isdisjoint({"user", "name", "clientId"})
    assert items["whaler"]["user"] == items["socketIO"]["user"] == "ada"
    assert items["whaler"]["rooms"] == 1
    assert "user" not in items["bayeux"]
    silent.close()


def test_the_list_can_be_paged_and_filtered_by_user(guarded):
    clients = [greet(guarded, token(EVERYTHING, sub=name))[0] for name in "abcab"]
    seen, after = [], "0"
    while True:
        page = listed(guarded, f"?limit=2&after={after}")
        assert page["total"] == 5
        seen += page["connections"]
        after = seen[-1]["id"]
        if not page["more"]:
            break
    assert [item["clientId"] for item in seen] == [client.id for client in clients]
    page = listed(guarded, "?user=b&limit=1")
    assert (page["total"], page["more"]) == (2, True)
    assert page["connections"][0]["clientId"] == clients[1].id
    assert listed(guarded, "?user=nobody")["connections"] == []
    for query in ("?limit=0", "?limit=1001", "?limit=x", "?after=x", "?after=-1"):
        status, answer = ask(guarded, "GET", "/api/connections" + query)
        assert (status, answer["code"]) == (400, "badMessage")


@pytest.mark.parametrize("reconnect, code", [(True, 4005), (False, 4509), (None, 4509)])
def test_one_connection_is_closed_with_the_code_that_says_whether_to_reconnect(guarded, reconnect, code):
    ada, _ = greet(guarded, token(EVERYTHING))
    ben, _ = greet(guarded, token(EVERYTHING))
    (item, _) = listed(guarded)["connections"]
    body = None if reconnect is None else {"reconnect": reconnect}
    path = f"/api/connections/{item['id']}/disconnect"
    assert ask(guarded, "POST", path, body) == (200, {"connections": 1})
    assert ada.close_code() == code
    farewells = [message for message in ada.inbox if message["type"] == "goodbye"]
    assert bool(farewells) == bool(reconnect)
    status, answer = ask(guarded, "POST", path, body)
    assert (status, answer["code"]) == (404, "unknownConnection")
    assert ben.take_all() == []
    # Nothing was taken back: the token is good.
    assert greet(guarded, token(EVERYTHING))[1] == "welcome"


@pytest.mark.parametrize("name", ["ada", "ada/of lovelace?é"])
def test_all_connections_of_a_user_are_ended(guarded, name):
    path = f"/api/users/{urllib.parse.quote(name)}/disconnect"
    other, _ = greet(guarded, token(EVERYTHING, sub="ada/of"))
    mine = [greet(guarded, token(EVERYTHING, sub=name))[0] for _ in range(3)]
    assert ask(guarded, "POST", path, {"reconnect": True}) == (200, {"connections": 3})
    assert [client.close_code() for client in mine] == [4005] * 3
    assert other.take_all() == []
    assert ask(guarded, "POST", path) == (200, {"connections": 0})


@pytest.mark.parametrize("reconnect", [True, False])
def test_disconnected_clients_of_other_dialects_are_notified(guarded, reconnect):
    with whaler(guarded) as whale, engine(guarded) as twake, BayeuxSocket(guarded) as chat:
        chat.begin()
        chat.subscribe("/group/1", token(EVERYTHING))
        chat.connect()
        path = "/api/users/ada/disconnect"
        answer = ask(guarded, "POST", path, {"reconnect": reconnect})
        assert answer == (200, {"connections": 3})
        (reply,) = chat.receive()
        assert reply["advice"]["reconnect"] == ("retry" if reconnect else "none")
        # The session's state is gone; a client begins another by itself unless it was forbidden.
        assert chat.ask(
            {"channel": "/meta/connect", "clientId": chat.client_id, "connectionType": "websocket"}
        )["advice"]["reconnect"] == "handshake"
        with pytest.raises(ConnectionClosed) as closed:
            whale.recv(timeout=SECONDS)
        assert closed.value.rcvd.code == (4005 if reconnect else 4509)
        # 41 ends the namespace, after which clients of Socket.IO stay away; 1 ends the session.
        packets = [twake.receive()]
        while packets[-1] != "1":
            packets.append(twake.receive())
        assert packets == (["1"] if reconnect else ["41", "1"])


def test_clients_are_asked_for_newer_tokens_and_end_without(guarded):
    asked_at = int(time.time() * 1000)
    diligent, _ = greet(guarded, token(EVERYTHING, exp=time.time() + 1000))
    lazy, _ = greet(guarded, token(EVERYTHING, exp=time.time() + 1000))
    other, _ = greet(guarded, token(EVERYTHING, sub="ben", exp=time.time() + 1000))
    path = "/api/users/ada/refresh-rights"
    assert ask(guarded, "POST", path, {"within": 1}) == (200, {"connections": 2})
    end = diligent.expect("tokenExpiring")["expiresAt"]
    assert asked_at < end < asked_at + 60_000
    assert diligent.request("subscribe", {"room": "team"})[0] == "subscribed"
    kind, _ = diligent.request("refresh", {"token": token({}, exp=time.time() + 1000)})
    assert kind == "refreshed"
    # The new token has no rights.
    assert diligent.expect("unsubscribed") == {"room": "team"}
    assert lazy.close_code() == 4507
    assert diligent.take_all() == []
    assert other.take_all() == []
    for body in ({"within": 0}, {"within": 3601}, {"within": "1"}, b"[]"):
        assert ask(guarded, "POST", path, body)[0] == 400
    assert ask(guarded, "POST", "/api/users/nobody/refresh-rights") == (200, {"connections": 0})


def test_users_of_the_servers_own_have_their_rights_from_there(start, tmp_path):
    users = tmp_path / "users"
    put_user(users, "ada", "room:*=read")
    operator = new_key(tmp_path, "admin", "operator")
    server = start("--users-file", users, "--api-key-file", tmp_path / "api-keys")
    server.operator = operator
    ada, _ = greet(server, tokens(server, "ada")["accessToken"])
    assert ada.request("subscribe", {"room": "team"})[0] == "subscribed"
    users.write_text(users.read_text().replace("room:*=read", "room:other=read"))
    answer = ask(server, "POST", "/api/users/ada/refresh-rights")
    assert answer == (200, {"connections": 1})
    assert ada.expect("unsubscribed") == {"room": "team"}
    assert ada.take_all() == [], "nobody with a line in the file is asked for a token"


def test_occupied_rooms_are_listed(guarded):
    ada, _ = greet(guarded, token(EVERYTHING))
    ben, _ = greet(guarded, token(EVERYTHING, sub="ben"))
    for client, room, presence in (
        (ada, "b", True), (ben, "b", False), (ada, "a/1", False), (ben, "é", True),
    ):  # fmt: skip
        assert client.request("subscribe", {"room": room, "presence": presence})[0] == "subscribed"
    status, answer = ask(guarded, "GET", "/api/rooms")
    assert (status, answer) == (
        200,
        {
            "rooms": [
                {"room": "a/1", "subscribers": 1, "present": 0},
                {"room": "b", "subscribers": 2, "present": 1},
                {"room": "é", "subscribers": 1, "present": 1},
            ],
            "total": 3,
            "more": False,
        },
    )
    _, page = ask(guarded, "GET", "/api/rooms?limit=1&after=a/1")
    assert ([item["room"] for item in page["rooms"]], page["more"]) == (["b"], True)
    assert ask(guarded, "GET", "/api/rooms?limit=none")[0] == 400
    ada.request("unsubscribe", {"room": "a/1"})
    assert ask(guarded, "GET", "/api/rooms")[1]["total"] == 2


def test_stats_report_the_servers_activity(guarded):
    note = make_note(guarded)
    ada, _ = greet(guarded, token(EVERYTHING))
    joined = ada.join(note)
    ada.request("subscribe", {"room": "team"})
    assert ada.change(note, joined, 1, ["x"])[0] == "acknowledged"
    with whaler(guarded), engine(guarded):
        status, stats = ask(guarded, "GET", "/api/stats")
    assert status == 200
    assert stats["connections"] == {
        "total": 3, "native": 1, "whaler": 1, "socketIO": 1, "bayeux": 0, "pusher": 0, "sharedb": 0,
        "rustpad": 0,
        "lagging": 0, "max": 10_000,
    }  # fmt: skip
    assert stats["documents"] == {"live": 1, "subscriptions": 1}
    assert stats["rooms"]["occupied"] >= 2
    assert (stats["isReady"], stats["isDemo"]) == (True, False)
    assert stats["time"] - stats["startedAt"] == stats["uptimeMilliseconds"] > 0
    assert stats["totals"]["changes"] == 1
    assert stats["totals"]["messagesReceived"] >= 4
    assert stats["totals"]["connectionsOpened"] == 3
    assert stats["process"]["memoryBytes"] > 1 << 20
    recent = stats["recent"]
    assert recent["milliseconds"] >= 0
    # Whatever was committed until now, some of it may lie before the first sample.
    for name in ("commit", "acknowledgement", "broadcast"):
        measured = recent[name]
        assert ("p50" in measured) == (measured["count"] > 0)
        if measured["count"]:
            assert 0 <= measured["p50"] <= measured["p90"] <= measured["p99"]


def test_rates_cover_the_last_seconds(guarded):
    ada, _ = greet(guarded, token(EVERYTHING))
    wait_until(lambda: ask(guarded, "GET", "/api/stats")[1]["recent"]["milliseconds"] > 0)
    for _ in range(200):
        ada.request("ping", {})
    _, stats = ask(guarded, "GET", "/api/stats")
    recent = stats["recent"]
    expected = 200_000 / recent["milliseconds"]
    assert recent["messagesReceivedPerSecond"] == pytest.approx(expected, rel=0.1, abs=1)
    assert recent["framesSentPerSecond"] == pytest.approx(expected, rel=0.1, abs=1)
