"""The SDK for web pages, on pages of another origin: bindings, the element, tokens, cuts and crashes."""

import re

import pytest
from conftest import ROOT, SECONDS, SECRET, Server, token, wait_until
from playwright.sync_api import expect
from sites import Site

AREA = """<!doctype html><meta charset="utf-8"><title>An app</title><textarea aria-label="text"></textarea>
<script type="module">
  import {{ connect, bind }} from "{sdk}";
  const parley = window.parley = await connect("{gateway}", {{ name: "{name}" }});
  const note = window.note = parley.note("{note}");
  window.unbind = bind(note, document.querySelector("textarea"));
  await note.ready;
  document.title = "ready";
</script>"""

PLAIN = AREA.replace(
    '<textarea aria-label="text"></textarea>', '<div role="textbox" aria-label="text"></div>'
).replace('querySelector("textarea")', 'querySelector("div")')

ELEMENT = """<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="module" src="{sdk}"></script>
<parley-note src="{gateway}/n/{note}" name="{name}" label="text"></parley-note>"""


CODEMIRROR = """<!doctype html><meta charset="utf-8"><title>An app</title><div id="here"></div>
<script type="module">
  import {{ connect, codeMirror }} from "{sdk}";
  import * as modules from "/codemirror/index.js";
  const parley = window.parley = await connect("{gateway}", {{ name: "{name}" }});
  const note = window.note = parley.note("{note}");
  const state = modules.EditorState.create({{ extensions: [codeMirror(note, modules)] }});
  const view = new modules.EditorView({{ state, parent: document.querySelector("#here") }});
  window.read = () => view.state.doc.toString();
  window.focusEditor = () => view.focus();
  await note.ready;
  document.title = "ready";
</script>"""

MONACO = """<!doctype html><meta charset="utf-8"><title>An app</title>
<div id="here" style="height: 300px"></div>
<script src="/monaco/vs/loader.js"></script>
<script type="module">
  import {{ connect, monaco as bindMonaco }} from "{sdk}";
  require.config({{ paths: {{ vs: "/monaco/vs" }} }});
  await new Promise((resolve) => require(["vs/editor/editor.main"], resolve));
  const parley = window.parley = await connect("{gateway}", {{ name: "{name}" }});
  const note = window.note = parley.note("{note}");
  const editor = window.editor = monaco.editor.create(document.querySelector("#here"), {{ autoClosingBrackets: "never" }});
  bindMonaco(note, editor);
  window.read = () => editor.getModel().getValue();
  window.focusEditor = () => editor.focus();
  await note.ready;
  document.title = "ready";
</script>"""

COUNTED_TOKENS = """token: async () => {{
    window.handed = (window.handed ?? 0) + 1;
    return window.tokenOfTheApp();
  }}"""


@pytest.fixture
def open_page(browser, site, gateway):
    """Opens pages with the SDK, each in a separate browser unless one is given."""
    contexts = []

    def open_page(page, note, name="Ada", context=None):
        if context is None:
            context = browser.new_context()
            contexts.append(context)
        tab = context.new_page()
        tab.goto(site.add(
            f"{len(site.pages)}.html", page,
            sdk=f"{gateway.url}/sdk/1/parley.js", gateway=gateway.url, note=note, name=name,
        ))  # fmt: skip
        return tab

    yield open_page
    for context in contexts:
        context.close()


def box(tab):
    return tab.get_by_label("text", exact=True)


def shown(tab):
    """Returns the text in a field."""
    return box(tab).evaluate("e => e.value ?? e.textContent.replace(/\\n$/, '')")


def await_text(tab, text):
    tab.wait_for_function(
        "([e, text]) => (e.value ?? e.textContent.replace(/\\n$/, '')) === text",
        arg=[box(tab).element_handle(), text], timeout=SECONDS * 1_000,
    )  # fmt: skip


def await_saved(tab):
    tab.wait_for_function("() => window.note.state === 'live' && window.note.unsaved === 0")


