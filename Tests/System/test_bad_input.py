"""Malformed messages of a native client: each gets an error code, and other clients are not affected."""

import http.client
import json

import pytest
from native_client import NativeClient
from patience import SECONDS
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect


@pytest.fixture
def server(common_server):
    return common_server


def refused_at(server, path, protocols, **options):
    with connect(f"ws://127.0.0.1:{server.port}{path}", subprotocols=protocols, **options):
        pass


def still_works(client):
    assert client.request("ping", {})[0] == "pong"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "[1]", '"x"', "{}", "{]", "[" * 100_000, '{"a":' * 50_000,
        '{"messageId":"m","type":"ping","data":{}} trailing',
        '{"messageId":"m","data":{}}', '{"messageId":"m","type":7,"data":{}}',
        '{"messageId":7,"type":"ping","data":{}}', '{"messageId":"m","type":"join"}',
        '{"messageId":"m","type":"join","data":[]}',
        '{"messageId":"m","type":"join","data":{}}',
        '{"messageId":"m","type":"join","data":{"documentId":1}}',
        '{"messageId":"m","type":"join","data":{"documentId":"\\ud800"}}',
        '{"messageId":"m","type":"join","data":{"documentId":"\\x"}}',
    ],
)  # fmt: skip
def test_malformed_messages_get_an_error(server, bystander, text):
    with NativeClient(server) as client:
        client.socket.send(text)
        message = client.receive()
        assert message["type"] == "error", message
        assert message["data"]["code"] == "badMessage"
        assert message["data"]["retryable"] is False
        still_works(client)


def test_invalid_utf8_in_a_text_frame_harms_no_other_client(server, bystander):
    client = NativeClient(server)
    client.socket.send(b'{"messageId":"m","type":"ping","data":{"x":"\xff"}}', text=True)
    code = None
    try:
        message = client.receive()
        assert (message["type"], message["data"]["code"]) == ("error", "badMessage")
    except Exception:  # noqa: BLE001
        code = client.close_code()
        assert code in (1007, 4500)


@pytest.mark.parametrize(
    "operation",
    [
        "x", {}, 1, None, True, [None], [True], [1.5], [[]], [{}], ["x", None],
        [9223372036854775807, 9223372036854775807], [-9223372036854775808],
    ],
)  # fmt: skip
def test_an_operation_of_wrong_types_gets_an_error_code(server, bystander, operation):
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        client.change(note, joined, 1, ["text"])
        kind, data = client.change(note, joined, 2, operation, 1)
        assert kind in ("refused", "error"), (kind, data)
        assert data["code"] in ("badMessage", "badOperation", "lengthMismatch"), data
        assert client.join(note)["text"] == "text"


@pytest.mark.parametrize("number", ["1e999", "99999999999999999999", "1e2", "-0.5", "01", "NaN"])
def test_numbers_out_of_range_get_an_error_code(server, bystander, number):
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        text = (
            '{"messageId":"m","type":"change","data":{"documentId":"%s","epoch":"%s",'
            '"revision":0,"sequence":1,"operation":[%s]}}' % (note, joined["epoch"], number)
        )
        kind, data = client.raw_request(text, "m")
        assert kind in ("refused", "error"), (kind, data)
        still_works(client)


@pytest.mark.parametrize(
    "field, value",
    [
        ("documentId", 1), ("documentId", None), ("epoch", 1), ("revision", "0"),
        ("revision", 0.5), ("revision", None), ("sequence", "1"), ("sequence", None),
        ("sequence", 10**30),
    ],
)  # fmt: skip
def test_wrong_types_in_a_change_get_an_error(server, bystander, field, value):
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        data = {
            "documentId": note, "epoch": joined["epoch"], "revision": 0, "sequence": 1,
            "operation": ["x"],
        }  # fmt: skip
        kind, answer = client.request("change", {**data, field: value})
        assert (kind, answer["code"]) == ("error", "badMessage")
        kind, answer = client.request("change", {k: v for k, v in data.items() if k != field})
        assert (kind, answer["code"]) == ("error", "badMessage")
        assert client.request("change", data)[0] == "acknowledged"


