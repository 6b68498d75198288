"""How the views of the page are laid out: the width of text, what is wider than its pane, and what is printed.

`VIEWS` has a row for each view. Each is opened in two languages and themes, and measured at five widths.
"""

import re

import pytest
from conftest import PHONE
from playwright.sync_api import expect

# The menu's words for the view beside the text, in the languages of these tests.
BESIDE = re.compile("Read beside the text|القراءة بجانب النص")
WIDTHS = [360, 768, 1180, 1440, 1920]

WORDS = "The quick brown fox jumps over the lazy dog and runs along the river until the evening comes. "
WIDE = "\n".join("| " + " | ".join(cell for _ in range(14)) + " |" for cell in ("Department", "---", "extraordinary"))
TEXT = "\n\n".join([
    "# First heading", WORDS * 6, "## Second heading", WORDS * 3, WIDE, "- [ ] milk\n- [x] bread", "## Third heading",
    WORDS * 3, "```python\n" + "value = compute(" + "argument, " * 40 + ")\n```", "https://example.org/" + "a" * 300,
])  # fmt: skip


def open_home(person):
    person.page.goto("/")
    expect(person.page.locator("#welcome")).to_be_visible()


def open_note(person):
    person.open(person.note)


def open_page(person):
    open_note(person)
    person.page.locator("#read").click()
    expect(person.page.locator("#rendered")).to_be_visible()


def open_beside(person):
    open_note(person)
    person.page.locator("#note-menu").click()
    person.page.get_by_role("menuitem", name=BESIDE).click()
    expect(person.page.locator("#rendered")).to_be_visible()


def open_history(person):
    person.page.goto(f"/n/{person.note}#history")
    expect(person.page.locator("#history-text .cm-line").first).to_be_visible()


def open_comments(person):
    open_note(person)
    person.page.locator("#comments").click()
    expect(person.page.locator("#comments-panel")).to_be_visible()


def open_search(person):
    open_note(person)
    person.press("Control+k")
    expect(person.page.locator("dialog.palette")).to_be_visible()


def open_deleted(person):
    person.page.goto("/n/there-is-no-such-note")
    expect(person.page.locator("#gone-title")).to_be_visible()


# A name, how it is opened, and the selector of what has a column of prose in it, if there is one.
VIEWS = {
    "home": (open_home, None),
    "note": (open_note, "#editor .cm-line"),
    "page": (open_page, "#rendered p"),
    "beside": (open_beside, "#rendered p"),
    "history": (open_history, "#history-text .cm-line"),
    "comments": (open_comments, "#editor .cm-line"),
    "search": (open_search, None),
    "deleted": (open_deleted, None),
}

# In the page: panes whose content is wider than they are. A table or code that scrolls in its own box is not.
TOO_WIDE = """() => {
    const roots = [document, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])];
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push(`page: ${document.documentElement.scrollWidth}`);
    const panes = ["#sidebar", "#note", "#paper", "#rendered", "#editor", "#history", "#comments-panel", ".cm-scroller"];
    for (const root of roots) for (const pane of panes) for (const one of root.querySelectorAll(pane)) {
        if (!one.checkVisibility()) continue;
        if (one.scrollWidth > one.clientWidth + 1) found.push(`${pane}: ${one.scrollWidth} in ${one.clientWidth}`);
    }
    return found;
}"""

# In the page: the widest column of prose, in widths of the digit zero, and how much of its pane it fills.
MEASURE = """(selector) => {
    const roots = [document, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])];
    const [host, inner] = selector.split(" ");
    const root = document.querySelector(host);
    const all = [...(root.shadowRoot ?? root).querySelectorAll(inner)].filter((one) => one.textContent.length > 200);
    const one = all[0];
    const style = getComputedStyle(one);
    const context = document.createElement("canvas").getContext("2d");
    context.font = `${style.fontSize} ${style.fontFamily}`;
    const inside = (it, own) => it.getBoundingClientRect().width - parseFloat(own.paddingLeft) - parseFloat(own.paddingRight);
    const width = inside(one, style);
    return { ch: width / context.measureText("0").width, share: width / root.getBoundingClientRect().width };
}"""