@pytest.mark.parametrize("page", [AREA, PLAIN], ids=["textarea", "plain text"])
def test_two_pages_of_another_origin_write_one_note(gateway, open_page, page):
    note = gateway.create("Shared")
    gateway.put_text(note, "one two")
    ada, grace = open_page(page, note), open_page(AREA, note, "Grace")
    for tab in (ada, grace):
        await_text(tab, "one two")
    box(ada).click()
    box(ada).press("Control+End")
    box(ada).press_sequentially(" three")
    box(grace).click()
    box(grace).press("Control+Home")
    box(grace).press_sequentially("zero ")
    for tab in (ada, grace):
        await_text(tab, "zero one two three")
    # The caret has stayed after the typed text, although the text before it has changed.
    box(ada).press_sequentially("!")
    await_text(grace, "zero one two three!")
    await_saved(ada)
    assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == "zero one two three!"
    people = grace.evaluate("() => note.people.map(({ name, color }) => [name, /^#/.test(color)])")
    assert people == [["Ada", True]]


@pytest.mark.parametrize("page", [AREA, PLAIN], ids=["textarea", "plain text"])
def test_lines_are_broken_and_joined(gateway, open_page, page):
    note = gateway.create("Lines")
    ada, grace = open_page(page, note), open_page(AREA, note, "Grace")
    await_text(ada, "")
    box(ada).click()
    box(ada).press_sequentially("a")
    box(ada).press("Enter")
    box(ada).press("Enter")
    box(ada).press_sequentially("b")
    await_text(grace, "a\n\nb")
    box(ada).press("Home")
    box(ada).press("Backspace")
    await_text(grace, "a\nb")


def test_crlf_line_ends_are_kept(gateway, open_page):
    note = gateway.create("CRLF")
    gateway.insert_text(note, "one\r\ntwo\r\n")
    ada = open_page(AREA, note)
    await_text(ada, "one\ntwo\n")
    box(ada).click()
    box(ada).press("Control+Home")
    box(ada).press("ArrowDown")
    box(ada).press_sequentially("more ")
    await_saved(ada)
    assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == "one\r\nmore two\r\n"


def test_text_written_by_a_script_is_shown_in_the_field(gateway, open_page):
    note = gateway.create("By a script")
    ada = open_page(AREA, note)
    ada.wait_for_function("() => document.title === 'ready'")
    ada.evaluate("() => { note.append('first\\n'); note.append('second 😀'); }")
    await_text(ada, "first\nsecond 😀")
    ada.evaluate("() => note.replace(0, 5, 'FIRST')")
    await_text(ada, "FIRST\nsecond 😀")
    box(ada).click()
    box(ada).press("Control+End")
    box(ada).press("Backspace")
    await_saved(ada)
    assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == "FIRST\nsecond "
    wrong = ada.evaluate("() => { try { note.replace(3, 900, '') } catch (error) { return error.code } }")
    assert wrong == "invalid"


def test_text_typed_without_a_server_is_stored_and_sent_once(gateway, open_page):
    note = gateway.create("Away")
    ada = open_page(AREA, note)
    ada.wait_for_function("() => document.title === 'ready'")
    box(ada).click()
    box(ada).press_sequentially("before ")
    await_saved(ada)
    gateway.kill()
    ada.wait_for_function("() => note.state === 'away'")
    box(ada).press_sequentially("during")
    assert ada.evaluate("() => parley.unsaved") > 0
    gateway.start()
    ada.evaluate("() => window.dispatchEvent(new Event('online'))")
    await_saved(ada)
    assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == "before during"


def test_the_next_tab_sends_the_edits_of_a_crashed_tab(gateway, browser, site, open_page):
    note = gateway.create("Crash")
    context = browser.new_context()
    ada = open_page(AREA, note, context=context)
    ada.wait_for_function("() => document.title === 'ready'")
    gateway.kill()
    ada.wait_for_function("() => note.state === 'away'")
    box(ada).click()
    box(ada).press_sequentially("not lost")
    ada.wait_for_function("() => note.unsaved > 0")
    ada.close()
    gateway.start()
    again = open_page(AREA, note, context=context)
    await_text(again, "not lost")
    assert again.evaluate("() => note.ready") == "not lost"
    await_saved(again)
    assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == "not lost"
    context.close()


