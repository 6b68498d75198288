"""Limits of sizes and numbers: each is configured, announced in `welcome`, and enforced."""

import json

import pytest
from native_client import NativeClient
from test_tokens import EVERYTHING, SECRET, bearer, greet, token


def error(client, kind, data):
    answer, data = client.request(kind, data)
    assert answer == "error", (answer, data)
    assert data["retryable"] is False
    return data["code"]


def test_names(start):
    server = start("--name-size-max", "32")
    with NativeClient(server, greet=False) as client:
        assert error(client, "hello", {"name": "x" * 33}) == "tooLarge"
        client.hello("x" * 32)
        assert client.welcome["limits"]["nameBytesMax"] == 32
        # Bytes of UTF-8, not characters.
        assert error(client, "profile", {"name": "é" * 17}) == "tooLarge"


def test_titles(start):
    server = start("--title-size-max", "32")
    assert server.create_note("x" * 32)
    status, _, body = server.request("POST", "/api/notes", {"title": "x" * 33})
    assert (status, json.loads(body)["code"]) == (413, "tooLarge")
    with NativeClient(server) as client:
        assert client.welcome["limits"]["titleBytesMax"] == 32


def test_ids_of_documents_and_names_of_rooms(start):
    server = start("--document-id-size-max", "40", "--room-name-size-max", "50")
    with NativeClient(server) as client:
        assert client.welcome["limits"]["documentIdBytesMax"] == 40
        assert client.welcome["limits"]["roomBytesMax"] == 50
        assert error(client, "join", {"documentId": "x" * 40}) == "unknownDocument"
        assert error(client, "join", {"documentId": "x" * 41}) == "tooLarge"
        assert client.request("subscribe", {"room": "x" * 50})[0] == "subscribed"
        assert error(client, "subscribe", {"room": "x" * 51}) == "tooLarge"


def test_selections(start):
    server = start("--selections-max", "2")
    note = server.create_note()
    with NativeClient(server) as client:
        assert client.welcome["limits"]["selectionsMax"] == 2
        client.join(note)
        select = {"documentId": note, "revision": 0, "selections": [[0, 0]] * 2}
        client.send("select", select)
        assert error(client, "select", {**select, "selections": [[0, 0]] * 3}) == "tooMany"


def test_components_of_an_operation(start):
    server = start("--operation-components-max", "5")
    note = server.create_note()
    with NativeClient(server) as client:
        assert client.welcome["limits"]["operationComponentsMax"] == 5
        joined = client.join(note)
        assert client.change(note, joined, 1, ["0123456789"])[0] == "acknowledged"
        kind, data = client.change(note, joined, 2, [1, "a", 1, "b", 1, "c", 7], 1)
        assert (kind, data["code"], data["retryable"]) == ("refused", "tooLarge", False)
        # Smaller, it can be sent under the same number.
        assert client.change(note, joined, 2, [1, "a", 1, "b", 8], 1)[0] == "acknowledged"
    change = {"revision": 2, "operation": [1, "c", 1, "d", 1, "e", 9]}
    status, _, body = server.request("POST", f"/api/notes/{note}/changes", change)
    assert (status, json.loads(body)["code"]) == (413, "tooLarge")


def test_components_of_the_changes_since_a_base(start):
    server = start("--history-components-max", "8")
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        assert client.change(note, joined, 1, ["0123456789"])[0] == "acknowledged"
        assert client.change(note, joined, 2, [1, "a", 1, "b", 8], 1)[0] == "acknowledged"
        assert client.change(note, joined, 3, ["c", 12], 2)[0] == "acknowledged"
        # Eight components since revision 0, seven since the first: each insert on its own is one.
        assert client.change(note, joined, 4, ["d"], 0)[0] == "acknowledged"
        kind, data = client.change(note, joined, 5, ["e"], 0)
        assert (kind, data["code"], data["retryable"]) == ("refused", "historyGone", False)
        # Joining again brings the changes, over which the client rebases its own.
        assert client.change(note, joined, 5, ["e", 14], 4)[0] == "acknowledged"
    change = {"revision": 0, "operation": ["f"]}
    status, _, body = server.request("POST", f"/api/notes/{note}/changes", change)
    assert (status, json.loads(body)["code"]) == (410, "historyGone")


