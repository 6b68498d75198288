"""Folders on the page: keyboard navigation, moving notes by menu and by dragging, phones, and right-to-left layout."""

import re

from conftest import PHONE, barriers, token, wait_until
from playwright.sync_api import expect
from test_notes import titles


def folder(page, name):
    return page.locator("#folders .folder").filter(has_text=re.compile(rf"^{re.escape(name)}\d*$"))


def make(server, title, path=""):
    return server.request("POST", "/api/notes", {"title": title, "folder": path})["id"]


def test_notes_go_into_folders_and_are_found_there(server, person):
    plan = make(server, "Plan")
    make(server, "Minutes", "team/minutes")
    make(server, "Board", "board")
    ann = person("Ann")
    ben = person("Ben", color="#8a4bab")
    ann.page.goto("/")
    ben.page.goto("/")
    page = ann.page
    expect(page.locator("#folders .folder-name")).to_have_text(["All notes", "In no folder", "board", "team", "minutes"])
    folder(page, "minutes").click()
    expect(titles(ann)).to_have_text(["Minutes"])
    assert barriers(ann.page) == []
    ann.picture("folders")
    # With the keyboard only: to the parent folder, which is closed and opened, and to its notes.
    folder(page, "minutes").focus()
    ann.press("ArrowLeft")
    expect(folder(page, "team")).to_be_focused()
    ann.press("ArrowLeft")
    expect(folder(page, "minutes")).to_be_hidden()
    ann.press("ArrowRight", "ArrowDown", "ArrowUp", "Enter")
    expect(folder(page, "minutes")).to_be_visible()
    expect(folder(page, "team")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#notes-empty")).to_have_text("No notes in this folder.")
    # The menu moves a note to a new folder; a malformed path is rejected.
    folder(page, "All notes").click()
    page.locator(f"[data-note='{plan}']").hover()
    page.get_by_role("button", name="More for “Plan”").click()
    page.get_by_role("menuitem", name="Move to a folder").click()
    field = page.get_by_role("combobox", name="Folder")
    field.fill("a/../b")
    ann.press("Enter")
    expect(page.locator("#move-problem")).to_contain_text("This folder name is not valid.")
    assert barriers(ann.page) == []
    field.fill(" team / plans ")
    ann.press("Enter")
    expect(page.locator("#move")).to_be_hidden()
    expect(page.locator("#toast")).to_contain_text("“Plan” is now in team/plans.")
    # The other user sees the folder, and its path above the text.
    expect(folder(ben.page, "plans")).to_be_visible()
    ben.page.locator(f"[data-note='{plan}'] .note-link").click()
    ben.wait_for_status("saved")
    expect(ben.page.locator("#crumbs .crumb")).to_have_text(["team", "plans"])
    ben.page.locator("#crumbs .crumb").first.click()
    expect(folder(ben.page, "team")).to_have_attribute("aria-pressed", "true")
    assert barriers(ben.page) == []
    # Dragging moves a note, and back.
    folder(page, "All notes").click()
    page.locator(f"[data-note='{plan}']").drag_to(folder(page, "board"))
    expect(page.locator("#toast")).to_contain_text("“Plan” is now in board.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#toast")).to_contain_text("“Plan” is now in team/plans.")
    # A new note is created in the shown folder, and listed among the recently opened notes.
    folder(page, "board").click()
    page.get_by_role("button", name="New note").click()
    expect(page).to_have_url(re.compile(r"/n/.+"))
    ann.wait_for_status("saved")
    expect(page.locator("#crumbs .crumb")).to_have_text(["board"])
    folder(page, "Recently opened").click()
    expect(titles(ann)).to_have_text(["Untitled note"])
    # Without the server, the folders of the stored list are shown.
    expect(page.locator("#folders .folder-count").first).to_be_visible()


