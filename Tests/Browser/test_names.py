"""Publishing a note under a readable name, and reading it there."""

import re

import pytest
from conftest import SECRET, Server, token
from playwright.sync_api import expect


@pytest.fixture
def guarded(tmp_path):
    """A server that checks tokens and lets notes be published."""
    (tmp_path / "secret").write_bytes(SECRET)
    running = Server(
        tmp_path, "--hmac-secret-file", tmp_path / "secret", "--audience", "parley", "--public-names", "on"
    )
    running.token = token()
    yield running
    running.stop()


def test_a_note_is_published_read_live_and_withdrawn(guarded, person):
    note, other = guarded.create("Minutes"), guarded.create("Other")
    guarded.insert_text(note, "# One\n\ntext\n\n# Two\n\n# Three")
    for name in ("former", "present"):
        guarded.request("PUT", f"/api/notes/{other}/name", {"name": name})
    ada = person("Ada").open(note, f"#token={token(name='Ada')}")
    ada.wait_for_editor()
    ada.page.locator("#share").click()
    part = ada.page.locator(".publishing")
    expect(part).to_contain_text("Everyone who can reach this server can then read the note")
    name, problem = part.get_by_label("Name in the address"), part.locator(".problem")
    for text, words in (
        ("a/b", "A name has up to 64 letters"), ("former", "Another note had this name."), ("Present", "Another note has this name."),
    ):  # fmt: skip
        name.fill(text)
        part.get_by_role("button", name="Publish").click()
        expect(problem).to_contain_text(words)
    name.fill("Minutes-2026")
    name.press("Enter")
    address = part.get_by_label("Everyone reads the note here")
    expect(address).to_have_value(re.compile(r"/p/minutes-2026$"))
    expect(problem).to_have_text("")
    ada.picture("publishing")
    # Readers see the page without a sidebar, and later edits; the address does not change.
    guest = person("Guest")
    guest.page.goto("/p/Minutes-2026")
    page = guest.page.locator("#rendered")
    expect(page.locator("h2")).to_have_text(["One", "Two", "Three"])
    expect(page.locator(".contents")).to_be_visible()
    expect(guest.page.locator("#title")).to_have_value("Minutes")
    for hidden in ("#sidebar", "#editor", "#crumbs"):
        expect(guest.page.locator(hidden)).to_be_hidden()
    guarded.request("POST", f"/api/notes/{note}/changes", {"revision": 1, "operation": ["# Zero\n\n", 27]})
    expect(page.locator("h2")).to_have_text(["Zero", "One", "Two", "Three"])
    guest.page.locator("#read").click()
    expect(guest.editor).to_have_attribute("contenteditable", "false")
    guest.page.locator("#read").click()
    guest.page.locator("#note-menu").click()
    guest.page.get_by_role("menuitem", name="History").click()
    expect(guest.page).to_have_url(re.compile(r"/p/Minutes-2026#history$"))
    guest.page.reload()
    expect(guest.page.locator("#history-page")).to_contain_text("Zero")
    guest.page.locator("#history-close").click()
    # After the withdrawal, the readers' page says that the note is no longer published.
    part.get_by_role("button", name="Withdraw name").click()
    ada.page.locator("#confirm").get_by_role("button", name="Withdraw name").click()
    expect(address).to_be_hidden()
    for _ in range(2):
        expect(guest.page.locator("#gone-title")).to_have_text("Nothing is published here.")
        expect(guest.page.locator("#sidebar")).to_be_hidden()
        guest.page.reload()
    expect(guest.page.locator("#gone-text")).to_have_text("No note has this name, or the name was withdrawn.")
    assert guest.page.title() == "Parley"
    expect(guest.page.locator("#note-heading")).not_to_have_text("Untitled note")
    expect(guest.page.locator("#title")).to_have_attribute("placeholder", "")
    expect(guest.page.locator("#gone :is(a, button):visible")).to_have_text(["Back to the notes"])
    guest.picture("nothing-published")
    # After publishing it again, it can be read again.
    part.get_by_role("button", name="Publish").click()
    expect(address).to_be_visible()
    guest.page.reload()
    expect(page.locator("h2")).to_have_text(["Zero", "One", "Two", "Three"])
    guest.page.set_viewport_size({"width": 360, "height": 740})
    guest.picture("phone-published")


def test_without_publishing_on_the_server_the_dialog_does_not_offer_it(server, person):
    ada = person("Ada").open(server.create("Minutes"))
    with ada.page.expect_response(lambda answer: answer.url.endswith("/name") and answer.status == 404):
        ada.page.locator("#share").click()
    expect(ada.page.locator("#sharing")).to_be_visible()
    expect(ada.page.locator(".publishing")).to_have_count(0)
