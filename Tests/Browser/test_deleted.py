"""Deleted notes are restored, and notes are downloaded as files."""

import io
import re
import zipfile

from conftest import PHONE, wait_until
from playwright.sync_api import expect
from test_notes import titles
from test_offline import kept, wait_until_kept


def delete(person, title):
    person.page.get_by_role("button", name=f"More for “{title}”").click()
    person.page.get_by_role("menuitem", name="Delete").click()
    expect(person.page.locator("#confirm-text")).to_contain_text("For 30 days you can restore it")
    person.page.get_by_role("button", name="Delete note").click()
    expect(titles(person)).not_to_contain_text([title])


def open_deleted(person):
    person.page.get_by_role("button", name="More for all notes").click()
    person.page.get_by_role("menuitem", name="Deleted notes").click()
    expect(person.page.get_by_role("dialog", name="Deleted notes")).to_be_visible()


def test_a_deletion_is_undone_at_once(server, person):
    note = server.create("Plan")
    server.put_text(note, "still here")
    ann, bo = person("Ann"), person("Bo").open(note)
    ann.page.goto("/")
    delete(ann, "Plan")
    expect(bo.page.locator("#gone-title")).to_be_visible()
    # Screen readers announce it, too.
    expect(bo.page.locator("#live")).to_have_text("This note no longer exists. It was deleted.")
    ann.page.get_by_role("button", name="Undo").click()
    expect(ann.page).to_have_url(re.compile(re.escape(note)))
    ann.wait_for_text("still here")
    bo.page.reload()
    bo.wait_for_text("still here")
    ann.type("!")
    bo.wait_for_text("!still here")


def test_deleted_notes_are_listed_and_restored_or_removed_for_good(server, person):
    restored, lost = server.create("Kept"), server.create("<img src=x onerror=alert(1)>")
    server.put_text(restored, "the text")
    ann = person("Ann", worker=True)
    ann.page.goto("/")
    for title in ("Kept", "<img src=x onerror=alert(1)>"):
        delete(ann, title)
    open_deleted(ann)
    rows = ann.page.locator("#deleted-list .deleted-row")
    expect(rows).to_have_count(2)
    expect(rows.locator(".note-title")).to_have_text(["<img src=x onerror=alert(1)>", "Kept"])
    expect(rows.first).to_contain_text("by Ann")
    ann.picture("deleted-notes")
    ann.page.get_by_role("button", name="Delete “<img src=x onerror=alert(1)>” permanently").click()
    ann.page.get_by_role("button", name="Delete permanently", exact=True).click()
    expect(rows).to_have_count(1)
    expect(ann.page.get_by_role("button", name="Delete “Kept” permanently")).to_be_focused()
    ann.page.get_by_role("button", name="Restore “Kept”").click()
    ann.wait_for_text("the text")
    expect(titles(ann)).to_have_text(["Kept"])
    open_deleted(ann)
    expect(ann.page.locator("#deleted-hint")).to_have_text("There are no deleted notes.")
    assert lost not in str(server.request("GET", "/api/deleted"))
    # The menu uses the browser's copy of the list, so it does not wait for the server.
    wait_until_kept(ann)
    wait_until(lambda: " lists " in kept(ann))
    asked = []
    ann.page.route(re.compile(r"/api/notes[?]parts="), lambda route: asked.append(route))
    ann.page.reload()
    open_deleted(ann)
    wait_until(lambda: ann.page.evaluate("true") and asked)


def test_a_page_of_deleted_notes_is_fetched_once(server, person):
    ann = person("Ann", worker=False)
    ann.page.goto("/")
    held = []
    ann.page.route(re.compile("/api/deleted[?]"), lambda route: held.append(route))

    def answer(route, name, **more):
        entry = {"id": name, "title": name, "deletedAt": 1, "deletedBy": "", "removedAt": 2}
        route.fulfill(json={"notes": [entry], **more})

    for count in (1, 2):
        ann.page.get_by_role("button", name="More for all notes").click()
        ann.page.get_by_role("menuitem", name="Deleted notes").click()
        wait_until(lambda: ann.page.evaluate("true") and len(held) == count)
    for route in held:
        answer(route, "first", next="1")
    rows = ann.page.locator("#deleted-list .deleted-row")
    expect(ann.page.locator("#deleted")).to_be_visible()
    ann.page.evaluate("() => [0, 1].forEach(() => document.getElementById('deleted-more').click())")
    wait_until(lambda: ann.page.evaluate("true") and len(held) > 2)
    for route in held[2:]:
        answer(route, "second")
    expect(rows.locator(".note-title")).to_have_text(["first", "second"])


def test_notes_are_exported_as_files(server, person):
    first, second = server.create("First / one"), server.create("Second")
    server.put_text(first, "# One\n")
    server.put_text(second, "Ä 🐦")
    ann = person("Ann").open(first)
    ann.wait_for_text("# One\n")
    menu = ann.page.get_by_role("button", name="More for this note")
    for item, name in (("Download Markdown", "First one.md"), ("Download text", "First one.txt")):
        menu.click()
        with ann.page.expect_download() as download:
            ann.page.get_by_role("menuitem", name=item).click()
        assert download.value.suggested_filename == name
        with open(download.value.path(), encoding="utf-8") as file:
            assert file.read() == "# One\n"
    ann.page.get_by_role("button", name="More for all notes").click()
    with ann.page.expect_download() as download:
        ann.page.get_by_role("menuitem", name="Download all notes").click()
    with open(download.value.path(), "rb") as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert found == {"First one.md": "# One\n", "Second.md": "Ä 🐦"}


def test_all_of_a_long_note_is_printed(server, person):
    note = server.create("Long")
    text = "".join(f"line {number}\n" for number in range(2_000))
    server.put_text(note, text)
    ann = person("Ann").open(note)
    ann.wait_until_saved()
    ann.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    ann.page.emulate_media(media="print")
    expect(ann.page.locator("#printed")).to_be_visible()
    assert ann.page.locator("#printed").text_content() == text
    expect(ann.page.locator("#paper")).to_be_hidden()
    ann.page.emulate_media(media="screen")
    ann.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(ann.page.locator("#printed")).to_be_hidden()
    wait_until(lambda: ann.page.locator("#printed").text_content() == "")


def test_on_a_phone(server, person):
    server.create("Small")
    ann = person("Ann", **PHONE)
    ann.page.goto("/")
    delete(ann, "Small")
    open_deleted(ann)
    ann.page.get_by_role("button", name="Restore “Small”").click()
    expect(ann.page).to_have_url(re.compile("/n/.+"))
