"""The list of notes, and the page around it."""

import re

from conftest import PHONE, barriers, converge, wait_until
from playwright.sync_api import expect

MOTION = "no-preference"


def titles(person):
    return person.page.locator("#notes .note-title")


def test_the_list_is_live(server, person):
    ann = person("Ann")
    bo = person("Bo")
    for one in (ann, bo):
        one.page.goto("/")
        expect(one.page.locator("#notes-empty")).to_have_text("No notes yet.")
    ann.picture("no-notes")

    ann.page.get_by_role("button", name="New note").click()
    expect(ann.page).to_have_url(re.compile(r"/n/.+"))
    ann.page.keyboard.type("Shopping")
    ann.page.keyboard.press("Enter")
    expect(titles(bo)).to_have_text(["Shopping"])
    expect(ann.page).to_have_title("Shopping · Parley")

    # A new title appears in the list and in the open note.
    titles(bo).click()
    bo.wait_for_status("saved")
    expect(bo.page.get_by_label("Title of the note")).to_have_value("Shopping")
    bo.page.locator("#notes .note-row").hover()
    bo.page.get_by_role("button", name="More for “Shopping”").click()
    bo.page.get_by_role("menuitem", name="Rename").click()
    bo.page.get_by_label("New title").fill("Groceries 🥕")
    # Focusing a title does not send it.
    title = ann.page.get_by_label("Title of the note")
    title.focus()
    bo.page.keyboard.press("Enter")
    expect(title).to_have_value("Groceries 🥕")
    ann.press("Enter")
    expect(title).not_to_be_focused()
    expect(titles(ann)).to_have_text(["Groceries 🥕"])

    # Deleting asks for confirmation.
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="Delete").click()
    ann.page.get_by_role("button", name="Keep it").click()
    expect(titles(bo)).to_have_count(1)
    ann.page.get_by_role("button", name="More for this note").click()
    ann.page.get_by_role("menuitem", name="Delete").click()
    ann.page.get_by_role("button", name="Delete note").click()
    expect(titles(bo)).to_have_count(0)
    expect(bo.page.locator("#gone-title")).to_have_text("This note no longer exists.")
    bo.picture("note-gone")
    expect(ann.page).to_have_url(re.compile(r"/$"))
    bo.page.get_by_role("link", name="Back to the notes").click()
    expect(bo.page.locator("#welcome-title")).to_be_visible()


def test_finding_and_going_back(server, person):
    for index in range(9):
        server.create(f"Note {index}")
    wanted = server.create("Ébauche")
    ann = person("Ann")
    ann.page.goto("/")
    expect(titles(ann)).to_have_count(10)
    ann.page.get_by_label("Find a note").fill("ébau")
    expect(titles(ann)).to_have_text(["Ébauche"])
    titles(ann).click()
    expect(ann.page).to_have_url(re.compile(re.escape(wanted)))
    ann.wait_for_status("saved")
    ann.page.go_back()
    expect(ann.page.locator("#welcome-title")).to_be_visible()
    ann.page.go_forward()
    ann.wait_for_status("saved")

    ann.page.get_by_label("Find a note").fill("")
    # A pinned note is first in the list, in each tab of the browser, also after a reload.
    ann.page.get_by_role("link", name="Note 3").focus()
    other = ann.new_page()
    other.goto("/")
    ann.page.keyboard.press("Tab")
    ann.page.keyboard.press("Enter")
    ann.page.get_by_role("menuitem", name="Pin to the top").click()
    for page in (ann.page, other):
        expect(page.locator("#notes .note-title").first).to_have_text("Note 3")
        expect(page.get_by_role("link", name="Note 3 Pinned")).to_be_visible()
    assert barriers(ann.page) == []
    ann.page.reload()
    expect(titles(ann).first).to_have_text("Note 3")
    ann.page.get_by_role("button", name="More for “Note 3”").focus()
    ann.page.keyboard.press("Enter")
    ann.page.get_by_role("menuitem", name="Unpin").click()
    expect(ann.page.get_by_role("img", name="Pinned")).to_have_count(0)
    expect(titles(ann).first).to_have_text("Ébauche")
    expect(other.get_by_role("img", name="Pinned")).to_have_count(0)


