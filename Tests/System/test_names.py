"""Notes that are published under readable names, against the real program, on both stores."""

import json
import subprocess
import threading
import urllib.parse

import pytest
from parley_server import PROGRAM
from patience import PROGRAM_SECONDS
from test_access import issued
from test_links import meta
from test_nodes import postgres  # noqa: F401
from test_tokens import SECRET, bearer, greet, token


class Names:
    """One server, or several on one database, with tokens that grant everything and less."""

    def __init__(self, start, folder, *flags):
        (folder / "secret").write_bytes(SECRET)
        self.flags = ["--hmac-secret-file", folder / "secret", "--audience", "parley", *flags]
        self.start = start

    def server(self, names="on"):
        return self.start(*self.flags, "--public-names", names)


def make(server, title="Minutes of the year"):
    status, _, body = server.request("POST", "/api/notes", {"title": title}, bearer(issued()))
    assert status == 201, body
    return json.loads(body)["id"]


def publish(server, note, name, who=None):
    status, _, body = server.request("PUT", f"/api/notes/{note}/name", {"name": name}, bearer(who or issued()))
    return status, json.loads(body)


def withdraw(server, note):
    return server.request("DELETE", f"/api/notes/{note}/name", headers=bearer(issued()))[0]


def opened(server, name):
    status, headers, body = server.request("GET", f"/api/names/{urllib.parse.quote(name)}")
    assert status != 200 or headers["cache-control"] == "no-store"
    return status, json.loads(body)


def page(server, name, method="GET", **headers):
    return server.request(method, f"/p/{urllib.parse.quote(name)}", headers=headers)


@pytest.fixture(params=["file", "database"])
def names(request, start, tmp_path):
    if request.param == "file":
        return Names(start, tmp_path)
    return Names(start, tmp_path, "--store-url", request.getfixturevalue("postgres").new_database())


def test_a_published_note_is_read_by_everyone_and_cannot_be_written(names):
    server = names.server()
    note = make(server)
    status, made = publish(server, note, "Minutes-2026")
    assert (status, made["name"], made["path"]) == (200, "minutes-2026", "/p/minutes-2026")
    status, found = opened(server, "minutes-2026")
    assert (status, found["note"], found["access"]) == (200, note, "read")
    reader, reply = greet(server, found["token"], name="Somebody")
    assert reply == "welcome"
    joined = reader.join(note)
    assert joined["access"] == "read"
    kind, data = reader.change(note, joined, 1, ["x"])
    assert (kind, data["code"]) == ("refused", "notAllowed")
    text = f"/api/notes/{note}/text"
    assert server.request("PUT", text, b"mine", {**bearer(found["token"]), "content-type": "text/plain"})[0] == 403
    # Changes by others arrive at once.
    assert server.request("PUT", text, b"news", {**bearer(issued()), "content-type": "text/plain"})[0] == 200
    assert reader.expect("changes")
    # Withdrawn: the reader is out, the name opens nothing, and its address says so.
    assert withdraw(server, note) == 204
    assert reader.close_code() == 4508
    assert opened(server, "minutes-2026")[0] == 404
    assert page(server, "minutes-2026")[0] == 404
    assert server.request("GET", text, headers=bearer(found["token"]))[0] == 401
    other = make(server, "Another")
    status, answer = publish(server, other, "minutes-2026")
    assert (status, answer["code"]) == (409, "idTaken") and answer["until"] > made["createdAt"] + 29 * 86_400_000
    assert publish(server, note, "minutes-2026")[0] == 200
    # A restart keeps it, and a server that publishes nothing opens nothing, not even to tokens that were given.
    token_of_before = opened(server, "minutes-2026")[1]["token"]
    server.stop()
    server.flags = [*names.flags, "--public-names", "off"]
    server.start()
    assert opened(server, "minutes-2026")[0] == 404
    assert page(server, "minutes-2026")[0] == 404
    assert server.request("GET", text, headers=bearer(token_of_before))[0] == 401
    assert publish(server, note, "minutes-2027")[0] == 404
    assert withdraw(server, note) == 204


def test_only_who_manages_a_note_publishes_it(names):
    server = names.server()
    note = make(server)
    writer = token({"documents": [{"match": "*", "may": ["read", "write", "presence"]}]}, sub="wendy")
    assert publish(server, note, "minutes", writer)[0] == 403
    assert publish(server, "no-such-note", "minutes")[0] == 404
    for name in ["", "..", "a/b", "%2f", "a" * 65, "*", "a-", "\u202eabc", "\U0001f600", "p\u0430ypal", "\u0440\u0430\u0443", "admin"]:
        assert publish(server, note, name)[0] == 400, name
        # A path with a segment of dots reaches no handler.
        assert server.request("GET", f"/api/names/{urllib.parse.quote(name, safe='')}")[0] in (400, 404), name
    assert publish(server, note, "caf\u00e9")[1]["path"] == "/p/caf%C3%A9"
    assert opened(server, "CAFE\u0301")[1]["note"] == note


