"""Sessions that last: renewed while they are used, listed and ended by their person, against the real program."""

import contextlib
import fcntl
import json
import sqlite3
import subprocess
import threading

import pytest
from parley_server import PROGRAM
from test_login import PASSWORD, guarded, post, tokens, users  # noqa: F401
from test_nodes import postgres  # noqa: F401
from test_tokens import bearer, greet

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
PHONE = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36"


def refresh(server, pair):
    return post(server, "/api/user/refresh", {"refreshToken": pair["refreshToken"]})[1]


def sign_in(server, agent, user="ada@example.org"):
    body = {"email": user, "password": PASSWORD}
    status, _, answer = server.request("POST", "/api/user/login", body, {"User-Agent": agent})
    assert status == 200
    return json.loads(answer)["data"]["tokens"]


def sessions(server, pair):
    status, _, body = server.request("GET", "/api/sessions", headers=bearer(pair["accessToken"]))
    assert status == 200, body
    return json.loads(body)["sessions"]


def test_a_refresh_token_is_exchanged_once_and_survives_a_restart(guarded):  # noqa: F811
    first = tokens(guarded)
    second = refresh(guarded, first)["data"]["tokens"]
    # Another window, or one whose answer was lost, gets the very same token.
    assert refresh(guarded, first)["data"]["tokens"]["refreshToken"] == second["refreshToken"]
    guarded.kill()
    guarded.start()
    third = refresh(guarded, second)["data"]["tokens"]
    assert len({pair["refreshToken"] for pair in (first, second, third)}) == 3
    client, reply = greet(guarded, third["accessToken"])
    assert reply == "welcome"
    # The first one was exchanged two turns ago: a thief may have it, and the session ends for both.
    assert refresh(guarded, first)["code"] == 4004
    assert client.close_code() == 4508
    assert refresh(guarded, third)["code"] == 4004
    assert greet(guarded, third["accessToken"])[1] == "error"
    assert "used twice" in guarded.log.read_text()
    assert greet(guarded, tokens(guarded)["accessToken"])[1] == "welcome"


def test_people_see_their_devices_and_end_them(guarded):  # noqa: F811
    phone = sign_in(guarded, PHONE)
    laptop = sign_in(guarded, FIREFOX)
    bea = sign_in(guarded, "curl/8.5", "bea@example.org")
    seen = sessions(guarded, laptop)
    assert [(entry["browser"], entry["system"], entry["current"]) for entry in seen] == [
        ("Firefox", "Linux", True), ("Chrome", "Android", False),
    ]  # fmt: skip
    assert all(entry["begunAt"] <= entry["usedAt"] < entry["expiresAt"] for entry in seen)
    theirs = sessions(guarded, bea)[0]["id"]
    as_laptop = bearer(laptop["accessToken"])
    assert guarded.request("DELETE", f"/api/sessions/{theirs}", headers=as_laptop)[0] == 404
    client, _ = greet(guarded, phone["accessToken"])
    status, _, body = guarded.request("DELETE", f"/api/sessions/{seen[1]['id']}", headers=as_laptop)
    assert (status, json.loads(body)) == (200, {"ended": 1})
    assert client.close_code() == 4508
    assert refresh(guarded, phone)["code"] == 4004
    third = sign_in(guarded, "curl/8.5")
    client, _ = greet(guarded, third["accessToken"])
    status, _, body = guarded.request("DELETE", "/api/sessions", headers=as_laptop)
    assert (status, json.loads(body)) == (200, {"ended": 1})
    assert client.close_code() == 4508
    assert [entry["current"] for entry in sessions(guarded, laptop)] == [True]
    assert refresh(guarded, laptop)["code"] == 1000
    assert refresh(guarded, bea)["code"] == 1000
    # A program has none, and a guest neither.
    assert guarded.request("GET", "/api/sessions", headers=bearer(guarded.operator))[0] == 403


def test_logging_out_ends_the_session(guarded):  # noqa: F811
    pair = tokens(guarded)
    client, _ = greet(guarded, pair["accessToken"])
    status, answer = post(guarded, "/api/user/logout", {"refreshToken": pair["refreshToken"]})
    assert (status, answer["code"], answer["hasError"]) == (200, 1001, False)
    assert client.close_code() == 4508
    assert refresh(guarded, pair)["code"] == 4004
    assert post(guarded, "/api/user/logout", {"refreshToken": "x"})[1]["code"] == 4004
    assert post(guarded, "/api/user/logout", {})[1]["code"] == 4000


