"""All kinds of clients in one formatted note: people in Chromium and Firefox, an app with an editor like Quill on another
site, bots in Swift and Python, a Whaler client, a client of its own; while connections are cut and the server is killed."""

import contextlib
import json
import re
import types

import pytest
from companions import bot, python_package
from conftest import PROGRAM, wait_until
from cutting_proxy import CuttingProxy
from dialect_clients import DialectClient
from firefox import Firefox
from formatted_forms import PAGE_LINES, joined, lines_of, over_http, pairs_of_delta, text_of
from tabs import CONTROL
from rich_client import RichClient
from test_cuts import Whaler
from test_formatted import Writer
from test_formatted_kills import BREAKS

# Each writes at the end of a line of their own, so that the final note is known.
NAMES = ["ann", "bo", "fox", "app", "python", "whaler", "reader"]
BOLD = {"bold": True}
# What the lines are before. A Whaler client's words take the formatting in front of them.
KINDS = {"ann": "h2", "bo": "bullet", "fox": "task", "app": "quote", "python": "ordered", "whaler": "bullet", "reader": "h3"}
LABELS = {"whaler": BOLD}

# The StandIn of Tests/Web/quill.test.mjs on a page: its content, its two calls, and events about its changes.
APP = """<!doctype html><meta charset="utf-8"><title>An app</title>
<script type="module">
  import {{ connect }} from "{gateway}/sdk/1/parley.js";
  import {{ quill }} from "{gateway}/sdk/1/rich.js";
  const parley = window.parley = await connect("{gateway}", {{ name: "App" }});
  const note = window.note = parley.note("{note}", {{ formats: true }});
  const isSet = (value) => value !== null && value !== false;
  const kinds = ["header", "list", "blockquote", "code-block"];
  const merged = (one, two) => {{
    const kind = kinds.find((key) => two && key in two && isSet(two[key]));
    return Object.fromEntries(Object.entries({{ ...one, ...two }}).filter(([key, value]) => isSet(value) && !(kind && key !== kind && kinds.includes(key))));
  }};
  const unitsOf = ({{ insert, attributes }}) => (typeof insert === "string" ? insert.split("") : [insert]).map((one) => ({{ insert: one, attributes: merged(attributes) }}));
  const listeners = new Set();
  const editor = window.editor = {{
    units: [{{ insert: "\\n", attributes: {{}} }}],
    on: (name, listener) => void (name === "text-change" && listeners.add(listener)),
    off: (name, listener) => void listeners.delete(listener),
    enable() {{}},
    getLength() {{ return this.units.length; }},
    setContents({{ ops }}, source = "api") {{
      const before = this.units.length;
      this.units = ops.flatMap(unitsOf);
      for (const listener of listeners) listener({{ ops: [...ops, {{ delete: before }}] }}, undefined, source);
    }},
    updateContents({{ ops }}, source = "api") {{
      let place = 0;
      const result = [];
      for (const op of ops) {{
        if (op.insert !== undefined) result.push(...unitsOf(op));
        else if (op.delete) place += op.delete;
        else {{
          for (const unit of this.units.slice(place, place + op.retain)) result.push({{ ...unit, attributes: merged(unit.attributes, op.attributes) }});
          place += op.retain;
        }}
      }}
      this.units = [...result, ...this.units.slice(place)];
      for (const listener of listeners) listener({{ ops }}, undefined, source);
    }},
  }};
  quill(note, editor);
  window.write = (label, word, attributes) => {{
    const text = editor.units.map(({{ insert }}) => (typeof insert === "string" ? insert : "\\ufffc")).join("");
    const at = text.indexOf("\\n", text.indexOf(label));
    editor.updateContents({{ ops: [{{ retain: at }}, {{ insert: word, attributes }}] }}, "user");
  }};
  // Whole characters have two halves here.
  window.shown = () => editor.units.slice(0, -1).reduce((all, {{ insert, attributes }}) => {{
    const last = all.at(-1);
    const isSame = typeof insert === "string" && typeof last?.insert === "string" && JSON.stringify(last.attributes) === JSON.stringify(attributes);
    if (isSame) last.insert += insert;
    else all.push({{ insert, attributes }});
    return all;
  }}, []);
  await note.ready;
  document.title = "ready";
</script>"""

