"""Rights that end, change, are shared and taken back, against the real program."""

import contextlib
import json
import subprocess
import time

import pytest
from native_client import NativeClient
from parley_server import PROGRAM
from patience import in_time
from test_tokens import EVERYTHING, SECRET, bearer, greet, make_note, new_key, token
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


@pytest.fixture
def guarded(start, tmp_path):
    """A server that checks tokens, with an operator's key, and a note in it."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    operator = new_key(tmp_path, "admin", "operator")
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--clock-skew", "0s",
        "--api-key-file", tmp_path / "api-keys",
    )  # fmt: skip
    server.operator = operator
    server.note = make_note(server)
    return server


def issued(**claims):
    """Returns a token that was issued some time ago, in whole seconds, as most issuers write it."""
    return token(EVERYTHING, iat=int(time.time()) - 5, **claims)


def share(server, note, access="read", **fields):
    status, _, body = server.request(
        "POST", f"/api/notes/{note}/share", {"access": access, **fields}, bearer(issued())
    )
    assert status == 201, body
    return json.loads(body)


def test_a_token_that_ends_is_announced_and_ends_the_connection(guarded):
    def work(end):
        client, reply = greet(guarded, token(EVERYTHING, exp=end))
        assert reply == "welcome"
        joined = client.join(guarded.note)
        assert client.expect("tokenExpiring")["expiresAt"] == end * 1000
        rest = [len(joined["text"])] if joined["text"] else []
        kind, _ = client.change(guarded.note, joined, 1, ["in time", *rest])
        assert kind == "acknowledged"
        return client

    end, client = in_time(work)
    assert client.expect("error")["code"] == "unauthorised"
    assert client.close_code() == 4507
    assert time.time() >= end


def test_a_refreshed_token_counts_past_the_end_of_the_first(guarded):
    def work(end):
        client, _ = greet(guarded, token(EVERYTHING, exp=end))
        witness, _ = greet(guarded, token(EVERYTHING, exp=end))
        joined = client.join(guarded.note)
        kind, error = client.request("refresh", {"token": token(EVERYTHING, sub="eve")})
        assert (kind, error["code"]) == ("error", "unauthorised")
        kind, data = client.request("refresh", {"token": token(EVERYTHING, exp=end + 1000)})
        assert (kind, data["expiresAt"]) == ("refreshed", (end + 1000) * 1000)
        return client, witness, joined

    _, (client, witness, joined) = in_time(work)
    assert witness.close_code() == 4507
    assert client.change(guarded.note, joined, 1, ["still here"])[0] == "acknowledged"


def test_a_permission_that_goes_is_felt_and_told_at_once(guarded):
    client, _ = greet(guarded, token(EVERYTHING))
    joined = client.join(guarded.note)
    may_read = {"documents": [{"match": guarded.note, "may": ["read"]}]}
    client.request("refresh", {"token": token(may_read)})
    assert client.expect("accessChanged") == {"documentId": guarded.note, "access": "read"}
    kind, data = client.change(guarded.note, joined, 1, ["no"])
    assert (kind, data["code"]) == ("refused", "notAllowed")
    client.request("refresh", {"token": token({})})
    assert client.expect("accessChanged")["access"] == "none"
    kind, data = client.request("join", {"documentId": guarded.note})
    assert (kind, data["code"]) == ("error", "notAllowed")


@pytest.mark.parametrize("by", ["user", "token", "client"])
def test_what_is_taken_back_ends_at_once(guarded, by):
    value = issued(jti="t-1")
    client, _ = greet(guarded, value)
    other, _ = greet(guarded, token(EVERYTHING, sub="bea", jti="t-2"))
    joined = client.join(guarded.note)
    name = {"user": "ada", "token": "t-1", "client": client.id}[by]
    body = {by: name}
    assert guarded.request("POST", "/api/revoke", body, bearer(issued(sub="root")))[0] == 403
    status, _, answer = guarded.request("POST", "/api/revoke", body, bearer(guarded.operator))
    assert (status, json.loads(answer)) == (200, {"connections": 1})
    # The request was answered after the fact: nothing that comes now is taken.
    with contextlib.suppress(ConnectionClosed):
        client.send(
            "change",
            {"documentId": guarded.note, "epoch": joined["epoch"], "revision": 0, "sequence": 1,
             "operation": ["too late"]},
        )  # fmt: skip
    assert client.close_code() == 4508
    assert other.join(guarded.note)["text"] == ""
    again, reply = greet(guarded, value)
    assert reply == ("welcome" if by == "client" else "error")
    if by == "client":
        return
    assert guarded.request("GET", "/api/notes", headers=bearer(value))[0] == 401
    with pytest.raises(InvalidStatus) as refused:
        connect(
            f"ws://127.0.0.1:{guarded.port}/socket", additional_headers={"Authorization": value}
        )
    assert refused.value.response.status_code == 403
    # A restart remembers.
    guarded.kill()
    guarded.start()
    assert guarded.request("GET", "/api/notes", headers=bearer(value))[0] == 401
    # A client that was let in again is in.
    anew = token(EVERYTHING, iat=int(time.time()) + 1, jti="t-3")
    assert greet(guarded, anew)[1] == "welcome"


def test_the_command_line_takes_back_from_a_server_that_runs(guarded):
    client, _ = greet(guarded, issued())
    subprocess.run(
        [PROGRAM, "revoke", "--user", "ada", "--data-dir", guarded.data], check=True
    )
    assert client.close_code() == 4508


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_link_opens_one_note_with_its_right(guarded, access):
    other = make_note(guarded, "Not for guests")
    link = share(guarded, guarded.note, access, expiresIn=3600)
    assert (link["access"], link["isProtected"]) == (access, True)
    guest, reply = greet(guarded, link["token"], name="A guest")
    assert reply == "welcome"
    joined = guest.join(guarded.note)
    assert joined["access"] == access
    kind, data = guest.change(guarded.note, joined, 1, ["by a guest"])
    if access == "write":
        assert kind == "acknowledged"
    else:
        assert (kind, data["code"]) == ("refused", "notAllowed")
    assert guest.request("join", {"documentId": other})[1]["code"] == "notAllowed"
    as_guest = bearer(link["token"])
    notes = json.loads(guarded.request("GET", "/api/notes", headers=as_guest)[2])["notes"]
    assert [note["id"] for note in notes] == [guarded.note]
    for method, path in (
        ("GET", f"/api/notes/{other}/text"), ("DELETE", f"/api/notes/{guarded.note}"),
        ("POST", f"/api/notes/{guarded.note}/share"), ("POST", "/api/notes"),
    ):  # fmt: skip
        assert guarded.request(method, path, {"access": "read"}, as_guest)[0] == 403


def test_links_are_withdrawn_at_once_and_stay_so(guarded):
    link = share(guarded, guarded.note)
    guest, _ = greet(guarded, link["token"])
    path = f"/api/notes/{guarded.note}/share"
    assert guarded.request("DELETE", path, headers=bearer(link["token"]))[0] == 403
    assert guarded.request("DELETE", path, headers=bearer(issued()))[0] == 204
    assert guest.close_code() == 4508
    again = share(guarded, guarded.note)
    assert greet(guarded, again["token"])[1] == "welcome"
    guarded.kill()
    guarded.start()
    assert greet(guarded, link["token"])[1] == "error"
    assert greet(guarded, again["token"])[1] == "welcome"


def test_a_link_is_made_by_this_server_or_by_none(guarded, start):
    elsewhere = start()
    note = elsewhere.create_note()
    status, _, body = elsewhere.request("POST", f"/api/notes/{note}/share", {"access": "write"})
    assert status == 201
    assert greet(guarded, json.loads(body)["token"])[1] == "error"
    # Nor may an issuer call itself this server.
    forged = token(
        EVERYTHING, header={"alg": "HS256", "kid": "parley:self"}, iss="parley:self",
        aud="parley:self", sub="share/" + guarded.note,
    )  # fmt: skip
    assert greet(guarded, forged)[1] == "error"


def test_in_an_open_demo_a_link_only_narrows(server):
    note = server.create_note()
    status, _, body = server.request("POST", f"/api/notes/{note}/share", {"access": "read"})
    link = json.loads(body)
    assert (status, link["isProtected"]) == (201, False)
    guest, _ = greet(server, link["token"])
    assert guest.join(note)["access"] == "read"
    with NativeClient(server) as anybody:
        assert anybody.join(note)["access"] == "write"


def test_a_room_token_is_for_its_user_and_its_room(guarded):
    status, _, body = guarded.request(
        "POST", "/api/tokens", {"user": "ada", "rooms": ["team=read"], "expiresIn": 60},
        bearer(guarded.operator),
    )  # fmt: skip
    assert status == 201
    room_token = json.loads(body)["token"]
    ada, _ = greet(guarded, token({}))
    assert ada.request("subscribe", {"room": "team"})[1]["code"] == "notAllowed"
    assert ada.request("grant", {"token": room_token})[0] == "granted"
    assert ada.request("subscribe", {"room": "team"})[0] == "subscribed"
    assert ada.request("subscribe", {"room": "other"})[1]["code"] == "notAllowed"
    eve, _ = greet(guarded, token({}, sub="eve"))
    assert eve.request("grant", {"token": room_token})[1]["code"] == "unauthorised"
    assert eve.request("subscribe", {"room": "team"})[1]["code"] == "notAllowed"


def test_a_token_has_room_for_so_many_rights(guarded):
    def make(count):
        body = {"user": "ada", "rooms": [f"room-{number}=read" for number in range(count)]}
        return guarded.request("POST", "/api/tokens", body, bearer(guarded.operator))

    assert make(50)[0] == 201
    status, _, body = make(300)
    assert (status, json.loads(body)["code"]) == (413, "tooLarge")


def test_no_link_or_key_is_in_the_log(guarded):
    link = share(guarded, guarded.note)
    greet(guarded, link["token"])
    greet(guarded, link["token"] + "x")
    guarded.request("POST", "/api/revoke", {"user": "ada"}, bearer(guarded.operator))
    log = guarded.log.read_text()
    for value in (link["token"].split(".")[1], link["token"].split(".")[2], guarded.operator):
        assert value not in log
