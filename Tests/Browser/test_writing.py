"""Writing beyond typing: boxes, links and tables in the text, commands, the bar on a phone, and help."""

import re

import pytest
from conftest import PHONE, VIEW_IN, barriers, converge, wait_until
from playwright.sync_api import expect
from touching import small_targets

MOTION = "no-preference"

TEXT = "- [ ] milk\n- [x] bread\n\nSee [the site](https://example.org/x) and [Other](/n/OTHER).\n\n|a|long|\n|-|-:|\n|tea|3|\n"


def command(person, words):
    """Runs a command with the palette."""
    person.page.keyboard.press("Control+k")
    person.page.get_by_role("combobox", name="Search notes").fill(f"> {words}")
    expect(person.page.get_by_role("option").first).to_contain_text(words)
    person.press("Enter")


def test_boxes_links_and_tables_in_the_text(server, person):
    other, note = server.create("Other"), server.create("Shopping")
    server.put_text(note, TEXT.replace("OTHER", other))
    ann, bo = person("Ann").open(note), person("Bo").open(note)
    boxes = ann.page.locator("#editor .box")
    expect(boxes).to_have_count(2)
    # A click on a box ticks it for all users, and does not move the caret.
    boxes.first.click()
    assert converge(ann, bo).startswith("- [x] milk\n- [x] bread")
    bo.put_caret(bo.text().index("bread"))
    bo.press("Control+Enter")
    assert converge(ann, bo).startswith("- [x] milk\n- [ ] bread")
    # A command aligns the columns, in one undo step.
    table = ann.text().index("tea")
    ann.put_caret(table + 2)
    command(ann, "Align the table")
    aligned = "| a   | long |\n| --- | ---: |\n| tea |    3 |\n"
    assert converge(ann, bo).endswith(aligned)
    expect(ann.page.locator("#editor .table-line")).to_have_count(3)
    ann.press("Control+z")
    assert "|tea|3|" in converge(ann, bo)
    command(ann, "Align the table")
    ann.picture("boxes-and-tables")
    # A click with Control follows a link: to other sites in a new tab, to notes in this one.
    ann.context.route("https://example.org/**", lambda route: route.fulfill(body="elsewhere"))
    with ann.context.expect_page() as opened:
        ann.page.locator("#editor .followed", has_text="the site").first.click(modifiers=["Control"])
    assert opened.value.url == "https://example.org/x"
    assert opened.value.evaluate("() => window.opener") is None
    opened.value.close()
    ann.page.locator("#editor .followed", has_text="Other").first.click(modifiers=["Control"])
    expect(ann.page).to_have_url(re.compile(other))
    # A link to a note is inserted by the note's title.
    ann.page.go_back()
    ann.wait_for_editor()
    ann.to_end()
    command(ann, "Link to a note")
    ann.page.get_by_role("combobox").fill("oth")
    expect(ann.page.get_by_role("option")).to_have_count(1)
    ann.press("Enter")
    wait_until(lambda: converge(ann, bo).endswith(f"[Other](/n/{other})"), ann.text)
    text = bo.text()
    bo.put_caret(0, 4)
    bo.press("Control+b", "Control+b", "Control+i")
    wait_until(lambda: bo.text() != text)
    bo.press("Control+z")
    assert converge(ann, bo) == text


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_phone_has_a_bar_of_tools_that_fingers_hit(server, person, language):
    note = server.create("Phone")
    server.put_text(note, "one\n\n# Heading\n\n## Second\n\n### Third\n\n- [ ] task\n")
    ann = person("Ann", **PHONE, locale=language).open(note)
    tools = ann.page.get_by_role("toolbar")
    expect(tools.get_by_role("button")).to_have_count(17)
    ann.put_caret(3)
    tools.get_by_role("button").first.tap()
    wait_until(lambda: ann.text().startswith("- [ ] one\n"))
    # The text keeps the focus; otherwise the on-screen keyboard would be hidden.
    assert ann.page.evaluate("() => document.activeElement.id") == "editor"
    ann.wait_until_saved()

    def check(name):
        assert small_targets(ann.page) == [], name
        assert ann.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), name
        ann.picture(f"touch-{name}-{language}")

    check("note")
    ann.page.locator("#note-menu").tap()
    check("menu")
    ann.press("Escape")
    ann.editor.focus()
    ann.press("Control+f")
    expect(ann.page.locator("#editor .cm-search")).to_be_visible()
    check("find")
    ann.press("Escape")
    ann.put_caret(6, 9)
    ann.page.locator("#comment-here").tap()
    ann.page.locator("#comment-new textarea").fill("Really?")
    ann.page.locator("#comment-new .button.primary").tap()
    expect(ann.page.locator(".thread")).to_have_count(1)
    check("comments")
    ann.page.locator("#comments").tap()
    ann.page.locator("#read").tap()
    expect(ann.page.locator("#rendered input")).to_have_count(2)
    expect(tools).to_be_hidden()
    ann.page.locator(".contents summary").tap()
    check("read")
    ann.page.locator("#share").tap()
    ann.page.locator("#sharing-make").tap()
    expect(ann.page.locator("#sharing-link")).to_be_visible()
    check("share")
    ann.press("Escape")
    ann.page.goto("/")
    expect(ann.page.locator("#notes .note-row")).to_have_count(1)
    check("list")
    for opener, shown in (("#me", "#profile"), ("#search", ".palette")):
        ann.page.locator(opener).tap()
        expect(ann.page.locator(shown)).to_be_visible()
        check(shown[1:])
        ann.press("Escape")
    ann.page.goto(f"/n/{note}#history")
    expect(ann.page.locator("#history-text")).to_have_attribute("aria-busy", "false")
    check("history")