def test_an_element_shows_the_unsaved_edits_of_a_crashed_tab(gateway, browser, open_page):
    note = gateway.create("Crash")
    context = browser.new_context()
    ada = open_page(ELEMENT, note, context=context)
    expect(box(ada)).to_be_editable()
    gateway.kill()
    ada.wait_for_function("() => document.querySelector('parley-note').note.state === 'away'")
    box(ada).press_sequentially("not lost")
    ada.wait_for_function("() => document.querySelector('parley-note').note.unsaved > 0")
    # Two crashed tabs have unsaved edits.
    gateway.start()
    other = gateway.create("Other")
    grace = open_page(ELEMENT, other, "Grace", context=context)
    expect(box(grace)).to_be_editable()
    gateway.kill()
    grace.wait_for_function("() => document.querySelector('parley-note').note.state === 'away'")
    box(grace).press_sequentially("nor this")
    grace.wait_for_function("() => document.querySelector('parley-note').note.unsaved > 0")
    ada.close()
    grace.close()
    gateway.start()
    again = open_page(ELEMENT, other, context=context)
    await_text(again, "nor this")
    # Wait until the edits are saved; otherwise they would stay in this tab until the note is reopened.
    expect(again.locator("parley-note [part=status]")).to_have_text("Saved")
    again.evaluate("src => document.querySelector('parley-note').setAttribute('src', src)", f"{gateway.url}/n/{note}")
    await_text(again, "not lost")
    expect(again.locator("parley-note [part=status]")).to_have_text("Saved")
    texts = [gateway.request("GET", f"/api/notes/{id}/text")["text"] for id in (note, other)]
    assert texts == ["not lost", "nor this"]
    context.close()


def test_listeners_that_write_or_throw_do_not_corrupt_the_field(gateway, open_page):
    note = gateway.create("Autocorrect")
    ada, grace = open_page(AREA, note), open_page(AREA, note, "Grace")
    ada.wait_for_function("() => document.title === 'ready'")
    ada.evaluate("""() => {
        let isBroken = true;
        note.on("changes", () => {
            const at = note.text.indexOf(":)");
            if (at >= 0) note.replace(at, at + 2, "🙂");
        });
        note.on("changes", () => {
            if (isBroken) { isBroken = false; throw new Error("the app's own"); }
        });
    }""")
    box(ada).click()
    box(ada).press_sequentially("ab:) cd")
    await_text(grace, "ab🙂 cd")
    await_text(ada, "ab🙂 cd")
    box(grace).click()
    box(grace).press("Control+Home")
    box(grace).press_sequentially("x:) ")
    for tab in (ada, grace):
        await_text(tab, "x🙂 ab🙂 cd")
    box(ada).press("Control+End")
    box(ada).press_sequentially("!")
    for tab in (ada, grace):
        await_text(tab, "x🙂 ab🙂 cd!")


def test_a_rebound_field_belongs_to_the_latest_note(gateway, open_page):
    first, second = gateway.create("First"), gateway.create("Second")
    gateway.put_text(first, "one")
    gateway.put_text(second, "two")
    ada = open_page(AREA, first)
    await_text(ada, "one")
    ada.evaluate("""async ([sdk, id]) => {
        const { bind } = await import(sdk);
        const area = document.querySelector("textarea");
        bind(note, area);
        window.other = parley.note(id);
        await other.ready;
        bind(other, area);
    }""", [f"{gateway.url}/sdk/1/parley.js", second])  # fmt: skip
    await_text(ada, "two")
    box(ada).click()
    box(ada).press("Control+End")
    box(ada).press_sequentially("!?")
    await_text(ada, "two!?")
    ada.wait_for_function("() => parley.unsaved === 0 && other.state === 'live'")
    texts = [gateway.request("GET", f"/api/notes/{id}/text")["text"] for id in (first, second)]
    assert texts == ["one", "two!?"]


def test_edits_of_others_do_not_break_a_composed_word(gateway, open_page):
    note = gateway.create("IME")
    gateway.put_text(note, "end")
    ada = open_page(AREA, note)
    await_text(ada, "end")
    box(ada).click()
    box(ada).press("Control+Home")
    devtools = ada.context.new_cdp_session(ada)
    devtools.send("Input.imeSetComposition", {"text": "に", "selectionStart": 1, "selectionEnd": 1})
    gateway.request("POST", f"/api/notes/{note}/changes", {"operation": [3, "!"], "revision": 1})
    devtools.send("Input.imeSetComposition", {"text": "日本", "selectionStart": 2, "selectionEnd": 2})
    assert shown(ada) == "日本end"
    devtools.send("Input.insertText", {"text": "日本"})
    await_text(ada, "日本end!")
    await_saved(ada)
    assert gateway.request("GET", f"/api/notes/{note}/text")["text"] == "日本end!"


