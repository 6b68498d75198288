"""Lists that a client keeps, against the real program: parts that differ, tags, compression."""

import gzip
import json
import zlib

from test_tokens import bearer, guarded, token  # noqa: F401

NOTES = 200
GZIP = {"Accept-Encoding": "gzip"}


def get(server, path, headers=None):
    status, fields, body = server.request("GET", path, headers=headers)
    if fields.get("content-encoding") == "gzip":
        return status, fields, body, gzip.decompress(body)
    return status, fields, body, body


def fill(server):
    for number in range(NOTES):
        server.create_note(f"Plan {number} of the garden and the kitchen")


def digests(answer):
    return "".join(digest for _, digest, _ in answer["parts"])


def test_a_list_is_sent_once_compressed_and_then_only_its_changes(server):
    fill(server)
    _, _, plain, _ = get(server, "/api/notes")
    status, fields, packed, body = get(server, "/api/notes?parts=", GZIP)
    assert (status, fields["content-encoding"]) == (200, "gzip")
    assert fields["cache-control"] == "private, no-cache"
    assert fields["vary"] == "authorization, accept-encoding"
    assert len(packed) < len(plain) / 3
    first = json.loads(body)
    assert sorted(first["ids"]) == sorted(note["id"] for note in json.loads(plain)["notes"])
    # Without gzip the same bytes under the same tag.
    _, bare, sent, _ = get(server, "/api/notes?parts=")
    assert "content-encoding" not in bare
    assert (sent, bare["etag"]) == (body, fields["etag"])

    again = f"/api/notes?parts={digests(first)}"
    known = {**GZIP, "If-None-Match": fields["etag"]}
    status, same, sent, _ = get(server, again, known)
    assert (status, sent, same["etag"]) == (304, b"", fields["etag"])

    server.request("PATCH", f"/api/notes/{first['ids'][7]}", {"title": "Another"})
    status, _, sent, body = get(server, again, known)
    changed = json.loads(body)
    assert (status, len(changed["parts"]), changed["count"]) == (200, 1, first["count"])
    assert "Another" in changed["titles"]
    assert len(sent) < len(packed) / 3


def test_a_list_continues_after_a_restart(server):
    fill(server)
    _, fields, _, body = get(server, "/api/notes?parts=")
    server.kill()
    server.start()
    path = f"/api/notes?parts={digests(json.loads(body))}"
    assert get(server, path, {"If-None-Match": fields["etag"]})[0] == 304


def test_folders_tags_and_comments_are_compressed_and_known_again(server):
    note = server.create_note("Long")
    for number in range(60):
        folder = f"team {number}/minutes and plans"
        server.request("POST", "/api/notes", {"title": "N", "folder": folder})
        text = {"text": f"What of {number}?", "author": "Ann"}
        server.request(
            "POST", f"/api/notes/{note}/comments",
            {**text, "anchor": {"revision": 0, "from": 0, "to": 0}},
        )  # fmt: skip
    for path in ["/api/folders", "/api/tags", f"/api/notes/{note}/comments"]:
        status, fields, packed, body = get(server, path, GZIP)
        assert status == 200, path
        assert body == get(server, path)[3]
        # What fits into a packet is sent as it is.
        assert ("content-encoding" in fields) == (len(body) >= 1_024), path
        assert len(packed) <= len(body)
        assert get(server, path, {"If-None-Match": fields["etag"]})[0] == 304


def test_another_users_tags_do_not_reveal_unreadable_entries(guarded):  # noqa: F811
    server = guarded
    everything = token({"documents": [{"match": "*", "may": ["read", "write", "manage"]}]})
    little = token({"documents": [{"match": "own-*", "may": ["read"]}]}, sub="bea")
    for name in ["own-1", "secret-1"]:
        made = {"title": f"Title of {name}"}
        server.request("PUT", f"/api/notes/{name}", made, bearer(everything))
    _, fields, _, body = get(server, "/api/notes?parts=", bearer(everything))
    path = f"/api/notes?parts={digests(json.loads(body))}"
    known = {"If-None-Match": fields["etag"]}
    assert get(server, path, {**bearer(everything), **known})[0] == 304
    status, other, _, body = get(server, path, {**bearer(little), **known})
    assert (status, json.loads(body)["ids"]) == (200, ["own-1"])
    assert other["etag"] != fields["etag"]
    assert get(server, path, known)[0] == 401


def test_a_compressed_list_is_complete_at_every_size(server):
    """Around the size from which on answers are compressed, and beyond a window of the compressor."""
    for number in range(40):
        server.create_note(chr(0x4E00 + number) * (number * 4))
        _, fields, packed, body = get(server, "/api/notes?parts=", GZIP)
        assert len(json.loads(body)["ids"]) == number + 1
        if "content-encoding" in fields:
            assert zlib.decompress(packed, 31) == body
