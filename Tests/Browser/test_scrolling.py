"""The visible text does not move while others write above it; text and page view scroll together."""

import pytest
from conftest import VIEW_IN, wait_until
from playwright.sync_api import expect

LINES = 400
TOP = 146
VIEW = f"({VIEW_IN})('#editor')"

# In the page: the position of a line, in pixels below the upper edge of the view.
PLACES = {
    "editor": f"""(word) => {{
        const view = {VIEW};
        const line = view.lineBlockAt(view.state.doc.toString().indexOf(word));
        return view.documentTop + line.top - view.scrollDOM.getBoundingClientRect().top;
    }}""",
    "page": """(word) => {
        const host = document.querySelector("#rendered");
        const walk = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
        while (walk.nextNode() && !walk.currentNode.data.includes(word));
        const range = document.createRange();
        range.setStart(walk.currentNode, walk.currentNode.data.indexOf(word));
        range.setEnd(walk.currentNode, range.startOffset + 1);
        return range.getBoundingClientRect().top - host.getBoundingClientRect().top;
    }""",
}


def place(ann, view, number):
    return ann.page.evaluate(PLACES[view], f"line {number}.")


def put_at_top(ann, view, number):
    """Scrolls until the line is the first visible one, and stays there."""
    host = ann.page.locator("#editor" if view == "editor" else "#rendered")
    scroller = f"{VIEW}.scrollDOM" if view == "editor" else "document.querySelector('#rendered')"

    def is_there():
        # The heights of lines that were never visible are estimates, so several steps may be needed.
        moved = place(ann, view, number)
        host.dispatch_event("wheel")
        ann.page.evaluate(f"(moved) => {{ {scroller}.scrollTop += moved; }}", moved)
        ann.wait_for_frames()
        return abs(place(ann, view, number)) < 2

    wait_until(is_there)


def lines(separator="\n"):
    return separator.join(f"line {number}." for number in range(1, LINES + 1)) + "\n"


def read_beside(ann):
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="Read beside the text").click()
    expect(ann.page.locator("#rendered > .block").first).to_be_visible()


# In the page: types letter by letter, with a caret for each, several in a frame.
TYPE = f"""async (text) => {{
    const view = {VIEW};
    for (let place = 0; place < text.length; place += 1) {{
        view.dispatch({{ changes: {{ from: place, insert: text[place] }}, selection: {{ anchor: place + 1 }} }});
        if (place % 3 === 0) await new Promise((resolve) => setTimeout(resolve));
    }}
}}"""


def insert_above(server, note, by, bo, text):
    """Inserts 30 lines at the beginning. Returns the new text."""
    added = "".join(f"{by} {number}.\n" for number in range(30))
    if by == "put":
        server.put_text(note, added + text)
    else:
        bo.page.evaluate(TYPE, added)
    return added + text


@pytest.mark.parametrize("shown", ["editor", "page", "beside"])
def test_the_first_visible_line_stays_while_another_person_writes_above_it(server, person, shown):
    note = server.create("Long")
    text = lines("\n\n" if shown == "page" else "\n")
    server.put_text(note, text)
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    ann.wait_for_text(text)
    bo.wait_for_text(text)
    if shown == "page":
        ann.page.get_by_role("button", name="Read as a page").click()
        expect(ann.page.locator("#rendered")).to_contain_text("line 400.")
    elif shown == "beside":
        read_beside(ann)
    views = ["editor", "page"] if shown == "beside" else [shown]
    for by in ("hand", "put"):
        put_at_top(ann, views[0], TOP)
        ann.wait_for_frames()
        before = [place(ann, view, TOP) for view in views]
        text = insert_above(server, note, by, bo, text)
        ann.wait_for_text(text)
        if shown != "editor":
            expect(ann.page.locator("#rendered")).to_contain_text(f"{by} 29.")
        ann.wait_for_frames()
        after = [place(ann, view, TOP) for view in views]
        assert all(abs(one - other) < 4 for one, other in zip(before, after)), (by, before, after)