@pytest.mark.parametrize("page", [CODEMIRROR, MONACO], ids=["CodeMirror", "Monaco"])
def test_a_binding_for_an_editor_of_the_app(gateway, open_page, page):
    note = gateway.create("Editor")
    gateway.insert_text(note, "one\r\ntwo 😀\n")
    ada, grace = open_page(page, note), open_page(AREA, note, "Grace")
    for tab in (ada, grace):
        tab.wait_for_function("() => document.title === 'ready'")

    def stored():
        return gateway.request("GET", f"/api/notes/{note}/text")["text"]

    ada.evaluate("() => focusEditor()")
    ada.keyboard.press("Control+End")
    ada.keyboard.type("three")
    ada.keyboard.press("Control+Home")
    ada.keyboard.type("zero ")
    await_text(grace, "zero one\ntwo 😀\nthree")
    box(grace).click()
    box(grace).press("Control+End")
    box(grace).press_sequentially(" four")
    ada.wait_for_function("() => read().replaceAll('\\r', '').endsWith('three four')")
    ada.keyboard.press("Control+End")
    ada.keyboard.press("Backspace")
    ada.evaluate("() => note.append('!')")
    await_text(grace, "zero one\ntwo 😀\nthree fou!")
    await_saved(ada)
    # Existing line ends are not changed.
    assert stored() == ada.evaluate("() => note.text") == "zero one\r\ntwo 😀\nthree fou!"
    assert ada.evaluate("() => read()").replace("\r", "") == "zero one\ntwo 😀\nthree fou!"


def test_one_line_of_html_shares_a_text(gateway, open_page):
    note = gateway.create("Element")
    ada, grace = open_page(ELEMENT, note), open_page(ELEMENT, note, "Grace")
    status = ada.locator("parley-note [part=status]")
    expect(status).to_have_text("Saved")
    expect(grace.locator("parley-note [part=status]")).to_have_text("Saved")
    box(ada).click()
    box(ada).press_sequentially("by one line")
    await_text(grace, "by one line")
    expect(grace.locator("parley-note [part~=person]")).to_have_text(["Ada"])
    # The element is moved within the page, and added a second time.
    ada.evaluate("""() => {
        const element = document.querySelector("parley-note");
        document.body.append(document.createElement("main"));
        document.querySelector("main").append(element);
        const other = element.cloneNode();
        other.setAttribute("label", "again");
        document.body.append(other);
    }""")
    await_text(ada, "by one line")
    box(ada).press("Control+End")
    box(ada).press_sequentially(", twice")
    again = ada.get_by_label("again", exact=True)
    expect(again).to_have_value("by one line, twice")
    again.press("Control+Home")
    again.press_sequentially("> ")
    await_text(ada, "> by one line, twice")
    await_text(grace, "> by one line, twice")


def test_a_page_of_another_origin_is_rejected(tmp_path, browser, site):
    server = Server(tmp_path)
    try:
        note = server.create("Closed")
        page = browser.new_page()
        page.goto(site.add(
            "foreign.html", AREA, sdk=f"{server.url}/sdk/1/parley.js", gateway=server.url, note=note,
            name="Eve",
        ))  # fmt: skip
        page.wait_for_function("() => ['waiting', 'stopped'].includes(window.parley?.status.state)")
        assert page.evaluate("() => note.text") is None
        refused = page.evaluate("() => parley.create({ title: 'x' }).catch((error) => error.code)")
        assert refused == "unreachable"
        page.close()
    finally:
        server.stop()


