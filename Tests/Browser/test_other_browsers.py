"""The main flows in other engines than Chromium's; text typed there arrives in Chromium.

Debian's Firefox is always installed. Safari's engine needs 59 further packages: `make test-webkit` installs them, and sets
PARLEY_WEBKIT.
"""

import os

import pytest
from composing import Composer, ScriptedKeyboard, run_cases
from conftest import VIEW_IN, Server, wait_until
from firefox import Firefox
from tabs import CONTROL, END, HOME
from test_sdk import AREA, ELEMENT, PLAIN
from webkit import Screen, WebKit

FIELD = """() => {
    const inside = document.querySelector("parley-note")?.shadowRoot ?? document;
    return inside.querySelector("textarea, [role=textbox]");
}"""
# In the page: the text in the field of a page with the SDK, and the text in the editor of the gateway's page.
SHOWN = f"() => {{ const field = ({FIELD})(); return field?.value ?? field?.textContent.replace(/\\n$/, '') ?? null; }}"
TEXT = f"""() => ({VIEW_IN})("#editor")?.state.doc.toString() ?? null"""
STATUS = "() => { const { state, unsaved } = document.querySelector('#status').dataset; return `${state} ${unsaved}`; }"


class InFirefox:
    """People in one Firefox, each with separate storage."""

    def __init__(self, folder):
        self.browser = Firefox(folder)
        self.contexts = []

    def new_person(self):
        """What opens tabs for one person."""
        context = self.browser.command("browser.createUserContext")["userContext"]
        self.contexts.append(context)
        return lambda: self.browser.new_tab(context)

    def leave(self):
        for context in self.contexts:
            self.browser.command("browser.removeUserContext", userContext=context)
        self.contexts = []

    def close(self):
        self.browser.close()


class InWebKit:
    """People with separate WebKit browsers on one screen."""

    def __init__(self, folder):
        self.folder = folder
        self.screen = Screen()
        self.browsers = []

    def new_person(self):
        """What opens tabs for one person."""
        self.browsers.append(WebKit(self.folder, self.screen))
        return self.browsers[-1].new_tab

    def leave(self):
        for browser in self.browsers:
            browser.close()
        self.browsers = []

    def close(self):
        self.screen.close()


ENGINES = {"firefox": InFirefox} | ({"webkit": InWebKit} if os.environ.get("PARLEY_WEBKIT") else {})


@pytest.fixture(scope="module", params=ENGINES)
def engine(request, tmp_path_factory):
    running = ENGINES[request.param](tmp_path_factory.mktemp(request.param))
    yield running
    running.close()


@pytest.fixture
def people(engine):
    """People with browsers, which are closed at the end of the test."""
    yield engine
    engine.leave()


@pytest.fixture
def server(tmp_path, site):
    running = Server(tmp_path, "--allowed-origin", site.url)
    yield running
    running.stop()


# Without a screen, Firefox lacks the desktop's keys for moving carets; only editors with own key bindings have them.
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
    """Brings a tab to the front, and types into its field or editor."""
    tab.come_to_front()
    tab.run(PUT_CARET, at == HOME)
    tab.press(CONTROL, at)
    tab.type(text)


def open_note(tab, server, note):
    tab.open(f"{server.url}/n/{note}")
    tab.wait_for(STATUS, wanted="saved 0")
    tab.wait_for(f"() => ({TEXT})() !== null")


def test_element_and_bindings_on_another_site_and_chromium_write_one_note(server, site, person, people):
    note = server.create("Two browsers")
    server.put_text(note, "one")
    values = {"sdk": f"{server.url}/sdk/1/parley.js", "gateway": server.url, "note": note}
    pages = {"element": ELEMENT, "area": AREA, "plain": PLAIN}
    opened = [people.new_person()().open(site.add(f"{name}.html", page, name=name, **values)) for name, page in pages.items()]
    ann = person("Ann").open(note)
    for tab in opened:
        tab.wait_for(SHOWN, wanted="one")
        tab.wait_for(f"() => {{ const field = ({FIELD})(); return field.readOnly === false || field.isContentEditable; }}")
    text = "one"
    # In Firefox, each emoji is two keys, one for each half.
    for tab, word in zip(opened, (" two 😀", " three é", " four 😀")):
        write(tab, word)
        text += word
        ann.wait_for_text(text)
    ann.to_start()
    ann.type("zero ")
    for tab in opened:
        tab.wait_for(SHOWN, wanted="zero " + text)
    # A caret keeps its place when others write before it.
    opened[1].come_to_front()
    opened[1].type("!")
    ann.wait_for_text("zero one two 😀 three é! four 😀")
    ann.wait_until_saved()


def test_the_page_is_reloaded_without_its_server(server, person, people):
    note = server.create("In a tunnel")
    tab = people.new_person()()
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


def test_two_tabs_write_without_a_server_and_one_of_them_is_closed(server, person, people):
    note = server.create("Two tabs")
    new_tab = people.new_person()
    first, second = new_tab(), new_tab()
    for tab in (first, second):
        open_note(tab, server, note)
    write(first, "middle")
    second.wait_for(TEXT, wanted="middle")
    server.kill()
    for tab in (first, second):
        tab.wait_for("() => document.querySelector('#status').dataset.state", wanted="offline")
    write(first, "start ", at=HOME)
    write(second, " end")
    # The unsaved edits of the first tab are stored, and sent by another tab.
    first.wait_for("""() => Object.keys(localStorage).some((key) => localStorage.getItem(key).includes("start "))""")
    first.close()
    server.start()
    second.run("() => void dispatchEvent(new Event('online'))")
    third = new_tab()
    open_note(third, server, note)
    for tab in (second, third):
        tab.wait_for(TEXT, wanted="start middle end")
    person("Ann").open(note).wait_for_text("start middle end")


