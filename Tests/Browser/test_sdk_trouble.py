"""The SDK for web pages in difficult browsers: storage that is full, forbidden or cleared, tabs that are
duplicated or crash, and keys that arrive in halves."""

import pytest
from conftest import SECRET, Server, barriers, token, wait_until
from playwright.sync_api import expect
from test_sdk import (
    AREA, CODEMIRROR, ELEMENT, MONACO, PLAIN, await_saved, await_text, box, open_page, shown,  # noqa: F401
)  # fmt: skip

STATUS = "parley-note [part=status]"

# In the page: fills the storage completely.
FILL = """() => {
    let room = "x".repeat(1 << 22), rest = "";
    while (room.length > 0) {
        try { localStorage.setItem("filler", rest + room); rest += room; }
        catch { room = room.slice(room.length / 2 + 1); }
    }
}"""

FORBIDDEN = """for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("forbidden", "SecurityError"); } });
}"""

# The page records the number of unsaved edits in each event, from the first one on.
COUNTED = AREA.replace(
    "const note = window.note", 'window.counts = []; parley.on("unsaved", (count) => counts.push(count));\n  const note = window.note'
).replace("await note.ready;", "counts.unshift(parley.unsaved); await note.ready;")


@pytest.fixture
def tab_of(browser, open_page):
    """Opens pages in one browser."""
    context = browser.new_context()
    yield lambda page, note, name="Ada": open_page(page, note, name, context=context)
    context.close()


def text_of(gateway, note):
    return gateway.request("GET", f"/api/notes/{note}/text")["text"]


def write_away(tab, text):
    """Types without a connection, and waits until the browser has stored the text."""
    tab.wait_for_function("() => note.state === 'away'")
    box(tab).press("Control+End")
    box(tab).press_sequentially(text)
    tab.wait_for_function(
        "text => Object.values(localStorage).some((each) => each.includes(text))", arg=text[-3:]
    )


def test_a_full_storage_is_reported_and_used_again_once_there_is_room(gateway, tab_of):
    note = gateway.create("Full")
    ada = tab_of(ELEMENT, note)
    expect(box(ada)).to_be_editable()
    ada.evaluate(FILL)
    gateway.kill()
    expect(ada.locator(STATUS)).to_have_text("No connection. Your changes are kept.")
    box(ada).press_sequentially("only here")
    expect(ada.locator(STATUS)).to_have_text("No connection. Leave this page open: your changes are here alone.")
    assert ada.evaluate("() => document.querySelector('parley-note').note.isKept") is False
    ada.evaluate("() => localStorage.removeItem('filler')")
    box(ada).press_sequentially(", and kept")
    expect(ada.locator(STATUS)).to_have_text("No connection. Your changes are kept.", timeout=20_000)
    ada.close()
    gateway.start()
    again = tab_of(ELEMENT, note)
    await_text(again, "only here, and kept")
    expect(again.locator(STATUS)).to_have_text("Saved")
    assert text_of(gateway, note) == "only here, and kept"


def test_a_forbidden_storage_is_reported_and_the_note_is_written(gateway, browser, open_page):
    note = gateway.create("Forbidden")
    context = browser.new_context()
    context.add_init_script(FORBIDDEN)
    ada = open_page(ELEMENT, note, context=context)
    expect(box(ada)).to_be_editable()
    box(ada).press_sequentially("written")
    expect(ada.locator(STATUS)).to_have_text("Saved")
    gateway.kill()
    expect(ada.locator(STATUS)).to_have_text("No connection. Leave this page open: your changes are here alone.")
    box(ada).press_sequentially(" down")
    gateway.start()
    ada.evaluate("() => window.dispatchEvent(new Event('online'))")
    expect(ada.locator(STATUS)).to_have_text("Saved")
    assert text_of(gateway, note) == "written down"
    other = open_page(AREA, note, context=context)
    other.wait_for_function("() => document.title === 'ready'")
    assert other.evaluate("() => [parley.keepsEdits, note.isKept, parley.leftBehind]") == [False, False, []]
    # Only this page has the edits, so it keeps them until they are saved, even if the note is closed.
    gateway.kill()
    other.wait_for_function("() => note.state === 'away'")
    other.evaluate("() => (note.append(', and closed'), note.close())")
    assert other.evaluate("() => [note.state, parley.unsaved]") == ["closed", 1]
    gateway.start()
    other.evaluate("() => window.dispatchEvent(new Event('online'))")
    other.wait_for_function("() => parley.unsaved === 0")
    assert text_of(gateway, note) == "written down, and closed"
    context.close()


