"""All kinds of clients in one note and one room, while connections are cut and the server is killed during typing."""

import contextlib
import itertools
import types

import pytest
from companions import bot, python_package, with_package
from conftest import PROGRAM, wait_until
from crash_run import BREAKS
from cutting_proxy import CuttingProxy
from dialect_clients import DialectClient
from operations import splice
from test_sdk import await_saved, box
from whaler_client import WhalerEditor

# Each client writes at the end of a separate line, so that the final text is known.
LINES = {"page": "page: ", "app": "app: ", "bot": "bot: ", "whaler": "whaler: "}
START = "".join(f"{line}\n" for line in LINES.values())
ROOM = "orders"

APP = """<!doctype html><meta charset="utf-8"><title>An app</title><textarea aria-label="text"></textarea>
<script type="module">
  import {{ connect, bind }} from "{sdk}";
  const parley = window.parley = await connect("{gateway}", {{ name: "App" }});
  const note = window.note = parley.note("{note}");
  bind(note, document.querySelector("textarea"));
  const room = window.room = parley.room("orders");
  window.heard = [];
  room.on("publication", ({{ data }}) => heard.push(data.id));
  room.on("gap", () => heard.push("gap"));
  await note.ready;
  document.title = "ready";
</script>"""


class Whaler:
    """A user of a Whaler client, which loses unsaved text with its connection: the user types it again."""

    def __init__(self, address, note):
        self.address, self.note = address, note
        self.typed = ""
        self.connect()

    def connect(self):
        self.editor = WhalerEditor(self.address, self.note)
        # Changes that the former connection still sends precede this empty change in the log.
        self.editor.edit([len(self.editor.text)])
        self.editor.settle()
        own = self.editor.text.split(LINES["whaler"])[1].split("\n")[0]
        assert self.typed.startswith(own), f"{own!r} was not typed: {self.typed!r}"
        self.insert(self.typed[len(own) :])

    def insert(self, text):
        if text:
            shown = self.editor.text
            end = shown.index("\n", shown.index(LINES["whaler"]))
            self.editor.edit(splice(shown, end, 0, text))

    def type(self, text):
        self.typed += text
        with self.coming_back():
            self.insert(text)

    def look(self):
        """Handles the received messages."""
        with self.coming_back():
            while self.editor.pump():
                pass

    @contextlib.contextmanager
    def coming_back(self):
        try:
            yield
        except BREAKS:
            self.editor.client.close()
            # Connecting fails while the server is down.
            with contextlib.suppress(*BREAKS):
                self.connect()


class App:
    """A Socket.IO client that joins with the position of its last event.

    python-socketio handles each message in a separate thread, so events are sorted by position.
    """

    def __init__(self, stack, origin):
        self.stack, self.origin = stack, origin
        self.epoch = None
        self.events = {}
        self.connect()

    def connect(self):
        self.client = DialectClient("socketio_client.py", self.origin, "websocket", packages="dialects")
        self.stack.callback(self.client.close)
        self.client.expect("connected")
        self.client.ask("emit", "authenticate", {"token": "any"})
        self.client.expect("event", "authenticated")
        place = self.epoch and {"epoch": self.epoch, "offset": len(self.numbers)}
        # The events after the position will be sent again.
        self.events = {offset: self.events[offset] for offset in range(1, len(self.numbers) + 1)}
        self.client.tell("emit", "realtime:join", {"name": ROOM, "token": "any", "position": place})
        while (said := self.hear())[:2] != ["event", "realtime:join:success"]:
            assert said[0] in ("done", "event"), said
        assert said[2]["recovered"] or place is None
        self.epoch = said[2]["position"]["epoch"]

    @property
    def numbers(self):
        """Returns the received events up to the first missing one."""
        return [self.events[offset] for offset in itertools.takewhile(self.events.__contains__, itertools.count(1))]

    def hear_until(self, number):
        """Reads up to a publication, and reconnects when a connection ends."""
        while number not in self.numbers:
            if self.hear() == ["disconnected"]:
                self.client.close()
                self.connect()

    def hear(self):
        said = self.client.hear()
        if said[:2] == ["event", "realtime:event"]:
            event = said[2]
            assert event["offset"] not in self.events, f"{event} came twice"
            self.events[event["offset"]] = event["data"]["id"]
        return said


@pytest.fixture
def worn(gateway):
    """A proxy that repeatedly breaks connections, for clients that reconnect automatically."""
    proxy = CuttingProxy(gateway.port, 1, 3_000, 12_000)
    proxy.may_silence = False
    proxy.mend()
    yield proxy
    proxy.close()


@pytest.fixture
def server(gateway, worn):
    """The address of the server for the page."""
    return types.SimpleNamespace(url=f"http://127.0.0.1:{worn.port}")