def test_the_page_of_a_name(start, tmp_path):
    server = Names(start, tmp_path).server()
    note = make(server, "Plans <of> the valley")
    publish(server, note, "plans")
    status, headers, body = page(server, "plans")
    assert (status, meta(body, "og:title")) == (200, "Plans &lt;of&gt; the valley")
    assert headers["x-robots-tag"] == "noindex"
    assert "script-src 'self'" in headers["content-security-policy"]
    tag = headers["etag"]
    assert page(server, "plans", **{"if-none-match": tag})[0] == 304
    status, headers, empty = page(server, "plans", "HEAD")
    assert (status, headers["etag"], empty) == (200, tag, b"")
    status, headers, body = page(server, "nothing")
    assert (status, headers["x-robots-tag"], meta(body, "og:title")) == (404, "noindex", "Parley")
    assert headers["cache-control"] == "no-store" and b"<script" in body
    assert page(server, "a/b")[0] == 404 and server.request("GET", "/p/")[0] == 404
    assert server.request("GET", "/p/..%2f..%2fetc")[0] == 404
    assert server.request("DELETE", f"/api/notes/{note}", headers=bearer(issued()))[0] == 204
    assert page(server, "plans")[0] == 404
    server.stop()
    server.flags[-1] = "indexed"
    server.start()
    assert server.request("POST", f"/api/deleted/{note}/restore", headers=bearer(issued()))[0] == 200
    status, headers, _ = page(server, "plans")
    assert (status, headers["x-robots-tag"]) == (200, None)
    # Neither tokens nor addresses are in the log.
    token_of_reader = opened(server, "plans")[1]["token"]
    assert token_of_reader not in server.log.read_text()


def test_guessing_names_becomes_slow(start, tmp_path):
    server = Names(start, tmp_path, "--trusted-proxy", "127.0.0.1").server()
    publish(server, make(server), "minutes")
    for place in range(60):
        status = server.request("GET", f"/api/names/guess-{place}", headers={"x-forwarded-for": "203.0.113.7"})[0]
        if status != 404:
            break
    assert (status, place) == (429, 50)
    assert server.request("GET", "/api/names/minutes", headers={"x-forwarded-for": "203.0.113.7"})[0] == 429
    assert opened(server, "minutes")[0] == 200


def test_of_two_who_publish_at_once_one_gets_the_name(start, tmp_path, postgres):  # noqa: F811
    names = Names(start, tmp_path, "--store-url", postgres.new_database())
    servers = [names.server(), names.server()]
    notes = [make(servers[0]), make(servers[0])]
    for attempt in range(5):
        answers = [None, None]

        def work(number, name=f"race-{attempt}"):
            answers[number] = publish(servers[number], notes[number], name)

        threads = [threading.Thread(target=work, args=[number]) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(status for status, _ in answers) == [200, 409]
        lost = next(answer for status, answer in answers if status == 409)
        assert lost["code"] == "idTaken" and "until" not in lost
    # Withdrawn at one gateway, a reader at the other is out.
    winner = next(number for number in range(2) if answers[number][0] == 200)
    reader, _ = greet(servers[1], opened(servers[1], "race-4")[1]["token"])
    assert withdraw(servers[0], notes[winner]) == 204
    assert reader.close_code() == 4508
    assert opened(servers[1], "race-4")[0] == 404


def test_names_from_a_shell(start, tmp_path):
    server = Names(start, tmp_path).server()
    note = make(server)
    (tmp_path / "token").write_text(issued())

    def run(*words):
        return subprocess.run(
            [PROGRAM, *map(str, words)], env={}, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False
        )

    place = ["--server", server.origin, "--token-file", tmp_path / "token"]
    done = run("share", note, "--name", "minutes", *place)
    assert (done.returncode, done.stdout) == (0, f"{server.origin}/p/minutes\n"), done.stderr
    assert run("share", note, "--name", "a b", *place).returncode == 1
    assert run("share", note, "--name", "a", "--access", "read", *place).returncode == 2
    listed = run("names", "--json", "--data-dir", server.data)
    assert [(one["name"], one["note"]) for one in json.loads(listed.stdout)["names"]] == [("minutes", note)], listed.stderr
    assert run("share", note, "--no-name", *place).returncode == 0
    assert run("names", "--data-dir", server.data).stdout == ""
    assert run("share", note, "--no-name", *place).returncode == 1
