"""Short links to notes, and previews of their addresses, with the real program."""

import json
import re
import urllib.parse

import pytest
from test_access import guarded, issued, share  # noqa: F401
from test_tokens import bearer, greet, token

BROWSER = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}


def listed(server, note):
    status, _, body = server.request("GET", f"/api/notes/{note}/share", headers=bearer(issued()))
    assert status == 200, body
    return json.loads(body)["links"]


def opened(server, path):
    status, headers, body = server.request("POST", "/api/links/open", {"key": path.removeprefix("/s/")})
    return status, json.loads(body)


def meta(body, name):
    found = re.findall(f'<meta (?:property|name)="{name}" content="([^"]*)"', body.decode())
    return found[0] if found else None


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_short_link_opens_one_note_with_its_right(guarded, access):  # noqa: F811
    link = share(guarded, guarded.note, access, expiresIn=3600)
    assert link["path"].startswith("/s/") and len(link["path"]) <= 60
    # 128 bits in base64url.
    assert len(link["path"].removeprefix("/s/")) == 22
    status, found = opened(guarded, link["path"])
    assert (status, found["note"], found["access"]) == (200, guarded.note, access)
    assert found["expiresAt"] == link["expiresAt"]
    guest, reply = greet(guarded, found["token"], name="A guest")
    assert reply == "welcome"
    assert guest.join(guarded.note)["access"] == access
    assert opened(guarded, link["path"][:-1] + "_")[0] == 404


def test_each_link_is_withdrawn_by_itself_and_all_together(guarded):  # noqa: F811
    links = [share(guarded, guarded.note, access) for access in ("read", "write", "read")]
    path = f"/api/notes/{guarded.note}/share"
    seen = listed(guarded, guarded.note)
    assert [entry["id"] for entry in seen] == [link["id"] for link in reversed(links)]
    assert [entry["path"] for entry in seen] == [link["path"] for link in reversed(links)]
    guests = [greet(guarded, opened(guarded, link["path"])[1]["token"])[0] for link in links]
    one = f"{path}/{links[0]['id']}"
    assert guarded.request("DELETE", one, headers=bearer(links[1]["token"]))[0] == 403
    assert guarded.request("DELETE", one, headers=bearer(issued()))[0] == 204
    assert guests[0].close_code() == 4508
    assert opened(guarded, links[0]["path"])[0] == 404
    assert greet(guarded, links[0]["token"])[1] == "error"
    assert guarded.request("DELETE", one, headers=bearer(issued()))[0] == 404
    assert guests[1].join(guarded.note)["access"] == "write"
    guarded.kill()
    guarded.start()
    assert len(listed(guarded, guarded.note)) == 2
    assert opened(guarded, links[0]["path"])[0] == 404
    guest, _ = greet(guarded, opened(guarded, links[2]["path"])[1]["token"])
    assert guarded.request("DELETE", path, headers=bearer(issued()))[0] == 204
    assert guest.close_code() == 4508
    assert [opened(guarded, link["path"])[0] for link in links] == [404] * 3
    assert listed(guarded, guarded.note) == []


def test_who_may_not_write_sees_no_key_that_writes(guarded):  # noqa: F811
    share(guarded, guarded.note, "write")
    share(guarded, guarded.note, "read")
    rights = {"documents": [{"match": "*", "may": ["read", "presence", "manage"]}]}
    reader = bearer(token(rights, sub="ruth"))
    path = f"/api/notes/{guarded.note}/share"
    shown = json.loads(guarded.request("GET", path, headers=reader)[2])["links"]
    assert [(entry["access"], "path" in entry) for entry in shown] == [("read", True), ("write", False)]
    nobody = bearer(token({"documents": [{"match": "*", "may": ["read", "write"]}]}, sub="noor"))
    assert guarded.request("GET", path, headers=nobody)[0] == 403


def test_links_of_a_note_are_bounded(guarded):  # noqa: F811
    for _ in range(200):
        share(guarded, guarded.note)
    path = f"/api/notes/{guarded.note}/share"
    assert guarded.request("POST", path, {"access": "read"}, bearer(issued()))[0] == 409
    assert guarded.request("DELETE", f"{path}/{listed(guarded, guarded.note)[0]['id']}", headers=bearer(issued()))[0] == 204
    assert guarded.request("POST", path, {"access": "read"}, bearer(issued()))[0] == 201


