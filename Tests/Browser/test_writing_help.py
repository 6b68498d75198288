"""Writing aids: menus at the caret, keys in tables, and the bar above a selection."""

from conftest import PHONE, barriers, converge, wait_until
from playwright.sync_api import expect
from touching import small_targets

TABLE = "| a | b |\n| - | - |\n| c | d |"


def test_a_menu_inserts_parts_of_markdown_people_notes_and_emoji(server, person):
    note, other = server.create("Menus"), server.create("Minutes [May]")
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    menu = ann.page.locator("#editor .choices")
    ann.type("/")
    expect(menu).to_be_visible()
    expect(ann.editor).to_have_attribute("aria-activedescendant", "choice-0")
    assert barriers(ann.page) == []
    ann.picture("menu-of-parts")
    ann.type("todo")
    expect(menu.get_by_role("option")).to_have_count(1)
    ann.press("Enter")
    ann.wait_for_text("- [ ] ")
    expect(menu).to_be_hidden()
    # Another user writes above meanwhile.
    ann.type("ask @b")
    expect(menu.get_by_role("option")).to_have_text("Bo")
    bo.wait_for_text("- [ ] ask @b")
    bo.to_start()
    bo.type("intro\n\n")
    wait_until(lambda: ann.text() == "intro\n\n- [ ] ask @b", ann.text)
    ann.press("Tab")
    ann.wait_for_text("intro\n\n- [ ] ask @Bo ")
    ann.type("[[may")
    expect(menu.get_by_role("option")).to_have_text("Minutes [May]")
    menu.get_by_role("option").click()
    ann.type(" :tada")
    expect(menu.get_by_role("option")).to_have_text("🎉 tada")
    ann.press("Enter")
    link = f"[Minutes \\[May\\]](/n/{other})"
    ann.wait_for_text(f"intro\n\n- [ ] ask @Bo {link} 🎉")
    # Arrow keys select, and Escape closes the menu without changing the text.
    ann.press("Enter", "Shift+Home", "Delete")
    ann.type("/head")
    expect(menu.get_by_role("option")).to_have_count(3)
    ann.press("ArrowDown", "Enter")
    ann.type("Two")
    ann.press("Enter")
    ann.type("/ta")
    expect(menu).to_be_visible()
    ann.press("Escape")
    expect(menu).to_be_hidden()
    ann.type("b")
    expect(menu).to_be_hidden()
    text = converge(ann, bo)
    assert text.endswith("## Two\n/tab"), text
    # A choice is one undo step.
    ann.press("Enter")
    ann.type("/table")
    expect(menu).to_be_visible()
    ann.press("Enter")
    wait_until(lambda: "| --- |" in ann.text(), ann.text)
    ann.press("Control+z")
    wait_until(lambda: ann.text().endswith("/tab\n/table"), ann.text)
    # A person who has written in the note is offered even after leaving it.
    bo.page.goto("/")
    expect(ann.page.get_by_role("button", name="Only you are here")).to_be_visible()
    ann.reload().to_end()
    menu.wait_for(state="attached")
    with ann.page.expect_response(lambda answer: answer.url.endswith("/sessions")):
        ann.type(" @")
    ann.type("b")
    expect(menu.get_by_role("option")).to_have_text("Bo")


def test_keys_of_a_table(server, person):
    note = server.create("Table")
    server.put_text(note, TABLE)
    ann = person("Ann").open(note)
    # Wait for the part of the page that handles the keys.
    ann.page.locator("#editor .choices").wait_for(state="attached")
    ann.put_caret(2)
    ann.type("x")
    ann.press("Tab")
    ann.type("y")
    ann.press("Tab", "Tab", "Tab")
    ann.type("new")
    wait_until(lambda: ann.text() == "| xa | y |\n| - | - |\n| c | d |\n| new    |     |", ann.text)
    ann.press("Shift+Tab")
    ann.type("z")
    ann.press("Tab", "Tab", "Enter", "Enter")
    ann.type("after")
    wait_until(lambda: ann.text() == "| xa | y |\n| - | - |\n| c | z |\n| new    |     |\nafter", ann.text)


def test_a_bar_is_above_selected_words(server, person):
    note = server.create("Bar")
    server.put_text(note, "first\n\nsome words here\n")
    ann = person("Ann").open(note)
    bar = ann.page.locator(".selection-bar")
    ann.put_caret(12, 17)
    expect(bar).to_be_visible()
    ann.picture("selection-bar")
    assert barriers(ann.page) == []
    bar.get_by_role("button", name="Bold").click()
    ann.wait_for_text("first\n\nsome **words** here\n")
    # With the keyboard only.
    ann.press("Alt+F10")
    expect(bar.get_by_role("button").first).to_be_focused()
    ann.press("ArrowRight", "Enter")
    ann.wait_for_text("first\n\nsome ***words*** here\n")
    ann.press("Escape")
    expect(bar).to_be_hidden()
    assert ann.page.evaluate("() => document.activeElement.id") == "editor"


def test_a_phone_has_the_menus_and_not_the_bar(server, person):
    note = server.create("Phone")
    ann = person("Ann", **PHONE, locale="ar").open(note)
    ann.type("/")
    menu = ann.page.locator("#editor .choices")
    expect(menu).to_be_visible()
    ann.picture("menu-on-a-phone")
    assert small_targets(ann.page) == []
    heights = menu.get_by_role("option").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().height)")
    assert min(heights) >= 44
    menu.get_by_role("option").first.tap()
    ann.wait_for_text("# ")
    ann.put_caret(0, 2)
    expect(ann.page.locator(".selection-bar")).to_be_hidden()