def test_another_password_ends_all_sessions_but_the_new_one(guarded):  # noqa: F811
    old = [tokens(guarded) for _ in range(2)]
    body = {"email": "ada@example.org", "password": PASSWORD, "newPassword": "another password"}
    status, answer = post(guarded, "/api/user/password", body)
    assert (status, answer["code"]) == (200, 1000)
    new = answer["data"]["tokens"]
    assert [entry["current"] for entry in sessions(guarded, new)] == [True]
    assert [refresh(guarded, pair)["code"] for pair in old] == [4004, 4004]
    assert refresh(guarded, new)["code"] == 1000
    # The list leaves out those of a former password by itself; the store has to end them, too.
    with contextlib.closing(sqlite3.connect(guarded.data / "notes.parley")) as store:
        assert store.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_people_change_the_name_that_others_see(guarded):  # noqa: F811
    pair, other = tokens(guarded), tokens(guarded)
    name = "Ada Lovelace 🖋"
    status, answer = post(guarded, "/api/user/name", {"refreshToken": pair["refreshToken"], "name": name})
    assert (status, answer["code"]) == (200, 1000)
    assert answer["data"]["response"] == {"id": "ada@example.org", "email": "ada@example.org", "name": name}
    new = answer["data"]["tokens"]
    # Other sessions continue, and have the name when they are renewed.
    renewed = refresh(guarded, other)
    assert renewed["data"]["response"]["name"] == name
    assert refresh(guarded, new)["code"] == 1000
    guarded.kill()
    guarded.start()
    body = {"email": "ada@example.org", "password": PASSWORD}
    assert post(guarded, "/api/user/login", body)[1]["data"]["response"]["name"] == name


UNFIT_NAMES = [
    ({"name": ""}, 4011), ({"name": " "}, 4011), ({"name": "a\nb"}, 4011), ({"name": "a\u202eb"}, 4011),
    ({"name": "é" * 101}, 4011), ({"name": "x" * 8_000}, 4011), ({"name": None}, 4000), ({}, 4000),
    ({"name": "Eve", "refreshToken": "x"}, 4004), ({"name": "Eve", "refreshToken": None}, 4000),
]  # fmt: skip


def test_a_name_that_cannot_be_shown_changes_nothing(guarded, users):  # noqa: F811
    pair = tokens(guarded)
    before = users.read_bytes()
    found = []
    for fields, _ in UNFIT_NAMES:
        status, answer = post(guarded, "/api/user/name", {"refreshToken": pair["refreshToken"]} | fields)
        found.append((fields, status, answer["code"], users.read_bytes() == before))
    assert found == [(fields, 200, code, True) for fields, code in UNFIT_NAMES]
    # An access token does not count for this.
    answer = post(guarded, "/api/user/name", {"refreshToken": pair["accessToken"], "name": "Eve"})[1]
    assert answer["code"] == 4004 and users.read_bytes() == before
    # One that was exchanged twice since would end the session.
    assert refresh(guarded, pair)["code"] == 1000, "a refused name costs no turn of the session"


def test_a_refresh_token_that_was_exchanged_long_ago_changes_no_name(guarded, users):  # noqa: F811
    first = tokens(guarded)
    second = refresh(guarded, first)["data"]["tokens"]
    third = refresh(guarded, second)["data"]["tokens"]
    before = users.read_bytes()
    answer = post(guarded, "/api/user/name", {"refreshToken": first["refreshToken"], "name": "Eve"})[1]
    assert answer["code"] == 4004 and users.read_bytes() == before
    assert refresh(guarded, third)["code"] == 4004, "somebody else had the token, so the session has ended"


def test_above_the_maximum_the_oldest_session_ends(guarded):  # noqa: F811
    first = tokens(guarded)
    client, _ = greet(guarded, first["accessToken"])
    others = [tokens(guarded) for _ in range(32)]
    assert client.close_code() == 4508
    assert refresh(guarded, first)["code"] == 4004
    assert refresh(guarded, others[0])["code"] == 1000
    assert len(sessions(guarded, others[-1])) == 32
    assert "more than 32" in guarded.log.read_text()


def test_a_browser_keeps_a_session_in_a_cookie_that_no_script_reads(guarded):  # noqa: F811
    body = {"email": "ada@example.org", "password": PASSWORD, "keep": True}
    page = {"Sec-Fetch-Site": "same-origin"}
    status, headers, answer = guarded.request("POST", "/api/user/login", body, page)
    data = json.loads(answer)["data"]
    assert (status, data["tokens"]["kept"]) == (200, True)
    assert "refreshToken" not in data["tokens"]
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    kept = {"Cookie": cookie.split(";")[0]}
    # Another site's page gets nothing for it.
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert json.loads(guarded.request("POST", "/api/user/refresh", {}, kept | foreign)[2])["code"] == 4000
    _, headers, answer = guarded.request("POST", "/api/user/refresh", {}, kept | page)
    data = json.loads(answer)["data"]
    assert greet(guarded, data["tokens"]["accessToken"])[1] == "welcome"
    renewed = {"Cookie": headers["set-cookie"].split(";")[0]}
    assert renewed != kept
    # Who signs in without it does not leave another's behind.
    _, headers, _ = guarded.request("POST", "/api/user/login", body | {"keep": False}, renewed | page)
    assert "Max-Age=0" in headers["set-cookie"]
    _, headers, answer = guarded.request("POST", "/api/user/logout", {}, renewed | page)
    assert json.loads(answer)["code"] == 1001
    assert "Max-Age=0" in headers["set-cookie"]
    assert json.loads(guarded.request("POST", "/api/user/refresh", {}, renewed | page)[2])["code"] == 4004