def test_edits_are_stored_again_after_the_storage_is_cleared(gateway, tab_of):
    note = gateway.create("Cleared")
    gateway.put_text(note, "A long text that stands there already. ")
    ada = tab_of(AREA, note)
    ada.wait_for_function("() => document.title === 'ready'")
    gateway.kill()
    write_away(ada, "before")
    ada.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    write_away(ada, ", after")
    # The tab crashes: the stored edits are complete.
    ada.close()
    gateway.start()
    again = tab_of(AREA, note)
    await_text(again, "A long text that stands there already. before, after")
    await_saved(again)
    # If the tab continues, each edit is saved once.
    gateway.kill()
    write_away(again, ", then")
    again.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    box(again).press_sequentially(" more")
    gateway.start()
    again.evaluate("() => window.dispatchEvent(new Event('online'))")
    await_saved(again)
    assert text_of(gateway, note) == "A long text that stands there already. before, after, then more"


def test_a_duplicated_tab_gets_another_client_id(gateway, tab_of):
    note = gateway.create("Doubled")
    gateway.put_text(note, "base")
    ada = tab_of(AREA, note)
    await_text(ada, "base")
    gateway.kill()
    write_away(ada, " one")
    # A window opened by a page gets a copy of its session storage. The server is needed to load the SDK.
    gateway.start()
    with ada.context.expect_page() as opened:
        ada.evaluate("() => void window.open(location.href)")
    double = opened.value
    double.wait_for_function("() => document.title === 'ready'")
    gateway.kill()
    double.wait_for_function("() => note.state === 'away'")
    box(double).press("Control+End")
    box(double).press_sequentially(" two")
    gateway.start()
    for tab in (ada, double):
        tab.evaluate("() => window.dispatchEvent(new Event('online'))")
    for tab in (ada, double):
        await_saved(tab)
    assert sorted(text_of(gateway, note).split()) == ["base", "one", "two"]
    for tab in (ada, double):
        await_text(tab, text_of(gateway, note))


def test_the_next_tab_sends_and_counts_the_edits_of_two_crashed_tabs(gateway, tab_of):
    note = gateway.create("Two dead tabs")
    gateway.put_text(note, "base")
    tabs = [tab_of(AREA, note), tab_of(AREA, note)]
    for tab in tabs:
        await_text(tab, "base")
    gateway.kill()
    for tab, words in zip(tabs, (" first", " second")):
        write_away(tab, words)
    for tab in tabs:
        tab.close()
    gateway.start()
    again = tab_of(COUNTED, note)
    wait_until(lambda: sorted(text_of(gateway, note).split()) == ["base", "first", "second"])
    await_saved(again)
    await_text(again, text_of(gateway, note))
    # The number is never 0 before everything is saved, so that a user does not close the tab too early.
    counts = again.evaluate("() => counts")
    assert 0 not in counts[:-1] and counts[-1] == 0, counts
    assert again.evaluate("() => [parley.leftBehind, Object.keys(localStorage).filter((key) => /pending|base/.test(key))]") == [[], []]


EDITORS = pytest.mark.parametrize(
    "page", [AREA, PLAIN, CODEMIRROR, MONACO], ids=["textarea", "plain text", "CodeMirror", "Monaco"]
)


def put_caret_behind_first(tab, page):
    """Puts the caret after the first character."""
    tab.wait_for_function("() => document.title === 'ready'")
    if page in (CODEMIRROR, MONACO):
        tab.evaluate("() => focusEditor()")
    else:
        box(tab).click()
    tab.keyboard.press("Control+Home")
    tab.keyboard.press("ArrowRight")


@EDITORS
def test_text_received_at_the_caret_is_not_overwritten_by_typing(gateway, open_page, page):
    note = gateway.create("At the caret")
    gateway.put_text(note, "ab")
    ada = open_page(page, note)
    put_caret_behind_first(ada, page)
    for text in ("aXb", "aXYZb"):
        # Text before the caret may be replaced together with the new text.
        gateway.put_text(note, text)
        ada.wait_for_function("(text) => note.text === text", arg=text)
    ada.keyboard.type("-")
    await_saved(ada)
    assert text_of(gateway, note).replace("-", "") == "aXYZb"
    assert text_of(gateway, note).count("-") == 1


@EDITORS
def test_text_received_beside_a_selection_is_not_overwritten_by_typing(gateway, open_page, page):
    note = gateway.create("Beside a selection")
    gateway.put_text(note, "abc")
    ada = open_page(page, note)

    def receive(text):
        gateway.put_text(note, text)
        ada.wait_for_function("(text) => note.text === text", arg=text)

    for keys in (["Shift+ArrowRight"], ["ArrowRight", "Shift+ArrowLeft"]):
        put_caret_behind_first(ada, page)
        for key in keys:
            ada.keyboard.press(key)
        receive("aXbc")
        receive("aXbYc")
        ada.keyboard.type("-")
        await_saved(ada)
        assert text_of(gateway, note) == "aX-Yc", keys
        receive("abc")


