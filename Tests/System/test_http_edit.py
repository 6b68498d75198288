"""Reading and writing a note's text over HTTP, beside people who write on sockets."""

import json

import pytest
from native_client import NativeClient


def call(server, method, path, body=None, headers=None):
    if isinstance(body, str):
        body = body.encode()
    status, answer_headers, answer = server.request(method, path, body, headers)
    is_json = answer_headers.get("content-type") == "application/json"
    return status, answer_headers, json.loads(answer) if is_json else answer.decode()


@pytest.fixture
def note(server):
    """The path of a note that says “one two three” at revision 1."""
    path = f"/api/notes/{server.create_note('Counted')}"
    status, headers, answer = call(server, "PUT", f"{path}/text?author=Ada", "one two three")
    assert (status, answer, headers["etag"]) == (200, {"revision": 1}, '"1"')
    return path


def text_of(server, path):
    status, _, text = call(server, "GET", f"{path}/text?format=text")
    assert status == 200
    return text


def test_one_note(server, note):
    status, headers, answer = call(server, "GET", note)
    assert status == 200 and headers["etag"].startswith('"1.')
    assert answer["title"] == "Counted" and answer["revision"] == 1
    assert call(server, "GET", "/api/notes/nothing-here")[0] == 404


@pytest.mark.parametrize(
    ("query", "accept", "content_type"),
    [
        ("?format=text", None, "text/plain; charset=utf-8"),
        ("?format=markdown", None, "text/markdown; charset=utf-8"),
        ("", "text/markdown", "text/markdown; charset=utf-8"),
        ("", "image/png, text/plain;q=0.5", "text/plain; charset=utf-8"),
        ("?format=text", "application/json", "text/plain; charset=utf-8"),
    ],
)
def test_the_text_alone(server, note, query, accept, content_type):
    headers = {"Accept": accept} if accept else {}
    status, answer_headers, text = call(server, "GET", f"{note}/text{query}", headers=headers)
    assert (status, text) == (200, "one two three")
    assert answer_headers["content-type"] == content_type
    assert answer_headers["etag"] == '"1"'


def test_json_unless_said_otherwise(server, note):
    for accept in [None, "*/*", "application/json", "text/html"]:
        headers = {"Accept": accept} if accept else {}
        _, _, answer = call(server, "GET", f"{note}/text", headers=headers)
        assert answer["text"] == "one two three"
        assert answer["authors"] == [{"author": "Ada", "count": 13}]
    status, _, answer = call(server, "GET", f"{note}/text?format=pdf")
    assert (status, answer["code"]) == (400, "badMessage")


def test_a_whole_text_becomes_the_smallest_change(server, note):
    document = note.rsplit("/", 1)[1]
    with NativeClient(server, "Bo") as bo:
        bo.join(document)
        status, _, answer = call(server, "PUT", f"{note}/text?author=Script%20%C3%A9", "one 2 three")
        assert (status, answer) == (200, {"revision": 2})
        changes = bo.expect("changes")["changes"]
    # What both texts begin and end with is kept, so that carets and other people's edits are too.
    assert [change["operation"] for change in changes] == [[4, "2", -3, 6]]
    _, _, history = call(server, "GET", f"{note}/history")
    assert history["groups"][-1]["author"] == "Script é"


def test_if_match(server, note):
    matching = {"If-Match": '"1"'}
    status, headers, _ = call(server, "PUT", f"{note}/text", "first", matching)
    assert (status, headers["etag"]) == (200, '"2"')
    status, headers, answer = call(server, "PUT", f"{note}/text", "second", matching)
    assert (status, headers["etag"], answer["code"]) == (412, '"2"', "outdated")
    assert "at revision 2, not at 1" in answer["message"]
    assert text_of(server, note) == "first"
    assert call(server, "PUT", f"{note}/text", "third", {"If-Match": "*"})[0] == 200
    status, _, answer = call(server, "PUT", f"{note}/text", "x", {"If-Match": "1"})
    assert (status, answer["code"]) == (412, "outdated"), "quotes get lost in shells"
    for broken in ['"1', "1\"", "W/\"1\"", '"x"', '"-1"', "x"]:
        status, _, answer = call(server, "PUT", f"{note}/text", "x", {"If-Match": broken})
        assert (status, answer["code"]) == (400, "badMessage"), broken


