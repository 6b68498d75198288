"""Positions in a note that another client edits: actions apply to the element that the user saw.

The other client writes over HTTP. Ann presses after a change has arrived and before it is drawn: a script in her
page presses an element as soon as her editor has the change.
"""

import random

import pytest
from conftest import VIEW_IN, wait_until
from playwright.sync_api import expect

SEED = 39
BOXES = 30

# Presses an element once the editor has a text.
PRESS_WHEN = f"""([element, text]) => {{
    const view = ({VIEW_IN})("#editor");
    const wait = async () => {{
        while (view.state.doc.toString() !== text) await new Promise((resolve) => setTimeout(resolve));
        element.click();
    }};
    window.pressed = wait();
}}"""


class Note:
    """A note that Ann has opened, and that another client edits over HTTP."""

    def __init__(self, server, ann, text):
        self.server, self.ann = server, ann
        self.id = server.create("Positions")
        server.put_text(self.id, text)
        ann.open(self.id)
        ann.wait_for_text(text)

    def stored(self):
        return self.server.request("GET", f"/api/notes/{self.id}/text")

    def edit(self, place, delete=0, insert="", press=None):
        """Makes an edit by the other client. Ann presses the element when her editor has the edit. Returns the final text."""
        self.ann.wait_until_saved()
        now = self.stored()
        text = now["text"]
        after = text[:place] + insert + text[place + delete :]
        if press:
            self.ann.page.evaluate(PRESS_WHEN, [press.element_handle(), after])
        parts = [place, -delete, insert, len(text) - place - delete]
        operation = [part for part in parts if part not in (0, "")]
        change = {"revision": now["revision"], "operation": operation}
        self.server.request("POST", f"/api/notes/{self.id}/changes", change)
        if press:
            self.ann.page.evaluate("() => window.pressed")
        return after

    @property
    def shown(self):
        return self.ann.page.locator("#rendered")

    def read(self):
        self.ann.page.get_by_role("button", name="Read as a page").click()
        expect(self.shown.locator("> .block").first).to_be_visible()

    def read_beside(self):
        self.ann.page.get_by_role("button", name="More for this note").click()
        self.ann.page.get_by_role("menuitem", name="Read beside the text").click()
        expect(self.shown.locator("> .block").first).to_be_visible()


def boxes(count):
    return "intro\n\n" + "".join(f"- [ ] box {number}\n" for number in range(count))


def test_each_tick_reaches_its_box_while_another_person_types(server, person):
    note = Note(server, person("Ann"), boxes(BOXES))
    note.read()
    for number in range(BOXES):
        box = note.shown.get_by_role("checkbox", name=f"box {number}", exact=True)
        note.edit(len("intro") + number, insert="x", press=box)
    note.ann.wait_until_saved()
    text = note.stored()["text"]
    assert text.count("[x]") == BOXES, f"{text.count('[x]')} of {BOXES} ticks are in the text"
    expect(note.shown.locator("input:checked")).to_have_count(BOXES)


def test_a_failed_tick_is_reverted_and_reported(server, person):
    note = Note(server, person("Ann"), boxes(3))
    note.read()
    box = note.shown.get_by_role("checkbox", name="box 1")
    # A handle of the element, which will be removed from the page.
    handle = box.element_handle()
    line = "- [ ] box 1\n"
    note.edit(boxes(3).index(line), delete=len(line), press=box)
    assert not handle.evaluate("(box) => box.checked")
    expect(note.ann.page.locator("#toast")).to_contain_text("could not be ticked")
    assert "[x]" not in note.ann.text()
    expect(note.shown.get_by_role("checkbox")).to_have_count(2)
    expect(note.shown.locator("input:checked")).to_have_count(0)


def test_a_box_shows_the_last_of_several_ticks(server, person):
    note = Note(server, person("Ann"), boxes(3))
    note.read()
    box = note.shown.get_by_role("checkbox", name="box 1")
    # The other client removes the tick before the page is drawn, so the line equals the drawn one.
    box.check()
    note.ann.wait_until_saved()
    expect(box).to_be_checked()
    note.edit(boxes(3).index("- [ ] box 1") + 3, delete=1, insert=" ")
    expect(box).not_to_be_checked()
    # The box is ticked and unticked before the page is drawn.
    note.ann.page.evaluate(
        f"""([box]) => {{
            box.click();
            const view = ({VIEW_IN})("#editor");
            const at = view.state.doc.toString().indexOf("[x]") + 1;
            view.dispatch({{ changes: {{ from: at, to: at + 1, insert: " " }} }});
        }}""",
        [box.element_handle()],
    )
    expect(box).not_to_be_checked()