# In the page: words that a cell of a table breaks, though the table could scroll.
BROKEN_WORDS = """() => [...document.querySelectorAll("#rendered :is(th, td)")].flatMap((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return /\\s/.test(cell.textContent) || range.getClientRects().length <= 1 ? [] : [cell.textContent];
})"""


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_view_is_measured_at_every_width(server, person, language):
    note = server.create("A walk along the river")
    server.put_text(note, TEXT)
    scheme = "dark" if language == "ar" else "light"
    ann = person("Ann", locale=language, color_scheme=scheme)
    ann.note = note
    wrong = []
    for view, (show, prose) in VIEWS.items():
        ann.page.set_viewport_size({"width": 1180, "height": 800})
        show(ann)
        for width in WIDTHS:
            ann.page.set_viewport_size({"width": width, "height": 800})
            ann.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            wrong += [f"{view} at {width}: wider than its pane: {one}" for one in ann.page.evaluate(TOO_WIDE)]
            if prose and ann.page.locator(prose).first.is_visible():
                found = ann.page.evaluate(MEASURE, prose)
                # On a small screen it fills its pane.
                if found["ch"] > 90 or (found["ch"] < 45 and found["share"] < 0.8):
                    wrong.append(f"{view} at {width}: a column of {found}")
            if view in ("page", "beside"):
                wrong += [f"{view} at {width}: broken word {one}" for one in ann.page.evaluate(BROKEN_WORDS)]
            ann.picture(f"view-{view}-{width}-{language}")
        ann.page.goto("about:blank")
    assert not wrong, "\n".join(wrong)


PRINTED_FIXED = """() => [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
    && getComputedStyle(one).position === "fixed").map((one) => one.id || one.className)"""


def test_a_note_is_printed_as_a_page(server, person):
    note = server.create("On paper")
    server.put_text(note, TEXT)
    ann = person("Ann").open(note)
    # Printing itself takes no window here: what the browser would print is measured.
    ann.page.evaluate("() => (window.print = () => { document.body.dataset.asked = 'yes'; })")
    ann.editor.focus()
    ann.press("Control+p")
    expect(ann.page.locator("body")).to_have_attribute("data-asked", "yes")
    ann.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    ann.page.emulate_media(media="print")
    printed = ann.page.locator("#printed")
    expect(printed.locator("h2.level-1")).to_have_text("First heading")
    expect(printed.locator("td")).to_have_count(14)
    assert ann.page.evaluate(PRINTED_FIXED) == []
    expect(ann.page.locator(".skip")).to_be_hidden()
    ann.picture("printed")
    ann.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(printed).to_be_hidden()
    ann.page.goto("/")
    expect(ann.page.locator(".skip")).to_be_hidden()


def test_nothing_lies_over_a_new_notes_text_without_a_server(server, person):
    other = server.create("Never opened here")
    ann = person("Ann").open(server.create("Opened"))
    server.kill()
    ann.wait_for_status("offline")
    ann.page.locator("#notes .note-title", has_text="Never opened here").click()
    expect(ann.page.locator("[data-kind=absent]")).to_contain_text("not been opened in this browser")
    expect(ann.page.locator("#loading")).to_be_hidden()
    ann.page.get_by_role("button", name="New note").first.click()
    expect(ann.page.locator("#early")).to_be_visible()
    expect(ann.page.locator("#loading")).to_be_hidden()
    server.start()
    ann.wait_until_saved()


def test_fields_on_a_phone_have_letters_of_16_pixels(server, person):
    ann = person("Ann", **PHONE).open(server.create("Small"))
    small = "(all) => all.filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16).map((one) => one.id)"
    fields = "input:not([type=checkbox], [type=radio], [type=range], [type=file]), select, textarea"
    assert ann.page.locator(fields).evaluate_all(small) == []