def test_an_unknown_note_is_reported(server, person):
    ann = person("Ann")
    ann.page.goto("/n/there-is-no-such-note")
    expect(ann.page.locator("#gone-title")).to_be_visible()


def test_switching_notes_quickly_keeps_every_edit(server, person):
    first, second = server.create("First"), server.create("Second")
    ann = person("Ann").open(first)
    for index in range(6):
        ann.type(f"{index}")
        ann.page.locator(f'#notes [data-note="{second if index % 2 == 0 else first}"] a').click()
        expect(ann.editor).to_be_visible()
    ann.wait_until_saved()
    bo = person("Bo").open(first)
    bo.wait_for_text("024"[::-1] if bo.text().startswith("4") else "024")
    bo.open(second)
    wait_until(lambda: sorted(bo.text()) == list("135"))


def test_the_page_can_be_used_with_the_keyboard_only(server, person):
    note = server.create("Keys")
    ann = person("Ann")
    ann.page.goto("/")
    expect(titles(ann)).to_have_text(["Keys"])
    ann.press("Tab")
    expect(ann.page.get_by_text("Skip to the note")).to_be_focused()
    ann.press("Alt+l")
    expect(ann.page.locator("#notes .note-link")).to_be_focused()
    ann.press("Enter")
    ann.wait_for_status("saved")
    ann.press("Alt+e")
    ann.page.keyboard.type("# Typed blind\n- item")
    ann.press("Enter")
    ann.page.keyboard.type("next")
    ann.wait_until_saved()
    assert ann.text() == "# Typed blind\n- item\n- next"
    # Tab leaves the editor after Escape.
    ann.press("Escape", "Tab")
    wait_until(
        lambda: ann.page.evaluate("document.activeElement !== document.getElementById('editor')")
    )
    ann.press("Alt+l", "F2")
    expect(ann.page.get_by_label("New title")).to_be_focused()
    ann.page.keyboard.type("Renamed")
    ann.press("Enter")
    expect(titles(ann)).to_have_text(["Renamed"])
    expect(ann.page.locator("#notes .note-link")).to_be_focused()
    ann.press("Delete")
    expect(ann.page.get_by_role("dialog")).to_be_visible()
    ann.press("Escape")
    expect(ann.page.get_by_role("dialog")).to_have_count(0)
    ann.press("Alt+n")
    expect(ann.page.get_by_label("Title of the note")).to_be_focused()
    ann.page.keyboard.type("By keys")
    # Enter moves the focus to the text when it can be edited.
    ann.wait_for_status("saved")
    ann.press("Enter")
    ann.page.keyboard.type("in the text")
    wait_until(lambda: ann.text() == "in the text")


def test_the_keyboard_focus_keeps_its_place_in_the_list(server, person):
    for title in ("Three", "Two", "One"):
        server.create(title)
    ann = person("Ann")
    ann.page.goto("/")
    expect(titles(ann)).to_have_text(["One", "Two", "Three"])
    # Keys of a composition neither save nor cancel the title. Safari reports the last key in this form.
    ann.press("Alt+l", "F2")
    field = ann.page.get_by_label("New title")
    field.fill("Ein")
    for key in ({"key": "Escape", "isComposing": True}, {"key": "Enter", "keyCode": 229}):
        field.dispatch_event("keydown", {**key, "bubbles": True, "cancelable": True})
        expect(field).to_have_value("Ein")
    ann.press("Enter")
    expect(titles(ann)).to_have_text(["Ein", "Two", "Three"])
    # A dialog opened from a menu returns the focus to the menu's button.
    more = ann.page.get_by_role("button", name="More for “Ein”")
    more.focus()
    ann.press("Enter", "End", "Enter")
    expect(ann.page.get_by_role("dialog")).to_be_visible()
    ann.press("Escape")
    expect(more).to_be_focused()
    # After a deletion the next note gets the focus. A key may arrive before the browser reports that the dialog was closed.
    ann.press("Enter", "End", "Enter")
    expect(ann.page.get_by_role("dialog")).to_be_visible()
    ann.page.evaluate(
        """() => {
            document.getElementById("confirm").close();
            const link = document.querySelector("#notes .note-link");
            link.focus();
            link.dispatchEvent(new KeyboardEvent("keydown", { key: "Delete", bubbles: true }));
        }"""
    )
    ann.page.get_by_role("button", name="Delete note").click()
    expect(titles(ann)).to_have_text(["Two", "Three"])
    expect(ann.page.locator("#notes .note-link").first).to_be_focused()