def test_a_policy_without_webassembly_is_reported(browser, gateway):
    strict = Site(f"script-src 'unsafe-inline' {gateway.url}; connect-src *")
    try:
        page = browser.new_page()
        page.goto(strict.add(
            "strict.html",
            """<!doctype html><script type="module">
            import {{ connect }} from "{sdk}";
            try {{ await connect("{gateway}"); }} catch (error) {{ window.problem = [error.code, error.message]; }}
            </script>""",
            sdk=f"{gateway.url}/sdk/1/parley.js", gateway=gateway.url,
        ))  # fmt: skip
        page.wait_for_function("() => window.problem")
        code, message = page.evaluate("() => window.problem")
        assert code == "unsupported" and "wasm-unsafe-eval" in message
        page.close()
    finally:
        strict.shutdown()
        strict.server_close()


def test_a_page_with_too_many_notes_is_notified_which_fail(gateway, open_page):
    ids = [gateway.create(f"Note {number}") for number in range(200)]
    ada = open_page(AREA, ids[0])
    ada.wait_for_function("() => document.title === 'ready'")
    ada.evaluate("ids => { window.all = ids.map((id) => parley.note(id)); }", ids)
    ada.wait_for_function("() => all.every(({ state }) => state === 'live' || state === 'failed')")
    live = ada.evaluate("() => all.filter(({ state }) => state === 'live').length")
    assert live == 64
    assert ada.evaluate("() => [...new Set(all.map(({ failure }) => failure))]") == ["", "tooMany"]
    assert ada.evaluate("() => parley.status.state") == "online"
    # Closing notes allows another one to open.
    ada.evaluate("live => { for (const note of all.slice(10, live)) note.close(); all[199].retry(); }", live)
    ada.wait_for_function("() => all[199].state === 'live'")
    ada.evaluate("() => all[199].append('there is room')")
    ada.wait_for_function("() => parley.unsaved === 0")
    assert gateway.request("GET", f"/api/notes/{ids[199]}/text")["text"] == "there is room"


def test_twenty_tabs_write_one_note(gateway, browser, open_page):
    note = gateway.create("Tabs")
    context = browser.new_context()
    tabs = [open_page(AREA, note, context=context) for _ in range(20)]
    for tab in tabs:
        tab.wait_for_function("() => document.title === 'ready'")
    gateway.kill()
    for number, tab in enumerate(tabs):
        tab.wait_for_function("() => note.state === 'away'")
        tab.evaluate("number => note.append(`(${number})`)", number)
    gateway.start()
    for tab in tabs:
        tab.evaluate("() => window.dispatchEvent(new Event('online'))")
    for tab in tabs:
        await_saved(tab)
    text = gateway.request("GET", f"/api/notes/{note}/text")["text"]
    assert sorted(re.findall(r"\((\d+)\)", text), key=int) == [str(number) for number in range(20)]
    assert len(text) == len("".join(f"({number})" for number in range(20)))
    for tab in tabs:
        await_text(tab, text)
    context.close()


def test_tokens_are_requested_and_renewed(tmp_path, browser, site):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = Server(
        tmp_path, "--hmac-secret-file", str(secret), "--audience", "parley", "--clock-skew", "0s",
        "--allowed-origin", site.url,
    )  # fmt: skip
    server.token = token()
    try:
        note = server.create("Guarded")
        page = browser.new_page()
        handed = []

        def hand_out():
            # The first token is rejected; the next ones expire soon.
            handed.append(1)
            if len(handed) == 1:
                return token(aud="another")
            return token(seconds=4 if len(handed) < 4 else 3600)

        page.expose_function("tokenOfTheApp", hand_out)
        page.goto(site.add(
            "tokens.html", AREA.replace('name: "{name}"', COUNTED_TOKENS),
            sdk=f"{server.url}/sdk/1/parley.js", gateway=server.url, note=note,
        ))  # fmt: skip
        page.wait_for_function("() => document.title === 'ready'")
        box(page).click()
        box(page).press_sequentially("with tokens")
        page.wait_for_function("() => note.unsaved === 0")
        page.wait_for_function("() => window.handed >= 4")
        box(page).press_sequentially(", renewed")
        page.wait_for_function("() => note.state === 'live' && note.unsaved === 0")
        assert server.request("GET", f"/api/notes/{note}/text")["text"] == "with tokens, renewed"
        made = page.evaluate("() => parley.create({ title: 'Made by an app' }).then((note) => note.id)")
        assert server.request("GET", f"/api/notes/{made}")["title"] == "Made by an app"
        page.close()
    finally:
        server.stop()


