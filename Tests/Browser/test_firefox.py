"""The main flows in Debian's Firefox; what is typed there arrives in Chromium."""

import pytest
from conftest import VIEW_IN, Server
from firefox import CONTROL, END, HOME, Firefox
from test_sdk import AREA, ELEMENT, PLAIN, Site

FIELD = """() => {
    const inside = document.querySelector("parley-note")?.shadowRoot ?? document;
    return inside.querySelector("textarea, [role=textbox]");
}"""
# What the field of a page with the SDK shows, and what the gateway's own page does.
SHOWN = f"() => {{ const field = ({FIELD})(); return field?.value ?? field?.textContent.replace(/\\n$/, '') ?? null; }}"
TEXT = f"""() => ({VIEW_IN})("#editor")?.state.doc.toString() ?? null"""
STATUS = "() => { const { state, unsaved } = document.querySelector('#status').dataset; return `${state} ${unsaved}`; }"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    running = Firefox(tmp_path_factory.mktemp("firefox"))
    yield running
    running.close()


@pytest.fixture
def site():
    running = Site()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture
def server(tmp_path, site):
    running = Server(tmp_path, "--allowed-origin", site.url)
    yield running
    running.stop()


@pytest.fixture
def tabs(firefox):
    """Opens tabs, which end with the test."""
    opened = []

    def open_tab(person=None):
        opened.append(firefox.new_tab(person or firefox.new_person()))
        return opened[-1]

    yield open_tab
    for tab in opened:
        if not getattr(tab, "is_closed", False):
            tab.close()


# Without a screen Firefox has no keys of the desktop's for moving carets; editors with keys of their own do.
PUT_CARET = f"""(isStart) => {{
    const field = document.querySelector("#editor")?.shadowRoot?.querySelector(".cm-content") ?? ({FIELD})();
    field.focus();
    if (field.setSelectionRange) return field.setSelectionRange(...(isStart ? [0, 0] : [1e9, 1e9]));
    if (field.role === "textbox" && !field.cmView) {{
        getSelection().selectAllChildren(field);
        getSelection()[isStart ? "collapseToStart" : "collapseToEnd"]();
    }}
}}"""


def write(tab, text, *, at=END):
    """Types into the field or the editor of a page, which comes to the front for it."""
    tab.command("browsingContext.activate")
    tab.run(PUT_CARET, at == HOME)
    tab.press(CONTROL, at)
    tab.type(text)


def open_note(tab, server, note):
    tab.open(f"{server.url}/n/{note}")
    tab.wait_for(STATUS, wanted="saved 0")
    tab.wait_for(f"() => ({TEXT})() !== null")


def test_element_and_bindings_on_another_site_and_chromium_write_one_note(server, site, person, tabs):
    note = server.create("Two browsers")
    server.put_text(note, "one")
    values = {"sdk": f"{server.url}/sdk/1/parley.js", "gateway": server.url, "note": note}
    pages = {"element": ELEMENT, "area": AREA, "plain": PLAIN}
    opened = [tabs().open(site.add(f"{name}.html", page, name=name, **values)) for name, page in pages.items()]
    ann = person("Ann").open(note)
    for tab in opened:
        tab.wait_for(SHOWN, wanted="one")
        tab.wait_for(f"() => {{ const field = ({FIELD})(); return field.readOnly === false || field.isContentEditable; }}")
    text = "one"
    # Each emoji is two keys there, one for each half.
    for tab, word in zip(opened, (" two 😀", " three é", " four 😀")):
        write(tab, word)
        text += word
        ann.wait_for_text(text)
    ann.to_start()
    ann.type("zero ")
    for tab in opened:
        tab.wait_for(SHOWN, wanted="zero " + text)
    # A caret that others write in front of stays at its place.
    opened[1].command("browsingContext.activate")
    opened[1].type("!")
    ann.wait_for_text("zero one two 😀 three é! four 😀")
    ann.wait_until_saved()


def test_the_page_is_reloaded_without_its_server(server, person, tabs):
    note = server.create("In a tunnel")
    tab = tabs()
    open_note(tab, server, note)
    write(tab, "before 😀, ")
    tab.wait_for(STATUS, wanted="saved 0")
    tab.wait_for("async () => (await navigator.serviceWorker.ready).active.state", wanted="activated")
    server.kill()
    tab.wait_for("() => document.querySelector('#status').dataset.state", wanted="offline")
    write(tab, "during, ")
    tab.reload()
    tab.wait_for(TEXT, wanted="before 😀, during, ")
    write(tab, "after")
    tab.wait_for(TEXT, wanted="before 😀, during, after")
    server.start()
    tab.run("() => void dispatchEvent(new Event('online'))")
    person("Ann").open(note).wait_for_text("before 😀, during, after")
    tab.wait_for(STATUS, wanted="saved 0")


def test_two_tabs_write_without_a_server_and_one_of_them_is_closed(server, person, firefox, tabs):
    note = server.create("Two tabs")
    one = firefox.new_person()
    first, second = tabs(one), tabs(one)
    for tab in (first, second):
        open_note(tab, server, note)
    write(first, "middle")
    second.wait_for(TEXT, wanted="middle")
    server.kill()
    for tab in (first, second):
        tab.wait_for("() => document.querySelector('#status').dataset.state", wanted="offline")
    write(first, "start ", at=HOME)
    write(second, " end")
    # What the first has not saved is kept, and sent by whoever is there.
    first.wait_for("""() => Object.keys(localStorage).some((key) => localStorage.getItem(key).includes("start "))""")
    first.close()
    first.is_closed = True
    server.start()
    second.run("() => void dispatchEvent(new Event('online'))")
    third = tabs(one)
    open_note(third, server, note)
    for tab in (second, third):
        tab.wait_for(TEXT, wanted="start middle end")
    person("Ann").open(note).wait_for_text("start middle end")
