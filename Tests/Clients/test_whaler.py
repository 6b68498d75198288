"""Clients of the Whaler family against the real program, check by check."""

import json
import random
import subprocess

import pytest
from native_client import NativeClient
from operations import splice
from parley_server import PROGRAM
from whaler_client import WhalerClient, WhalerEditor, operation, pairs


def text_of(server, resource):
    with WhalerClient(server, resource) as client:
        state = client.open()
        return state["initialState"], state["revision"]


def test_a1_handshake_answers_in_text_with_the_same_message_id(server):
    with WhalerClient(server, "acc-1") as client:
        assert client.open() == {"resourceId": "acc-1", "initialState": "", "revision": 0}


def test_a1_text_frames_are_taken_too(server):
    with WhalerClient(server, "acc-1") as client:
        client.send_bytes(
            '{"messageId":"5E1C","type":"resourceConnection","data":{"resourceId":"acc-1"}}'
        )
        assert client.expect("resourceConnectionConf", "5E1C")["revision"] == 0


def test_a1_the_current_revision_and_text_are_sent(server):
    with WhalerClient(server, "acc-1") as author:
        author.open()
        message_id = author.change(0, [0], ["Hello orld"])
        author.expect("docChangeReturnOps", message_id)
        assert text_of(server, "acc-1") == ("Hello orld", 1)


def test_a2_author_and_peer_get_the_change_with_the_authors_message_id(server):
    with (
        WhalerClient(server, "acc-1") as author,
        WhalerClient(server, "acc-1") as peer,
        WhalerClient(server, "org-1") as stranger,
    ):
        for client in (author, peer, stranger):
            client.open()
        first = author.change(0, [0], ["Hello orld"])
        second = None
        for client in (author, peer):
            data = client.expect("docChangeReturnOps", first)
            assert data == {"resourceId": "acc-1", "n": [0], "s": ["Hello orld"]}
        second = author.change(1, [6, 0, 4], ["", "w", ""])
        for client in (author, peer):
            data = client.expect("docChangeReturnOps", second)
            assert data == {"resourceId": "acc-1", "n": [6, 0, 4], "s": ["", "w", ""]}
        # The stranger's next message is about their own change: none about acc-1 came before it.
        own = stranger.change(0, [0], ["mine"])
        assert stranger.expect("docChangeReturnOps", own)["resourceId"] == "org-1"
        assert text_of(server, "acc-1") == ("Hello world", 2)


def test_names_that_only_look_alike_are_two_documents(server):
    composed, decomposed = "note-\u00e9", "note-e\u0301"
    with WhalerClient(server, "a") as first, WhalerClient(server, "b") as second:
        first.open(composed)
        second.open(decomposed)
        message_id = first.change(0, [0], ["for one alone"], resource=composed)
        first.expect("docChangeReturnOps", message_id)
        assert second.open(decomposed)["initialState"] == ""
        assert first.open(composed)["initialState"] == "for one alone"


def test_a3_the_committed_insert_stays_left(server):
    with WhalerClient(server, "acc-1") as a, WhalerClient(server, "acc-1") as b:
        a.open()
        b.open()
        x = a.change(0, [0], ["X"])
        for client in (a, b):
            client.expect("docChangeReturnOps", x)
        y = b.change(0, [0], ["Y"])
        for client in (a, b):
            data = client.expect("docChangeReturnOps", y)
            assert (data["n"], data["s"]) == ([1, 0], ["", "Y"])
        assert text_of(server, "acc-1") == ("XY", 2)


ALPHABET = ["a", "B", " ", "é", "e\u0301", "👍🏽", "\r\n", "\ue000", "漢字", "👨‍👩‍👧", "\n"]