ROOM = """<!doctype html><meta charset="utf-8"><title>Orders</title>
<script type="module">
  import {{ connect }} from "{sdk}";
  const parley = window.parley = await connect("{gateway}", {{ name: "{name}" }});
  const room = window.room = parley.room("{note}", {{ isPresent: true }});
  window.heard = [];
  window.looped = [];
  room.on("publication", ({{ data, position }}) => heard.push([position.offset, data]));
  room.on("gap", () => heard.push("gap"));
  document.title = "ready";
  for await (const news of room.publications()) looped.push(news.kind === "publication" ? [news.position.offset, news.data] : news.kind);
</script>"""


def test_a_room_through_a_server_that_is_killed(gateway, open_page):
    ada, grace = open_page(ROOM, "orders"), open_page(ROOM, "orders", "Grace")
    for tab in (ada, grace):
        tab.wait_for_function("() => window.room?.state === 'live'")
    for tab in (ada, grace):
        tab.wait_for_function("() => room.people.map(({ name }) => name).sort().join() === 'Ada,Grace'")
        assert tab.evaluate("() => room.people.filter(({ isSelf }) => isSelf).length") == 1
    ada.evaluate("() => { room.isTyping = true; parley.setProfile({ name: 'Ada L.' }); }")
    grace.wait_for_function("() => room.people.some(({ name, isTyping }) => name === 'Ada L.' && isTyping)")
    ada.evaluate("() => room.publish({ dish: 'soup 😀' })")
    gateway.kill()
    for tab in (ada, grace):
        tab.wait_for_function("() => room.state === 'away'")
    ada.evaluate("() => { window.answers = Promise.all([1, 2, 3].map((number) => room.publish(number))); }")
    assert ada.evaluate("() => room.waiting") == 3
    gateway.start()
    # A backend publishes before the pages have reconnected.
    gateway.request("POST", "/api/rooms/orders/publish", {"data": "by HTTP"})
    for tab in (ada, grace):
        tab.evaluate("() => window.dispatchEvent(new Event('online'))")
    offsets = ada.evaluate("async () => (await answers).map(({ offset }) => offset)")
    history = gateway.request("GET", "/api/rooms/orders/history")["publications"]
    stored = [[publication["offset"], publication["data"]] for publication in history]
    assert [data for _, data in stored if isinstance(data, int)] == [1, 2, 3]
    assert [offset for offset, data in stored if isinstance(data, int)] == offsets and len(stored) == 5
    for tab in (ada, grace):
        tab.wait_for_function("(count) => looped.length === count", arg=len(stored))
        assert tab.evaluate("() => heard") == tab.evaluate("() => looped") == stored
    refused = ada.evaluate("() => room.publish('x'.repeat(100_000)).catch((error) => error.reason)")
    assert refused == "tooLarge"
    # A publication over the message limit is refused, without closing the connection.
    refused = ada.evaluate("() => room.publish('x'.repeat(5_000_000)).catch((error) => error.reason)")
    assert refused == "tooLarge" and ada.evaluate("() => room.state") == "live"
    grace.close()
    ada.wait_for_function("() => room.people.length === 1")


def test_receipts_reach_only_the_author(gateway, open_page):
    ada, grace = open_page(ROOM, "orders"), open_page(ROOM, "orders", "Grace")
    for tab in (ada, grace):
        tab.wait_for_function("() => window.room?.state === 'live'")
        tab.evaluate("() => { window.receipts = []; room.on('receipt', (one) => receipts.push(one)); }")
    place = ada.evaluate("() => room.publish('tea?')")
    grace.wait_for_function("() => heard.length === 1")
    for stage in ("delivered", "read", "delivered"):
        grace.evaluate("([place, stage]) => room.confirm(place, stage)", [place, stage])
    ada.wait_for_function("() => receipts.length === 2")
    person = grace.evaluate("() => parley.personId")
    told = [{"position": place, "personId": person, "stage": stage} for stage in ("delivered", "read")]
    assert ada.evaluate("() => receipts") == told
    assert ada.evaluate("place => room.receiptsOf(place)", place) == [{"personId": person, "stage": "read"}]
    refused = grace.evaluate("place => room.receiptsOf(place).catch((error) => error.reason)", place)
    assert refused == "notAllowed" and grace.evaluate("() => receipts") == []
    # A receipt given without a connection is sent with the next one.
    place = ada.evaluate("() => room.publish('now?')")
    grace.wait_for_function("() => heard.length === 2")
    gateway.kill()
    grace.wait_for_function("() => room.state === 'away'")
    grace.evaluate("place => room.confirm(place)", place)
    gateway.start()
    for tab in (ada, grace):
        tab.evaluate("() => window.dispatchEvent(new Event('online'))")
    ada.wait_for_function("place => room.receiptsOf(place).then((all) => all[0]?.stage === 'read')", arg=place)


