"""Notices of the real program: mentions, rights to notes that the operator gives, and users who are removed."""

import json

import pytest
from patience import wait_until
from test_login import put_user, tokens
from test_tokens import bearer, new_key

WRITING = "document:plan=read,write,comment,manage"


@pytest.fixture
def team(start, tmp_path):
    """A server with a note, two users with rights to it, and one without."""
    users = tmp_path / "users"
    for user, rights in [("ada", ["document:*=all"]), ("bob", [WRITING]), ("eve", ["document:other=read"])]:
        put_user(users, user, *rights)
    operator = new_key(tmp_path, "ops", "operator")
    server = start("--users-file", users, "--api-key-file", tmp_path / "api-keys")
    server.operator = operator
    server.users = users
    server.tokens = {user: tokens(server, user)["accessToken"] for user in ["ada", "bob", "eve"]}
    ask(server, "ada", "PUT", "/api/notes/plan", {"title": "Our plan"})
    status, _, _ = server.request("PUT", "/api/notes/plan/text", b"buy milk", text_of(server, "ada"))
    assert status == 200
    return server


def text_of(server, user):
    return {**bearer(server.tokens[user]), "content-type": "text/plain"}


def ask(server, user, method, path, body=None):
    status, _, answer = server.request(method, path, body, bearer(server.tokens[user]))
    assert 200 <= status < 300, answer
    return json.loads(answer) if answer else None


def notices(server, user):
    return ask(server, user, "GET", "/api/notices")["notices"]


def unread(server, user):
    return ask(server, user, "GET", "/api/notices/unread")["unread"]


def test_a_mention_an_answer_and_a_resolution_reach_the_people(team):
    body = {"text": "@bob which?", "mentions": ["bob", "eve", "nobody"], "anchor": {"revision": 1, "from": 4, "to": 8}}
    made = ask(team, "ada", "POST", "/api/notes/plan/comments", body)
    (mention,) = notices(team, "bob")
    assert (mention["kind"], mention["comment"], mention["title"]) == ("mention", made["id"], "Our plan")
    assert not notices(team, "eve")
    ask(team, "bob", "POST", "/api/notes/plan/comments", {"text": "oat", "thread": made["id"]})
    ask(team, "bob", "PATCH", f"/api/notes/plan/comments/{made['id']}", {"resolved": True})
    assert [notice["kind"] for notice in notices(team, "ada")] == ["resolved", "answer"]
    newest = notices(team, "ada")[0]["id"]
    assert ask(team, "ada", "POST", "/api/notices/read", {"through": newest}) == {"marked": 2}
    assert unread(team, "ada") == 0


def test_a_note_that_the_operator_shares_reaches_the_user(team):
    text = team.users.read_text()
    team.users.write_text(text.replace("document:other=read", "document:other=read document:plan=read document:p*=read"))
    wait_until(lambda: unread(team, "eve") == 1)
    (shared,) = notices(team, "eve")
    assert (shared["kind"], shared["note"], shared["author"]) == ("shared", "plan", "")
    team.users.write_text(text)
    wait_until(lambda: unread(team, "eve") == 0)
    assert not notices(team, "eve")


def test_notices_survive_a_kill_and_are_removed_with_their_user(team):
    body = {"text": "@bob?", "mentions": ["bob"], "anchor": {"revision": 1, "from": 4, "to": 8}}
    ask(team, "ada", "POST", "/api/notes/plan/comments", body)
    team.kill()
    team.start()
    assert unread(team, "bob") == 1
    text = team.users.read_text()
    team.users.write_text("".join(line for line in text.splitlines(True) if not line.startswith("bob ")))
    wait_until(lambda: team.request("GET", "/api/notices", None, bearer(team.tokens["bob"]))[0] != 200)
    team.users.write_text(text)
    wait_until(lambda: team.request("GET", "/api/notices", None, bearer(team.tokens["bob"]))[0] == 200)
    wait_until(lambda: unread(team, "bob") == 0)
