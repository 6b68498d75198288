"""Tokens of three issuers, in the forms of their servers, at one gateway."""

import json
import subprocess
import time

import pytest
from engine_client import EngineSocket
from native_client import NativeClient
from parley_server import PROGRAM
from patience import SECONDS
from test_bayeux import BayeuxSocket
from test_command_line import run
from test_doctor import examine
from test_tokens import EVERYTHING, SECRET, bearer, token
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

# Secrets as short as those that such servers use.
WHALER_SECRET = b"thisIsTheJwtSecretPassword"
TWAKE_SECRET = b"supersecret"
POOL = "5d0c6f3a-org"
ROOM = "/companies/c/workspaces/w/channels?type=public"


def whaler_token(user="7b1f8a52-user", secret=WHALER_SECRET, **claims):
    """HS256, an hour, `userID` and no `sub`, and a block for Hasura."""
    claims = {
        "userID": user, "exp": int(time.time()) + 3600, "aud": "hasura",
        "iss": "getwhaler-auth", "sub": None,
        "https://hasura.io/jwt/claims": {
            "x-hasura-allowed-roles": ["user"], "x-hasura-default-role": "user",
            "x-hasura-user-id": user,
        },
        **claims,
    }  # fmt: skip
    return token(secret=secret, **claims)


def twake_token(user="u1", secret=TWAKE_SECRET, kind="access", lifetime=3600, **claims):
    """HS256, no `aud`; `iat` and `nbf` ten minutes ago."""
    now = int(time.time())
    claims = {
        "sub": user, "email": "ada@example.org", "provider_id": "p1", "type": kind,
        "track": True, "nbf": now - 600, "iat": now - 600, "exp": now + lifetime, "aud": None,
        **claims,
    }  # fmt: skip
    return token(secret=secret, header={"alg": "HS256", "typ": "JWT"}, **claims)


def twake_room_token(room=ROOM, user="u1", secret=TWAKE_SECRET, **claims):
    """For one room: `iat` is the deadline, a month ahead, and there is no `exp`."""
    now = int(time.time())
    claims = {
        "sub": user, "name": room, "iat": now + 31 * 86_400, "nbf": now - 60, "aud": None,
        "exp": None, **claims,
    }  # fmt: skip
    return token(secret=secret, **claims)


def flags(folder):
    """Settings for the three issuers: Parley's own as ever, and a profile for each other."""
    for name, secret in (
        ("secret", SECRET), ("whaler", WHALER_SECRET + b"\n"), ("twake", TWAKE_SECRET),
    ):  # fmt: skip
        (folder / name).write_bytes(secret)
    return [
        "--hmac-secret-file", folder / "secret", "--audience", "parley",
        "--issuer-profile",
        f"whaler hmac-secret-file:{folder / 'whaler'} secret-size-min:16 user-claim:userID "
        "audience:hasura issuer:getwhaler-auth document:*=read,write,manage room:*=read",
        "--issuer-profile",
        f"twake hmac-secret-file:{folder / 'twake'} secret-size-min:8 require:type=access "
        "claim-rights:no room:/me/{user}=read room:/users/*=read bare-room-tokens:yes",
    ]  # fmt: skip


@pytest.fixture
def several(start, tmp_path):
    """A server with all three profiles, and a note."""
    server = start(*flags(tmp_path))
    body = {"title": "A note"}
    status, _, answer = server.request("POST", "/api/notes", body, bearer(token(EVERYTHING)))
    assert status == 201, answer
    server.note = json.loads(answer)["id"]
    return server


ACCEPTED = {
    "Whaler's": whaler_token,
    "Twake's": twake_token,
    "Parley's": lambda: token(EVERYTHING),
}