@pytest.mark.parametrize("seed", range(3))
def test_a3_a4_clients_of_the_existing_kind_converge(server, seed):
    rng = random.Random(seed)
    editors = [WhalerEditor(server, "acc-1") for _ in range(rng.randint(3, 6))]
    for _ in range(250):
        editor = rng.choice(editors)
        position = rng.randint(0, len(editor.text))
        deleted = rng.choice([0, 0, 0, 1, 3])
        deleted = min(deleted, len(editor.text) - position)
        inserted = rng.choice(ALPHABET) if not deleted or rng.random() < 0.3 else ""
        editor.edit(splice(editor.text, position, deleted, inserted))
        for other in editors:
            while rng.random() < 0.5 and other.pump():
                pass
    for editor in editors:
        editor.settle()
    head = max(editor.revision for editor in editors)
    for editor in editors:
        editor.reach(head)
    assert text_of(server, "acc-1") == (editors[0].text, head)
    assert {editor.text for editor in editors} == {editors[0].text}
    for editor in editors:
        editor.client.close()


def test_a4_lengths_are_code_points(server):
    text = "é👍🏽e\u0301\r\n\ue000"
    with WhalerClient(server, "acc-1") as client:
        client.open()
        client.expect("docChangeReturnOps", client.change(0, [0], [text]))
        # é, 👍, its skin tone, e, an accent, CR, LF, one of private use.
        assert len(text) == 8
        client.expect("docChangeReturnOps", client.change(1, [8, 0], ["", "!"]))
        assert text_of(server, "acc-1") == (text + "!", 2)


def test_a5_no_op_components_are_taken(server):
    with WhalerClient(server, "acc-1") as client:
        client.open()
        client.expect("docChangeReturnOps", client.change(0, [0, 0], ["Hi", ""]))
        data = client.expect("docChangeReturnOps", client.change(1, [2, 0, 0], ["", "!", ""]))
        assert operation(data) == [2, "!"]
        assert text_of(server, "acc-1") == ("Hi!", 2)


@pytest.mark.parametrize(
    "revision, numbers, texts",
    [
        (1, [2, 0], [""]),
        (1, [2], ["", ""]),
        (1, [], ["x"]),
        (-1, [2, 0], ["", "x"]),
        (2, [2, 0], ["", "x"]),
        (10**18, [2, 0], ["", "x"]),
        (1, [1, 0], ["", "x"]),
        (1, [3, 0], ["", "x"]),
        (1, [-3], [""]),
        (1, [9223372036854775807, 9223372036854775807], ["", ""]),
        (1, [], []),
        (1, ["2", 0], ["", "x"]),
        (1, [2.5, 0], ["", "x"]),
        (1, [2, 0], ["", None]),
        (1, [2, 0], [1, 2]),
        (1, None, None),
        ("1", [2, 0], ["", "x"]),
        (None, [2, 0], ["", "x"]),
    ],
)
def test_a5_a_change_that_does_not_fit_is_answered_with_the_state(
    server, bystander, revision, numbers, texts
):
    with WhalerClient(server, "acc-1") as author, WhalerClient(server, "acc-1") as peer:
        for client in (author, peer):
            client.open()
        first = author.change(0, [0], ["Hi"])
        for client in (author, peer):
            client.expect("docChangeReturnOps", first)
        author.change(revision, numbers, texts)
        state = author.expect("resourceConnectionConf")
        assert state == {"resourceId": "acc-1", "initialState": "Hi", "revision": 1}
        # The peer has received nothing of it, and the author continues from the state.
        third = author.change(1, [2, 0], ["", "!"])
        for client in (author, peer):
            client.expect("docChangeReturnOps", third)
        assert text_of(server, "acc-1") == ("Hi!", 2)


def test_a5_an_empty_operation_erases_nobodys_edit(server, bystander):
    with WhalerClient(server, "acc-1") as a, WhalerClient(server, "acc-1") as b:
        a.open()
        b.open()
        a.change(0, [], [])
        # Taken as "nothing changed", spelt out, or answered with the state: never an empty array.
        answer = a.receive()
        assert answer["type"] in ("docChangeReturnOps", "resourceConnectionConf")
        revision = 0
        if answer["type"] == "docChangeReturnOps":
            assert answer["data"]["n"] == [0] and answer["data"]["s"] == [""]
            assert b.receive()["data"]["n"] == [0]
            revision = 1
        change = b.change(0, [0], ["kept"])
        b.expect("docChangeReturnOps", change)
        a.expect("docChangeReturnOps", change)
        assert text_of(server, "acc-1") == ("kept", revision + 1)