@EDITORS
def test_an_emoji_typed_in_halves_is_one_character(gateway, open_page, page):
    note = gateway.create("Halves")
    gateway.put_text(note, "ab")
    ada, grace = open_page(page, note), open_page(AREA, note, "Grace")
    grace.wait_for_function("() => document.title === 'ready'")
    put_caret_behind_first(ada, page)
    ada.evaluate("() => { window.told = []; note.on('changes', ({ changes }) => told.push(...changes.map(({ insert }) => insert))); }")
    # Two keys for one character, as in Firefox. Monaco replaces the text of its field whenever it draws, with
    # or without the first half.
    ada.evaluate("() => document.execCommand('insertText', false, '\\ud83d')")
    if page is MONACO:
        ada.evaluate("() => editor.render(true)")
    ada.evaluate("() => document.execCommand('insertText', false, '\\ude00')")
    await_text(grace, "a😀b")
    await_saved(ada)
    assert text_of(gateway, note) == "a😀b"
    assert ada.evaluate("() => [note.text, ...told]") == ["a😀b", "😀"]
    if page is MONACO:
        ada.evaluate("() => document.execCommand('insertText', false, '\\ud83d')")
        ada.evaluate("() => editor.render(true)")
        assert ada.evaluate("() => document.querySelector('textarea').value") == "a😀b"
        ada.evaluate("() => document.execCommand('insertText', false, '\\ude01')")
        await_text(grace, "a😀😁b")
        assert ada.evaluate("() => read()") == "a😀😁b"
        ada.keyboard.press("Backspace")
        await_text(grace, "a😀b")
    # A single half is stored as typed when other text is typed; text of others arrives in between.
    ada.evaluate("() => document.execCommand('insertText', false, '\\ud83d')")
    grace.evaluate("() => note.append('!')")
    ada.keyboard.type("c")
    wait_until(lambda: text_of(gateway, note).count("c") == text_of(gateway, note).count("!") == 1)
    await_saved(ada)
    text = text_of(gateway, note)
    # Monaco puts the caret before a half, or replaces it.
    assert text in ("a😀\ufffdcb!", "a😀c\ufffdb!", "a😀cb!")
    await_text(grace, text)
    seen = ada.evaluate("() => window.read?.() ?? document.querySelector('textarea')?.value ?? null")
    assert (shown(ada) if seen is None else seen) == text


def test_the_element_is_accessible(gateway, open_page):
    note = gateway.create("For all")
    ada, grace = open_page(ELEMENT, note), open_page(ELEMENT, note, "Grace")
    for tab in (ada, grace):
        expect(tab.locator(STATUS)).to_have_text("Saved")
    box(ada).press_sequentially("words")
    expect(grace.locator("parley-note [part~=person]")).to_have_text(["Ada"])

    assert barriers(grace, "parley-note") == []
    gateway.kill()
    expect(grace.locator(STATUS)).to_contain_text("No connection")
    assert barriers(grace, "parley-note") == []


@pytest.fixture
def guarded(tmp_path, site):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    running = Server(
        tmp_path, "--hmac-secret-file", str(secret), "--audience", "parley", "--clock-skew", "0s",
        "--allowed-origin", site.url,
    )  # fmt: skip
    running.token = token()
    yield running
    running.stop()


WRONG = {
    "none": "undefined",
    "null": "null",
    "garbage": "'not.a.token'",
    "another's signature": repr(token()[:-6] + "AAAAAA"),
    "line ends": "'a\\r\\nb'",
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
def test_a_rejected_token_is_reported(guarded, site, browser, given):
    note = guarded.create("Guarded")
    page = browser.new_page()
    # Skip the waits between attempts.
    page.add_init_script("const later = setTimeout; window.setTimeout = (call) => later(call, 0);")
    page.goto(site.add(
        "wrong.html", AREA.replace('name: "{name}"', f"token: () => {given}"), sdk=f"{guarded.url}/sdk/1/parley.js",
        gateway=guarded.url, note=note,
    ))  # fmt: skip
    page.wait_for_function("() => window.parley?.status.state === 'stopped'")
    assert page.evaluate("() => [parley.status.reason, note.text ?? null]") == ["noAccess", None]
    page.close()


def test_a_token_that_is_not_a_string_is_reported_to_the_page(guarded, site, browser):
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(site.add(
        "wrong.html", AREA.replace('name: "{name}"', "token: () => 42"), sdk=f"{guarded.url}/sdk/1/parley.js",
        gateway=guarded.url, note="any",
    ))  # fmt: skip
    wait_until(lambda: page.evaluate("() => 1") and problems)
    assert problems == ["expected a token as a string, got number"]
    page.close()


def test_an_element_without_a_token_reports_that_it_needs_one(guarded, site, browser):
    note = guarded.create("Guarded")
    page = browser.new_page()
    values = {"sdk": f"{guarded.url}/sdk/1/parley.js", "gateway": guarded.url, "note": note, "name": "Eve"}
    page.goto(site.add("element.html", ELEMENT, **values))
    expect(page.locator(STATUS)).to_have_text("You are not signed in, or may not come in.")
    page.close()