REFUSED = {
    "Twake's refresh token": lambda: twake_token(kind="refresh", lifetime=2_592_000),
    "Twake's with no type": lambda: twake_token(type=None),
    "Twake's with an audience": lambda: twake_token(aud="hasura"),
    "Twake's without an end": lambda: twake_token(exp=None),
    "Twake's room token": lambda: twake_room_token(),
    "Twake's room token after its time": lambda: twake_room_token(iat=int(time.time()) - 5),
    "Whaler's signed by Twake": lambda: whaler_token(secret=TWAKE_SECRET),
    "Whaler's signed by Parley": lambda: whaler_token(secret=SECRET),
    "Whaler's for another audience": lambda: whaler_token(aud="parley"),
    "Whaler's of another issuer": lambda: whaler_token(iss="getwhaler"),
    "Whaler's with sub alone": lambda: whaler_token(user=None, sub="ada"),
    "Whaler's of a program": lambda: whaler_token(user="key:backend"),
    "Twake's signed by Whaler": lambda: twake_token(secret=WHALER_SECRET),
    "Twake's signed by Parley": lambda: twake_token(secret=SECRET),
    "Parley's signed by Whaler": lambda: token(EVERYTHING, secret=WHALER_SECRET),
    "Parley's signed by Twake": lambda: token(EVERYTHING, secret=TWAKE_SECRET),
    "Parley's, a refresh token": lambda: token(EVERYTHING, type="refresh"),
}


def hello(server, value):
    client = NativeClient(server, greet=False)
    kind, client.welcome = client.request("hello", {"name": "Ada", "token": value})
    return client, kind


def upgrade(server, value, pool=POOL):
    return connect(
        f"ws://127.0.0.1:{server.port}/socket", compression=None,
        additional_headers={"Authorization": value, "ObjectId": pool},
    )  # fmt: skip


def bayeux(server, value, channel):
    with BayeuxSocket(server) as socket:
        socket.begin()
        return socket.subscribe(channel, value)


def test_each_issuers_token_has_its_rights_at_every_endpoint(several):
    for name, make in ACCEPTED.items():
        value = make()
        # The API, and a native client's hello.
        status, _, body = several.request("GET", "/api/notes", headers=bearer(value))
        assert status == 200, name
        client, kind = hello(several, value)
        assert kind == "welcome", name
        joined, data = client.request("join", {"documentId": several.note})
        if name == "Twake's":
            # Its profile gives no right to notes, so there are none.
            assert json.loads(body)["notes"] == []
            assert (joined, data["code"]) == ("error", "notAllowed")
        else:
            assert (joined, data["access"]) == ("joined", "write"), name
        # Socket.IO.
        with EngineSocket(several) as socket:
            socket.begin()
            socket.authenticate(value)
    # The upgrade of a Whaler client, whose pool the profile opens.
    with upgrade(several, whaler_token()) as socket:
        socket.send(
            json.dumps(
                {"messageId": "5E1C", "type": "resourceConnection",
                 "data": {"resourceId": several.note}}
            ).encode()
        )  # fmt: skip
        assert json.loads(socket.recv(timeout=SECONDS))["type"] == "resourceConnectionConf"
    with pytest.raises(InvalidStatus) as refused:
        upgrade(several, twake_token())
    assert refused.value.response.status_code == 403
    with upgrade(several, twake_token(), "/me/u1"):
        pass
    # Bayeux: each user's own channel, and the channels that rights allow.
    for value, channel, isOpen in (
        (whaler_token("7b1f"), "/user/7b1f", True), (whaler_token(), "/any", True),
        (twake_token(), "/user/u1", True), (twake_token(), "/users/u2", True),
        (twake_token(), "/me/u2", False), (twake_token(), "/any", False),
        (token(EVERYTHING), "/any", True),
    ):  # fmt: skip
        assert bayeux(several, value, channel)["successful"] is isOpen, channel


@pytest.mark.parametrize("kind", REFUSED)
def test_a_token_is_judged_by_the_profile_of_its_key(several, kind):
    value = REFUSED[kind]()
    assert several.request("GET", "/api/notes", headers=bearer(value))[0] == 401
    client, reply = hello(several, value)
    assert (reply, client.welcome["code"]) == ("error", "unauthorised")
    with pytest.raises(InvalidStatus) as refused:
        upgrade(several, value)
    assert refused.value.response.status_code == 403
    with EngineSocket(several) as socket:
        socket.begin()
        socket.emit("authenticate", {"token": value})
        assert socket.event()[0] == "unauthorized"
        assert [socket.event(), socket.event()] == ["41", "1"]
        with pytest.raises(ConnectionClosed):
            socket.receive()
    assert not bayeux(several, value, "/user/u1")["successful"]