def test_publications(start):
    server = start("--publication-size-max", "100", "--key-size-max", "20", "--page-max", "3")
    with NativeClient(server) as client:
        limits = client.welcome["limits"]
        assert limits["publicationBytesMax"] == 100
        assert limits["keyBytesMax"] == 20
        assert limits["pageMax"] == 3
        assert client.request("publish", {"room": "r", "data": "x" * 98})[0] == "published"
        assert error(client, "publish", {"room": "r", "data": "x" * 99}) == "tooLarge"
        assert error(client, "publish", {"room": "r", "data": 1, "key": "x" * 21}) == "tooLarge"
        assert client.request("roomHistory", {"room": "r", "limit": 3})[0] == "roomHistory"
        assert error(client, "roomHistory", {"room": "r", "limit": 4}) == "badMessage"
    batch = {"publications": [{"room": "r", "data": 1}] * 4}
    status, _, body = server.request("POST", "/api/publish", batch)
    assert (status, json.loads(body)["code"]) == (413, "tooMany")


def test_people_of_a_note_who_are_named(start):
    server = start("--presence-list-max", "4")
    note = server.create_note()
    clients = [NativeClient(server, f"Person {number}") for number in range(6)]
    first, second = clients[:2]
    joined = first.join(note)
    assert (joined["presence"], joined.get("people")) == ([], None)
    for client in clients[1:]:
        client.join(note)
    # All are named, and then counted; a client does not receive its own presence.
    seen = {}
    while True:
        data = first.expect("presence")
        seen.update((one["clientId"], one["name"]) for one in data["joined"])
        for client in data["left"]:
            seen.pop(client, None)
        if data.get("people") == 6:
            break
    assert seen == {}
    # A writer is named before the change is sent, and to newcomers as well.
    kind, _ = second.change(note, joined, 1, ["written"])
    assert kind in ("acknowledged", "changes")
    data = first.expect("presence", lambda data: data["joined"])
    assert [one["name"] for one in data["joined"]] == ["Person 1"]
    assert first.expect("changes")["changes"][0]["clientId"] == second.id
    with NativeClient(server, "Late") as late:
        joined = late.join(note)
        assert [one["clientId"] for one in joined["presence"]] == [second.id]
        assert joined["people"] == 7
    for client in clients[3:]:
        client.close()
    # Few are left, and all of them are named again.
    data = first.expect("presence", lambda data: "people" not in data)
    assert {one["clientId"] for one in data["joined"]} == {clients[2].id}
    first.close()
    second.close()
    clients[2].close()


def test_people_present_in_a_room(start):
    server = start("--present-max", "1")
    with NativeClient(server) as one, NativeClient(server) as two:
        assert one.welcome["limits"]["presentMax"] == 1
        assert one.request("subscribe", {"room": "r", "presence": True})[0] == "subscribed"
        assert error(two, "subscribe", {"room": "r", "presence": True}) == "tooMany"
        assert two.request("subscribe", {"room": "r"})[0] == "subscribed"


def test_presence_without_a_sign_of_life(start):
    server = start("--presence-lease", "1s")
    with NativeClient(server) as silent, NativeClient(server) as witness:
        assert silent.welcome["limits"]["presenceLeaseMilliseconds"] == 1_000
        witness.request("subscribe", {"room": "r", "presence": True})
        silent.request("subscribe", {"room": "r", "presence": True})
        witness.expect(
            "roomPresence", lambda data: silent.id in [one["personId"] for one in data["joined"]]
        )
        witness.expect("roomPresence", lambda data: silent.id in data["left"])


def test_typing_that_is_not_renewed(start):
    server = start("--typing-time", "500ms")
    with NativeClient(server) as typist, NativeClient(server) as witness:
        assert typist.welcome["limits"]["typingMilliseconds"] == 500
        for client in (typist, witness):
            client.request("subscribe", {"room": "r"})
        typist.send("typing", {"room": "r", "typing": True})
        assert witness.expect("typing")["typing"] is True
        assert witness.expect("typing")["typing"] is False


