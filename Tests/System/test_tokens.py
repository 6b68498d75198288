"""Tokens and rights with the real program: forged, expired and insufficient tokens are rejected."""

import base64
import contextlib
import hashlib
import hmac
import json
import subprocess
import time

import pytest
from native_client import NativeClient
from parley_server import PROGRAM
from patience import SECONDS
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

SECRET = b"a secret for these tests, of 32 bytes or more"
EVERYTHING = {
    "documents": [{"match": "*", "may": ["read", "write", "publish", "presence", "manage"]}],
    "rooms": [{"match": "*", "may": ["read", "write", "publish", "presence", "manage"]}],
}


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(rights=None, secret=SECRET, header=None, **claims):
    """A token for Ada, for longer than any test takes unless the arguments say otherwise."""
    claims = {"sub": "ada", "aud": "parley", "exp": time.time() + 3600, **claims}
    if rights is not None:
        claims["parley"] = rights
    claims = {name: value for name, value in claims.items() if value is not None}
    header = header or {"alg": "HS256", "typ": "JWT"}
    whole = encode(json.dumps(header).encode()) + "." + encode(json.dumps(claims).encode())
    return whole + "." + encode(hmac.new(secret, whole.encode(), hashlib.sha256).digest())


def unsigned():
    whole = token(EVERYTHING, header={"alg": "none"})
    return whole.rsplit(".", 1)[0] + "."


BAD = {
    "expired": lambda: token(EVERYTHING, exp=time.time() - 10),
    "not yet": lambda: token(EVERYTHING, nbf=time.time() + 100),
    "of the future": lambda: token(EVERYTHING, iat=time.time() + 100),
    "a backend's name": lambda: token(EVERYTHING, sub="key:backend"),
    "a link's name": lambda: token(EVERYTHING, sub="share/x"),
    "forged": lambda: token(EVERYTHING, secret=SECRET[::-1]),
    "alg none": lambda: token(EVERYTHING, header={"alg": "none"}),
    "alg none, unsigned": unsigned,
    "alg RS256": lambda: token(EVERYTHING, header={"alg": "RS256"}),
    "another audience": lambda: token(EVERYTHING, aud="somebody else"),
    "no audience": lambda: token(EVERYTHING, aud=None),
    "nobody": lambda: token(EVERYTHING, sub=None),
    "garbage": lambda: "garbage",
    "too long": lambda: token(EVERYTHING, extra="x" * 20_000),
}