def test_guessing_keys_becomes_slow(guarded):  # noqa: F811
    link = share(guarded, guarded.note)
    # Many follow an expired link from behind one address, and keep no client from another link.
    ended = share(guarded, guarded.note)
    path = f"/api/notes/{guarded.note}/share/{ended['id']}"
    assert guarded.request("DELETE", path, headers=bearer(issued()))[0] == 204
    assert [opened(guarded, ended["path"])[0] for _ in range(20)] == [404] * 20
    assert opened(guarded, link["path"])[0] == 200
    answers = [opened(guarded, "/s/guess")[0] for _ in range(6)]
    assert answers[:5] == [404] * 5 and answers[5] == 429
    # Even the right one waits, and the page says nothing of it meanwhile.
    assert opened(guarded, link["path"])[0] == 429
    assert meta(guarded.request("GET", link["path"])[2], "og:title") == "Parley"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"key":1}', b'{"key":""}', {"key": "k" * 65}])
def test_malformed_keys_are_refused(guarded, body):  # noqa: F811
    assert guarded.request("POST", "/api/links/open", body)[0] == 400


def test_a_short_link_shows_the_title_and_a_note_behind_a_sign_in_does_not(guarded):  # noqa: F811
    title = "Plans of the hidden valley"
    status, _, body = guarded.request("POST", "/api/notes", {"title": title}, bearer(issued()))
    note = json.loads(body)["id"]
    link = share(guarded, note)
    status, headers, body = guarded.request("GET", link["path"])
    assert (status, meta(body, "og:title"), meta(body, "twitter:card")) == (200, title, "summary")
    assert headers["referrer-policy"] == "no-referrer"
    assert "script-src 'self'" in headers["content-security-policy"]
    etag = {"If-None-Match": headers["etag"]}
    assert guarded.request("GET", link["path"], headers=etag)[0] == 304
    for path in (f"/n/{note}", "/s/unknown", "/n/nothing"):
        status, _, body = guarded.request("GET", path)
        assert status == 200 and title.encode() not in body, path
        assert meta(body, "og:title") in ("Parley", None)
    assert guarded.request("DELETE", f"/api/notes/{note}/share", headers=bearer(issued()))[0] == 204
    assert title.encode() not in guarded.request("GET", link["path"])[2]


def test_in_an_open_demo_every_note_shows_its_title_and_no_text(start):
    server = start("--public-url", "http://127.0.0.1:8080/notes")
    hostile = '"><script>alert(1)</script>\u202e'
    status, _, body = server.request("POST", "/api/notes", {"title": hostile})
    assert status == 201, body
    note = json.loads(body)["id"]
    server.request("PUT", f"/api/notes/{note}/text", {"text": "a secret text"})
    for path in (f"/n/{note}", f"/n/{urllib.parse.quote(note)}"):
        status, headers, body = server.request("GET", path, headers=BROWSER)
        assert status == 200
        assert meta(body, "og:title") == "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
        assert meta(body, "og:image") == "http://127.0.0.1:8080/notes/assets/icon-512.png"
        assert b"<script>alert" not in body and b"secret text" not in body
    # The worker's copy of the page belongs to no user.
    _, headers, body = server.request("GET", f"/n/{note}", headers={"Sec-Fetch-Dest": "empty"})
    assert meta(body, "og:title") in ("Parley", None)
    long = json.loads(server.request("POST", "/api/notes", {"title": "x" * 300})[2])
    if "id" in long:
        assert len(meta(server.request("GET", f"/n/{long['id']}")[2], "og:title")) <= 201


def test_no_key_is_in_the_log_or_the_store(guarded):  # noqa: F811
    link = share(guarded, guarded.note)
    guarded.request("GET", link["path"])
    opened(guarded, link["path"])
    opened(guarded, "/s/wrong-key-that-nobody-has")
    guarded.stop()
    files = [guarded.log, *(file for file in guarded.data.rglob("*") if file.is_file())]
    for key in (link["path"].removeprefix("/s/"), "wrong-key-that-nobody-has"):
        assert not any(key.encode() in file.read_bytes() for file in files)
    guarded.start()