def test_rights_of_ones_own_making_count_where_the_profile_says_so(several):
    def rooms(value):
        client, _ = hello(several, value)
        return client.request("subscribe", {"room": "orders"})[0]

    narrow = {"rooms": [{"match": "other", "may": ["read"]}]}
    assert rooms(whaler_token()) == "subscribed"
    assert rooms(whaler_token(parley=narrow)) == "error"
    assert rooms(twake_token(parley=EVERYTHING)) == "error"


def test_a_room_token_as_twake_makes_it_opens_its_room(several):
    now = int(time.time())

    def join(value, user="u1"):
        with EngineSocket(several) as socket:
            socket.begin()
            socket.authenticate(twake_token(user))
            socket.emit("realtime:join", {"name": ROOM, "token": value})
            return socket.event()[0] == "realtime:join:success"

    assert join(twake_room_token())
    assert join(twake_room_token(user="u2"), user="u2")
    for refused in (
        twake_room_token(user="u2"), twake_room_token(room="/other"),
        # A display name opens no room: neither in a token for logging in, nor in one that an issuer whose clock is
        # ahead has just made.
        twake_token(name=ROOM), twake_token(name=ROOM, iat=now + 25),
        twake_token(name=ROOM, iat=now + 25, exp=None),
        twake_room_token(iat=now + 60), twake_room_token(exp=now + 3600),
        twake_room_token(type="access"), twake_room_token(aud="rooms"),
        # Another issuer's, which has no room tokens.
        twake_room_token(secret=WHALER_SECRET), twake_room_token(secret=SECRET),
    ):  # fmt: skip
        assert not join(refused)


def test_check_and_doctor_report_weak_secrets(tmp_path):
    checked = run("check", "--data-dir", str(tmp_path / "data"), *map(str, flags(tmp_path)))
    assert checked.returncode == 0
    assert "issuer-profile" in checked.stdout and "user-claim:userID" in checked.stdout
    for name in ("whaler", "twake"):
        assert f"the secret in {tmp_path / name} has fewer than 32 bytes" in checked.stderr
    assert "profile whaler would let its finder sign any rights; claim-rights:no" in checked.stderr
    assert "profile twake would" not in checked.stderr
    assert "users with the same name are one person" in checked.stderr
    code, findings = examine(tmp_path / "data", *flags(tmp_path))
    assert code == 0
    texts = [text for severity, text in findings["access"] if severity == "warning"]
    assert sum("fewer than 32 bytes" in text for text in texts) == 2
    for secret in (WHALER_SECRET, TWAKE_SECRET, SECRET):
        assert secret.decode() not in checked.stdout + checked.stderr + str(findings)


def test_the_log_warns_of_short_secrets_without_them(several):
    log = several.log.read_text()
    assert log.count("short secret") == 2
    assert WHALER_SECRET.decode() not in log and TWAKE_SECRET.decode() not in log


def test_two_profiles_with_one_key_do_not_start(tmp_path):
    (tmp_path / "one").write_bytes(b"a secret of more than 8 bytes\n")
    # HMAC fills a secret up with zeros, so this one checks the same signatures.
    (tmp_path / "two").write_bytes(b"a secret of more than 8 bytes\0\0\n")
    settings = [
        "--issuer-profile", f"a hmac-secret-file:{tmp_path / 'one'} secret-size-min:8",
        "--issuer-profile", f"b hmac-secret-file:{tmp_path / 'two'} secret-size-min:8",
    ]  # fmt: skip
    for command in ("serve", "check"):
        ended = run(command, "--port", "0", "--data-dir", str(tmp_path / "data"), *settings)
        assert ended.returncode in (1, 2)
        assert "hold the same key" in ended.stderr and str(tmp_path / "one") in ended.stderr