def test_a_text_made_from_an_older_one_is_merged(server, note):
    call(server, "PUT", f"{note}/text", "ONE two three")
    status, _, answer = call(server, "PUT", f"{note}/text?base=1", "one two three four")
    assert (status, answer) == (200, {"revision": 3})
    assert text_of(server, note) == "ONE two three four"
    assert call(server, "PUT", f"{note}/text?base=x", "lost")[0] == 400
    assert text_of(server, note) == "ONE two three four"


def test_a_change(server, note):
    status, headers, answer = call(
        server, "POST", f"{note}/changes",
        json.dumps({"revision": 0, "operation": ["zero "], "author": "Cy"}),
    )  # fmt: skip
    assert (status, answer, headers["etag"]) == (200, {"revision": 2}, '"2"')
    # What is committed stays left.
    assert text_of(server, note) == "one two threezero "


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("", 400, "badOperation"),
        ("[]", 400, "badOperation"),
        ('{"revision":1}', 400, "badOperation"),
        ('{"revision":1,"operation":"x"}', 400, "badOperation"),
        ('{"revision":1,"operation":[1.5]}', 400, "badOperation"),
        ('{"revision":1,"operation":[3,"x"]}', 409, "lengthMismatch"),
        ('{"revision":7,"operation":[13]}', 409, "futureRevision"),
        ('{"revision":-1,"operation":[13]}', 409, "negativeRevision"),
    ],
)
def test_rejects_malformed_changes(server, note, body, status, code):
    found, _, answer = call(server, "POST", f"{note}/changes", body)
    assert (found, answer["code"]) == (status, code)
    assert text_of(server, note) == "one two three"


def test_a_change_over_more_history_than_is_in_memory(server):
    document = server.create_note()
    with NativeClient(server, "Ada") as ada:
        here = ada.join(document)
        for sequence in range(1, 2_501):
            length = sequence - 1
            operation = [length, "x"] if length else ["x"]
            kind, _ = ada.change(document, here, sequence, operation, revision=length)
            assert kind == "acknowledged"
    status, _, answer = call(
        server, "POST", f"/api/notes/{document}/changes",
        json.dumps({"revision": 1, "operation": ["<", 1]}),
    )  # fmt: skip
    assert (status, answer) == (200, {"revision": 2_501})
    assert text_of(server, f"/api/notes/{document}") == "<" + 2_500 * "x"


def test_bodies_that_are_no_text(server, note):
    status, _, answer = call(server, "PUT", f"{note}/text", b"\xff\xfe")
    assert (status, answer["code"]) == (400, "badMessage")
    status, _, answer = call(server, "PUT", f"{note}/text?author=" + "x" * 201, "x")
    assert (status, answer["code"]) == (413, "tooLarge")
    assert text_of(server, note) == "one two three"


def test_a_text_over_the_limit(start):
    server = start("--document-length-max", "10")
    path = f"/api/notes/{server.create_note()}"
    assert call(server, "PUT", f"{path}/text", "1234567890")[0] == 200
    status, _, answer = call(server, "PUT", f"{path}/text", "12345678901")
    assert (status, answer["code"]) == (413, "tooLarge")
    assert text_of(server, path) == "1234567890"


def test_people_continue_writing_meanwhile(server, note):
    document = note.rsplit("/", 1)[1]
    with NativeClient(server, "Bo") as bo:
        here = bo.join(document)
        call(server, "PUT", f"{note}/text", "one two three!")
        # Bo has not looked yet, and writes on what he knows.
        kind, data = bo.change(document, here, 1, [13, " four"])
        assert (kind, data["revision"]) == ("acknowledged", 3)
    assert text_of(server, note) == "one two three! four"