def test_a_session_ends_after_its_time_however_it_is_used(start, users):  # noqa: F811
    server = start("--users-file", users, "--session-time", "60s", "--access-token-time", "3600s")
    pair = tokens(server)
    claims = [entry for entry in sessions(server, pair)][0]
    assert claims["expiresAt"] - claims["begunAt"] == 60_000


def test_operators_see_the_sessions_of_a_user_and_end_one(guarded, users):  # noqa: F811
    pair = sign_in(guarded, FIREFOX)
    place = ["--data-dir", guarded.data, "--users-file", users]

    def listed():
        done = subprocess.run(
            [PROGRAM, "user", "sessions", "ada@example.org", "--json", *place],
            capture_output=True, text=True, env={"PARLEY_UNHEARD_OF": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        # Another program's variable is passed over with a word.
        assert "PARLEY_UNHEARD_OF" in done.stderr
        return json.loads(done.stdout)["sessions"]

    [entry] = listed()
    assert (entry["browser"], entry["system"]) == ("Firefox", "Linux")
    client, _ = greet(guarded, pair["accessToken"])
    done = subprocess.run([PROGRAM, "revoke", "--token", entry["id"], *place], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert client.close_code() == 4508
    assert listed() == []
    assert refresh(guarded, pair)["code"] == 4004


def test_no_refresh_token_is_in_the_store_or_the_log(guarded):  # noqa: F811
    pair = refresh(guarded, tokens(guarded))["data"]["tokens"]
    guarded.stop()
    files = [file for file in guarded.data.rglob("*") if file.is_file()]
    signature = pair["refreshToken"].split(".")[2].encode()
    assert files and not any(signature in file.read_bytes() for file in [*files, guarded.log])
    guarded.start()


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_logging_out_requires_post(guarded, method):  # noqa: F811
    assert guarded.request(method, "/api/user/logout")[0] == 405


def test_a_session_and_a_link_are_on_every_node_and_end_on_all(start, postgres, users):  # noqa: F811
    flags = ["--users-file", users, "--store-url", postgres.new_database()]
    first, second = start(*flags), start(*flags)
    pair = tokens(first)
    renewed = refresh(second, pair)["data"]["tokens"]
    assert refresh(first, pair)["data"]["tokens"]["refreshToken"] == renewed["refreshToken"]
    at_second, reply = greet(second, renewed["accessToken"])
    assert reply == "welcome"
    as_ada = bearer(renewed["accessToken"])
    note = json.loads(first.request("POST", "/api/notes", {"title": "Shared"}, as_ada)[2])["id"]
    status, _, body = first.request("POST", f"/api/notes/{note}/share", {"access": "read"}, as_ada)
    assert status == 201
    link = json.loads(body)
    key = {"key": link["path"].removeprefix("/s/")}
    status, _, body = second.request("POST", "/api/links/open", key)
    assert status == 200
    guest, _ = greet(second, json.loads(body)["token"])
    path = f"/api/notes/{note}/share/{link['id']}"
    assert first.request("DELETE", path, headers=as_ada)[0] == 204
    assert guest.close_code() == 4508
    assert second.request("POST", "/api/links/open", key)[0] == 404
    own = sessions(first, renewed)[0]["id"]
    assert first.request("DELETE", f"/api/sessions/{own}", headers=as_ada)[0] == 200
    assert at_second.close_code() == 4508
    assert refresh(second, renewed)["code"] == 4004


def test_a_log_out_waits_for_its_file_and_no_other_request_does(guarded):  # noqa: F811
    own, other = tokens(guarded), tokens(guarded)
    client, reply = greet(guarded, own["accessToken"])
    assert reply == "welcome"
    bystander, _ = greet(guarded, other["accessToken"])
    note = json.loads(guarded.request("POST", "/api/notes", {"title": "N"}, bearer(other["accessToken"]))[2])["id"]
    joined = bystander.join(note)
    body = {"refreshToken": own["refreshToken"]}
    answers = []
    with open(guarded.data / "revocations", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        leaving = threading.Thread(target=lambda: answers.append(post(guarded, "/api/user/logout", body)))
        leaving.start()
        # Until the file is free again, the others log in, read and write.
        for _ in range(3):
            assert len(sessions(guarded, tokens(guarded))) >= 2
        assert bystander.change(note, joined, 1, ["written meanwhile"])[0] == "acknowledged"
        assert guarded.request("GET", "/health")[0] == 200
        assert not answers
    leaving.join()
    assert answers[0][1]["code"] == 1001
    assert client.close_code() == 4508
    assert greet(guarded, own["accessToken"])[1] == "error"
    assert greet(guarded, other["accessToken"])[1] == "welcome"
