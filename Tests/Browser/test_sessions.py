"""Lasting sessions and short links, as users see them."""

import re

from conftest import PHONE, barriers, token, wait_until
from playwright.sync_api import expect
from test_access import PASSWORD, follow, share, users  # noqa: F401
from test_upgrade import mark
from touching import small_targets


def sign_in(person, *, keep=False, path="/"):
    person.page.goto(path)
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("ada@example.org")
    dialog.get_by_label("Password").fill(PASSWORD)
    if keep:
        dialog.get_by_label("Stay signed in on this device").check()
    person.press("Enter") if not keep else dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_be_hidden()
    return person


def test_people_change_the_name_that_others_see(users, person):  # noqa: F811
    note = users.create("Names")
    bo = person("Bo", worker=False).open(note, f"#token={token(name='Bo')}")
    ada = sign_in(person("Ada", worker=False), keep=True, path=f"/n/{note}")
    ada.wait_for_status("saved")
    expect(ada.page.locator("#me-name")).to_have_text("Ada L.")
    bo.page.locator("#people").click()
    here = bo.page.locator("#people-list")
    expect(here).to_contain_text("Ada L.")
    ada.page.locator("#me").click()
    dialog = ada.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Ada Lovelace")
    dialog.get_by_role("button", name="Save").click()
    expect(ada.page.locator("#me-name")).to_have_text("Ada Lovelace")
    expect(here).to_contain_text("Ada Lovelace")
    ada.type("signed ")
    ada.wait_until_saved()
    groups = users.request("GET", f"/api/notes/{note}/history")["groups"]
    assert [group["author"] for group in groups] == ["Ada Lovelace"]
    ada.reload()
    expect(ada.page.locator("#me-name")).to_have_text("Ada Lovelace")
    # A name that the server rejects is reported, and not applied.
    ada.page.locator("#me").click()
    dialog.get_by_label("Name").fill("a\u202eb")
    dialog.get_by_role("button", name="Save").click()
    expect(ada.page.locator("#toast")).to_be_visible()
    expect(ada.page.locator("#me-name")).to_have_text("Ada Lovelace")


def open_devices(page):
    page.locator("#me").click()
    page.get_by_role("button", name="Devices…").click()
    return page.get_by_role("dialog")


def test_devices_are_listed_and_signed_out(users, person):  # noqa: F811
    note = users.create("On two devices")
    desk = sign_in(person("Ada", worker=False), path=f"/n/{note}")
    desk.wait_for_status("saved")
    phone = sign_in(person("Ada on the go", **PHONE))
    devices = open_devices(phone.page)
    expect(devices.get_by_role("listitem")).to_have_count(2)
    # On a phone the list of notes fills the page, which then has neither a main part nor a heading.
    assert small_targets(phone.page) == [], "what a finger cannot hit among devices"
    assert [one for one in barriers(phone.page) if not one.startswith(("landmark-one-main", "page-has-heading-one"))] == []
    phone.picture("devices-phone")
    devices.get_by_role("button", name="Done").click()
    phone.open(note)
    phone.page.get_by_role("button", name="Share", exact=True).click()
    sharing = phone.page.get_by_role("dialog")
    sharing.get_by_role("button", name="Create link").click()
    expect(sharing.locator("#sharing-list").get_by_role("listitem")).to_have_count(1)
    assert small_targets(phone.page) == [], "what a finger cannot hit when sharing"
    assert barriers(phone.page) == []
    phone.picture("sharing-phone")
    sharing.get_by_role("button", name="Done").click()
    devices = open_devices(desk.page)
    rows = devices.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="This device")).to_have_count(1)
    expect(rows.first).to_contain_text("Chrome on Linux")
    desk.picture("devices")
    out = devices.get_by_role("button", name="Sign out Chrome on Linux")
    # A failure is reported, and the action can be repeated.
    desk.page.route("**/api/sessions**", lambda route: route.fulfill(status=503))
    out.click()
    expect(devices.get_by_role("alert")).to_have_text("The device was not signed out. The server had a problem. Try again later.")
    expect(out).to_be_focused()
    devices.get_by_role("button", name="Done").click()
    devices = open_devices(desk.page)
    expect(devices.get_by_role("alert")).to_contain_text("The devices cannot be listed.")
    devices.get_by_role("button", name="Done").click()
    desk.page.unroute_all()
    devices = open_devices(desk.page)
    out.click()
    expect(rows).to_have_count(1)
    expect(devices.get_by_role("button", name="Sign out everywhere else")).to_be_hidden()
    expect(devices.get_by_role("button", name="Done")).to_be_focused()
    # The message is inside of the dialog, which covers the page.
    expect(devices.locator("#toast")).to_have_text("The device was signed out.")
    devices.get_by_role("button", name="Done").click()
    # The device's connection is closed; the text remains on its screen.
    expect(phone.page.locator("#status")).to_contain_text("Signed out")
    expect(phone.page.get_by_role("alert")).to_contain_text("Your session was ended.")
    desk.type("still here")
    desk.wait_until_saved()