TRIP = """# Trip

before

{spaces}[below](#the-rent) after

## The food

food

## The rent

rent

{rest}"""


@pytest.mark.parametrize("kind", ["link", "contents", "copy"])
def test_links_to_headings_work_during_edits_of_others(server, person, kind):
    chance = random.Random(SEED)
    text = TRIP.format(spaces="", rest="line\n\n" * 60)
    note = Note(server, person("Ann"), text)
    note.ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    note.read()
    if kind == "contents":
        note.shown.locator("summary").click()
    thing = {
        "link": note.shown.get_by_role("link", name="below"),
        "contents": note.shown.get_by_role("link", name="The rent"),
        "copy": note.shown.get_by_role("button", name="Copy a link to “The rent”"),
    }[kind]
    heading = text.index("## The rent")
    # Edits before, in and after the heading; one edit gives another heading its name.
    edits = [
        (0, 0, "new\n\n", "the-rent"), (heading, 0, "## The rent\n\n", "the-rent-1"), (heading, 0, "x\n\n", "the-rent"),
        (heading + len("## The "), 4, "hotel", "the-hotel"), (heading + len("## The rent"), 0, "s", "the-rents"),
        (heading + len("## The rent\n"), 0, "more\n", "the-rent"), (heading, len("## The rent"), "", None),
    ]  # fmt: skip
    chance.shuffle(edits)
    for place, delete, insert, slug in edits:
        server.put_text(note.id, text)
        note.ann.wait_for_text(text)
        expect(note.shown.locator("h3")).to_have_text(["The food", "The rent"])
        note.ann.page.evaluate("() => { document.querySelector('#toast').hidden = true; }")
        note.ann.page.evaluate("() => navigator.clipboard.writeText('')")
        note.edit(place, delete, insert, press=thing)
        if slug is None:
            expect(note.ann.page.locator("#toast")).to_contain_text("no longer in the note")
            continue
        address = f"{server.url}/n/{note.id}#heading={slug}"
        if kind == "copy":
            wait_until(lambda: note.ann.page.evaluate("() => navigator.clipboard.readText()") == address, lambda: address)
        else:
            expect(note.ann.page).to_have_url(address)
            expect(note.shown.locator(f"#heading-{slug}")).to_be_in_viewport()


def test_the_text_of_a_comment_is_found_during_edits_of_others(server, person):
    chance = random.Random(SEED)
    text = "first line\n\nwords that are commented here\n\nlast line\n"
    note = Note(server, person("Ann"), text)
    words = "that are commented"
    start = text.index(words)
    note.ann.put_caret(start, start + len(words))
    note.ann.page.locator("#comment-here").click()
    note.ann.page.get_by_role("textbox", name="Your comment").fill("Why?")
    note.ann.page.locator("#comment-new").get_by_role("button", name="Comment", exact=True).click()
    quote = note.ann.page.locator("#comments-list .quote")
    expect(quote).to_have_text(words)
    for _ in range(8):
        now = note.stored()["text"]
        kind = chance.choice(["before", "within", "after", "deleted"])
        begin = now.index("that")
        place = {"before": 0, "within": begin + 5, "after": now.index("here"), "deleted": 0}[kind]
        text = note.edit(place, delete=1 if kind == "deleted" else 0, insert="" if kind == "deleted" else "X", press=quote)
        anchor, head = note.ann.page.evaluate(
            f"() => {{ const {{ anchor, head }} = ({VIEW_IN})('#editor').state.selection.main; return [anchor, head]; }}"
        )
        assert text[anchor:head].replace("X", "") == words, (kind, text[anchor:head])


# In the page: pastes into the editor.
PASTE = f"""(text) => {{
    const data = new DataTransfer();
    data.setData("text/plain", text);
    ({VIEW_IN})("#editor").contentDOM.dispatchEvent(new ClipboardEvent("paste", {{ clipboardData: data, bubbles: true, cancelable: true }}));
}}"""
SELECTED = f"""() => {{
    const {{ state }} = ({VIEW_IN})("#editor");
    return state.sliceDoc(state.selection.main.from, state.selection.main.to);
}}"""


