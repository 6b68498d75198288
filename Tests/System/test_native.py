"""Clients of parley.v1 against the real program."""

import random

import pytest
from native_client import Editor, NativeClient, settle
from operations import splice


def test_hello_is_welcomed_with_limits_and_capabilities(server):
    with NativeClient(server, "Ada") as client:
        welcome = client.welcome
        assert welcome["demo"] is True
        assert welcome["clientId"] and welcome["resumeToken"]
        assert isinstance(welcome["serverTime"], int)
        assert {"documents", "presence", "resume", "rooms", "selections"} <= set(
            welcome["capabilities"]
        )
        assert all(isinstance(limit, int) and limit > 0 for limit in welcome["limits"].values())


def test_two_clients_write_one_text(server):
    document = server.create_note("Minutes")
    with NativeClient(server, "Ada") as ada, NativeClient(server, "Grace") as grace:
        joined = ada.join(document)
        assert joined["documentId"] == document
        assert (joined["title"], joined["revision"], joined["text"]) == ("Minutes", 0, "")
        assert (joined["lastSequence"], joined["access"], joined["presence"]) == (0, "write", [])
        second = grace.join(document)
        assert second["epoch"] == joined["epoch"]
        assert [peer["clientId"] for peer in second["presence"]] == [ada.id]

        kind, data = ada.change(document, joined, 1, ["Hello 👋🏽"])
        assert isinstance(data.pop("time"), int)
        assert (kind, data) == (
            "acknowledged",
            {"documentId": document, "sequence": 1, "revision": 1},
        )
        data = grace.expect("changes")
        assert data["documentId"] == document and data["revision"] == 1
        (change,) = data["changes"]
        assert change["clientId"] == ada.id and change["sequence"] == 1
        assert change["operation"] == ["Hello 👋🏽"]

        # At its base revision 0, and the committed insert stays left.
        kind, data = grace.change(document, second, 1, ["!"])
        assert (kind, data["revision"]) == ("acknowledged", 2)
        (change,) = ada.expect("changes")["changes"]
        assert change["operation"] == [8, "!"]

    with NativeClient(server) as third:
        assert third.join(document)["text"] == "Hello 👋🏽!"


@pytest.mark.parametrize("seed", range(2))
def test_several_editors_converge(server, seed):
    rng = random.Random(seed)
    document = server.create_note()
    editors = [Editor(f"e{index}", document).attach(server) for index in range(4)]
    for _ in range(300):
        editor = rng.choice(editors)
        position = rng.randint(0, len(editor.text))
        deleted = min(rng.choice([0, 0, 0, 2]), len(editor.text) - position)
        inserted = rng.choice(["a", "é", "😀", "漢", "\r\n"]) if not deleted else ""
        editor.edit(splice(editor.text, position, deleted, inserted))
        for other in editors:
            while rng.random() < 0.5 and other.pump():
                pass
    head = settle(editors)
    assert len({editor.text for editor in editors}) == 1
    with NativeClient(server) as client:
        joined = client.join(document)
        assert (joined["text"], joined["revision"]) == (editors[0].text, head)


def test_a_client_resumes_with_the_changes_it_missed(server):
    document = server.create_note()
    with NativeClient(server) as writer:
        joined = writer.join(document)
        reader = NativeClient(server)
        first = reader.join(document)
        reader.drop()
        revision = 0
        for sequence, text in enumerate(["one", "two", "three"], start=1):
            kind, data = writer.change(
                document, joined, sequence, [revision_length(revision), text], revision
            )
            assert kind == "acknowledged"
            revision = data["revision"]
        with NativeClient(server, claim=reader.claim) as again:
            assert again.id == reader.id
            resumed = again.join(document, {"epoch": first["epoch"], "revision": 1})
            assert "text" not in resumed
            assert resumed["revision"] == 3
            assert [change["operation"] for change in resumed["changes"]] == [
                [3, "two"],
                [6, "three"],
            ]


def revision_length(revision):
    return [0, 3, 6][revision]


def test_a_resume_at_another_history_gets_the_text(server):
    document = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(document)
        client.change(document, joined, 1, ["text"])
        for resume in (
            {"epoch": "another", "revision": 1},
            {"epoch": joined["epoch"], "revision": 99},
            {"epoch": joined["epoch"], "revision": -1},
        ):
            kind, data = client.request("join", {"documentId": document, "resume": resume})
            if kind == "error":
                assert resume["revision"] == -1, data
                continue
            assert data["text"] == "text" and data["revision"] == 1


def test_a_change_sent_twice_is_done_once(server):
    document = server.create_note()
    with NativeClient(server) as client, NativeClient(server) as peer:
        joined = client.join(document)
        peer.join(document)
        assert client.change(document, joined, 1, ["once"])[1]["revision"] == 1
        assert client.change(document, joined, 1, ["once"])[1]["revision"] == 1
        assert client.change(document, joined, 2, [4, "!"], 1)[1]["revision"] == 2
        revisions = [peer.expect("changes")["revision"] for _ in range(2)]
        assert revisions == [1, 2]
        assert not [message for message in peer.take_all() if message["type"] == "changes"]


