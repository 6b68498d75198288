"""The audit log of the real program: who changed rights and accounts, or signed in."""

import json
import subprocess

import pytest
from parley_server import PROGRAM
from patience import wait_until
from test_login import PASSWORD, put_user
from test_tokens import bearer, new_key


@pytest.fixture
def audited(start, tmp_path):
    """A server with a user, and an operator's key."""
    put_user(tmp_path / "users", "ada", "document:*=read")
    operator = new_key(tmp_path, "ops", "operator")
    server = start("--users-file", tmp_path / "users", "--api-key-file", tmp_path / "api-keys")
    server.operator = operator
    return server


def records(server, query=""):
    status, _, body = server.request("GET", "/api/audit" + query, None, bearer(server.operator))
    assert status == 200, body
    return json.loads(body)["records"]


def log_in(server, user, password):
    server.request("POST", "/api/user/login", {"email": user, "password": password})


def test_sign_ins_and_refused_ones_are_recorded(audited):
    log_in(audited, "ada", PASSWORD)
    log_in(audited, "ada", "wrong " + PASSWORD)
    log_in(audited, PASSWORD, PASSWORD)
    wait_until(lambda: len(records(audited, "?action=sign-in")) == 3)
    unknown, wrong, done = records(audited, "?action=sign-in")
    assert (done["actor"], done["outcome"], done["address"]) == ("ada", "done", "127.0.0.1")
    assert (wrong["actor"], wrong["outcome"], wrong["detail"]) == ("ada", "refused", "wrong password")
    # The typed name may be a password.
    assert (unknown["actor"], unknown["detail"]) == ("", "unknown user")
    assert PASSWORD not in json.dumps(records(audited))


def test_changes_of_the_file_of_users_are_recorded(audited, tmp_path):
    users = tmp_path / "users"
    users.write_text(users.read_text() + "@team folder:team/*=read\n")
    wait_until(lambda: records(audited, "?actor=file:users"))
    (added,) = records(audited, "?actor=file:users")
    assert (added["action"], added["target"]) == ("group.add", "team")
    assert added["detail"] == "folder:team/*=read"
    users.write_text("@team folder:team/*=read,write\n")
    wait_until(lambda: len(records(audited, "?actor=file:users")) == 3)
    actions = {record["action"]: record for record in records(audited, "?actor=file:users")}
    assert actions["user.remove"]["target"] == "ada"
    assert actions["group.change"]["detail"].endswith("to folder:team/*=read,write")
    assert "scrypt" not in json.dumps(actions)


def test_the_command_shows_the_log_beside_a_server(audited):
    status, _, _ = audited.request("POST", "/api/revoke", {"user": "bea"}, bearer(audited.operator))
    assert status == 200
    wait_until(lambda: records(audited, "?action=revoke"))
    command = [PROGRAM, "audit", "--data-dir", str(audited.data), "--action", "revoke"]
    shown = subprocess.run(command + ["--json"], capture_output=True, text=True, check=True).stdout
    assert [json.loads(line) for line in shown.splitlines()] == records(audited, "?action=revoke")
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "key:ops" in text and "bea" in text
    refused = subprocess.run(command + ["--limit", "0"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--limit" in refused.stderr