def test_other_methods_are_named(server, note):
    for path, allowed in [
        (note, "GET, HEAD, PUT, PATCH, DELETE"), (f"{note}/text", "GET, HEAD, PUT"), (f"{note}/changes", "POST"),
    ]:  # fmt: skip
        status, headers, _ = call(server, "OPTIONS", path)
        assert (status, headers["allow"]) == (405, allowed)


def test_what_a_client_has_already_is_not_sent_again(server, note):
    for path in (note, f"{note}/text", f"{note}/text?format=text"):
        _, headers, _ = call(server, "GET", path)
        tag = headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            status, answer, body = call(server, "GET", path, headers={"If-None-Match": known})
            assert (status, answer["etag"], body) == (304, tag, "")
        assert call(server, "GET", path, headers={"If-None-Match": '"other"'})[0] == 200
    # A new title is news of the note, and none of its text.
    _, of_note, _ = call(server, "GET", note)
    _, of_text, _ = call(server, "GET", f"{note}/text")
    server.request("PATCH", note, {"title": "Renamed"})
    assert call(server, "GET", note, headers={"If-None-Match": of_note["etag"]})[0] == 200
    assert call(server, "GET", f"{note}/text", headers={"If-None-Match": of_text["etag"]})[0] == 304
    # Both tags say which revision a change is to be made on.
    _, of_note, _ = call(server, "GET", note)
    status, _, _ = call(
        server, "PUT", f"{note}/text", "four", headers={"If-Match": of_note["etag"]}
    )
    assert status == 200
    assert call(server, "GET", f"{note}/text", headers={"If-None-Match": of_text["etag"]})[0] == 200
    status, _, _ = call(server, "PUT", f"{note}/text", "5", headers={"If-Match": of_note["etag"]})
    assert status == 412


def test_parts_of_the_page_that_are_known_are_not_sent_again(server):
    tag = server.request("GET", "/")[1]["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        status, headers, body = server.request("GET", "/", None, {"If-None-Match": known})
        assert (status, headers["etag"], body) == (304, tag, b"")


@pytest.mark.parametrize(("method", "body"), [("DELETE", None), ("PATCH", '{"title":"Other"}')])
def test_a_condition_that_would_not_be_looked_at_is_refused(server, note, method, body):
    """Doing it all the same could do what the header was to prevent."""
    status, _, answer = call(server, method, note, body, {"If-Match": '"77"'})
    assert (status, answer["code"]) == (400, "badMessage")
    status, _, found = call(server, "GET", note)
    assert (status, found["title"]) == (200, "Counted")
    # A condition that everything fulfils does not count.
    assert server.request(method, note, body and body.encode(), {"If-Match": "*"})[0] in (200, 204)


def test_a_note_with_formatting(server):
    path = f"/api/notes/{server.create_note('Rich')}"
    kind = {"Content-Type": "application/vnd.parley.delta+json"}
    delta = '[{"insert":"a "},{"insert":"b","attributes":{"bold":true}},{"insert":"\\n","attributes":{"list":"bullet"}}]'
    status, _, answer = call(server, "PUT", f"{path}/text", delta, kind)
    assert (status, answer["code"]) == (409, "notAllowed")
    made = json.dumps({"revision": 0, "operation": [0], "format": {"kind": "rich"}})
    assert call(server, "POST", f"{path}/changes", made)[0] == 200
    status, headers, answer = call(server, "PUT", f"{path}/text", delta, kind)
    assert (status, answer, headers["etag"]) == (200, {"revision": 2}, '"2"')
    for name, content_type, text in [
        ("markdown", "text/markdown; charset=utf-8", "- a **b**\n"),
        ("html", "text/html; charset=utf-8", "<ul>\n<li>a <strong>b</strong></li>\n</ul>\n"),
        ("delta", "application/vnd.parley.delta+json", delta),
    ]:
        status, headers, answer = call(server, "GET", f"{path}/text?format={name}")
        assert (status, headers["content-type"], answer) == (200, content_type, text)
    # A program that knows only text keeps the formatting of what it keeps.
    assert call(server, "PUT", f"{path}/text", "a b c\n")[0] == 200
    assert call(server, "GET", f"{path}/text?format=markdown")[2] == "- a **b c**\n"