def test_a_sequence_with_other_content_is_refused(server):
    document = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(document)
        client.change(document, joined, 1, ["once"])
        kind, data = client.change(document, joined, 1, ["other"])
        assert (kind, data["code"], data["retryable"]) == ("refused", "sequenceReused", False)
        assert client.join(document)["text"] == "once"


def test_a_gap_in_the_sequences_is_refused(server):
    document = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(document)
        kind, data = client.change(document, joined, 2, ["x"])
        assert (kind, data["code"], data["sequence"]) == ("refused", "sequenceGap", 2)
        # It was not logged, so the number that was expected is still free.
        assert client.change(document, joined, 1, ["x"])[0] == "acknowledged"


def test_selections_move_with_the_text(server):
    document = server.create_note()
    with NativeClient(server, "Ada") as ada, NativeClient(server, "Grace") as grace:
        joined = ada.join(document)
        ada.change(document, joined, 1, ["0123456789"])
        second = grace.join(document)
        grace.request("ping", {})
        grace.send(
            "select", {"documentId": document, "revision": 1, "selections": [[2, 5], [9, 9]]}
        )
        data = ada.expect("selections")
        assert data == {
            "documentId": document, "revision": 1, "clientId": grace.id,
            "selections": [[2, 5], [9, 9]],
        }  # fmt: skip
        # A newcomer receives where carets are now, after an edit before them.
        assert ada.change(document, joined, 2, ["abc", 10], 1)[0] == "acknowledged"
        with NativeClient(server) as third:
            peers = {peer["clientId"]: peer for peer in third.join(document)["presence"]}
            assert peers[grace.id]["selections"] == [[5, 8], [12, 12]]
            assert peers[grace.id]["name"] == "Grace"
        assert second["revision"] == 1


def test_presence_reports_joins_changes_and_leaves(server):
    document = server.create_note()
    with NativeClient(server, "Ada") as ada:
        ada.join(document)
        with NativeClient(server, "Grace") as grace:
            grace.join(document)
            data = ada.expect("presence")
            assert [(peer["clientId"], peer["name"]) for peer in data["joined"]] == [
                (grace.id, "Grace")
            ]
            grace.send("profile", {"name": "Grace H.", "color": "#aa0000"})
            data = ada.expect("presence")
            assert [(peer["name"], peer["color"]) for peer in data["updated"]] == [
                ("Grace H.", "#aa0000")
            ]
            grace.request("leave", {"documentId": document})
            assert ada.expect("presence")["left"] == [grace.id]
            grace.join(document)
            ada.expect("presence", lambda data: data["joined"])
            grace.drop()
            assert ada.expect("presence")["left"] == [grace.id]


def test_subscribers_receive_resource_updates(server):
    with NativeClient(server) as client, NativeClient(server) as other:
        kind, data = client.request("subscribe", {"room": "notes"})
        assert (kind, data["room"], data["offset"]) == ("subscribed", "notes", 0)
        note = server.create_note()
        assert client.expect("resourceUpdate")["resourceId"] == "notes"
        assert client.request("unsubscribe", {"room": "notes"}) == (
            "unsubscribed",
            {"room": "notes"},
        )
        server.request("DELETE", f"/api/notes/{note}")
        assert client.take_all() == []
        assert other.take_all() == []


def test_rename_and_deletion_reach_clients_that_have_it_open(server):
    note = server.create_note("Before")
    with NativeClient(server) as client:
        joined = client.join(note)
        assert server.request("PATCH", f"/api/notes/{note}", {"title": "After"})[0] == 200
        data = client.expect("documentChanged")
        assert (data["documentId"], data["title"]) == (note, "After")
        assert server.request("DELETE", f"/api/notes/{note}")[0] == 204
        data = client.expect("documentChanged")
        assert (data["documentId"], data["deleted"]) == (note, True)
        kind, data = client.change(note, joined, 1, ["too late"])
        assert (kind, data["code"]) == ("refused", "notJoined")


def test_many_documents_share_a_socket(server):
    notes = [server.create_note(f"Note {index}") for index in range(5)]
    with NativeClient(server) as client, NativeClient(server) as peer:
        joined = {note: client.join(note) for note in notes}
        for note in notes:
            peer.join(note)
        for note in notes:
            assert client.change(note, joined[note], 1, [note])[1]["documentId"] == note
        seen = [peer.expect("changes")["documentId"] for _ in notes]
        assert seen == notes


def test_the_newer_of_two_connections_of_one_client_takes_over(server):
    older = NativeClient(server)
    with NativeClient(server, claim=older.claim) as newer:
        assert newer.id == older.id
        assert older.close_code() == 4505


def test_a_client_cannot_resume_as_another(server):
    with NativeClient(server) as ada, NativeClient(server, greet=False) as mallory:
        kind, data = mallory.request(
            "hello", {"name": "M", "client": {"id": ada.id, "resumeToken": "guess"}}
        )
        assert (kind, data["code"]) == ("error", "unauthorised")
        assert ada.take_all() == []