# In a page: puts the caret at the end of the line that begins with a label.
PUT_CARET = """(label) => {
    const content = document.querySelector("#editor").shadowRoot.querySelector(".content");
    content.focus();
    const line = [...content.children].find((one) => one.textContent.startsWith(label));
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    let last = null;
    while (walker.nextNode()) last = walker.currentNode;
    getSelection().collapse(last, last.length);
}"""
STATUS = "() => { const { state, unsaved } = document.querySelector('#status').dataset; return `${state} ${unsaved}`; }"


class Reader:
    """A client of its own that connects again after each break."""

    def __init__(self, port, note):
        self.client = RichClient(f"ws://127.0.0.1:{port}", note, "Reader").connect()

    def look(self):
        try:
            if not self.client.socket:
                self.client.connect()
            while self.client.pump():
                pass
        except BREAKS:
            self.client.close()

    def write(self, label, word, attributes):
        text = "".join(scalar for scalar, _ in self.client.text)
        at = text.index("\n", text.index(label))
        keep = [("keep", {})]
        try:
            self.client.edit(keep * at + [("insert", one, attributes) for one in word] + keep * (len(text) - at))
        except BREAKS:
            self.client.close()


class Person:
    """A person with the page, in any browser, who writes at the end of a line."""

    def __init__(self, evaluate, type, press, label):
        self.evaluate, self.keys, self.press, self.label = evaluate, type, press, label
        evaluate(PUT_CARET, label)
        evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def write(self, word, attributes):
        if attributes:
            self.press("b")
        self.keys(word)
        if attributes:
            self.press("b")

    def lines(self):
        return joined(self.evaluate(PAGE_LINES) or [])


@pytest.fixture
def worn(gateway):
    """A proxy that repeatedly breaks connections, for clients that reconnect automatically."""
    proxy = CuttingProxy(gateway.port, 1, 6_000, 24_000)
    proxy.may_silence = False
    proxy.mend()
    yield proxy
    proxy.close()


@pytest.fixture
def server(worn):
    """The address of the server for the page."""
    return types.SimpleNamespace(url=f"http://127.0.0.1:{worn.port}")