def test_the_first_visible_line_stays_in_a_list_and_at_the_top_new_lines_are_seen(server, person):
    note = server.create("Boxes")
    text = "".join(f"- [ ] line {number}.\n" for number in range(1, LINES + 1))
    server.put_text(note, text)
    ann = person("Ann").open(note)
    ann.wait_for_text(text)
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(ann.page.locator("#rendered li")).to_have_count(LINES)
    put_at_top(ann, "page", TOP)
    ann.wait_for_frames()
    server.put_text(note, "- [ ] new 1.\n" * 30 + text)
    expect(ann.page.locator("#rendered li")).to_have_count(LINES + 30)
    assert abs(place(ann, "page", TOP)) < 4
    ann.page.locator("#rendered").evaluate("(host) => host.scrollTo(0, 0)")
    server.put_text(note, "- [ ] new 2.\n" + "- [ ] new 1.\n" * 30 + text)
    expect(ann.page.get_by_role("checkbox", name="new 2.")).to_be_in_viewport()


MIXED = "".join(
    f"## Part {part}\n\nline {part}. "
    + ("word " * 120 if part % 3 == 0 else "")
    + ("\n\n```\n" + "code\n" * 12 + "```" if part % 4 == 1 else "")
    + ("\n\n" + "- item\n" * 9 if part % 5 == 2 else "")
    + "\n\n"
    for part in range(1, 61)
)


# The maximum distance of a line's positions in text and page view, in pixels.
NEAR = 12


def both(ann, part):
    return f"part {part}: {place(ann, 'editor', part)} in the text, {place(ann, 'page', part)} on the page"


def test_text_and_page_scroll_together_by_their_lines(server, person):
    note = server.create("Both")
    server.put_text(note, MIXED)
    ann = person("Ann").open(note)
    ann.wait_for_text(MIXED)
    read_beside(ann)
    for moved, other, parts in (("editor", "page", [20, 41, 7]), ("page", "editor", [50, 12, 33])):
        for part in parts:
            put_at_top(ann, moved, part)
            wait_until(lambda part=part: abs(place(ann, other, part)) < NEAR, lambda part=part: both(ann, part))
    # Both views reach their beginnings and ends together.
    ann.page.locator("#rendered").evaluate("(host) => { host.scrollTop = 0; }")
    wait_until(lambda: ann.page.evaluate(f"() => {VIEW}.scrollDOM.scrollTop") == 0)


def test_the_split_view_is_remembered_and_in_the_address(server, person):
    note, other = server.create("One"), server.create("Other")
    server.put_text(note, "# One\n")
    server.put_text(other, "# Other\n")
    ann = person("Ann").open(note)
    read_beside(ann)
    expect(ann.page).to_have_url(f"{server.url}/n/{note}#view=beside")
    ann.page.goto(f"/n/{other}")
    expect(ann.page.locator("#rendered h2")).to_have_text("Other")
    expect(ann.page).to_have_url(f"{server.url}/n/{other}#view=beside")
    # The address alone opens the split view, without changing the setting for the next note.
    bo = person("Bo").open(note, "#view=beside")
    expect(bo.page.locator("#rendered h2")).to_have_text("One")
    expect(bo.editor).to_be_visible()
    ann.page.get_by_role("button", name="Read as a page").click()
    expect(ann.page).to_have_url(f"{server.url}/n/{other}")
    expect(ann.page.locator("#rendered")).to_be_hidden()
    ann.page.goto(f"/n/{note}")
    ann.wait_for_editor()
    expect(ann.page.locator("#rendered")).to_be_hidden()


def test_the_buttons_beside_a_selection_stay_while_others_write_above(server, person):
    """A change above the first visible line scrolls the editor; the buttons beside the selection are positioned again."""
    note = server.create("Selected")
    server.put_text(note, lines())
    ann = person("Ann").open(note)
    put_at_top(ann, "editor", TOP)
    selected = [ann.page.locator(name) for name in ("#comment-here", ".selection-bar")]
    ann.page.locator("#editor .cm-line", has_text=f"line {TOP + 5}.").dblclick()
    for _ in range(3):
        for one in selected:
            expect(one).to_be_visible()
        ann.wait_for_text(insert_above(server, note, "put", None, ann.text()))
        ann.wait_for_frames()
        ann.wait_for_frames()
    for one in selected:
        expect(one).to_be_visible()
    # The buttons scroll out of view together with the selection, and back.
    for step in (2_000, -2_000):
        ann.page.evaluate(f"() => {{ {VIEW}.scrollDOM.scrollTop += {step}; }}")
        for one in selected:
            expect(one).to_be_visible(visible=step < 0)
