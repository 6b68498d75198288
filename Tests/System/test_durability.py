"""Acknowledged changes survive SIGKILL, and a repeated change is made once."""

import random

from native_client import Editor, NativeClient, settle
from operations import splice
from websockets.exceptions import ConnectionClosed


def test_a7_a_kill_loses_nothing_acknowledged(server):
    document = server.create_note("Kept")
    with NativeClient(server) as client:
        joined = client.join(document)
        client.change(document, joined, 1, ["one"])
        client.change(document, joined, 2, [3, " two"], 1)
        server.kill()
    server.start()
    with NativeClient(server, claim=client.claim) as again:
        after = again.join(document, {"epoch": joined["epoch"], "revision": 2})
        assert (after["title"], after["epoch"]) == ("Kept", joined["epoch"])
        assert (after["revision"], after["lastSequence"]) == (2, 2)
        assert after["changes"] == []
        # A change acknowledged before the kill is acknowledged with the same revision.
        kind, data = again.change(document, joined, 2, [3, " two"], 1)
        assert isinstance(data.pop("time"), int)
        assert (kind, data) == (
            "acknowledged",
            {"documentId": document, "sequence": 2, "revision": 2},
        )
        assert again.change(document, joined, 2, [3, " twice"], 1)[1]["code"] == "sequenceReused"
        assert again.change(document, joined, 3, [7, "!"], 2)[1]["revision"] == 3
    with NativeClient(server) as fresh:
        assert fresh.join(document)["text"] == "one two!"


def test_a7_kills_in_the_middle_of_writing_lose_and_double_nothing(server):
    rng = random.Random(7)
    document = server.create_note()
    editors = [Editor(f"e{index}", document).attach(server) for index in range(3)]
    words = []
    for kill in range(5):
        for step in range(40):
            editor = rng.choice(editors)
            word = f"<{kill}.{step}>"
            words.append(word)
            editor.edit(splice(editor.text, rng.choice([0, len(editor.text)]), 0, word))
            for other in editors:
                while rng.random() < 0.6 and other.pump():
                    pass
        acknowledged = {editor.name: editor.acknowledged for editor in editors}
        server.kill()
        # Bytes in the kernel may still be read; the rest is received after resuming.
        for editor in editors:
            try:
                while editor.pump(5):
                    pass
            except ConnectionClosed:
                pass
        server.start()
        for editor in editors:
            editor.attach(server)
            assert editor.acknowledged >= acknowledged[editor.name]
    head = settle(editors)
    texts = {editor.text for editor in editors}
    assert len(texts) == 1
    (text,) = texts
    # An insert may split another's word; letters then still count, each exactly once.
    assert len(text) == sum(len(word) for word in words)
    assert sorted(text) == sorted("".join(words))
    with NativeClient(server) as fresh:
        joined = fresh.join(document)
        assert (joined["text"], joined["revision"]) == (text, head)


def test_titles_deletions_and_the_list_survive_a_kill(server):
    kept, gone = server.create_note("Before"), server.create_note("Gone")
    assert server.request("PATCH", f"/api/notes/{kept}", {"title": "After"})[0] == 200
    assert server.request("DELETE", f"/api/notes/{gone}")[0] == 204
    before = server.request("GET", "/api/notes")[2]
    server.kill()
    server.start()
    assert server.request("GET", "/api/notes")[2] == before
    assert b"After" in before and b"Gone" not in before


def test_a_stopped_server_sends_goodbye_and_keeps_all_data(server):
    document = server.create_note()
    client = NativeClient(server)
    joined = client.join(document)
    client.change(document, joined, 1, ["kept"])
    assert server.stop() == 0
    assert client.close_code() == 4002
    goodbye = [m["data"] for m in client.inbox if m["type"] == "goodbye"]
    assert len(goodbye) == 1
    low, high = goodbye[0]["reconnectAfter"]
    assert 0 <= low <= high
    assert server.output[-1] == "stopped"
    server.start()
    with NativeClient(server) as fresh:
        assert fresh.join(document)["text"] == "kept"