def test_a_session_that_the_browser_keeps_outlives_its_tabs(users, person):  # noqa: F811
    note = users.create("Kept")
    ada = sign_in(person("Ada"), keep=True, path=f"/n/{note}")
    ada.wait_for_status("saved")
    stored = ada.page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
    assert "refresh" not in stored.replace("refreshed", ""), "no script reads the token for new ones"
    tab = ada.new_page()
    ada.page.close()
    tab.goto(f"/n/{note}")
    expect(tab.locator("#status")).to_have_attribute("data-state", "saved")
    expect(tab.locator("#me-name")).to_have_text("Ada L.")
    tab.locator("#me").click()
    expect(tab.get_by_role("button", name="Change password…")).to_be_visible()
    tab.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_role("dialog").get_by_label("E-mail")).to_be_visible()
    # The session has also ended on the server.
    other = tab.context.new_page()
    other.goto("/")
    expect(other.get_by_role("dialog").get_by_label("E-mail")).to_be_visible()


def test_short_links_are_listed_and_withdrawn_one_by_one(users, person):  # noqa: F811
    note = users.create("A short way")
    ada = sign_in(person("Ada"), path=f"/n/{note}")
    ada.wait_for_status("saved")
    ada.type("words")
    ada.wait_until_saved()
    reading = share(ada)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/s/[\w-]{22}", reading)
    writing = share(ada, "Read and write")
    bo, cy = follow(person("Bo"), reading), follow(person("Cy"), writing)
    bo.wait_for_text("words")
    # The key is after "#" from then on, and a reload finds the note.
    key = reading.rsplit("/", 1)[1]
    assert bo.page.url.endswith(f"/n/{note}#s={key}")
    bo.page.reload()
    bo.wait_for_status("saved")
    bo.wait_for_text("words")
    cy.type("! ")
    cy.wait_until_saved()
    ada.page.get_by_role("button", name="Share", exact=True).click()
    dialog = ada.page.get_by_role("dialog")
    links = dialog.locator("#sharing-list").get_by_role("listitem")
    expect(links).to_have_count(2)
    expect(links.first).to_contain_text("Created by ada@example.org")
    ada.picture("sharing-links")
    links.filter(has_text="Reads, until").get_by_role("button", name=re.compile("^Withdraw the link")).click()
    expect(links).to_have_count(1)
    expect(links.get_by_role("button", name=re.compile("^Withdraw the link"))).to_be_focused()
    dialog.get_by_role("button", name="Done").click()
    expect(bo.page.locator("[data-kind=connection]")).to_contain_text("This link no longer works.")
    cy.type("still ")
    cy.wait_until_saved()
    # The page says so to a visitor with a link that has ended.
    late = person("Late")
    late.page.goto(reading)
    expect(late.page.get_by_text("This link no longer works.").first).to_be_visible()
    # If the server does not answer, the page does not say that the link has ended.
    early = person("Early")
    early.page.route("**/api/links/open", lambda route: route.fulfill(status=503))
    early.page.goto(writing)
    expect(early.page.get_by_text("The link could not be opened.").first).to_be_visible()
    early.page.unroute_all()
    mark(early.page)
    early.page.get_by_role("button", name="Try again").click()
    early.wait_for_text("! still words")
    # The page was not reloaded.
    expect(early.page.locator("html[data-before]")).to_have_count(1)
    key = writing.rsplit("/", 1)[1]
    assert early.page.url.endswith(f"/n/{note}#s={key}")


def test_a_cancelled_sign_in_has_no_effect(users, person):  # noqa: F811
    ada = person("Ada")
    held = []
    ada.page.route("**/api/user/login", lambda route: held.append(route))
    ada.page.goto("/")
    dialog = ada.page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("ada@example.org")
    dialog.get_by_label("Password").fill(PASSWORD)
    ada.press("Enter")
    wait_until(lambda: ada.page.evaluate("true") and held)
    dialog.get_by_role("button", name="Cancel").click()
    with ada.page.expect_response("**/api/user/logout") as ended:
        held[0].continue_()
    assert ended.value.ok
    assert ada.page.evaluate("sessionStorage.getItem('parley.access')") is None
    ada.page.unroute_all()
    ada.page.locator("#line-sign-in").click()
    dialog.get_by_label("Password").fill(PASSWORD)
    ada.press("Enter")
    expect(dialog).to_be_hidden()
    expect(ada.page.locator("#me-name")).to_have_text("Ada L.")
