"""Invitations with which people become users of a running server, and changing passwords."""

import concurrent.futures
import json
import re
import subprocess

import pytest
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS
from test_login import PASSWORD, RIGHTS, log_in, post, put_user, tokens
from test_tokens import greet
from test_users import OTHER, listed


@pytest.fixture
def served(start, tmp_path):
    users = tmp_path / "users"
    put_user(users, "ada", *RIGHTS)
    server = start("--users-file", users)
    server.users = users
    return server


def invite(server, *words, code=0):
    ended = subprocess.run(
        [PROGRAM, "invite", *map(str, words), "--data-dir", server.data, "--users-file", server.users],
        capture_output=True, text=True, timeout=PROGRAM_SECONDS,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    return ended.stdout.strip()


def token_of(link):
    return re.fullmatch(r"(?:https://notes\.example\.org/)?#invite=(pi_[A-Za-z0-9_-]{22,})", link)[1]


def join(server, invitation, user="bea", password=PASSWORD, **fields):
    body = {"invitation": invitation, "email": user, "password": password, **fields}
    return post(server, "/api/user/join", body)


def test_an_invited_user_can_join(served):
    link = invite(served, "make", "--page", "https://notes.example.org", "document:*=read,write,presence")
    assert link.startswith("https://notes.example.org/#invite=")
    status, answer = join(served, token_of(link), name="Bea B.")
    assert (status, answer["code"]) == (200, 1000)
    assert answer["data"]["response"] == {"id": "bea", "email": "bea", "name": "Bea B."}
    assert greet(served, answer["data"]["tokens"]["accessToken"])[1] == "welcome"
    assert log_in(served, "bea")["code"] == 1000
    assert listed(served.users)[1]["rights"] == ["document:*=read,write,presence"]
    # The invitation was for one person.
    assert join(served, token_of(link), "cid")[1]["code"] == 4010
    assert invite(served, "list") == ""


def test_no_token_is_kept_or_logged(served):
    token = token_of(invite(served, "make", "--uses", "2"))
    assert join(served, token)[1]["code"] == 1000
    assert join(served, token + "x", "cid")[1]["code"] == 4010
    file = served.data / "invitations"
    assert file.stat().st_mode & 0o777 == 0o600
    for text in (file.read_text(), served.users.read_text(), served.log.read_text(), invite(served, "list")):
        assert token not in text and PASSWORD not in text


def test_an_invitation_is_listed_and_withdrawn(served):
    token = token_of(invite(served, "make", "--uses", "3"))
    (listing,) = json.loads(invite(served, "list", "--json"))["invitations"]
    assert listing["uses"] == 3 and listing["rights"] == ["document:*=read,write,presence,manage"]
    invite(served, "remove", listing["id"])
    invite(served, "remove", listing["id"], code=1)
    assert join(served, token)[1]["code"] == 4010
    assert len(listed(served.users)) == 1


def test_an_invitation_ends(served):
    token = token_of(invite(served, "make", "--expires-in", "1ms"))
    assert join(served, token)[1]["code"] == 4010
    assert invite(served, "list") == ""


NO_INVITATIONS = [
    ["--uses", "0"], ["--uses", "x"], ["--uses", "1001"], ["--expires-in", "0"], ["--expires-in", "never"],
    ["--page", "notes.example.org"], ["--page", "https://x y"], ["--page", "https://"], ["--page", "https://x/?a"],
    ["document:*=fly"], ["other"],
]  # fmt: skip


def test_invalid_invitations_are_refused(served):
    for words in NO_INVITATIONS:
        invite(served, "make", *words, code=2)
    # A group that there is not would give nothing.
    invite(served, "make", "group:nope", "document:*=read", code=1)
    assert not (served.data / "invitations").exists()


WRONG_REQUESTS = [
    ({"email": "ada"}, 4012), ({"email": ""}, 4011), ({"email": "a b"}, 4011), ({"email": "share/x"}, 4011),
    ({"email": "key:x"}, 4011), ({"email": "x" * 201}, 4011), ({"name": "a\nb"}, 4011), ({"name": "x" * 201}, 4011),
    ({"email": "Ada"}, 4012), ({"email": "@admins"}, 4011), ({"email": "*"}, 4011), ({"email": "{user}"}, 4011),
    ({"email": " ADA "}, 4012), ({"email": ".."}, 4011), ({"email": "a/b"}, 4011), ({"email": "a\u200bb"}, 4011),
    ({"email": "document:*=all"}, 4011), ({"email": "group:x"}, 4011),
    ({"password": "short"}, 4013), ({"password": "x" * 1025}, 4013), ({"password": 1}, 4000),
    ({"invitation": None}, 4000), ({"invitation": ""}, 4010), ({"invitation": "pi_" + "x" * 10_000}, 4010),
]  # fmt: skip


def test_a_wrong_request_makes_no_user_and_uses_nothing_up(served):
    token = token_of(invite(served, "make"))
    files = [served.users, served.data / "invitations"]
    before = [file.read_bytes() for file in files]
    found = []
    for fields, _ in WRONG_REQUESTS:
        status, answer = post(served, "/api/user/join", {"invitation": token, "email": "bea", "password": PASSWORD} | fields)
        changed = [file.name for file in files if file.read_bytes() not in before]
        found.append((fields, status, answer["code"], answer["hasError"], changed))
    assert found == [(fields, 200, code, True, []) for fields, code in WRONG_REQUESTS]
    assert join(served, token)[1]["code"] == 1000


def test_concurrent_joins_do_not_exceed_the_number_of_uses(served):
    token = token_of(invite(served, "make", "--uses", "2"))
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        codes = list(pool.map(lambda number: join(served, token, f"user-{number}")[1]["code"], range(5)))
    assert sorted(codes) == [1000, 1000, 4010, 4010, 4010]
    assert len(listed(served.users)) == 3


def test_guessing_becomes_slow_for_any_named_user(served):
    token = token_of(invite(served, "make"))
    for number in range(5):
        assert join(served, f"pi_guess-{number}", f"user-{number}")[1]["code"] == 4010
    assert join(served, token)[0] == 429
    assert log_in(served, "ada")["code"] == 1000


def test_opening_a_former_invitation_gets_the_reason_and_does_not_count_as_guessing(served):
    used, withdrawn, expired, good = (
        token_of(invite(served, "make", *words)) for words in ([], [], ["--expires-in", "1ms"], [])
    )
    assert join(served, used, "first")[1]["code"] == 1000
    invite(served, "remove", json.loads(invite(served, "list", "--json"))["invitations"][0]["id"])
    for token, word in ((used, "used"), (withdrawn, "withdrawn"), (expired, "expired")):
        for number in range(7):
            status, answer = join(served, token, f"late-{number}")
            assert (status, answer["code"]) == (200, 4010)
            assert word in answer["message"] and token not in answer["message"]
    assert join(served, good, "late-1")[1]["code"] == 1000
    assert invite(served, "list") == ""


def test_files_that_cannot_be_written_lose_no_invitation(served, tmp_path):
    token = token_of(invite(served, "make"))
    # A folder in the way of the new file, as a disk without room would be.
    (tmp_path / "users.new").mkdir()
    assert join(served, token)[0] == 503
    (tmp_path / "users.new").rmdir()
    assert join(served, token)[1]["code"] == 1000


def test_users_change_their_own_passwords(served):
    here, elsewhere = tokens(served, "ada"), tokens(served, "ada")
    client, _ = greet(served, elsewhere["accessToken"])
    body = {"email": "ada", "password": PASSWORD, "newPassword": OTHER}
    status, answer = post(served, "/api/user/password", body)
    assert (status, answer["code"]) == (200, 1000)
    assert client.close_code() == 4508
    for old in (here, elsewhere):
        assert post(served, "/api/user/refresh", {"refreshToken": old["refreshToken"]})[1]["code"] == 4004
    assert greet(served, answer["data"]["tokens"]["accessToken"])[1] == "welcome"
    assert log_in(served, "ada", OTHER)["code"] == 1000


@pytest.mark.parametrize(
    "fields, code",
    [
        ({"password": "wrong"}, 4001), ({"email": "eve"}, 4001), ({"newPassword": "short"}, 4013),
        ({"newPassword": "x" * 1025}, 4013), ({"newPassword": None}, 4000),
    ],
)  # fmt: skip
def test_no_user_changes_anothers_password(served, fields, code):
    before = served.users.read_bytes()
    body = {"email": "ada", "password": PASSWORD, "newPassword": OTHER} | fields
    status, answer = post(served, "/api/user/password", body)
    assert (status, answer["code"], answer["hasError"]) == (200, code, True)
    assert served.users.read_bytes() == before


def test_guessing_a_password_by_changing_it_becomes_slow(served):
    body = {"email": "ada", "password": "guess", "newPassword": OTHER}
    for _ in range(5):
        assert post(served, "/api/user/password", body)[1]["code"] == 4001
    assert post(served, "/api/user/password", body)[0] == 429


def test_without_users_invitations_are_refused(server):
    for path in ("join", "password"):
        assert server.request("POST", f"/api/user/{path}", {})[0] == 404