def test_the_environment_and_the_file_name_profiles_too(start, tmp_path, monkeypatch):
    given = flags(tmp_path)
    file = tmp_path / "parley.conf"
    file.write_text(
        f"hmac-secret-file = {tmp_path / 'secret'}\naudience = parley\n"
        f"issuer-profile = {given[5]}\nissuer-profile = {given[7]}\n"
    )
    server = start("--config", file)
    for make in ACCEPTED.values():
        assert server.request("GET", "/api/notes", headers=bearer(make()))[0] == 200
    checked = run(
        "check", "--data-dir", str(tmp_path / "data"),
        PARLEY_ISSUER_PROFILE=f"{given[5]}; {given[7]}",
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    assert f"{given[5]}; {given[7]}  (environment)" in checked.stdout


def test_tokens_are_created_and_inspected_by_profile(several, tmp_path):
    file = tmp_path / "parley.conf"
    given = flags(tmp_path)
    file.write_text(f"issuer-profile = {given[5]}\nissuer-profile = {given[7]}\n")

    def make(*arguments):
        made = run("token", "make", "--config", str(file), *arguments)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    whaler = make("--profile", "whaler", "--user", "7b1f")
    twake = make("--profile", "twake", "--user", "u1")
    for value, said in (
        (whaler, "by issuer profile whaler as 7b1f"), (twake, "by issuer profile twake as u1"),
    ):  # fmt: skip
        assert several.request("GET", "/api/notes", headers=bearer(value))[0] == 200
        seen = subprocess.run(
            [PROGRAM, "token", "inspect", "-", "--config", file],
            input=value, capture_output=True, text=True,
        )  # fmt: skip
        assert seen.returncode == 0 and said in seen.stdout, seen.stdout
    assert '"userID":"7b1f"' in run("token", "inspect", whaler).stdout
    for wrong, said in (
        (["--profile", "other", "--user", "u"], "no issuer-profile other"),
        (["--user", "u", "--secret", str(tmp_path / "secret")], "--config is for --profile"),
    ):
        ended = run("token", "make", "--config", str(file), *wrong)
        assert ended.returncode == 2 and said in ended.stderr


@pytest.mark.parametrize(
    "profile, said",
    [
        ("app", "a key of the issuer's"),
        ("a/b hmac-secret-file:x", "a name of letters"),
        ("app hmac-secret-file:x user:y", "got user:"),
        ("app hmac-secret-file:x nonsense", "words such as"),
        ("app hmac-secret-file:x user-claim:a user-claim:b", "user-claim once; app contains it twice"),
        ("app hmac-secret-file:x secret-size-min:4", "secret-size-min: a number"),
        ("app hmac-secret-file:x document:*=shout", "got shout"),
        ("app hmac-secret-file:x require:type", "require:CLAIM=VALUE"),
        ("app hmac-secret-file:x claim-rights:perhaps", "claim-rights: yes or no"),
        ("app hmac-secret-file:x user-prefix:key:", "user-prefix that does not"),
        ("app hmac-secret-file:x audience:a room-token-audience:a", "not an audience"),
    ],
)
def test_a_malformed_profile_is_refused_with_what_was_expected(profile, said):
    ended = run("check", "--issuer-profile", profile)
    assert ended.returncode == 2
    assert "issuer-profile expects" in ended.stderr and said in ended.stderr


def test_two_profiles_of_one_name_are_refused(tmp_path):
    profile = "app hmac-secret-file:x"
    ended = run("check", "--issuer-profile", f"{profile}; {profile}")
    assert ended.returncode == 2 and "app is there twice" in ended.stderr


def test_an_escaped_blank_and_semicolon(tmp_path):
    (tmp_path / "a b;c").write_bytes(SECRET)
    path = str(tmp_path / "a b;c").replace(" ", "%20").replace(";", "%3B")
    checked = run("check", "--data-dir", str(tmp_path / "data"), "--issuer-profile",
                  f"app hmac-secret-file:{path} room:a%20*=read")  # fmt: skip
    assert checked.returncode == 0, checked.stderr