class ScriptedPage:
    """A tab with the interface that tests of composed words use."""

    def __init__(self, tab):
        self.tab = tab

    def evaluate(self, function, *values):
        return self.tab.run(function, *values)


def test_a_word_composed_by_a_script_is_intact_after_edits_around_it(server, site, people):
    """The protocols of these browsers have no input methods, so a script dispatches the events and edits the DOM."""
    tab = people.new_person()()
    tab.come_to_front()
    note = server.create("Composing")
    values = {"sdk": f"{server.url}/sdk/1/parley.js", "gateway": server.url, "note": note, "name": "Ann"}
    broken = {}
    for kind, page in {"page": None, "text area": AREA, "plain text": PLAIN}.items():
        if page:
            tab.open(site.add(f"{len(broken)}.html", page, **values))
            tab.wait_for("() => document.title", wanted="ready")
        else:
            open_note(tab, server, note)
        scripted = ScriptedPage(tab)
        composer = Composer(server, note, kind, scripted, ScriptedKeyboard(scripted))
        broken[kind] = run_cases(composer, range(40 if kind == "page" else 15))
    assert broken == {"page": [], "text area": [], "plain text": []}


# In the page: whether an element is visible.
SEEN = "(name) => document.querySelector(name)?.checkVisibility() ?? false"
CLICK = "(name) => document.querySelector(name).click()"
# In the page: collects all later errors.
LISTEN = """() => {
    window.problems = [];
    addEventListener("error", (event) => problems.push(event.message));
    addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
}"""

MARKDOWN = """# Plan

Some *words* and a [link](https://example.org/).

- [ ] milk
- [x] bread

| what | price |
| --- | ---: |
| tea | 3 |

```python
print("tea")
```

$a^2$

```mermaid
graph TD
  A --> B
```
"""


def test_reading_history_comments_and_sharing(server, person, people):
    note = server.create("All there is")
    server.put_text(note, MARKDOWN)
    tab = people.new_person()()
    open_note(tab, server, note)
    tab.run(LISTEN)
    ann = person("Ann").open(note)
    # The caret of another user is visible.
    ann.to_start()
    tab.wait_for("() => document.querySelector('#editor').shadowRoot.querySelectorAll('.peer-caret').length", wanted=1)
    # The page view.
    tab.run(CLICK, "#read")
    tab.wait_for("() => document.querySelector('#rendered .level-1')?.textContent.includes('Plan') ?? false")
    parts = "() => ['table', 'pre', 'a[href]', 'input'].map((name) => document.querySelectorAll(`#rendered ${name}`).length > 0)"
    tab.wait_for(parts, wanted=[True] * 4)
    # Formulas and diagrams are drawn under the page's policy.
    tab.wait_for("() => document.querySelector('#rendered math msup') !== null && (document.querySelector('#rendered .diagram img')?.naturalWidth ?? 0) > 50")
    tab.run("() => document.querySelector('#rendered input').click()")
    ann.wait_for_text(MARKDOWN.replace("[ ]", "[x]"))
    tab.run(CLICK, "#read")
    # A comment on the whole text.
    write(tab, "Above. ", at=HOME)
    text = "Above. " + MARKDOWN.replace("[ ]", "[x]")
    ann.wait_for_text(text)
    tab.press(CONTROL, "a")
    tab.wait_for(f"""() => {{ const {{ from, to }} = ({VIEW_IN})("#editor").state.selection.main; return to - from; }}""", wanted=len(text))
    tab.wait_for(SEEN, "#comment-here")
    tab.run(CLICK, "#comment-here")
    tab.wait_for(SEEN, "#comment-new textarea")
    tab.run("() => document.querySelector('#comment-new textarea').focus()")
    tab.type("Really?")
    tab.run("() => [...document.querySelectorAll('#comment-new button')].find((each) => each.textContent === 'Comment').click()")
    ann.page.get_by_role("button", name="Comments: 1 open").click()
    ann.page.locator("#comments-list", has_text="Really?").wait_for()
    # The history.
    tab.run("() => { location.hash = '#history'; }")
    tab.wait_for(SEEN, "#history")
    tab.wait_for("() => document.querySelectorAll('#history-sessions .group').length > 0")
    tab.wait_for(f"""() => ({VIEW_IN})("#history-text")?.state.doc.toString()""", wanted=text)
    tab.run(CLICK, "#history-close")
    tab.wait_for(SEEN, "#history", wanted=False)
    # The dialog for sharing.
    tab.run(CLICK, "#share")
    tab.wait_for("() => document.querySelector('#sharing').open")
    tab.run("() => document.querySelector('#sharing').close()")
    # The note is found by its text when it is in the index.
    wait_until(lambda: tab.run("() => true") and server.request("GET", "/api/search?q=bread")["notes"])
    tab.run(CLICK, "#search")
    tab.wait_for("() => document.activeElement.closest('dialog') !== null")
    tab.type("bread")
    tab.wait_for("() => [...document.querySelectorAll('dialog[open] li')].some((each) => each.textContent.includes('All there is'))")
    assert tab.run("() => window.problems") == []
