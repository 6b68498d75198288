"""The page's and the notes' HTTP surface."""

import json
import time

import pytest


def notes(server):
    status, headers, body = server.request("GET", "/api/notes")
    assert status == 200
    assert headers["content-type"].startswith("application/json")
    return json.loads(body)["notes"]


def test_health(server):
    status, _, body = server.request("GET", "/health")
    assert (status, body) == (200, b"ok\n")


def test_a_note_is_made_listed_renamed_and_deleted(server):
    assert notes(server) == []
    before = int(time.time() * 1000)
    status, _, body = server.request("POST", "/api/notes", {"title": "Größe 📏"})
    note = json.loads(body)
    assert status == 201
    assert set(note) == {"id", "title", "revision", "createdAt", "updatedAt"}
    assert (note["title"], note["revision"]) == ("Größe 📏", 0)
    assert before - 60_000 <= note["createdAt"] == note["updatedAt"]
    rights = {"may": ["read", "write", "presence", "manage"]}
    assert notes(server) == [note | rights]

    status, _, body = server.request("PATCH", f"/api/notes/{note['id']}", {"title": "New"})
    renamed = json.loads(body)
    assert status == 200
    assert (renamed["id"], renamed["title"]) == (note["id"], "New")
    assert notes(server) == [renamed | rights]

    assert server.request("DELETE", f"/api/notes/{note['id']}")[0] == 204
    assert notes(server) == []


def test_each_note_has_an_id_of_its_own(server):
    ids = [server.create_note("same") for _ in range(20)]
    assert len(set(ids)) == 20
    assert {note["id"] for note in notes(server)} == set(ids)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"{}", b'{"title":1}', b'{"title":null}', b"\xff", b"[" * 10_000],
)
def test_a_body_that_is_none_is_answered_with_400(server, body):
    for method, path in (("POST", "/api/notes"), ("PATCH", "/api/notes/x")):
        status, _, answer = server.request(method, path, body)
        assert status == 400
        assert json.loads(answer)["code"] == "badMessage"
    assert notes(server) == []


def test_an_unknown_note_is_answered_with_404(server):
    for method, body in (("PATCH", {"title": "x"}), ("DELETE", None)):
        status, _, answer = server.request(method, "/api/notes/nobody-made-this", body)
        assert status == 404
        assert json.loads(answer)["code"] == "unknownDocument"


def test_a_title_over_its_limit_is_answered_with_413(server):
    status, _, answer = server.request("POST", "/api/notes", {"title": "x" * 10_000})
    assert status == 413
    assert json.loads(answer)["code"] == "tooLarge"


def test_methods_that_are_not_are_answered_with_405(server):
    for method, path in (
        ("DELETE", "/api/notes"), ("PUT", "/api/notes"), ("POST", "/api/notes/x"),
    ):  # fmt: skip
        status, headers, _ = server.request(method, path, b"{}")
        assert status == 405
        assert headers["allow"]


def test_the_page_and_its_parts_are_served(server):
    status, headers, body = server.request("GET", "/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert "content-security-policy" in headers
    assert b"<!doctype html>" in body[:200].lower()
    status, headers, _ = server.request("GET", "/n/some-note")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_the_operators_page_is_served(server):
    status, headers, body = server.request("GET", "/admin")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert b"<!doctype html>" in body[:200].lower()
    assert server.request("GET", "/favicon.ico")[0] == 200
    assert server.request("POST", "/admin")[1]["allow"] == "GET, HEAD"


def test_a_page_that_is_known_is_not_sent_again(server):
    tag = server.request("GET", "/")[1]["etag"]
    status, _, body = server.request("GET", "/", headers={"If-None-Match": tag})
    assert (status, body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/nothing", "/assets/nothing.js", "/assets/../Package.swift", "/assets/%2e%2e/README.md",
        "/assets//etc/passwd", "/assets/.hidden", "/../Package.swift", "/api/nothing", "/assets/",
        "/assets/%00", "/%", "/%ff",
    ],
)  # fmt: skip
def test_what_is_not_there_is_answered_with_404(server, path):
    status, _, body = server.request("GET", path)
    assert status in (400, 404)
    assert b"swift" not in body and b"root:" not in body


APP = "https://app.example"


def asked_by(server, origin, method, path, body=None, **headers):
    """A request of a page of another origin; returns status and headers."""
    status, answer, _ = server.request(method, path, body, {"Origin": origin, **headers})
    return status, answer


def test_pages_of_an_allowed_origin_use_the_api(start):
    server = start("--allowed-origin", APP, "--message-size-max", "64 KiB")
    note = server.create_note()
    status, answer = asked_by(
        server, APP, "OPTIONS", f"/api/notes/{note}/text",
        **{
            "Access-Control-Request-Method": "PUT",
            "Access-Control-Request-Headers": "authorization, content-type, if-match",
        },
    )  # fmt: skip
    assert status == 204
    assert answer["access-control-allow-origin"] == APP
    assert "PUT" in answer["access-control-allow-methods"]
    assert "authorization" in answer["access-control-allow-headers"]
    assert answer["access-control-max-age"]
    plain = {"content-type": "text/plain"}
    # Errors as well, those included that come before anybody looks at what is asked for.
    for method, path, body, headers, wanted in [
        ("GET", "/api/notes", None, {}, 200),
        ("PUT", f"/api/notes/{note}/text", b"text", plain, 200),
        ("GET", f"/api/notes/{note}/text", None, {}, 200),
        ("POST", "/api/notes", {"title": "new"}, {}, 201),
        ("GET", "/api/notes/nothing", None, {}, 404),
        ("GET", "/api/nothing", None, {}, 404),
        ("POST", "/api/notes", b"{", {}, 400),
        ("PUT", f"/api/notes/{note}/text", b"x" * 70_000, plain, 413),
    ]:
        status, answer = asked_by(server, APP, method, path, body, **headers)
        assert (method, path, status) == (method, path, wanted)
        assert answer["access-control-allow-origin"] == APP
        assert answer["vary"] == "origin"
        assert "etag" in answer["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answer


def test_pages_of_other_origins_are_told_nothing(start):
    server = start("--allowed-origin", APP)
    for origin in ("https://evil.example", "null", server.origin):
        for method in ("OPTIONS", "GET", "POST"):
            _, answer = asked_by(server, origin, method, "/api/notes", {"title": "x"})
            assert not [name for name in answer if name.lower().startswith("access-control")]
    assert asked_by(server, "https://evil.example", "OPTIONS", "/api/notes")[0] == 403
    assert asked_by(start(), APP, "OPTIONS", "/api/notes")[0] == 403