@pytest.mark.parametrize(
    "operation", [[], [3, "x"], [5, "x"], [-5], [-3], [4, -1], ["x"], [2, -3]]
)
def test_operations_of_another_length_are_refused(server, bystander, operation):
    note = server.create_note()
    with NativeClient(server) as client, NativeClient(server) as peer:
        joined = client.join(note)
        client.change(note, joined, 1, ["text"])
        peer.join(note)
        kind, data = client.change(note, joined, 2, operation, 1)
        assert (kind, data["code"], data["sequence"]) == ("refused", "lengthMismatch", 2)
        assert data["message"]
        assert [m for m in peer.take_all() if m["type"] == "changes"] == []
        # The refused number is free again.
        assert client.change(note, joined, 2, [4, "!"], 1)[0] == "acknowledged"
        assert peer.expect("changes")["changes"][0]["operation"] == [4, "!"]


def test_an_empty_operation_does_not_erase_concurrent_edits(server, bystander):
    note = server.create_note()
    with NativeClient(server) as a, NativeClient(server) as b:
        joined = a.join(note)
        b.join(note)
        kind, data = a.change(note, joined, 1, [])
        assert kind in ("acknowledged", "refused", "error")
        if kind == "acknowledged":
            assert b.expect("changes")["changes"][0]["operation"] == [0]
        kind, data = b.change(note, joined, 1, ["kept"])
        assert kind == "acknowledged"
        assert a.join(note)["text"] == "kept"


@pytest.mark.parametrize(
    "revision, code",
    [(1, "futureRevision"), (10**15, "futureRevision"), (-1, "negativeRevision")],
)
def test_rejects_invalid_revisions(server, bystander, revision, code):
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        kind, data = client.change(note, joined, 1, ["x"], revision)
        assert (kind, data["code"]) == ("refused", code)
        assert client.change(note, joined, 1, ["x"])[0] == "acknowledged"


def test_another_epoch_is_refused(server, bystander):
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        kind, data = client.change(note, {**joined, "epoch": "another"}, 1, ["x"])
        assert (kind, data["code"]) == ("refused", "epochChanged")


def test_an_unknown_document_gets_an_error(server, bystander):
    with NativeClient(server) as client:
        kind, data = client.request("join", {"documentId": "nobody-made-this"})
        assert (kind, data["code"]) == ("error", "unknownDocument")
        kind, data = client.change("nobody-made-this", {"epoch": "e", "revision": 0}, 1, ["x"])
        assert (kind, data["code"]) == ("refused", "notJoined")
        still_works(client)


def test_a_paste_of_a_mebibyte_arrives(server, bystander):
    note = server.create_note()
    text = "漢字 and more.\n" * 90_000
    assert len(text) > 1 << 20
    with NativeClient(server) as client, NativeClient(server) as peer:
        joined = client.join(note)
        peer.join(note)
        assert client.change(note, joined, 1, [text])[0] == "acknowledged"
        assert peer.expect("changes")["changes"][0]["operation"] == [text]


def test_a_message_over_the_limit_is_refused_and_closes(start):
    server = start("--message-size-max", "64 KiB")
    note = server.create_note()
    with NativeClient(server) as bystander, NativeClient(server) as client:
        bystander.join(note)
        joined = client.join(note)
        client.send(
            "change",
            {
                "documentId": note, "epoch": joined["epoch"], "revision": 0, "sequence": 1,
                "operation": ["x" * (128 << 10)],
            },
        )  # fmt: skip
        assert client.close_code() == 4501
        errors = [m["data"]["code"] for m in client.inbox if m["type"] == "error"]
        assert errors == ["tooLarge"]
        with NativeClient(server, claim=client.claim) as again:
            assert again.join(note)["revision"] == 0
        assert {m["type"] for m in bystander.take_all()} == {"presence"}


def test_a_document_over_its_limit_refuses_growth(start):
    server = start("--document-length-max", "10")
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        assert client.change(note, joined, 1, ["0123456789"])[0] == "acknowledged"
        kind, data = client.change(note, joined, 2, [10, "x"], 1)
        assert (kind, data["code"]) == ("refused", "tooLarge")
        assert client.change(note, joined, 2, [-1, 9], 1)[0] == "acknowledged"


def test_a_binary_frame_gets_an_error_and_closes(server, bystander):
    client = NativeClient(server)
    client.socket.send(b'{"messageId":"m","type":"ping","data":{}}')
    assert client.close_code() == 4500
    assert [m["data"]["code"] for m in client.inbox if m["type"] == "error"] == ["badMessage"]