def test_a_late_answer_closes_no_other_notes_dialog(server, person):
    first, second = make(server, "First"), make(server, "Second")
    ann = person("Ann", worker=False)
    ann.page.goto("/")
    held = []
    ann.page.route(f"**/api/notes/{first}", lambda route: held.append(route))
    field = ann.page.get_by_role("combobox", name="Folder")

    def begin(note, title, path):
        ann.page.locator(f"[data-note='{note}']").hover()
        ann.page.get_by_role("button", name=f"More for “{title}”").click()
        ann.page.get_by_role("menuitem", name="Move to a folder").click()
        field.fill(path)

    begin(first, "First", "team")
    ann.press("Enter")
    wait_until(lambda: ann.page.evaluate("true") and held)
    ann.press("Escape")
    begin(second, "Second", "board")
    held.pop().continue_()
    expect(ann.page.locator("#toast")).to_contain_text("“First” is now in team.")
    expect(field).to_have_value("board")
    ann.press("Enter")
    expect(ann.page.locator("#move")).to_be_hidden()
    # A message in a closed dialog would not be seen.
    begin(first, "First", "board")
    ann.press("Enter")
    wait_until(lambda: ann.page.evaluate("true") and held)
    ann.press("Escape")
    held.pop().fulfill(status=403, json={"code": "notAllowed"})
    expect(ann.page.locator("#toast")).to_contain_text("The note was not moved.")


def test_folders_stay_closed_for_who_signs_in_later(guarded, person):
    make(guarded, "Minutes", "team/minutes")
    ada = person("Somebody")
    ada.page.goto(f"/#token={token()}")
    minutes = folder(ada.page, "minutes")
    expect(minutes).to_be_visible()
    ada.page.locator("#folders .folder-toggle").click()
    expect(minutes).to_be_hidden()
    ada.page.evaluate("sessionStorage.clear()")
    ada.page.reload()
    expect(ada.page.locator("#line-sign-in")).to_be_visible()
    ada.page.evaluate("(hash) => { location.hash = hash }", f"#token={token()}")
    expect(folder(ada.page, "team")).to_be_visible()
    expect(minutes).to_be_hidden()


def test_folders_on_a_phone_and_from_right_to_left(server, person):
    make(server, "Minutes", "team/minutes")
    mona = person("منى", locale="ar", **PHONE)
    page = mona.page
    page.goto("/")
    assert folder(page, "minutes").bounding_box()["height"] >= 44
    team, minutes = (folder(page, name).bounding_box() for name in ("team", "minutes"))
    assert minutes["x"] + minutes["width"] < team["x"] + team["width"] + 44
    page.locator("#folders .folder-toggle").focus()
    mona.press("ArrowRight")
    expect(folder(page, "minutes")).to_be_hidden()
    mona.press("ArrowLeft")
    folder(page, "minutes").click()
    # On a phone the list fills the page, which then has neither a main part nor a heading.
    assert [one for one in barriers(mona.page) if not one.startswith(("landmark-one-main", "page-has-heading-one"))] == []
    mona.picture("folders-phone")
    page.locator("#notes .note-link").click()
    mona.wait_for_status("saved")
    assert barriers(mona.page) == []
    page.locator("#crumbs .crumb").first.click()
    expect(folder(page, "team")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#folders")).to_be_visible()


def test_tags_filter_the_list(server, person):
    one, two, three = (make(server, title) for title in ("One", "Two", "Three"))
    ann = person("Ann", worker=False)
    page = ann.page
    page.goto("/")
    expect(titles(ann)).to_have_count(3)
    # The tags appear because others write them; the page is not reloaded.
    for note, text in ((one, "#plan and #größe"), (two, "about #Plan"), (three, "`#plan` and #12")):
        server.put_text(note, text)
    chips = page.locator("#tags-list .tag")
    expect(chips).to_have_text(["#plan2", "#größe1"])
    page.get_by_role("button", name="#plan, 2 notes").click()
    expect(titles(ann)).to_have_count(2)
    expect(chips.first).to_have_attribute("aria-pressed", "true")
    assert barriers(ann.page) == []
    ann.picture("tags")
    missing = page.locator("#notes-cut")
    expect(missing).to_be_hidden()
    chips.first.click()
    expect(titles(ann)).to_have_count(3)
    # If the server lists only some of the notes, the page says so.
    named = {"notes": [{"id": one}], "more": True}
    page.route("**/api/notes?tag=*", lambda route: route.fulfill(json=named))
    chips.first.click()
    expect(titles(ann)).to_have_text(["One"])
    expect(missing).to_have_text("Not all notes with this tag are listed. Search for tag:plan to find others.")
    chips.first.click()
    expect(missing).to_be_hidden()