GUIDE = (ROOT / "Documentation" / "WebPage.md").read_text()
# Quill is neither in Debian nor in PyPI: Tests/Web/quill.test.mjs has a stand-in for it.
PAGES = [page for page in re.findall(r"```html\n(.*?)```", GUIDE, re.S) if "/quill/" not in page]


@pytest.mark.parametrize("number", range(len(PAGES)))
def test_the_guides_pages_run_as_written(gateway, browser, site, number):
    page = PAGES[number]
    gateway.request("PUT", "/api/notes/minutes", {"title": "Minutes"})
    gateway.put_text("minutes", "Present: ")
    context = browser.new_context()
    tab = context.new_page()
    tab.on("pageerror", lambda error: problems.append(str(error)))
    problems = []
    text = f'<!doctype html><meta charset="utf-8"><title>A page</title>\n{page}'
    site.pages["/guide.html"] = text.replace("https://notes.example.org", gateway.url).encode()
    tab.goto(f"{site.url}/guide.html")
    if "parley.room" in page:
        shows = {"orders": ("#orders > li", "soup"), "receipt": ("#read", "It was read"), "": ("#here", re.compile("^Ada"))}
        place, words = next(value for name, value in shows.items() if name in page)
        # A receipt needs another person.
        other = browser.new_context() if "receipt" in page else None
        if other:
            # Messages are handled in order: when the publication is stored, the page has subscribed.
            wait_until(lambda: gateway.request("GET", "/api/rooms/office/history")["publications"])
            tab = other.new_page()
            tab.goto(f"{site.url}/guide.html")
        expect(tab.locator(place)).to_have_text(words)
        if other:
            other.close()
        assert problems == []
        context.close()
        return
    if "note.append" in page:
        expect(tab.locator("#count")).to_have_text("29 units")
        wanted = "Present: Opened by a script.\n"
    else:
        field = tab.locator(".cm-content" if "CodeMirror" in page or "#editor" in page else "textarea")
        if field.evaluate("field => field.tagName") == "TEXTAREA":
            expect(field).to_have_value("Present: ")
        else:
            expect(field).to_have_text("Present: ")
        expect(field).to_be_editable()
        field.click()
        field.press("Control+End")
        field.press_sequentially("Ada")
        wanted = "Present: Ada"
    tab.wait_for_function(
        """async ([url, wanted]) => (await (await fetch(url)).json()).text === wanted""",
        arg=[f"{gateway.url}/api/notes/minutes/text", wanted],
    )
    assert problems == []
    context.close()


def test_the_guides_values_run_as_written(gateway, browser, site):
    section = GUIDE.split("## Values of a room\n")[1].split("\n## ")[0]
    code = "\n".join(re.findall(r"```js\n(.*?)```", section, re.S)).replace("https://notes.example.org", gateway.url)
    site.pages["/values.html"] = f'<meta charset="utf-8"><script type="module">{code}document.title = "done"</script>'.encode()
    tab = browser.new_page()
    said = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto(f"{site.url}/values.html")
    expect(tab).to_have_title("done")
    assert all(line.split()[0] in ("card-7", "moves", "stock") for line in said), said
    values = gateway.request("GET", "/api/rooms/board/values")["values"]
    assert {name: item["value"] for name, item in values.items() if name != "card-7"} == {"moves": 1, "stock": 3}
    assert values["card-7"]["value"]["column"] == "done"
    tab.close()


