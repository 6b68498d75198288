"""The HTTP API of notes, and the files of the page."""

import json
import socket
import time

import pytest
from patience import SECONDS


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
    rights = {"may": ["read", "write", "presence", "manage", "comment"]}
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
def test_a_malformed_body_is_answered_with_400(server, body):
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


def test_unknown_methods_are_answered_with_405(server):
    for method, path in (
        ("DELETE", "/api/notes"), ("PUT", "/api/notes"), ("POST", "/api/notes/x"),
    ):  # fmt: skip
        status, headers, _ = server.request(method, path, b"{}")
        assert status == 405
        assert headers["allow"]


def test_notes_come_in_pages(server):
    ids = [server.create_note(f"Note {number}") for number in range(7)]
    path = "/api/notes?limit=3"
    pages = []
    while path:
        status, headers, body = server.request("GET", path)
        assert status == 200
        page = json.loads(body)
        pages.append([note["id"] for note in page["notes"]])
        assert all(note["may"] for note in page["notes"]) and page["mayCreate"]
        path = None
        if "next" in page:
            path = f"/api/notes?limit=3&after={page['next']}"
            assert headers["link"] == f'<{path}>; rel="next"'
            # What changes meanwhile stays where it was.
            server.request("PATCH", f"/api/notes/{ids[0]}", {"title": "Last changed"})
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(sum(pages, [])) == sorted(ids)
    assert notes(server)[0]["id"] == ids[0]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=", "after=zz"])
def test_a_malformed_page_request_is_answered_with_400(common_server, query):
    status, _, body = common_server.request("GET", f"/api/notes?{query}")
    assert (status, json.loads(body)["code"]) == (400, "badMessage")


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


def test_a_page_with_a_known_tag_is_not_sent_again(server):
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
def test_unknown_paths_are_answered_with_404(common_server, path):
    status, _, body = common_server.request("GET", path)
    assert status in (400, 404)
    assert b"swift" not in body and b"root:" not in body


APP = "https://app.example"


def asked_by(server, origin, method, path, body=None, **headers):
    """Sends a request as a page of another origin. Returns status and headers."""
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
    # Errors as well, those included that come before the request is read.
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
        assert "origin" in answer.get_all("vary")
        assert "etag" in answer["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answer


def test_pages_of_other_origins_cannot_read_answers(start):
    server = start("--allowed-origin", APP)
    for origin in ("https://evil.example", "null", server.origin):
        for method in ("OPTIONS", "GET", "POST"):
            _, answer = asked_by(server, origin, method, "/api/notes", {"title": "x"})
            assert not [name for name in answer if name.lower().startswith("access-control")]
    assert asked_by(server, "https://evil.example", "OPTIONS", "/api/notes")[0] == 403
    assert asked_by(start(), APP, "OPTIONS", "/api/notes")[0] == 403


def heads(server, request):
    """Sends bytes; the head of the answer, in small letters, without its status line."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as connection:
        connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(65536)
            assert piece, answer
            answer += piece
    status, *fields = answer.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
    return int(status.split()[1]), fields


LINE = "%s %s HTTP/1.1\r\nHost: localhost\r\n"
UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: %d\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
ANSWERS = {
    "text": (200, LINE % ("GET", "/health") + "\r\n"),
    "JSON": (200, LINE % ("GET", "/api/notes") + "\r\n"),
    "made": (201, LINE % ("POST", "/api/notes") + "Content-Length: 13\r\n\r\n" + '{"title":"t"}'),
    "page": (200, LINE % ("GET", "/") + "\r\n"),
    "head only": (200, LINE % ("HEAD", "/") + "\r\n"),
    "script": (200, LINE % ("GET", "/assets/js/theme.js") + "\r\n"),
    "API description": (200, LINE % ("GET", "/api/openapi.json") + "\r\n"),
    "metrics": (200, LINE % ("GET", "/metrics") + "\r\n"),
    "Socket.IO": (200, LINE % ("GET", "/socket/?EIO=4&transport=polling") + "\r\n"),
    "Bayeux": (400, LINE % ("POST", "/faye") + "Content-Length: 1\r\n\r\n{"),
    "bad body": (400, LINE % ("POST", "/api/notes") + "Content-Length: 1\r\n\r\n{"),
    "no file": (404, LINE % ("GET", "/assets/nothing.js") + "\r\n"),
    "no note": (404, LINE % ("DELETE", "/api/notes/nobody") + "\r\n"),
    "other method": (405, LINE % ("PUT", "/api/notes") + "Content-Length: 0\r\n\r\n"),
    "title too long": (
        413, LINE % ("POST", "/api/notes") + "Content-Length: 9013\r\n\r\n"
        + json.dumps({"title": "x" * 9000}),
    ),
    # Errors of the transport, which the handlers of requests never see.
    "body too long": (413, LINE % ("POST", "/api/notes") + "Content-Length: 999999999999\r\n\r\n"),
    "no such place to upgrade": (404, LINE % ("GET", "/nowhere") + UPGRADE % 13),
    "other WebSocket version": (426, LINE % ("GET", "/ws") + UPGRADE % 12),
    "chunks": (400, LINE % ("POST", "/api/notes") + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
    "head too long": (431, LINE % ("GET", "/") + "X: " + "x" * 100_000),
    "unknown method": (501, LINE % ("BREW", "/") + "\r\n"),
    "no request": (400, "\x01\x02\r\n\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ANSWERS)
def test_browsers_must_not_sniff_the_type_of_any_answer(common_server, kind):
    expected, request = ANSWERS[kind]
    status, fields = heads(common_server, request.encode())
    assert fields.count("x-content-type-options: nosniff") == 1, (status, fields)
    assert status == expected


def test_browsers_must_not_sniff_the_type_of_an_answer_without_a_body(server):
    tag = server.request("GET", "/")[1]["etag"]
    note = server.create_note()
    for method, path, headers, expected in (
        ("GET", "/", {"If-None-Match": tag}, 304),
        ("DELETE", f"/api/notes/{note}", {}, 204),
    ):
        status, headers, _ = server.request(method, path, headers=headers)
        assert (status, headers.get_all("x-content-type-options")) == (expected, ["nosniff"])
