"""Clients of ShareDB against the real program."""

import random

import pytest
from native_client import Editor, settle
from operations import splice
from sharedb_client import ShareDBEditor
from whaler_client import WhalerEditor


def text_of(server, note):
    status, _, body = server.request("GET", f"/api/notes/{note}/text?format=text")
    assert status == 200
    return body.decode()


def test_a_document_is_created_and_edited_by_two_clients(server):
    with ShareDBEditor("s-1") as ann, ShareDBEditor("s-1") as ben:
        ann.attach(server)
        assert (ann.version, ann.text) == (0, None)
        ann.create("Hello 😀")
        ann.settle()
        ben.attach(server)
        assert (ben.version, ben.text) == (1, "Hello 😀")
        ann.edit(splice(ann.text, 0, 5, "Bye"))
        ben.edit(splice(ben.text, 7, 0, "!"))
        settle([ann, ben])
        assert ann.text == ben.text == text_of(server, "s-1") == "Bye 😀!"
        assert ann.errors == ben.errors == []


def test_an_own_insert_stays_left_of_a_committed_one(server):
    note = server.create_note()
    native = Editor("Ada", note).attach(server)
    native.edit(["ab"])
    native.settle()
    with ShareDBEditor(note) as client:
        client.attach(server)
        native.edit([1, "N", 1])
        native.settle()
        # The client has not read the change yet.
        client.edit([1, "S", 1])
        settle([native, client])
        assert client.text == native.text == "aSNb"


@pytest.mark.parametrize("seed", range(3))
def test_changes_survive_kills_and_cuts_once_each(start, seed):
    """Each typed character is in the text once, whenever the server was killed and lines were cut."""
    chance = random.Random(seed)
    server = start()
    note = server.create_note()
    native = Editor("Ada", note).attach(server)
    clients = [ShareDBEditor(note) for _ in range(2)]
    typed = []

    def type_somewhere(editor):
        typed.append(chr(0x1F300 + len(typed)))
        text = editor.text or ""
        editor.edit(splice(text, chance.randint(0, len(text)), 0, typed[-1]))

    for client in clients:
        client.attach(server)
    clients[0].create("")
    settle([clients[0], native])
    for client in clients:
        client.reach(1)
    for round_number in range(12):
        for _ in range(4):
            type_somewhere(native)
            for client in clients:
                type_somewhere(client)
            for editor in [native, *clients]:
                editor.pump()
        if round_number % 3 == 2:
            server.kill()
            for client in clients:
                client.drop()
            server.start()
            native.attach(server)
            for client in clients:
                client.attach(server)
        else:
            clients[round_number % 2].attach(server)
    settle([native, *clients])
    text = text_of(server, note)
    assert all(editor.text == text for editor in [native, *clients])
    assert sorted(text) == sorted(typed)
    assert all(client.errors == [] for client in clients)
    for client in clients:
        client.close()


def test_a_note_is_shared_with_other_families(server):
    note = server.create_note()
    native = Editor("Ada", note).attach(server)
    whaler = WhalerEditor(server, note)
    with ShareDBEditor(note) as client:
        client.attach(server)
        client.create("a")
        client.settle()
        for editor in (native, whaler):
            editor.reach(1)
        for editor in (native, whaler, client):
            editor.edit(splice(editor.text, 1, 0, "😀"))
        settle([native, whaler, client])
        assert native.text == whaler.text == client.text == text_of(server, note)


def test_what_the_server_lacks_is_refused_in_the_clients_form(server):
    with ShareDBEditor("s-2") as client:
        client.attach(server)
        client.send({"a": "qf", "id": 1, "c": "notes", "q": {}})
        assert client.receive()["error"]["code"] == "ERR_DATABASE_METHOD_NOT_IMPLEMENTED"
        client.send({"a": "op", **client.name, "v": 0, "seq": 1, "x": {}, "create": {"type": "json0", "data": {}}})  # fmt: skip
        assert client.receive()["error"]["code"] == "ERR_DOC_TYPE_NOT_RECOGNIZED"
        client.send({"a": "pp"})
        assert client.receive() == {"a": "pp"}


def test_metrics_count_its_connections(server):
    with ShareDBEditor("s-3") as client:
        client.attach(server)
        assert b'parley_connections{dialect="sharedb"} 1' in server.request("GET", "/metrics")[2]