def test_actions_use_the_current_text_while_changes_of_others_are_delayed(server, person):
    """Changes in quick succession are shown together. When Ann acts, the first is shown and the others are delayed."""
    ann = person("Ann")
    rest = "\n- [ ] box\n\nwords that are hers"
    note = Note(server, ann, rest)
    page = ann.page
    others = 0

    def act(do, then, prepare=ann.to_end):
        nonlocal others, rest
        prepare()
        ann.wait_until_saved()
        now = note.stored()
        for number in range(5):
            change = {"revision": now["revision"] + number, "operation": ["x", len(now["text"]) + number]}
            server.request("POST", f"/api/notes/{note.id}/changes", change)
        do()
        others, rest = others + 5, then
        ann.wait_until_saved()
        ann.wait_for_text("x" * others + rest)
        assert note.stored()["text"] == "x" * others + rest

    def select(word):
        start = ann.text().index(word)
        ann.put_caret(start, start + len(word))

    def expect_selected(word):
        assert page.evaluate(SELECTED) == word

    act(lambda: page.keyboard.type("!?"), rest + "!?")
    act(lambda: ann.press("Backspace"), rest[:-1])
    act(lambda: page.keyboard.type("Words"), rest.replace("words", "Words"), lambda: select("words"))
    act(lambda: page.evaluate(PASTE, " pasted"), rest + " pasted")
    act(lambda: ann.press("Control+z"), rest.removesuffix(" pasted"))
    act(lambda: ann.press("Control+b"), rest.replace("are", "**are**"), lambda: select("are"))
    act(lambda: (ann.press("Shift+Home"), expect_selected(rest.split("\n")[-1])), rest)
    act(lambda: page.locator("#comment-here").click(), rest, lambda: select("hers"))
    expect(page.locator("#comment-new .quote")).to_have_text("hers")
    page.locator("#comment-new").get_by_role("button", name="Cancel").click()
    ann.editor.focus()
    ann.press("Control+f")
    field = page.get_by_role("textbox", name="Find", exact=True)
    act(lambda: (field.press("Enter"), expect_selected("that")), rest, lambda: (field.clear(), field.press_sequentially("that")))
    ann.press("Escape")
    act(lambda: (page.context.set_offline(True), ann.type("+"), page.context.set_offline(False)), rest + "+")
    act(lambda: (page.goto("/"), ann.open(note.id)), rest)
    note.read()
    box = note.shown.get_by_role("checkbox", name="box")
    act(lambda: box.click(), rest.replace("[ ]", "[x]"), lambda: None)


# In the page: types at the beginning of the editor, letter by letter. Returns how often the page view is drawn meanwhile.
DRAWS_WHILE_TYPING = f"""async ([count, pause]) => {{
    const view = ({VIEW_IN})("#editor");
    const shown = () => document.querySelector("#rendered > .block").textContent.length;
    let draws = 0;
    let last = shown();
    for (let index = 0; index < count; index += 1) {{
        view.dispatch({{ changes: {{ from: 0, insert: "x" }} }});
        await new Promise((resolve) => setTimeout(resolve, pause));
        if (shown() !== last) draws += 1;
        last = shown();
    }}
    return draws;
}}"""


def test_a_page_of_many_boxes_is_drawn_during_typing(server, person):
    note = Note(server, person("Ann"), boxes(2_000))
    note.read()
    # Without a maximum delay, each letter would postpone the drawing.
    assert note.ann.page.evaluate(DRAWS_WHILE_TYPING, [60, 20]) >= 2


def test_only_changed_blocks_are_drawn(server, person):
    note = Note(server, person("Ann"), "# Head\n\none\n\n" + boxes(20) + "\nthree [ref] and [other]\n\n[ref]: https://a.example\n")
    note.read()
    note.ann.page.evaluate("() => document.querySelectorAll('#rendered *').forEach((one) => { one.isFormer = true; })")
    box = note.shown.get_by_role("checkbox", name="box 7")
    box.focus()
    note.ann.page.keyboard.press("Space")
    expect(box).to_be_checked()
    text = note.stored()["text"]
    note.edit(text.index("one"), insert="new ")
    note.edit(note.stored()["text"].index("box 3"), insert="new ")
    expect(note.shown).to_contain_text("new box 3")
    expect(box).to_be_focused()
    text = note.stored()["text"]
    note.edit(len(text), insert="[other]: https://b.example\n")
    expect(note.shown.get_by_role("link", name="other")).to_be_visible()
    expect(box).to_be_focused()
    made = note.ann.page.evaluate(
        "() => [...document.querySelectorAll('#rendered *')].filter((one) => !one.isFormer).map((one) => one.localName)"
    )
    assert made == ["a"], made