@pytest.fixture
def guarded(start, tmp_path):
    """A server that checks tokens, and a note in it."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET + b"\n")
    server = start("--hmac-secret-file", secret, "--audience", "parley", "--clock-skew", "0s")
    server.note = make_note(server)
    return server


def bearer(value):
    return {"Authorization": "Bearer " + value}


def make_note(server, title="A note"):
    status, _, body = server.request(
        "POST", "/api/notes", {"title": title}, bearer(token(EVERYTHING))
    )
    assert status == 201, (status, body)
    return json.loads(body)["id"]


def greet(server, value, **fields):
    client = NativeClient(server, greet=False)
    data = {"name": "Somebody", **fields}
    if value is not None:
        data["token"] = value
    kind, client.welcome = client.request("hello", data)
    return client, kind


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_token_opens_nothing(guarded, kind):
    bad = BAD[kind]()
    if len(bad) > 16 << 10:
        # More than a message may have before a token is accepted: refused unread, as by HTTP.
        client = NativeClient(guarded, greet=False)
        client.send("hello", {"name": "Somebody", "token": bad})
        assert client.receive()["data"]["code"] == "tooLarge"
        assert client.close_code() == 4501
        assert guarded.request("GET", "/api/notes", headers=bearer(bad))[0] == 431
        return
    client, reply = greet(guarded, bad)
    assert (reply, client.welcome["code"]) == ("error", "unauthorised")
    assert client.close_code() == 4502
    assert guarded.request("GET", "/api/notes", headers=bearer(bad))[0] == 401
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{guarded.port}/socket", additional_headers={"Authorization": bad})
    assert refused.value.response.status_code == 403


def test_A1_without_a_token_an_upgrade_of_the_old_kind_is_answered_with_401(guarded):
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{guarded.port}/socket")
    assert refused.value.response.status_code == 401
    raw = {"Authorization": token(EVERYTHING), "ObjectId": "pool"}
    with connect(f"ws://127.0.0.1:{guarded.port}/socket", additional_headers=raw) as socket:
        socket.send(
            json.dumps(
                {"messageId": "1", "type": "resourceConnection",
                 "data": {"resourceId": guarded.note}}
            )
        )  # fmt: skip
        assert json.loads(socket.recv(timeout=SECONDS))["type"] == "resourceConnectionConf"


def test_without_a_token_requests_are_unauthorised(guarded):
    client, reply = greet(guarded, None)
    assert (reply, client.welcome["code"]) == ("error", "unauthorised")
    for method, path in (
        ("GET", "/api/notes"), ("GET", f"/api/notes/{guarded.note}/text"),
        ("POST", "/api/notes"), ("DELETE", f"/api/notes/{guarded.note}"),
    ):  # fmt: skip
        status, headers, _ = guarded.request(method, path, b"{}")
        assert status == 401
        assert headers["www-authenticate"] == "Bearer"
    # The page itself, which asks for the token, and the health are public.
    assert guarded.request("GET", "/")[0] == 200
    assert guarded.request("GET", "/health")[0] == 200
    assert "OPEN DEMO MODE" not in "\n".join(guarded.output)


def test_a_token_in_the_url_counts_only_where_it_is_allowed(guarded):
    assert guarded.request("GET", "/api/notes?token=" + token(EVERYTHING))[0] == 401


def test_who_may_read_does_not_write(guarded):
    may_read = {"documents": [{"match": guarded.note, "may": ["read"]}]}
    reader, _ = greet(guarded, token(may_read))
    joined = reader.join(guarded.note)
    assert joined["access"] == "read"
    kind, refused = reader.change(guarded.note, joined, 1, ["mine"])
    assert (kind, refused["code"], refused["retryable"]) == ("refused", "notAllowed", False)
    may_write = {"documents": [{"match": guarded.note[:5] + "*", "may": ["read", "write"]}]}
    writer, _ = greet(guarded, token(may_write, sub="bea"))
    joined = writer.join(guarded.note)
    assert joined["access"] == "write"
    assert writer.change(guarded.note, joined, 1, ["ours"])[0] == "acknowledged"
    # The reader sees it, and is not affected.
    assert reader.expect("changes")["changes"][0]["operation"] == ["ours"]


def test_foreign_documents_and_rooms_are_refused(guarded):
    other = make_note(guarded, "Another's")
    narrow = {
        "documents": [{"match": guarded.note, "may": ["read"]}],
        "rooms": [{"match": "lobby", "may": ["read"]}],
    }
    client, _ = greet(guarded, token(narrow))
    for document in (other, "there is none of this name"):
        kind, error = client.request("join", {"documentId": document})
        assert (kind, error["code"]) == ("error", "notAllowed")
    kind, error = client.request("subscribe", {"room": "notes"})
    assert (kind, error["code"]) == ("error", "notAllowed")
    assert client.request("subscribe", {"room": "lobby"})[0] == "subscribed"
    status, _, body = guarded.request("GET", "/api/notes", headers=bearer(token(narrow)))
    assert [note["id"] for note in json.loads(body)["notes"]] == [guarded.note]
    for method, path, body in (
        ("GET", f"/api/notes/{other}/text", None),
        ("PATCH", f"/api/notes/{guarded.note}", {"title": "x"}),
        ("DELETE", f"/api/notes/{guarded.note}", None),
        ("POST", "/api/notes", {"title": "x"}),
    ):
        assert guarded.request(method, path, body, bearer(token(narrow)))[0] == 403


def test_no_claim_of_a_client_about_itself_is_believed(guarded):
    ada, _ = greet(guarded, token(EVERYTHING, name="Ada"), name="Bea")
    ada.join(guarded.note)
    bea, _ = greet(guarded, token(EVERYTHING, sub="bea", name="Bea"))
    assert [person["name"] for person in bea.join(guarded.note)["presence"]] == ["Ada"]
    ada.send("profile", {"name": "Root"})
    updated = bea.expect("presence", lambda data: data["updated"])
    assert [person["name"] for person in updated["updated"]] == ["Ada"]
    # Another user with Ada's client id and its proof is not Ada.
    client, reply = greet(guarded, token(EVERYTHING, sub="eve"), client=ada.claim)
    assert (reply, client.welcome["code"]) == ("error", "unauthorised")
    # Ada herself is.
    again, reply = greet(guarded, token(EVERYTHING), client=ada.claim)
    assert (reply, again.id) == ("welcome", ada.id)


def test_tokens_are_created_and_inspected(guarded, tmp_path):
    secret = str(tmp_path / "secret")
    made = subprocess.run(
        [PROGRAM, "token", "make", "--user", "cid", "--secret", secret, "--audience", "parley",
         "--document", guarded.note + "=read,presence", "--expires-in", "5m"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    client, reply = greet(guarded, made)
    assert reply == "welcome"
    assert client.join(guarded.note)["access"] == "read"
    inspect = [PROGRAM, "token", "inspect", "-", "--hmac-secret-file", secret]
    seen = subprocess.run(
        [*inspect, "--audience", "parley"], input=made, capture_output=True, text=True
    )
    assert seen.returncode == 0 and '"sub":"cid"' in seen.stdout and "accepted" in seen.stdout
    seen = subprocess.run(
        [*inspect, "--audience", "other"], input=made, capture_output=True, text=True
    )
    assert seen.returncode == 1 and "refused: audience" in seen.stdout


def test_no_token_is_in_the_log(guarded):
    for make in BAD.values():
        # One is longer than a message may be before a token is accepted, and ends its connection.
        with contextlib.suppress(ConnectionClosed):
            greet(guarded, make())
    good = token(EVERYTHING)
    greet(guarded, good)
    log = guarded.log.read_text()
    assert "token refused" in log
    for value in (good, good.split(".")[1], good.split(".")[2], SECRET.decode()):
        assert value not in log


def test_what_is_refused_is_in_the_log_without_what_was_said(guarded):
    client, _ = greet(guarded, token({"rooms": [{"match": "mine", "may": ["read"]}]}))
    for _ in range(3):
        kind, data = client.request("publish", {"room": "a-secret-room", "data": "a secret"})
        assert (kind, data["code"]) == ("error", "notAllowed")
    narrow = bearer(token({"rooms": [{"match": "mine", "may": ["read"]}]}))
    path = "/api/rooms/a-secret-room/publish"
    assert guarded.request("POST", path, {"data": "a secret"}, narrow)[0] == 403
    log = guarded.log.read_text()
    assert log.count("message refused") == 1 and log.count("request refused") == 1
    assert "notAllowed" in log and "secret" not in log.replace("/secret", "")


def new_key(tmp_path, name, *rights):
    """Creates an API key with the program."""
    return subprocess.run(
        [PROGRAM, "apikey", name, *rights, "--file", tmp_path / "api-keys"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip


def test_an_api_key_has_its_rights_over_http_and_nowhere_else(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    key = new_key(tmp_path, "backend", "document:*=read,manage")
    narrow = new_key(tmp_path, "narrow", "document:x=read")
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--api-key-file",
        tmp_path / "api-keys",
    )  # fmt: skip
    status, _, body = server.request("POST", "/api/notes", {"title": "By a program"}, bearer(key))
    assert status == 201
    note = json.loads(body)["id"]
    assert server.request("GET", f"/api/notes/{note}/text", headers=bearer(key))[0] == 200
    body = {"name": "v", "revision": 0}
    versions = f"/api/notes/{note}/versions"
    assert server.request("POST", versions, body, bearer(key))[0] == 403
    assert server.request("GET", versions, None, bearer(narrow))[0] == 403
    for wrong in ("pk_", key + "x", key[:-1]):
        assert server.request("GET", "/api/notes", headers=bearer(wrong))[0] == 401
    # No WebSocket with it.
    client, reply = greet(server, key)
    assert (reply, client.welcome["code"]) == ("error", "unauthorised")
    log = server.log.read_text() + (tmp_path / "api-keys").read_text()
    assert key not in log and narrow not in log


def test_a_wrong_api_key_is_refused_in_demo_mode_too(start, tmp_path):
    new_key(tmp_path, "backend", "room:*=publish")
    server = start("--api-key-file", tmp_path / "api-keys")
    assert server.request("GET", "/api/notes", headers=bearer("pk_wrong"))[0] == 401
    assert server.request("GET", "/api/notes")[0] == 200