def test_signs_of_life(start):
    server = start("--signs-rate", "1", "--rooms-per-connection-max", "1")
    with NativeClient(server) as client:
        assert client.welcome["limits"]["signsPerSecondMax"] == 1
        client.request("subscribe", {"room": "r"})
        for _ in range(5):
            client.send("typing", {"room": "r", "typing": True})
        errors = [message["data"] for message in client.take_all() if message["type"] == "error"]
        assert errors
        assert errors[0]["code"] == "tooFast"
        assert errors[0]["retryable"] is True
        assert 0 < errors[0]["retryAfter"] <= 1_000


def test_further_tokens(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start("--hmac-secret-file", secret, "--audience", "parley", "--grants-max", "2")
    client, _ = greet(server, token(EVERYTHING))
    assert client.welcome["limits"]["grantsMax"] == 2
    for number in range(2):
        grant = {"token": token(EVERYTHING, jti=f"{number}")}
        assert client.request("grant", grant)[0] == "granted"
    assert error(client, "grant", {"token": token(EVERYTHING, jti="2")}) == "tooMany"
    assert server.request("GET", "/api/notes", headers=bearer(token(EVERYTHING)))[0] == 200


def test_connections_of_all(start):
    server = start("--connections-max", "2")
    with NativeClient(server), NativeClient(server):
        status, headers, _ = server.request("GET", "/health")
        assert status == 503
        assert int(headers["retry-after"]) > 0


def test_sessions_of_all(start):
    server = start("--sessions-max", "1")
    path = "/socket/?EIO=4&transport=polling"
    assert server.request("GET", path)[0] == 200
    assert server.request("GET", path)[0] == 503


SHAKE = {
    "channel": "/meta/handshake", "version": "1.0", "supportedConnectionTypes": ["long-polling"],
}  # fmt: skip


def handshake(server, family, address):
    """Makes a handshake from an address. Returns the status, and when to retry."""
    via = {"X-Forwarded-For": address}
    if family == "socketIO":
        status, headers, _ = server.request("GET", "/socket/?EIO=4&transport=polling", headers=via)
        return status, headers.get("retry-after")
    status, _, body = server.request("POST", "/faye", SHAKE, via)
    reply = json.loads(body)[0]
    assert status == 200
    return (200 if reply["successful"] else int(reply["error"][:3])), reply["advice"]["interval"]


def metric(server, name):
    page = server.request("GET", "/metrics")[2].decode()
    return sum(int(line.split()[-1]) for line in page.splitlines() if line.startswith(name))


@pytest.mark.parametrize("family", ["socketIO", "bayeux"])
def test_sessions_of_an_address(start, family):
    server = start("--sessions-max", "40", "--trusted-proxy", "127.0.0.1")
    answers = [handshake(server, family, "192.0.2.1") for _ in range(21)]
    assert [status for status, _ in answers] == [200] * 20 + [429]
    assert 1 <= int(answers[-1][1]) <= 5_000
    for other in ("socketIO", "bayeux"):
        assert handshake(server, other, "192.0.2.2")[0] == 200
    assert metric(server, "parley_sessions_refused_total") == 1


@pytest.mark.parametrize("family", ["socketIO", "bayeux"])
def test_sessions_without_a_token(start, tmp_path, family):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--sessions-max", "40",
        "--trusted-proxy", "127.0.0.1",
    )  # fmt: skip
    # A quarter of all sessions, and half of that from one address.
    statuses = [handshake(server, family, "192.0.2.1")[0] for _ in range(7)]
    assert statuses[:5] == [200] * 5 and statuses[5:] == [429] * 2
    # Many addresses with all that they can have leave room for one more, by the oldest session of the largest.
    for number in range(2, 22):
        assert handshake(server, family, f"192.0.2.{number}")[0] == 200
    assert metric(server, "parley_sessions_replaced_total") > 0
    assert metric(server, "parley_sessions_without_token") <= 10


@pytest.mark.parametrize("size, status", [(70_000, 413), (60_000, 200)])
def test_bodies_may_be_as_large_as_messages(start, size, status):
    server = start("--message-size-max", "64 KiB")
    note = server.create_note()
    path = f"/api/notes/{note}/text"
    assert server.request("PUT", path, b"x" * size)[0] == status
