"""All kinds of clients at once: the page, two bots, a Whaler client and a Socket.IO client."""

import contextlib
import json
import sys
import types

from companions import bot, python_package, says, with_package
from conftest import PROGRAM, wait_until
from dialect_clients import DialectClient
from whaler_client import WhalerEditor

# A bot on the Python package. It adds a line when two items are ticked, and prints what it receives.
COUNTER = """
import asyncio, json, sys
import parley

async def main(url, id):
    async with parley.connect(url, name="Counter") as client:
        note = await client.note(id)
        print(json.dumps("here"), flush=True)
        async for _ in note.changes():
            if note.text.count("[x]") == 2 and "All done." not in note.text:
                note.append("All done.\\n")
            print(json.dumps(note.text), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def test_E3_two_bots_the_page_whaler_and_socketio_see_the_same(server, person, tmp_path):
    note = server.create("Everybody")
    socket_url = server.url.replace("http", "ws")
    python = {"env": with_package(python_package(tmp_path))}
    (tmp_path / "counter.py").write_text(COUNTER)
    ann = person("Ann").open(note)
    with contextlib.ExitStack() as stack:
        run = stack.enter_context
        run(bot(PROGRAM.parent / "parley-example-todo-bot", socket_url, note))
        counter = run(bot(sys.executable, tmp_path / "counter.py", server.url, note, **python))
        says(counter, '"here"')
        listener = run(bot(PROGRAM.parent / "parley-example-live-list", socket_url, note))
        says(listener, "following")
        app = run(DialectClient("socketio_client.py", server.url, "websocket", packages="dialects"))
        app.expect("connected")
        # An open server accepts any token, but requires one.
        app.ask("emit", "authenticate", {"token": "any"})
        app.expect("event", "authenticated")
        app.ask("emit", "realtime:join", {"name": note, "token": "any"})
        app.expect("event", "realtime:join:success")
        address = types.SimpleNamespace(port=server.port, origin=server.url)
        whaler = WhalerEditor(address, note)
        stack.callback(whaler.client.close)

        def all_have(text):
            """Waits until the page and the Whaler client have a text, and the server too."""

            def have():
                while whaler.pump():
                    pass
                return ann.text() == text and whaler.text == text

            wait_until(have, lambda: f"page {ann.text()!r}, Whaler {whaler.text!r}")

        # Each step is an edit by one client, to which the first bot reacts.
        whaler.edit(["todo: tea 😀\n"])
        all_have("[ ] tea 😀\n")
        ann.to_end()
        ann.type("todo: milk\n")
        all_have("[ ] tea 😀\n[ ] milk\n")
        # Two edits at once, and the second bot's reaction to the first bot's edits.
        length = len(whaler.text)
        whaler.edit(["done: tea 😀\n", length])
        ann.to_end()
        ann.type("done: milk\n")
        final = "[x] tea 😀\n[x] milk\nAll done.\n"
        all_have(final)
        says(counter, json.dumps(final))
        ann.wait_until_saved()

        # One publication in the note's room reaches all subscribers, in the format of each.
        order = {"id": 1, "dish": "soup"}
        body = {"publications": [{"room": note, "data": order, "senderId": "kitchen"}]}
        server.request("POST", "/api/publish", body)
        says(listener, "soup")
        heard = app.expect("event", "realtime:event")[2]
        assert (heard["name"], heard["data"]) == (note, order)
        update = whaler.client.expect("resourceUpdate")
        assert (update["resourceId"], update["senderId"]) == (note, "kitchen")
        # The update makes the app fetch the text, which is the same for all clients.
        status = server.request("GET", f"/api/notes/{note}/text")
        assert status["text"] == final
        all_have(final)
