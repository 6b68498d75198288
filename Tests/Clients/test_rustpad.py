"""Clients of Rustpad against the real program, alone and with clients of all families in one note."""

import random

import pytest
from native_client import Editor, settle
from operations import splice
from rustpad_client import RustpadEditor
from sharedb_client import ShareDBEditor
from whaler_client import WhalerEditor


def text_of(server, note):
    status, _, body = server.request("GET", f"/api/text/{note}")
    assert status == 200
    return body.decode()


def test_two_clients_write_and_see_each_other(server):
    with RustpadEditor("r-1") as ann, RustpadEditor("r-1") as ben:
        ann.attach(server)
        ann.edit(["Hello 😀"])
        ann.settle()
        ben.attach(server)
        ben.reach(1)
        assert ben.text == "Hello 😀"
        ben.edit(splice(ben.text, 7, 0, "!"))
        ann.edit(splice(ann.text, 0, 5, "Bye"))
        settle([ann, ben])
        assert ann.text == ben.text == text_of(server, "r-1") == "Bye 😀!"
        ben.send({"SetLanguage": "swift"})
        while ann.language is None:
            ann.pump(1)
        assert ann.language == "swift"
        assert ben.users[ann.me] == {"name": "Rusty", "hue": 7}


@pytest.mark.parametrize("seed", range(3))
def test_edits_survive_kills_and_cuts_once_each(start, seed):
    """Clients of all families in one note. Each typed character is in the text once."""
    chance = random.Random(seed)
    server = start()
    note = server.create_note()
    native = Editor("Ada", note).attach(server)
    native.edit(["."])
    native.settle()
    sharedb, rustpad = ShareDBEditor(note).attach(server), RustpadEditor(note).attach(server)
    rustpad.reach(1)
    whaler = WhalerEditor(server, note)
    typed = ["."]
    for number in range(10):
        for _ in range(3):
            for editor in (native, sharedb, rustpad, whaler):
                typed.append(chr(0x1F300 + len(typed)))
                position = chance.randint(0, len(editor.text))
                editor.edit(splice(editor.text, position, 0, typed[-1]))
                editor.pump()
        # Whaler's clients do not send a change again.
        whaler.settle()
        whaler.client.close()
        if number % 2:
            server.kill()
            for editor in (sharedb, rustpad):
                editor.drop()
            server.start()
            native.attach(server)
            sharedb.attach(server)
        else:
            sharedb.attach(server)
        rustpad.attach(server)
        whaler = WhalerEditor(server, note)
    settle([native, sharedb, rustpad, whaler])
    text = text_of(server, note)
    assert native.text == sharedb.text == rustpad.text == whaler.text == text
    assert sorted(text) == sorted(typed)
    for editor in (sharedb, rustpad):
        editor.close()


def test_metrics_count_its_connections(server):
    with RustpadEditor("r-3") as client:
        client.attach(server)
        client.pump(1)
        assert b'parley_connections{dialect="rustpad"} 1' in server.request("GET", "/metrics")[2]
