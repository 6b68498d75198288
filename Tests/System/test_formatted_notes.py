"""Notes with formatting against the real program."""

import json

from native_client import NativeClient

BOLD = {"sets": [{"bold": True}], "kept": [4, 3, 1]}


def join(client, document, **fields):
    kind, joined = client.request("join", {"documentId": document, "formats": True, **fields})
    assert kind == "joined", (kind, joined)
    return joined


def change(client, document, joined, sequence, revision, operation, **fields):
    data = {
        "documentId": document, "epoch": joined["epoch"], "revision": revision,
        "sequence": sequence, "operation": operation, **fields,
    }  # fmt: skip
    return client.request("change", data)


def api(server, method, path, body=None):
    status, _, answer = server.request(method, path, body)
    return status, json.loads(answer)


def test_formatting_survives_a_kill_and_plain_clients_write_in_it(server):
    document = server.create_note("Minutes")
    with NativeClient(server, "Ada") as ada, NativeClient(server, "Grace") as grace:
        assert "rich" in ada.welcome["capabilities"]
        joined = join(ada, document)
        plain = grace.join(document)
        assert "kind" not in joined and "format" not in joined
        early = {"sets": [{"bold": True}], "put": [1, 1]}
        refused = change(ada, document, joined, 1, 0, ["The fox\n"], format=early)
        assert (refused[0], refused[1]["code"]) == ("refused", "notAllowed")
        assert change(ada, document, joined, 1, 0, ["The fox\n"])[0] == "acknowledged"
        made = change(ada, document, joined, 2, 1, [8], format={"kind": "rich", **BOLD})
        assert made[0] == "acknowledged"
        # The plain client's letters, typed behind bold ones, are bold. It sees only text.
        assert change(grace, document, plain, 1, 2, [7, "es", 1])[0] == "acknowledged"
        (formatted,) = grace.expect("changes", lambda data: data["revision"] == 2)["changes"]
        assert "format" not in formatted
        (typed,) = ada.expect("changes")["changes"]
        assert typed["operation"] == [7, "es", 1]
        assert typed["format"] == {"sets": [{"bold": True}], "put": [2, 1]}
        server.kill()
    server.start()
    runs = {"sets": [{"bold": True}], "runs": [4, 0, 5, 1, 1, 0]}
    with NativeClient(server, claim=ada.claim) as again, NativeClient(server) as other:
        # What was acknowledged is acknowledged again, with the same formatting.
        after = join(again, document, resume={"epoch": joined["epoch"], "revision": 2})
        assert (after["kind"], after["revision"], len(after["changes"])) == ("rich", 3, 1)
        repeated = change(again, document, joined, 2, 1, [8], format={"kind": "rich", **BOLD})
        assert (repeated[0], repeated[1]["revision"]) == ("acknowledged", 2)
        assert change(again, document, joined, 2, 1, [8])[1]["code"] == "sequenceReused"
        fresh = join(other, document)
        assert (fresh["kind"], fresh["text"], fresh["format"]) == ("rich", "The foxes\n", runs)
    note = api(server, "GET", f"/api/notes/{document}")[1]
    text = api(server, "GET", f"/api/notes/{document}/text")[1]
    assert (note["kind"], text["format"]) == ("rich", runs)


def test_rich_notes_are_made_and_listed(server):
    with NativeClient(server) as client:
        kind, _ = client.request("create", {"documentId": "r-1", "title": "R", "kind": "rich"})
        assert kind == "created"
        assert join(client, "r-1")["kind"] == "rich"
    status, note = api(server, "POST", "/api/notes", {"title": "R", "kind": "rich"})
    assert (status, note["kind"]) == (201, "rich")
    assert api(server, "POST", "/api/notes", {"title": "R", "kind": "tree"})[0] == 400
    plain = server.create_note("P")
    notes = {note["id"]: note.get("kind") for note in api(server, "GET", "/api/notes")[1]["notes"]}
    assert (notes["r-1"], notes[note["id"]], notes[plain]) == ("rich", "rich", None)