def test_a5_a_paste_of_a_mebibyte_arrives(server, bystander):
    text = "All work and no play makes Jack a dull boy.\n" * 23_832
    assert len(text) > 1 << 20
    with WhalerClient(server, "acc-1") as author, WhalerClient(server, "acc-1") as peer:
        author.open()
        peer.open()
        message_id = author.change(0, [0], [text])
        for client in (author, peer):
            data = client.expect("docChangeReturnOps", message_id)
            assert data["s"] == [text]
        assert text_of(server, "acc-1") == (text, 1)


def test_a5_a_change_to_a_document_not_opened_is_answered_with_its_state(server, bystander):
    with WhalerClient(server, "acc-1") as client:
        client.open()
        client.change(0, [0], ["x"], resource="never-opened")
        assert client.expect("resourceConnectionConf") == {
            "resourceId": "never-opened", "initialState": "", "revision": 0,
        }  # fmt: skip


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b'"x"', b"[" * 100_000,
        b'{"messageId":"1"}', b'{"messageId":"1","type":7,"data":{}}',
        b'{"messageId":"1","type":"resourceUpdated","data":{}}',
        b'{"messageId":"1","type":"docDelta","data":{"documentID":"1","value":"x"}}',
        b'{"messageId":1,"type":"resourceConnection","data":{}}',
        b'{"messageId":"1","type":"docChange","data":[]}',
    ],
)  # fmt: skip
def test_a5_what_is_no_message_ends_nothing(server, bystander, payload):
    with WhalerClient(server, "acc-1") as client:
        client.open()
        client.send_bytes(payload)
        message_id = client.change(0, [0], ["still here"])
        # The server may answer a malformed message, which may have been a change, with the state.
        message = client.receive()
        if message["type"] == "resourceConnectionConf":
            message = client.receive()
        assert (message["type"], message["messageId"]) == ("docChangeReturnOps", message_id)


def test_a5_unknown_fields_are_ignored(server):
    with WhalerClient(server, "acc-1") as client:
        client.send_bytes(
            json.dumps(
                {
                    "extra": [1, {"deep": None}], "messageId": "M",
                    "type": "resourceConnection", "senderId": "somebody else",
                    "data": {"more": 1, "resourceId": "acc-1"},
                }
            ).encode()
        )  # fmt: skip
        client.expect("resourceConnectionConf", "M")


def test_a7_a_client_resumes_from_its_old_revision_after_a_kill(server):
    with WhalerClient(server, "acc-1") as client:
        client.open()
        client.expect("docChangeReturnOps", client.change(0, [0], ["one"]))
        client.expect("docChangeReturnOps", client.change(1, [3, 0], ["", " two"]))
        server.kill()
    server.start()
    with WhalerClient(server, "acc-1") as client:
        state = client.open()
        assert (state["initialState"], state["revision"]) == ("one two", 2)
        # The server rebases the change over the change that the client has not seen.
        data = client.expect("docChangeReturnOps", client.change(1, [3, 0], ["", "!"]))
        assert operation(data) == [7, "!"]
        assert text_of(server, "acc-1") == ("one two!", 3)


def test_a9_a_changed_note_list_is_sent_to_the_pool_of_that_name(server):
    with WhalerClient(server, "notes") as client:
        client.send("resourceConnection", {"resourceId": "acc-1"})
        client.receive()
        server.create_note()
        while (message := client.receive())["type"] != "resourceUpdate":
            pass
        assert message["data"] == {"resourceId": "notes", "senderId": None}