def test_an_unknown_type_gets_an_error(server, bystander):
    with NativeClient(server) as client:
        kind, data = client.request("docDelta", {"value": "x"})
        assert (kind, data["code"]) == ("error", "unknownType")
        still_works(client)


def test_hello_must_be_first_and_unique(server, bystander):
    with NativeClient(server, greet=False) as client:
        kind, data = client.request("join", {"documentId": "x"})
        assert (kind, data["code"]) == ("error", "notAllowed")
        client.hello()
        kind, data = client.request("hello", {"name": "again"})
        assert (kind, data["code"]) == ("error", "notAllowed")
        still_works(client)


def test_limits_of_names_rooms_and_selections_hold(server, bystander):
    note = server.create_note()
    with NativeClient(server) as client:
        limits = client.welcome["limits"]
        joined = client.join(note)
        kind, data = client.request("profile", {"name": "x" * 10_000, "color": "#000000"})
        assert (kind, data["code"]) == ("error", "tooLarge")
        kind, data = client.request("profile", {"name": "x", "color": "red"})
        assert (kind, data["code"]) == ("error", "badMessage")
        kind, data = client.request("subscribe", {"room": "x" * 10_000})
        assert (kind, data["code"]) == ("error", "tooLarge")
        kind, data = client.request("join", {"documentId": "x" * 10_000})
        assert (kind, data["code"]) == ("error", "tooLarge")
        kind, data = client.request(
            "select", {"documentId": note, "revision": 0, "selections": [[0, 0]] * 5_000}
        )
        assert (kind, data["code"]) == ("error", "tooMany")
        kind, data = client.request(
            "select", {"documentId": note, "revision": 7, "selections": [[0, 0]]}
        )
        assert (kind, data["code"]) == ("error", "futureRevision")
        assert limits and joined["revision"] == 0
        still_works(client)


def test_limits_per_connection_are_announced_and_held(start):
    server = start("--documents-per-connection-max", "2", "--rooms-per-connection-max", "3")
    notes = [server.create_note() for _ in range(3)]
    with NativeClient(server) as client:
        limits = client.welcome["limits"]
        assert limits["documentsPerConnectionMax"] == 2
        assert limits["roomsPerConnectionMax"] == 3
        for note in notes[:2]:
            client.join(note)
        kind, data = client.request("join", {"documentId": notes[2]})
        assert (kind, data["code"]) == ("error", "tooMany")
        client.request("leave", {"documentId": notes[0]})
        client.join(notes[2])
        for room in "abc":
            assert client.request("subscribe", {"room": room})[0] == "subscribed"
        kind, data = client.request("subscribe", {"room": "d"})
        assert (kind, data["code"]) == ("error", "tooMany")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://127.0.0.1:1", "null", "http://localhost.evil.example", "x"],
)
def test_a_page_of_another_site_may_not_connect(server, bystander, origin):
    for path, protocols in (("/ws", ["parley.v1"]), ("/socket", None)):
        with pytest.raises(InvalidStatus) as refused:
            refused_at(server, path, protocols, origin=origin)
        assert refused.value.response.status_code == 403


def test_own_and_allowed_origins_may_connect(start):
    server = start("--allowed-origin", "https://notes.example.org")
    for origin in (server.origin, "https://notes.example.org", "https://notes.example.org:443"):
        with NativeClient(server, origin=origin) as client:
            still_works(client)
    with pytest.raises(InvalidStatus):
        NativeClient(server, origin="https://other.example.org")


def test_the_native_path_requires_its_subprotocol(server):
    for protocols in (None, ["parley.v0"]):
        with pytest.raises(InvalidStatus) as refused:
            refused_at(server, "/ws", protocols)
        assert refused.value.response.status_code == 400


def test_other_paths_have_no_websockets(server):
    with pytest.raises(InvalidStatus) as refused:
        refused_at(server, "/elsewhere", ["parley.v1"])
    assert refused.value.response.status_code == 404


def test_a_foreign_page_may_not_change_notes(server, bystander):
    status, _, _ = server.request(
        "POST", "/api/notes", {"title": "x"}, {"Origin": "https://evil.example"}
    )
    assert status == 403
    assert server.request("POST", "/api/notes", {"title": "x"}, {"Origin": server.origin})[
        0
    ] == 201


def test_half_a_request_delays_no_other_client(server, bystander):
    half = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    half.connect()
    half.sock.sendall(b"POST /api/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert json.loads(server.request("GET", "/api/notes")[2])["notes"]
    half.close()