def test_commands_and_keys_are_found(server, person):
    note = server.create("Commands")
    ann = person("Ann").open(note)
    ann.type("word")
    ann.press("Control+k")
    options = ann.page.get_by_role("option")
    field = ann.page.get_by_role("combobox", name="Search notes")
    expect(ann.page.locator(".palette-state")).to_have_text("Type > for commands.")
    # Commands are found by their first letters beside notes, and by any part after “>”.
    field.fill("Pri")
    expect(options).to_have_text(["Print…"])
    field.fill(">help")
    expect(options).to_have_text(["Keyboard helpF1"])
    for scheme in ("light", "dark"):
        ann.page.emulate_media(color_scheme=scheme)
        field.fill(">")
        expect(options.first).to_be_visible()
        assert barriers(ann.page) == []
    field.fill(">no such thing")
    expect(ann.page.locator(".palette-state")).to_have_text("There is no such command.")
    field.fill(">help")
    ann.press("Enter")
    dialog = ann.page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_contain_text("follow a link")
    for scheme in ("light", "dark"):
        ann.page.emulate_media(color_scheme=scheme)
        assert barriers(ann.page) == []
    ann.picture("help")
    ann.press("Escape")
    expect(dialog).to_have_count(0)
    # F1 opens the help anywhere, and a question mark outside of text fields.
    ann.editor.focus()
    ann.press("F1")
    expect(dialog).to_be_visible()
    ann.press("Escape")
    ann.to_end()
    ann.press("?")
    ann.wait_for_text("word?")
    expect(dialog).to_have_count(0)
    ann.page.locator("#read").focus()
    ann.press("?")
    expect(dialog).to_be_visible()


def test_two_windows_of_one_person_are_one_face(server, person):
    note = server.create("Faces")
    ann, bo = person("Ann").open(note), person("Bo", color="#8a4bab").open(note)
    expect(bo.page.locator("#people .avatar")).to_have_count(2)
    second = ann.new_page()
    second.goto(f"/n/{note}")
    expect(second.locator("#status")).to_have_attribute("data-state", "saved")
    bo.page.locator("#people").click()
    expect(bo.page.locator("#people-list")).to_contain_text("2 windows")
    for page in (bo.page, ann.page, second):
        expect(page.locator("#people-avatars .avatar")).to_have_count(2)
    expect(second.get_by_role("button", name="Here with you: Bo")).to_be_visible()


def test_a_title_stays_readable_and_an_outage_is_explained(server, person):
    title = "Plan for the summer, with all that we want to see and who brings what along"
    note = server.create(title)
    ann = person("Ann", **PHONE).open(note)
    field = ann.page.locator("#title")
    assert field.evaluate("(field) => field.scrollHeight <= field.clientHeight + 1"), "all of it is seen"
    field.fill("Two\nlines")
    ann.press("Enter")
    expect(ann.editor).to_be_focused()
    wait_until(lambda: server.request("GET", "/api/notes")["notes"][0]["title"] == "Two lines")
    ann.type("kept")
    ann.wait_until_saved()
    server.kill()
    hint = ann.page.locator(".notice[data-kind=offline]")
    expect(hint).to_contain_text("You can continue to write")
    ann.picture("offline-in-words")
    hint.get_by_role("button").tap()
    expect(hint).to_have_count(0)
    server.start()
    ann.wait_until_saved()


def test_everything_is_reachable_at_four_hundred_per_cent(server, person):
    note = server.create("Autumn walk with everybody who likes walking")
    server.put_text(note, "words\n" * 40)
    # The size of a window of 1280 by 1024 at 400 %.
    ann = person("Ann", viewport={"width": 320, "height": 256}).open(note)
    assert ann.page.locator("#editor").bounding_box()["height"] > 90
    ann.page.locator("#note-menu").click()
    menu = ann.page.get_by_role("menu").bounding_box()
    assert menu["y"] >= 0 and menu["y"] + menu["height"] <= 256
    for item in ann.page.get_by_role("menuitem").all():
        item.scroll_into_view_if_needed()
        expect(item).to_be_in_viewport()
    ann.press("Escape")
    ann.page.locator("#share").click()
    done = ann.page.get_by_role("dialog").get_by_role("button", name="Done")
    done.scroll_into_view_if_needed()
    expect(done).to_be_in_viewport()
    assert ann.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
