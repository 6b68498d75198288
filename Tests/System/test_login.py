"""Logging in with a password, as Whaler clients do, against the real program."""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import subprocess
import time
import urllib.parse

import pytest
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS, SECONDS
from test_tokens import bearer, greet, new_key
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

PASSWORD = "correct horse é"
RIGHTS = ["document:*=all", "room:*=read,publish"]


def add_user(file, user, *words, password=PASSWORD):
    return subprocess.run(
        [PROGRAM, "user", "add", user, *words, "--file", file],
        input=password + "\n", capture_output=True, text=True,
    )  # fmt: skip


def put_user(file, user, *rights, name=None):
    """Adds the line that `parley user add` makes, but with a hash that costs next to nothing, here and at each login."""
    salt = os.urandom(16)
    hash = hashlib.scrypt(PASSWORD.encode(), salt=salt, n=2, r=8, p=1, dklen=32)
    salt, hash = (base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (salt, hash))
    words = [user, f"scrypt$1$8$1${salt}${hash}", f"since:{int(time.time() * 1000)}"]
    if name:
        words.append("name:" + urllib.parse.quote(name))
    with open(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as lines:
        lines.write(" ".join([*words, *rights]) + "\n")


@pytest.fixture
def users(tmp_path):
    file = tmp_path / "users"
    put_user(file, "ada@example.org", *RIGHTS, name="Ada L.")
    put_user(file, "bea@example.org", "document:*=read,presence")
    return file


@pytest.fixture
def guarded(start, tmp_path, users):
    operator = new_key(tmp_path, "admin", "operator")
    server = start("--users-file", users, "--api-key-file", tmp_path / "api-keys")
    server.operator = operator
    return server


def post(server, path, body):
    status, headers, answer = server.request("POST", path, body)
    assert headers["content-type"] == "application/json"
    return status, json.loads(answer)


def log_in(server, user="ada@example.org", password=PASSWORD):
    status, answer = post(server, "/api/user/login", {"email": user, "password": password})
    assert status == 200, answer
    return answer


def tokens(server, user="ada@example.org"):
    return log_in(server, user)["data"]["tokens"]


def test_a_login_answer_has_the_form_of_whaler_clients(guarded):
    answer = log_in(guarded)
    assert (answer["code"], answer["hasError"]) == (1000, False)
    assert answer["message"] == "Logged in"
    assert answer["data"]["response"] == {
        "id": "ada@example.org", "email": "ada@example.org", "name": "Ada L.",
    }  # fmt: skip
    assert set(answer["data"]["tokens"]) == {"accessToken", "refreshToken"}


def test_the_token_of_a_login_has_the_users_rights(guarded):
    access = tokens(guarded)["accessToken"]
    status, _, body = guarded.request("POST", "/api/notes", {"title": "Mine"}, bearer(access))
    assert status == 201
    note = json.loads(body)["id"]
    client, reply = greet(guarded, access, name="Root")
    assert reply == "welcome"
    joined = client.join(note)
    assert client.change(note, joined, 1, ["by Ada"])[0] == "acknowledged"
    bea, _ = greet(guarded, tokens(guarded, "bea@example.org")["accessToken"])
    joined = bea.join(note)
    assert joined["access"] == "read"
    assert [person["name"] for person in joined["presence"]] == ["Ada L."]
    raw = {"Authorization": access, "ObjectId": "pool"}
    with connect(f"ws://127.0.0.1:{guarded.port}/socket", additional_headers=raw) as socket:
        socket.send(
            json.dumps(
                {"messageId": "1", "type": "resourceConnection", "data": {"resourceId": note}}
            )
        )
        assert json.loads(socket.recv(timeout=SECONDS))["data"]["initialState"] == "by Ada"


FAILING_LOGINS = [
    (b"", 4000), (b"[]", 4000), (b'{"email":"ada@example.org"}', 4000),
    (b'{"email":1,"password":"x"}', 4000), (b'{"email":"x","password":"' + b"x" * 5000 + b'"}', 4000),
    ({"email": "ada@example.org", "password": "wrong"}, 4001),
    ({"email": "ada@example.org", "password": ""}, 4001),
    ({"email": "nobody@example.org", "password": PASSWORD}, 4001),
    ({"email": "", "password": ""}, 4001),
]  # fmt: skip


def test_a_login_that_fails_says_why_by_its_code(guarded):
    found = []
    for body, _ in FAILING_LOGINS:
        status, answer = post(guarded, "/api/user/login", body)
        found.append((body, status, answer["code"], answer["hasError"], answer["data"]))
    assert found == [(body, 200, code, True, {}) for body, code in FAILING_LOGINS]


def test_refreshing_gives_new_tokens_and_a_login_is_needed_in_the_end(start, users):
    server = start("--users-file", users, "--access-token-time", "10s")
    first = tokens(server)
    status, answer = post(server, "/api/user/refresh", {"refreshToken": first["refreshToken"]})
    assert (status, answer["code"]) == (200, 1000)
    second = answer["data"]["tokens"]
    client, _ = greet(server, first["accessToken"])
    assert client.request("refresh", {"token": second["accessToken"]})[0] == "refreshed"
    assert greet(server, second["accessToken"])[1] == "welcome"


@pytest.mark.parametrize("kind", ["nothing", "garbage", "an access token", "a broken one"])
def test_what_is_no_refresh_token_refreshes_nothing(guarded, kind):
    pair = tokens(guarded)
    body = {
        "nothing": {}, "garbage": {"refreshToken": "x"},
        "an access token": {"refreshToken": pair["accessToken"]},
        "a broken one": {"refreshToken": pair["refreshToken"][:-2] + "AA"},
    }[kind]  # fmt: skip
    status, answer = post(guarded, "/api/user/refresh", body)
    assert (status, answer["code"]) == (200, 4000 if kind == "nothing" else 4004)


def test_a_refresh_token_opens_nothing_itself(guarded):
    refresh = tokens(guarded)["refreshToken"]
    assert greet(guarded, refresh)[1] == "error"
    assert guarded.request("GET", "/api/notes", headers=bearer(refresh))[0] == 401
    with pytest.raises(InvalidStatus) as refused:
        connect(
            f"ws://127.0.0.1:{guarded.port}/socket", additional_headers={"Authorization": refresh}
        )
    assert refused.value.response.status_code == 403


def test_a_user_who_is_put_out_is_out_and_may_log_in_again(guarded):
    pair = tokens(guarded)
    client, _ = greet(guarded, pair["accessToken"])
    body = {"user": "ada@example.org"}
    assert guarded.request("POST", "/api/revoke", body, bearer(guarded.operator))[0] == 200
    assert client.close_code() == 4508
    answer = post(guarded, "/api/user/refresh", {"refreshToken": pair["refreshToken"]})[1]
    assert answer["code"] == 4004
    assert greet(guarded, tokens(guarded)["accessToken"])[1] == "welcome"


def test_what_the_file_says_of_a_user_holds_at_once(guarded, users):
    note = json.loads(
        guarded.request(
            "POST", "/api/notes", {"title": "x"}, bearer(tokens(guarded)["accessToken"])
        )[2]
    )["id"]
    ada, _ = greet(guarded, tokens(guarded)["accessToken"])
    bea, _ = greet(guarded, tokens(guarded, "bea@example.org")["accessToken"])
    assert bea.join(note)["access"] == "read"
    assert ada.join(note)["access"] == "write"
    lines = users.read_text().splitlines()
    assert len(lines) == 2
    # Bea may write now, and Ada is gone.
    replace(users, lines[1].replace("=read,", "=read,write,") + "\n")
    assert bea.expect("accessChanged") == {"documentId": note, "access": "write"}
    assert ada.close_code() == 4508
    assert log_in(guarded)["code"] == 4001


def replace(file, text):
    """As editors do: beside it, then in its place."""
    new = pathlib.Path(str(file) + ".new")
    new.write_text(text)
    new.replace(file)


def test_guessing_becomes_slow_and_hits_no_other_user(guarded):
    for _ in range(5):
        assert log_in(guarded, password="guess")["code"] == 4001
    body = {"email": "ada@example.org", "password": PASSWORD}
    status, headers, answer = guarded.request("POST", "/api/user/login", body)
    assert (status, json.loads(answer)["code"]) == (429, 4001)
    assert int(headers["retry-after"]) >= 1
    assert log_in(guarded, "bea@example.org")["code"] == 1000


@pytest.mark.parametrize("spelling", [" ada@example.org ", "ADA@Example.ORG", "\tAda@example.org\u00a0"])
def test_every_spelling_of_a_name_is_the_account(guarded, spelling):
    assert log_in(guarded, spelling)["data"]["response"]["id"] == "ada@example.org"


def test_spellings_of_a_name_are_guessed_at_together(guarded):
    for name in ("ada@example.org", "Ada@example.org", "ADA@example.org", " ada@example.org", "ada@EXAMPLE.org "):
        assert log_in(guarded, name, password="guess")["code"] == 4001
    body = {"email": "aDa@example.org", "password": PASSWORD}
    assert guarded.request("POST", "/api/user/login", body)[0] == 429


def at_once(server, path, requests):
    """Sends all requests before any answer is read; returns status, code and headers of each."""
    waiting = []
    for address, body in requests:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PROGRAM_SECONDS)
        connection.request("POST", path, json.dumps(body), {"X-Forwarded-For": address})
        waiting.append(connection)
    answers = []
    for connection in waiting:
        response = connection.getresponse()
        answers.append((response.status, json.loads(response.read())["code"], response.headers))
        connection.close()
    return answers