def test_changes_of_values_outlive_a_closed_page_and_a_killed_gateway(gateway, browser, site):
    site.pages["/values.html"] = f"""<meta charset="utf-8"><script type="module">
import {{ openValues }} from "{gateway.url}/sdk/1/values.js";
window.values = await openValues("{gateway.url}", "board");
document.title = "open";
</script>""".encode()
    context = browser.new_context()

    def open_page():
        tab = context.new_page()
        tab.goto(f"{site.url}/values.html")
        expect(tab).to_have_title("open")
        return tab

    def stored():
        return gateway.request("GET", "/api/rooms/board/values")

    first, other = open_page(), open_page()
    first.evaluate("() => values.set('list', 0)")
    gateway.kill()
    for number in range(1, 11):
        first.evaluate("number => { void values.set('list', number); void values.add('n'); }", number)
    other.evaluate("() => void values.add('m')")
    assert first.evaluate("() => [values.get('list'), values.get('n'), values.waiting]") == [10, 10, 20]
    first.close()
    gateway.start()
    wait_until(lambda: stored()["values"].get("m"))
    assert "n" not in stored()["values"]
    next_page = open_page()
    next_page.wait_for_function("() => values.waiting === 0")
    assert {name: item["value"] for name, item in stored()["values"].items()} == {"list": 10, "m": 1, "n": 10}
    assert stored()["position"]["offset"] == 22
    assert next_page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('parley.values')).length") == 0
    # A page that is killed after sending, and one that has nothing to send.
    next_page.evaluate("() => { void values.add('n'); }")
    next_page.close()
    last = open_page()
    last.wait_for_function("() => values.waiting === 0 && values.get('n') === 11")
    assert stored()["position"]["offset"] == 23
    context.close()


def test_the_example_runs(gateway, browser, site):
    page = (ROOT / "Examples" / "web" / "index.html").read_text()
    assert page.count("\n") <= 10
    gateway.request("PUT", "/api/notes/minutes", {"title": "Minutes"})
    site.pages["/example.html"] = page.replace("http://127.0.0.1:8080", gateway.url).encode()
    tabs = [browser.new_page(), browser.new_page()]
    for tab in tabs:
        tab.goto(f"{site.url}/example.html")
        expect(tab.locator("textarea")).to_be_editable()
    tabs[0].locator("textarea").press_sequentially("said and done")
    expect(tabs[1].locator("textarea")).to_have_value("said and done")
    for tab in tabs:
        tab.close()


def test_a_board_is_the_same_for_all_also_after_a_kill(gateway, browser, site):
    page = (ROOT / "Examples" / "board" / "index.html").read_text()
    assert page.count("\n") <= 100
    path = f"/board.html?gateway={gateway.url}&board=plans"
    site.pages[path] = page.encode()
    address = site.url + path
    ada, grace = (browser.new_context().new_page() for _ in range(2))

    def column(tab, number):
        return tab.locator("section").nth(number).locator("article")

    for tab in (ada, grace):
        tab.goto(address)
        expect(tab.locator("section")).to_have_count(3)
    for text in ("Soup", "Bread"):
        ada.locator("input").fill(text)
        ada.locator("input").press("Enter")
    expect(column(grace, 0)).to_have_text([re.compile("Soup"), re.compile("Bread")])
    soup = column(grace, 0).first.get_attribute("id")
    # One moves the card while the other changes its text, and a third field is added.
    grace.evaluate("name => void board.merge(name, { text: 'Hot soup' })", soup)
    ada.evaluate("name => move(name, 'done')", soup)
    for tab in (ada, grace):
        expect(column(tab, 2)).to_have_text([re.compile("Hot soup")])
    gateway.kill()
    bread = column(ada, 0).first.get_attribute("id")
    # Without a server, the move waits.
    ada.evaluate("name => void move(name, 'doing')", bread)
    expect(column(ada, 1)).to_have_text([re.compile("Bread")])
    gateway.start()
    expect(column(grace, 1)).to_have_text([re.compile("Bread")])
    expect(grace.locator("#state")).to_have_text("2 moves")
    # A pointer of the one is shown to the other.
    ada.mouse.move(100, 100)
    expect(grace.locator("i")).to_have_count(1)
    late = browser.new_page()
    late.goto(address)
    expect(late.locator("article")).to_have_count(2)
    for tab in (ada.context, grace.context, late):
        tab.close()