def test_enter_continues_a_list_in_a_slow_browser(server, person):
    ann = person("Ann")
    # The clock runs so fast that a slice of the parser's time is too short for a line.
    ann.context.add_init_script(
        "{ const now = Date.now; let ahead = 0; Date.now = () => now() + (ahead += 18); }"
    )
    ann.open(server.create("Slow"))
    ann.editor.focus()
    for number in range(1, 6):
        ann.page.keyboard.insert_text(f"{number}. item" if number == 1 else "item")
        ann.press("Enter")
    ann.wait_until_saved()
    assert ann.text() == "".join(f"{number}. item\n" for number in range(1, 6)) + "6. "


def test_on_a_phone_in_the_dark(server, person):
    note = server.create("On the way")
    bo = person("Bo", "#8a4bab").open(note)
    bo.type("# On the way\n\nMilk, bread, and *something* nice.\n\n- [ ] call home\n")
    ann = person("Ann", **PHONE)
    ann.page.goto("/")
    expect(titles(ann)).to_have_text(["On the way"])
    expect(ann.page.locator("#welcome")).to_be_hidden()
    ann.picture("phone-list")
    titles(ann).tap()
    ann.wait_for_status("saved")
    expect(ann.page.locator(".sidebar")).to_be_hidden()
    ann.editor.tap()
    ann.to_end()
    ann.type("- from the phone 📱")
    text = converge(ann, bo)
    assert text.endswith("- from the phone 📱")
    ann.picture("phone-note")
    # Nothing is wider than the window.
    assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ann.page.get_by_role("link", name="All notes").tap()
    expect(titles(ann)).to_be_visible()


def test_themes(server, person):
    note = server.create("Colours")
    ann = person("Ann", color_scheme="dark").open(note)
    ann.type("# Heading\n\nText with **strong**, *emphasis*, `code`, [link](https://example.org).\n")
    background = "getComputedStyle(document.querySelector('.main')).backgroundColor"
    dark = ann.page.evaluate(background)
    ann.picture("dark")
    theme = ann.page.locator("#theme")
    theme.click()
    light = ann.page.evaluate(background)
    assert light != dark
    ann.picture("light")
    ann.page.reload()
    ann.wait_for_status("saved")
    assert ann.page.evaluate(background) == light
    theme.click()
    theme.click()
    assert ann.page.evaluate(background) == dark
    # Markdown is coloured by the style sheet.
    heading = ann.page.locator("#editor .token-heading1:not(.token-processingInstruction)")
    expect(heading).to_have_css("font-weight", "600")


def test_the_page_obeys_a_strict_policy(server, person):
    """The page contains no inline scripts or styles, which the server's policy forbids."""
    note = server.create("Policy")
    ann = person("Ann")
    answer = ann.page.goto(f"/n/{note}")
    policy = answer.headers.get("content-security-policy", "")
    assert "default-src" in policy and "unsafe-inline" not in policy
    ann.wait_for_status("saved")
    ann.type("text")
    ann.wait_until_saved()


def test_a_page_that_cannot_start_says_so(server, person):
    ann = person("Ann")
    ann.page.route(re.compile(r"/client[^/]*\.wasm$"), lambda route: route.abort())
    ann.page.goto("/")
    expect(ann.page.get_by_role("alert")).to_contain_text("could not start")