def test_whaler_and_native_clients_write_one_text(server):
    document = server.create_note()
    with NativeClient(server) as native, WhalerClient(server, document) as whaler:
        joined = native.join(document)
        assert whaler.open()["revision"] == 0
        native.expect("presence", lambda data: len(data["joined"]) == 1)
        kind, data = native.change(document, joined, 1, ["native"])
        assert (kind, data["revision"]) == ("acknowledged", 1)
        assert operation(whaler.expect("docChangeReturnOps")) == ["native"]
        message_id = whaler.change(0, *pairs(["whaler"]))
        assert operation(whaler.expect("docChangeReturnOps", message_id)) == [6, "whaler"]
        changes = native.expect("changes")
        assert changes["revision"] == 2
        assert [change["operation"] for change in changes["changes"]] == [[6, "whaler"]]


def test_a6_a_client_at_a_forgotten_revision_gets_the_state(server):
    with WhalerClient(server, "acc-1") as client:
        client.open()
        for number in range(40):
            client.expect("docChangeReturnOps", client.change(number, *pairs([number, "x"])))
    assert server.stop() == 0
    flags = ["--data-dir", str(server.data), "--history-changes-min", "2"]
    subprocess.run([PROGRAM, "compact", *flags], check=True, capture_output=True, env={})
    server.start()
    with WhalerClient(server, "acc-1") as stale, WhalerClient(server, "acc-1") as peer:
        peer.open()
        stale.open()
        stale.change(3, *pairs([3, "late"]))
        state = stale.expect("resourceConnectionConf")
        assert state == {"resourceId": "acc-1", "initialState": "x" * 40, "revision": 40}
        # From there it continues; the peer has received nothing of the change without a place.
        message_id = stale.change(40, *pairs([40, "!"]))
        for client in (stale, peer):
            client.expect("docChangeReturnOps", message_id)


def test_a8_carets_of_others_move_with_a_whaler_clients_changes(server):
    document = server.create_note()
    with (
        NativeClient(server, "Ada") as ada,
        NativeClient(server, "Grace") as grace,
        WhalerClient(server, document) as whaler,
    ):
        ada.join(document)
        grace.join(document)
        whaler.open()
        whaler.expect("docChangeReturnOps", whaler.change(0, *pairs(["012345"])))
        grace.expect("changes")
        grace.send("select", {"documentId": document, "revision": 1, "selections": [[3, 3]]})
        assert ada.expect("selections")["selections"] == [[3, 3]]
        # Another user's insert at the caret does not move it; a deletion over it takes it to its start.
        whaler.expect("docChangeReturnOps", whaler.change(1, *pairs([3, "ab", 3])))
        whaler.expect("docChangeReturnOps", whaler.change(2, *pairs([1, -4, 3])))
        with NativeClient(server) as third:
            carets = {peer["clientId"]: peer for peer in third.join(document)["presence"]}
            assert carets[grace.id]["selections"] == [[1, 1]]
        # A Whaler client has no word for carets, and hears none.
        message_id = whaler.change(3, *pairs([4, "!"]))
        assert whaler.receive()["messageId"] == message_id
        grace.drop()
        ada.expect("presence", lambda data: grace.id in data["left"])


@pytest.mark.parametrize("sender", ["5E1C-app", None])
def test_a9_a_publication_is_a_resource_update_with_its_sender(server, sender):
    with WhalerClient(server, "org-1") as client, WhalerClient(server, "org-2") as other:
        for each in (client, other):
            each.open("some document")
        body = {"publications": [{"room": "org-1", "data": {"saved": True}, "senderId": sender}]}
        if sender is None:
            del body["publications"][0]["senderId"]
        assert server.request("POST", "/api/publish", body)[0] == 200
        assert client.expect("resourceUpdate") == {"resourceId": "org-1", "senderId": sender}
        own = other.change(0, [0], ["x"], resource="some document")
        assert other.receive()["messageId"] == own