def test_texts_and_publications_are_equal_after_kills_and_cuts(
    gateway, worn, server, site, person, browser, tmp_path
):
    note = gateway.create("Everybody")
    gateway.put_text(note, START)
    steady = CuttingProxy(gateway.port, 2, 1, 1)
    steady.mend()
    with contextlib.ExitStack() as stack:
        stack.callback(steady.close)
        socket_url = server.url.replace("http", "ws")
        stack.enter_context(bot(PROGRAM.parent / "parley-example-todo-bot", socket_url, note))
        shown = stack.enter_context(bot(PROGRAM.parent / "parley-example-live-list", socket_url, ROOM))
        assert shown.readline() == "following\n"
        script = stack.enter_context(
            DialectClient("python_bot.py", server.url, note, ROOM, packages=python_package(tmp_path))
        )
        script.expect("here")
        ann = person("Ann").open(note)
        tab = stack.enter_context(contextlib.closing(browser.new_page()))
        tab.goto(site.add(
            "app.html", APP, sdk=f"{server.url}/sdk/1/parley.js", gateway=server.url, note=note,
        ))  # fmt: skip
        tab.wait_for_function("() => document.title === 'ready' && room.state === 'live'")
        whaler = Whaler(types.SimpleNamespace(port=steady.port, origin=f"http://127.0.0.1:{steady.port}"), note)
        stack.callback(lambda: whaler.editor.client.close())
        app = App(stack, f"http://127.0.0.1:{steady.port}")
        own = {name: "" for name in LINES}
        published = 0

        def type_all(words):
            """Types a word in each client, without waiting until it is saved."""
            line = ann.text()[: ann.text().index("\n", ann.text().index(LINES["page"]))]
            ann.put_caret(len(line.encode("utf-16-le")) // 2)
            ann.page.keyboard.type(words["page"])
            tab.evaluate("""([line, word]) => {
                const area = document.querySelector("textarea");
                const at = area.value.indexOf("\\n", area.value.indexOf(line));
                area.setRangeText(word, at, at, "end");
                area.dispatchEvent(new Event("input"));
            }""", [LINES["app"], words["app"]])  # fmt: skip
            script.tell("insert", LINES["bot"], words["bot"])
            whaler.type(words["whaler"])
            for name, word in words.items():
                own[name] += word

        def publish():
            """The app and the bot each publish once."""
            nonlocal published
            published += 2
            tab.evaluate("id => void room.publish({ id, dish: `${id}` })", published - 1)
            script.tell("publish", {"id": published, "dish": f"{published}"})

        def history():
            """Returns the numbers of the publications on the server."""
            answer = gateway.request("GET", f"/api/rooms/{ROOM}/history?limit=100")
            return [publication["data"]["id"] for publication in answer["publications"]]

        worn.wear()
        for part in range(12):
            type_all({name: f"{part}{name[0]}😀 " for name in LINES})
            publish()
            if part % 4 == 1:
                # Some text is on the disk, some is being sent, and some is not typed yet.
                gateway.kill()
                type_all({name: f"{part}down " for name in LINES})
                publish()
                gateway.start()
            elif part % 4 == 3:
                steady.cut_all()
                worn.cut_all()
                app.hear_until(history()[-1])
            whaler.look()
        script.tell("insert", "", "todo: tea\n")
        worn.mend()
        for page in (ann.page, tab):
            page.evaluate("() => window.dispatchEvent(new Event('online'))")
        # Wait until the bot's lines are saved and both publishers have their answers.
        final = "[ ] tea\n" + "".join(f"{line}{own[name]}\n" for name, line in LINES.items())

        def have():
            whaler.look()
            texts = {"page": ann.text(), "app": tab.evaluate("() => note.text"), "whaler": whaler.editor.text}
            return all(text == final for text in texts.values()), texts

        wait_until(lambda: have()[0], lambda: f"expected {final!r}, got {have()[1]}")
        ann.wait_until_saved()
        await_saved(tab)
        assert box(tab).input_value() == final
        assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == final
        script.tell("text")
        heard = []
        while (said := script.hear())[0] != "text":
            heard.append(said)
        assert said == ["text", final]
        tab.wait_for_function("() => room.waiting === 0")
        while sum(kind == "published" for kind, *_ in heard) < published // 2:
            heard.append(script.hear())

        # All clients that guarantee it have each publication once, in the same order.
        stored = history()
        assert sorted(stored) == list(range(1, published + 1))
        app.hear_until(stored[-1])
        assert app.numbers == stored
        tab.wait_for_function("count => heard.length >= count", arg=len(stored))
        assert tab.evaluate("() => heard") == stored
        while sum(kind in ("heard", "gap") for kind, *_ in heard) < len(stored):
            heard.append(script.hear())
        assert [said[1]["id"] for said in heard if said[0] != "published"] == stored
        for count in range(1, len(stored) + 1):
            assert shown.readline() == ", ".join(map(str, stored[:count])) + "\n"
        # Every client has lost connections.
        assert sum(worn.cuts.values()) > 0, worn.cuts
