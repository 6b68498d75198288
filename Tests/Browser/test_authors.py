"""Authors shown while people write, and the position in the history during new changes."""

from conftest import VIEW_IN, converge, wait_until
from playwright.sync_api import expect
from test_history import Past

WRITTEN = """() => [...document.querySelector("#editor").shadowRoot.querySelectorAll(".written")]
    .map((one) => [one.title, one.textContent])"""


def switch(person, words):
    person.page.get_by_role("button", name="More for this note").click()
    person.page.get_by_role("menuitem", name=words).click()


def test_the_text_shows_its_authors_while_people_type(server, person):
    note = server.create("Authors")
    ann = person("Ann", "#16737f").open(note)
    bo = person("Bo", "#b0452a").open(note)
    ann.editor.focus()
    ann.page.keyboard.insert_text("Meet at nine. ")
    converge(ann, bo)
    bo.to_end()
    bo.page.keyboard.insert_text("Bring bread.")
    converge(ann, bo)
    switch(ann, "Show who wrote what")
    written = lambda: ann.page.evaluate(WRITTEN)  # noqa: E731
    wait_until(lambda: written() == [["Ann", "Meet at nine. "], ["Bo", "Bring bread."]], written)
    legend = ann.page.get_by_role("list", name="Authors")
    expect(legend.get_by_role("listitem")).to_have_text(["Ann", "Bo"])
    # Ann's words are marked as hers at once, and the words of others after an answer of the server.
    ann.put_caret(20)
    ann.page.keyboard.insert_text("fresh ")
    assert written() == [["Ann", "Meet at nine. "], ["Bo", "Bring "], ["Ann", "fresh "], ["Bo", "bread."]]
    expect(legend.locator("[aria-current]")).to_have_text("Ann")
    bo.to_start()
    bo.page.keyboard.insert_text("We ")
    all_written = [["Bo", "We "], ["Ann", "Meet at nine. "], ["Bo", "Bring "], ["Ann", "fresh "], ["Bo", "bread."]]
    wait_until(lambda: written() == all_written, written)
    converge(ann, bo)
    for scheme in ("light", "dark"):
        ann.page.emulate_media(color_scheme=scheme)
        ann.picture(f"authors-{scheme}")
    # The browser remembers the setting for this user.
    ann.reload()
    wait_until(lambda: written() == all_written, written)
    switch(ann, "Hide who wrote what")
    assert written() == []
    expect(legend).to_have_count(0)
    # Typing works with the setting off.
    ann.to_end()
    ann.type(" Yes.")
    converge(ann, bo)


TOP = """() => {
    const view = (VIEW_IN)("#history-text");
    const top = view.scrollDOM.getBoundingClientRect().top - view.documentTop;
    const block = view.lineBlockAtHeight(top);
    return [view.state.doc.lineAt(block.from).text, Math.round(block.top - top)];
}"""


def test_new_changes_do_not_scroll_the_history(server, person):
    note = server.create("Read")
    server.put_text(note, "".join(f"line {number}\n" for number in range(400)))
    ann = person("Ann").open(note)
    bo = person("Bo").open(note)
    past = Past(ann).open()
    wait_until(lambda: past.text())
    top = TOP.replace("VIEW_IN", VIEW_IN)
    scroll = f"() => {{ ({VIEW_IN})('#history-text').scrollDOM.scrollTop = 3000; }}"
    ann.page.evaluate(scroll)
    # Lines get their heights when they are drawn.
    ann.wait_for_frames()
    before = ann.page.evaluate(top)
    # Changes above and below the visible part, in one revision and in several.
    bo.to_start()
    bo.type("new\nnew\n")
    bo.to_end()
    bo.type("the end")
    bo.to_start()
    bo.type("again\n")
    bo.wait_until_saved()
    wait_until(lambda: past.text() == bo.text(), past.text)
    # The position is corrected in the next frame.
    wait_until(lambda: ann.page.evaluate(top) == before, lambda: (before, ann.page.evaluate(top)))
    # The same in the page view of the history.
    past.section.locator("#history-read").click()
    shown = past.section.locator("#history-page")
    expect(shown).to_contain_text("the end")
    server.put_text(note, "".join(f"part {number}\n\n" for number in range(100)))
    expect(shown).to_contain_text("part 99")
    shown.evaluate("(one) => { one.scrollTop = 1500; }")
    ann.wait_for_frames()
    place = """(one) => {
        const top = one.getBoundingClientRect().top;
        const block = [...one.children].find((child) => child.getBoundingClientRect().bottom > top);
        return [block.textContent, Math.round(block.getBoundingClientRect().top - top)];
    }"""
    before = shown.evaluate(place)
    bo.to_start()
    bo.type("above\n\nall\n\n")
    bo.wait_until_saved()
    expect(shown.locator(".block").first).to_have_text("above")
    wait_until(lambda: shown.evaluate(place) == before, lambda: (before, shown.evaluate(place)))