@pytest.mark.parametrize("kind", ["login", "password", "join"])
def test_guesses_at_once_are_tried_as_often_as_one_by_one(start, users, kind):
    server = start("--users-file", users, "--trusted-proxy", "127.0.0.1")
    body = {
        "login": {"email": "ada@example.org", "password": "guess"},
        "password": {"email": "ada@example.org", "password": "guess", "newPassword": PASSWORD},
        "join": {"invitation": "pi_guess", "email": "cid", "password": PASSWORD},
    }[kind]  # fmt: skip
    answers = at_once(server, f"/api/user/{kind}", [("192.0.2.1", body)] * 32)
    tried = [code for status, code, _ in answers if status == 200]
    assert 1 <= len(tried) <= 5 and set(tried) == {4010 if kind == "join" else 4001}
    assert all("retry-after" in headers for status, _, headers in answers if status != 200)
    right = {"email": "ada@example.org", "password": PASSWORD}
    assert at_once(server, "/api/user/login", [("192.0.2.2", right)])[0][1] == 1000


def test_attempts_of_one_address_do_not_keep_others_from_logging_in(start, users):
    server = start("--users-file", users, "--trusted-proxy", "127.0.0.1")
    # The user does not exist, so that the hash has its normal cost.
    flood = [("192.0.2.1", {"email": f"user-{n}", "password": "x"}) for n in range(40)]
    right = {"email": "ada@example.org", "password": PASSWORD}
    others = [(f"192.0.2.{n}", right) for n in range(2, 6)]
    answers = at_once(server, "/api/user/login", flood + others)
    assert [code for _, code, _ in answers[40:]] == [1000] * 4
    refused = [headers for status, _, headers in answers[:40] if status == 429]
    assert refused and all(1 <= int(headers["retry-after"]) <= 5 for headers in refused)
    page = server.request("GET", "/metrics")[2].decode()
    assert f'parley_logins_refused_total{{reason="share"}} {len(refused)}' in page
    assert "parley_login_queue 0" in page