@pytest.mark.long
def test_text_and_formatting_are_equal_after_kills_and_cuts(gateway, worn, server, site, person, browser, tmp_path, tmp_path_factory):
    note = gateway.request("POST", "/api/notes", {"title": "Everybody", "kind": "rich"})["id"]
    start = [[{"block": KINDS[name]}, [[f"{name}: ", LABELS.get(name, {})]]] for name in NAMES]
    sets = [*({"block": KINDS[name]} for name in NAMES), BOLD]
    put = []
    for number, name in enumerate(NAMES, 1):
        put += [len(f"{name}: "), len(sets) if name in LABELS else 0, 1, number]
    text = "".join(f"{name}: \n" for name in NAMES)
    gateway.request("POST", f"/api/notes/{note}/changes", {"revision": 0, "operation": [text], "format": {"sets": sets, "put": put}})
    assert joined(over_http(gateway, note)) == [*start, [{}, []]]
    steady = CuttingProxy(gateway.port, 2, 1, 1)
    steady.mend()
    with contextlib.ExitStack() as stack:
        stack.callback(steady.close)
        stack.enter_context(bot(PROGRAM.parent / "parley-example-todo-bot", server.url.replace("http", "ws"), note))
        script = stack.enter_context(
            DialectClient("python_bot.py", server.url, note, "room", "formats", packages=python_package(tmp_path))
        )
        script.expect("here")
        firefox = stack.enter_context(contextlib.closing(Firefox(tmp_path_factory.mktemp("firefox"))))
        fox_tab = firefox.new_tab(firefox.command("browser.createUserContext")["userContext"])
        fox_tab.open(f"{server.url}/n/{note}")
        fox_tab.wait_for(STATUS, wanted="saved 0")
        fox_tab.wait_for("() => document.querySelector('#editor')?.shadowRoot?.querySelector('.content')?.textContent.includes('reader: ') ?? false")
        fox_tab.come_to_front()
        people = {"fox": Person(fox_tab.run, fox_tab.type, lambda key: fox_tab.press(CONTROL, key), "fox: ")}
        writers = {}
        for name in ("ann", "bo"):
            writers[name] = writer = Writer(person(name), note)
            keys = writer.keys
            people[name] = Person(writer.page.evaluate, keys.type, lambda key, keys=keys: keys.press(f"Control+{key}"), f"{name}: ")
        tab = stack.enter_context(contextlib.closing(browser.new_page()))
        tab.goto(site.add("app.html", APP, gateway=server.url, note=note))
        tab.wait_for_function("() => document.title === 'ready'")
        address = types.SimpleNamespace(port=steady.port, origin=f"http://127.0.0.1:{steady.port}")
        whaler = Whaler(address, note)
        stack.callback(lambda: whaler.editor.client.close())
        reader = Reader(steady.port, note)
        stack.callback(reader.client.close)
        own = {name: [] for name in NAMES}

        def write(part, more):
            """Writes a word in each client, without waiting until it is saved: with formatting in every other part."""
            attributes = BOLD if part % 2 else {}
            words = {name: f"{part}{name[:2]}{more}" for name in NAMES}
            for name, one in people.items():
                one.write(words[name], attributes)
                one.keys(" ")
            tab.evaluate("(given) => write(...given)", ["app: ", words["app"] + " ", attributes])
            script.tell("insert", "python: ", words["python"] + " ", attributes)
            whaler.type(words["whaler"] + " ")
            reader.write("reader: ", words["reader"] + " ", attributes)
            for name in NAMES:
                of_all = {**attributes, **LABELS.get(name, {})} if name == "whaler" else attributes
                own[name] += [[words[name], LABELS[name] if name in LABELS else of_all], [" ", {} if name in people else LABELS.get(name, attributes)]]

        worn.wear()
        for part in range(12):
            write(part, "😀")
            if part % 4 == 1:
                # Some text is on the disk, some is being sent, and some is not typed yet.
                gateway.kill()
                write(part, "down")
                gateway.start()
            elif part % 4 == 3:
                steady.cut_all()
                worn.cut_all()
            whaler.look()
            reader.look()
        script.tell("insert", "", "todo: tea\n", {})
        worn.mend()
        for evaluate in (fox_tab.run, tab.evaluate, *(one.page.evaluate for one in writers.values())):
            evaluate("() => void window.dispatchEvent(new Event('online'))")
        expected = joined([
            [{}, [["[ ] tea", {}]]],
            *([attributes, [*pieces, *own[name]]] for name, (attributes, pieces) in zip(NAMES, start)),
            [{}, []],
        ])  # fmt: skip
        text = text_of(expected)

        def copies():
            whaler.look()
            reader.look()
            found = {name: one.lines() for name, one in people.items()}
            found["app's note"] = joined(lines_of(pairs_of_delta(tab.evaluate("() => note.delta.ops"))))
            found["app's editor"] = joined(lines_of(pairs_of_delta(tab.evaluate("() => shown()"))))
            found["reader"] = joined(lines_of(reader.client.text))
            found["server"] = joined(over_http(gateway, note))
            return found

        def differing():
            found = {name: lines for name, lines in copies().items() if lines != expected}
            return found | ({} if whaler.editor.text == text else {"whaler": whaler.editor.text})

        wait_until(lambda: not differing(), lambda: f"expected {json.dumps(expected)}, got {json.dumps(differing())}")
        for one in writers.values():
            one.person.wait_until_saved()
        script.tell("text")
        assert script.expect("text") == ["text", text]
        script.tell("delta")
        assert joined(lines_of(pairs_of_delta(script.expect("delta")[1]))) == expected
        # Each word is there once, and some connections have been cut.
        for name in NAMES:
            for word, _ in own[name]:
                assert word == " " or len(re.findall(rf"(?<!\S){re.escape(word)}(?!\S)", text)) == 1, word
        assert sum(worn.cuts.values()) > 0, worn.cuts
        assert whaler.editor.text == text
