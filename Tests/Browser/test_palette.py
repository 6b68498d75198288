"""Searching notes by title and text, with the keyboard and a screen reader, and opening them at the found passage."""

import re
import threading

from conftest import VIEW_IN, barriers, wait_until
from playwright.sync_api import expect
from test_notes import titles



def wait_for_the_index(server):
    """Waits until the index contains the note, which it does some time after the last edit."""
    pause = threading.Event()
    wait_until(lambda: pause.wait(0.1) or server.request("GET", "/api/search?q=goose")["notes"])


def test_a_note_is_found_by_its_text_and_opened_at_the_place(server, person):
    for number in range(3):
        server.create(f"Note {number}")
    note = server.create("<b>Plan</b>")
    server.put_text(note, "😀 first line\n" * 200 + "Meet the <i>goose</i> at the café.\n" + "last line\n" * 200)
    wait_for_the_index(server)
    ann = person("Ann")
    ann.page.goto("/")
    expect(titles(ann)).to_have_count(4)
    ann.page.keyboard.press("Control+k")
    field = ann.page.get_by_role("combobox", name="Search notes")
    expect(field).to_be_focused()
    options = ann.page.get_by_role("option")
    # Before any input, the most recently changed notes are listed. Titles are searched at once.
    expect(options).to_have_count(4)
    expect(field).to_have_attribute("aria-activedescendant", "palette-0")
    field.fill("note")
    expect(options).to_have_count(3)
    ann.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
    expect(options.nth(2)).to_have_attribute("aria-selected", "true")
    field.fill("GEESE")
    expect(ann.page.locator(".palette-state")).to_have_text("No note contains this.")
    field.fill("cafe goo")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("<b>Plan</b>")
    expect(options.locator("mark")).to_have_text(["goose", "café"])
    expect(options.locator("b, i")).to_have_count(0)
    for scheme in ("light", "dark"):
        ann.page.emulate_media(color_scheme=scheme)
        assert barriers(ann.page) == []
        ann.picture(f"search-{scheme}")
    ann.press("Enter")
    expect(ann.page).to_have_url(re.compile(re.escape(note)))
    expect(field).to_be_hidden()
    selected = f"(({VIEW_IN})('#editor')?.state)"
    text = f"{selected}?.sliceDoc({selected}.selection.main.from, {selected}.selection.main.to)"
    wait_until(lambda: ann.page.evaluate(text) == "goose")
    expect(ann.page.locator(".cm-line", has_text="goose")).to_be_in_viewport()


def test_a_search_without_results_is_repeated_once(server, person):
    server.put_text(server.create("Plan"), "Meet the goose.")
    wait_for_the_index(server)
    ann = person("Ann")
    ann.page.goto("/")
    expect(titles(ann)).to_have_count(1)
    asked = []

    def answer(route):
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fulfill(json={"notes": []})
        else:
            route.continue_()

    ann.page.route("**/api/search?*", answer)
    ann.press("Control+k")
    ann.page.get_by_role("combobox", name="Search notes").fill("goose")
    expect(ann.page.locator(".palette-state")).to_have_text("No note contains this.")
    expect(ann.page.get_by_role("option")).to_contain_text("Meet the goose.")
    assert len(asked) == 2


def test_the_search_opens_from_the_list(server, person):
    for number in range(9):
        server.create(f"Note {number}")
    ann = person("Ann")
    ann.page.goto("/")
    ann.page.get_by_role("searchbox", name="Find a note").fill("te 7")
    ann.press("Enter")
    field = ann.page.get_by_role("combobox", name="Search notes")
    expect(field).to_have_value("te 7")
    expect(ann.page.get_by_role("option")).to_have_count(1)
    ann.press("Escape")
    expect(field).to_be_hidden()
    ann.page.get_by_role("button", name="Search notes").click()
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    server.kill()
    field.fill("Note 3")
    expect(ann.page.get_by_role("option")).to_have_count(1)
    expect(ann.page.locator(".palette-state")).not_to_have_text("Searching…")