def test_one_attempt_of_each_of_many_addresses_leaves_a_slot_for_the_next(start, users):
    server = start("--users-file", users, "--trusted-proxy", "127.0.0.1")
    flood = [(f"198.51.100.{n}", {"email": "cid", "password": "x"}) for n in range(40)]
    right = ("192.0.2.1", {"email": "ada@example.org", "password": PASSWORD})
    answers = at_once(server, "/api/user/login", [*flood, right])
    assert [code for _, code, _ in answers] == [4001] * 40 + [1000]


def test_concurrent_logins_succeed(start, tmp_path):
    # The command hashes the password with the normal cost.
    assert add_user(tmp_path / "users", "bea@example.org", "document:*=read").returncode == 0
    server = start("--users-file", tmp_path / "users")
    waiting = []
    body = json.dumps({"email": "bea@example.org", "password": PASSWORD})
    for _ in range(4):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PROGRAM_SECONDS)
        connection.request("POST", "/api/user/login", body)
        waiting.append(connection)
    assert server.request("GET", "/health")[0] == 200
    for connection in waiting:
        assert json.loads(connection.getresponse().read())["code"] == 1000
        connection.close()


def test_a_server_with_users_requires_a_token(guarded):
    assert greet(guarded, None)[1] == "error"
    assert guarded.request("GET", "/api/notes")[0] == 401
    assert "OPEN DEMO MODE" not in "\n".join(guarded.output)


def test_without_users_there_is_no_login(server):
    body = {"email": "ada@example.org", "password": PASSWORD}
    assert server.request("POST", "/api/user/login", body)[0] == 404


def shape(line):
    """A line of a file of users without what differs each time."""
    user, _, since, *words = line.split()
    return user, since.partition(":")[0], words


def test_users_are_added_once_and_with_a_password(users, tmp_path):
    file = tmp_path / "added"
    assert add_user(file, "ada@example.org", "--name", "Ada L.", *RIGHTS).returncode == 0
    assert add_user(file, "bea@example.org", "document:*=read,presence").returncode == 0
    assert file.stat().st_mode & 0o077 == 0
    made, put = (path.read_text().splitlines() for path in (file, users))
    assert [line.split()[1].rpartition("$")[0].rpartition("$")[0] for line in made] == ["scrypt$15$8$1"] * 2
    assert [shape(line) for line in made] == [shape(line) for line in put]
    result = add_user(users, "ada@example.org", "document:*=read")
    assert result.returncode == 1 and "has this user already" in result.stderr
    assert add_user(users, "cid", password="").returncode == 2
    assert add_user(users, "share/x").returncode == 2
    assert add_user(users, "cid", "document:*=fly").returncode == 2


def test_no_password_or_token_is_in_the_log_or_the_file(guarded, users):
    pair = tokens(guarded)
    log_in(guarded, password="a wrong one")
    text = guarded.log.read_text() + users.read_text()
    assert "login refused" in text
    for value in (PASSWORD, "a wrong one", *pair.values()):
        assert value not in text
