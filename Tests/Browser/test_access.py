"""Access as users see it: signing in, links to a note, and rights that expire or change."""

import re
import subprocess
import time

import pytest
from conftest import PHONE, PROGRAM, SECRET, Server, converge, token, wait_until
from playwright.sync_api import expect
from test_offline import kept, wait_until_copied, wait_until_kept
from test_upgrade import mark

PASSWORD = "correct horse é"
# The menu of a note for users who may only read it.
MENU_OF_READERS = [
    "Copy link", "Copy text", "History", "Show Markdown signs", "Show who wrote what", "Read beside the text",
    "Download Markdown", "Download text", "Download HTML", "Print…",
]  # fmt: skip


@pytest.fixture
def users(tmp_path):
    """A server with one user, whose tokens expire after ten seconds."""
    file = tmp_path / "users"
    add = [PROGRAM, "user", "add", "ada@example.org", "--name", "Ada L.", "document:*=all", "room:*=read"]
    subprocess.run([*add, "--file", file], input=PASSWORD + "\n", text=True, check=True, capture_output=True)
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    running = Server(
        tmp_path, "--users-file", str(file), "--access-token-time", "10s", "--clock-skew", "0s",
        "--hmac-secret-file", str(secret), "--audience", "parley",
    )  # fmt: skip
    running.token = token()
    yield running
    running.stop()


def share(person, access="Read", ends=None):
    """Makes a link in the dialog, and returns it."""
    page = person.page
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name=access, exact=True).check()
    if ends:
        dialog.get_by_label("for").select_option(ends)
    dialog.get_by_role("button", name="Create link").click()
    field = page.locator("#sharing-link")
    expect(field).to_be_visible()
    link = field.input_value()
    person.picture(f"sharing-{access.replace(' ', '-')}")
    dialog.get_by_role("button", name="Done").click()
    return link


def follow(person, link):
    person.page.goto(link)
    person.wait_for_status("saved")
    return person


def test_signing_in_with_a_token(guarded, person):
    note = guarded.create("Behind the door")
    ada = person("Somebody")
    ada.page.goto(f"/n/{note}")
    dialog = ada.page.get_by_role("dialog")
    expect(dialog).to_contain_text("You are not signed in.")
    expect(ada.page.get_by_role("button", name="New note")).to_be_hidden()
    field = dialog.get_by_label("Token")
    expect(field).to_be_focused()
    ada.picture("sign-in")
    field.fill("not a token")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog.get_by_role("alert")).to_contain_text("three parts")
    # The server rejects this token.
    field.fill(token(aud="somebody else"))
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_contain_text("Your token was not accepted.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(ada.page.locator("#gone-title")).to_have_text("Your token was not accepted.")
    ada.picture("sign-in-refused")
    ada.page.locator("#gone-retry").click()
    field.fill(f"Bearer {token(name='Ada L.')}")
    ada.press("Tab", "Tab", "Enter")
    ada.wait_for_status("saved")
    expect(ada.page.locator("#me-name")).to_have_text("Ada L.")
    expect(ada.page.get_by_role("button", name="New note")).to_be_visible()
    ada.type("let in")
    ada.wait_until_saved()
    expect(ada.page.locator("#notes .note-title")).to_have_text(["Behind the door"])
    # A reload keeps the token; no address contains it.
    ada.page.reload()
    ada.wait_for_status("saved")
    ada.wait_for_text("let in")
    # Another tab gets the token from this one.
    tab = ada.new_page()
    tab.goto(f"/n/{note}")
    expect(tab.locator("#status")).to_have_attribute("data-state", "saved")
    # The name comes from the token. Then Ada signs out.
    tab.locator("#me").click()
    expect(tab.get_by_role("textbox", name="Name", exact=True)).to_be_disabled()
    tab.get_by_role("button", name="Sign out").click()
    tab.wait_for_load_state()


def test_signing_out_in_one_of_two_tabs(guarded, person):
    note = guarded.create("Secret plan")
    ada = person("Ada", worker=True).open(note, f"#token={guarded.token}")
    ada.type("classified")
    ada.wait_until_saved()
    wait_until_kept(ada)
    other = ada.new_page()
    other.goto(f"/n/{note}")
    expect(other.locator("#status")).to_have_attribute("data-state", "saved")
    ada.page.locator(".brand-link").click()
    wait_until_copied(ada, "classified")
    for tab in (ada.page, other):
        mark(tab)
    ada.page.locator("#me").click()
    ada.page.get_by_role("button", name="Sign out").click()
    for tab in (ada.page, other):
        expect(tab.locator("html[data-before]")).to_have_count(0)
        expect(tab.get_by_role("dialog")).to_contain_text("You are not signed in.")
        expect(tab.locator("#notes .note-title")).to_have_count(0)
        assert guarded.token not in tab.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])")
    # A tab that is opened now has no user either.
    third = ada.new_page()
    third.goto(f"/n/{note}")
    expect(third.get_by_role("dialog")).to_contain_text("You are not signed in.")
    all_that_is_kept = kept(ada)
    assert "classified" not in all_that_is_kept and "Secret plan" not in all_that_is_kept
    assert note not in all_that_is_kept
    # Signing in again signs in all tabs.
    dialog = ada.page.get_by_role("dialog")
    dialog.get_by_label("Token").fill(token())
    dialog.get_by_role("button", name="Sign in").click()
    for tab in (ada.page, other):
        expect(tab.locator("#notes .note-title")).to_have_text(["Secret plan"])
    expect(third.locator("#status")).to_have_attribute("data-state", "saved")


def test_unsaved_text_at_a_sign_out_still_belongs_to_its_writer(guarded, person):
    note = guarded.create("Unsent")
    ada = person("Ada", worker=True).open(note, f"#token={guarded.token}")
    wait_until_kept(ada)
    guarded.kill()
    ada.wait_for_status("offline")
    ada.type("not sent yet")
    mark(ada.page)
    ada.page.locator("#me").click()
    ada.page.get_by_role("button", name="Sign out").click()
    expect(ada.page.locator("html[data-before]")).to_have_count(0)
    guarded.start()
    dialog = ada.page.get_by_role("dialog")
    expect(dialog).to_contain_text("You are not signed in.")
    expect(ada.page.locator("#editor .cm-content")).to_have_count(0)
    dialog.get_by_label("Token").fill(token())
    dialog.get_by_role("button", name="Sign in").click()
    ada.wait_for_status("saved")
    ada.wait_for_text("not sent yet")
    ada.wait_until_saved()
    assert guarded.request("GET", f"/api/notes/{note}/text")["text"] == "not sent yet"


def test_another_user_signs_in_while_text_is_unsaved(guarded, person):
    note = guarded.create("Shared desk")
    ada = person("Ada").open(note, f"#token={token(seconds=15)}")
    page = ada.page
    ada.type("before")
    ada.wait_until_saved()
    trouble = page.locator("[data-kind=connection]")
    expect(trouble).to_contain_text("Your sign-in has expired.")
    ada.to_end()
    ada.type(", after")
    expect(page.locator("#status-text")).to_contain_text("not yet saved")
    mark(page)
    trouble.get_by_role("button", name="Sign in").click()
    page.get_by_label("Token").fill(token(sub="bo"))
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    expect(page.locator("html[data-before]")).to_have_count(0)
    ada.wait_for_editor()
    expect(page.locator("#me-name")).to_have_text("bo")
    ada.wait_for_text("before")
    # The text is still stored for its writer.
    mark(page)
    page.locator("#me").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("html[data-before]")).to_have_count(0)
    page.get_by_label("Token").fill(token())
    page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    ada.wait_for_text("before, after")
    ada.wait_until_saved()
    assert guarded.request("GET", f"/api/notes/{note}/text")["text"] == "before, after"


def test_a_link_with_another_users_token_in_a_tab_with_unsaved_text(guarded, person):
    note = guarded.create("Shared desk")
    ada = person("Ada", worker=True).open(note, f"#token={guarded.token}")
    ada.type("before")
    ada.wait_until_saved()
    wait_until_kept(ada)
    guarded.kill()
    ada.wait_for_status("offline")
    ada.to_end()
    ada.type(", after")
    expect(ada.page.locator("#status-text")).to_contain_text("not yet saved")
    mine = ada.page.evaluate("JSON.parse(sessionStorage.getItem('parley.client')).id")
    ada.page.goto("about:blank")
    ada.page.goto(f"/n/{note}#token={token(sub='bo')}")
    expect(ada.page.locator("#me-name")).to_have_text("bo")
    guarded.start()
    ada.wait_for_editor()
    ada.wait_for_text("before")
    # Another user gets another client id.
    assert ada.page.evaluate("JSON.parse(sessionStorage.getItem('parley.client')).id") != mine
    ada.to_start()
    ada.type("Bo: ")
    ada.wait_until_saved()
    ada.page.goto("about:blank")
    ada.page.goto(f"/n/{note}#token={token()}")
    ada.wait_for_text("Bo: before, after")
    ada.wait_until_saved()


def test_signing_in_with_a_password(users, person):
    note = users.create("With a password")
    ada = person("Somebody")
    dialog = ada.page.get_by_role("dialog")
    # If the server does not answer how users sign in, the page does not assume that only tokens are accepted.
    ada.page.route("**/api/user/ways", lambda route: route.fulfill(status=503, json={"code": "busy"}))
    ada.page.goto("/")
    expect(dialog.get_by_role("alert")).to_contain_text("The server is busy.")
    ada.page.unroute_all()
    ada.page.reload()
    expect(dialog.get_by_label("E-mail")).to_be_focused()
    ada.picture("sign-in-password")
    dialog.get_by_label("E-mail").fill("ada@example.org")
    dialog.get_by_label("Password").fill("wrong")
    ada.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("The e-mail address or the password is wrong.")
    dialog.get_by_label("Password").fill(PASSWORD)
    ada.press("Enter")
    expect(dialog).to_be_hidden()
    ada.page.get_by_role("link", name="With a password").click()
    ada.wait_for_status("saved")
    expect(ada.page.locator("#me-name")).to_have_text("Ada L.")
    # Tokens expire after ten seconds here, and are renewed automatically on the same connection.
    renewed = []
    ada.page.on(
        "request", lambda request: renewed.append(1) if request.url.endswith("/refresh") else None
    )
    ada.type("a")
    # Evaluating in the page lets its events be handled.
    wait_until(lambda: ada.page.evaluate("true") and len(renewed) >= 2)
    expect(ada.page.locator("[data-kind=ending]")).to_have_count(0)
    ada.type("b")
    ada.wait_until_saved()
    # A reload after the token has expired.
    ada.page.evaluate(
        """(ended) => {
            const pass = JSON.parse(sessionStorage.getItem("parley.access"));
            sessionStorage.setItem("parley.access", JSON.stringify({ ...pass, token: ended }));
        }""",
        token(seconds=-60),
    )
    ada.page.goto(f"/n/{note}")
    ada.wait_for_status("saved")
    ada.wait_for_text("ab")
    expect(dialog).to_be_hidden()


def test_a_token_is_removed_from_the_address(guarded, person):
    note = guarded.create("By link")
    ada = person("Somebody")
    asked = []
    ada.page.on("request", lambda request: asked.append(request))
    mine = token()
    ada.page.goto(f"/n/{note}#token={mine}")
    ada.wait_for_status("saved")
    assert mine not in ada.page.url
    assert not any(mine in request.url for request in asked)

    def listing():
        return [request for request in asked if request.url.endswith("/api/notes?parts=")]

    wait_until(lambda: ada.page.evaluate("true") and listing())
    assert listing()[0].headers["authorization"] == f"Bearer {mine}"
    expect(ada.page.locator("#me-name")).to_have_text("ada")
    ada.page.get_by_role("button", name="New note").click()
    expect(ada.page.locator("#title")).to_be_focused()
    ada.wait_until_saved()


def test_an_expiring_token_is_replaced_by_a_new_one(guarded, person):
    note = guarded.create("Long day")
    ada = person("Somebody")
    ada.page.goto(f"/n/{note}#token={token(seconds=40)}")
    ada.wait_for_status("saved")
    notice = ada.page.locator("[data-kind=ending]")
    expect(notice).to_contain_text("Your sign-in expires at")
    ada.type("before, ")
    ada.wait_until_saved()
    # With a newer token in time, the connection remains.
    notice.get_by_role("button", name="Sign in").click()
    ada.page.get_by_label("Token").fill(token(seconds=12))
    ada.page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    expect(ada.page.get_by_role("dialog")).to_be_hidden()
    ada.page.evaluate("window.isSamePage = true")
    # No newer token comes in time.
    trouble = ada.page.locator("[data-kind=connection]")
    expect(trouble).to_contain_text("Your sign-in has expired.")
    expect(ada.page.locator("#status-text")).to_have_text("Signed out")
    ada.to_end()
    ada.type("after")
    expect(ada.page.locator("#status-text")).to_contain_text("not yet saved")
    ada.picture("signed-out")
    trouble.get_by_role("button", name="Sign in").click()
    ada.page.get_by_label("Token").fill(token())
    ada.page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    ada.wait_until_saved()
    expect(trouble).to_be_hidden()
    assert ada.page.evaluate("window.isSamePage")
    assert ada.text() == "before, after"
    assert guarded.request("GET", f"/api/notes/{note}/text")["text"] == "before, after"


def test_a_link_for_reading(guarded, person):
    note = guarded.create("To be read")
    guarded.create("Not to be read")
    ada = person("Somebody").open(note, f"#token={token(name='Ada')}")
    ada.type("Once upon a time")
    ada.wait_until_saved()
    link = share(ada)
    assert "/s/" in link and note not in link
    bo = follow(person("Bo", "#b0452a"), link)
    bo.wait_for_text("Once upon a time")
    expect(bo.page.locator("#access")).to_be_visible()
    expect(bo.page.locator("#access")).to_have_text("Read only")
    expect(bo.editor).to_have_attribute("contenteditable", "false")
    expect(bo.page.locator("#title")).to_be_disabled()
    expect(bo.page.locator("#notes .note-title")).to_have_text(["To be read"])
    expect(bo.page.get_by_role("button", name="New note")).to_be_hidden()
    expect(ada.page.locator("#people")).to_have_attribute("aria-label", re.compile(r"Bo \(guest\)"))
    # The shortcut moves the focus to the text, where typing has no effect.
    bo.press("Alt+e")
    bo.page.keyboard.type("mine!")
    ada.to_end()
    ada.type(", a duck.")
    bo.wait_for_text("Once upon a time, a duck.")
    bo.picture("read-only")
    phone = follow(person("Cy", "#8a4bab", **PHONE), link)
    phone.wait_for_text("Once upon a time, a duck.")
    phone.picture("phone-read-only")
    # The menu has no forbidden actions. The history can be viewed.
    bo.page.get_by_role("button", name="More for this note").click()
    expect(bo.page.get_by_role("menuitem")).to_have_text([*MENU_OF_READERS, "Edit name and colour"])
    bo.page.get_by_role("menuitem", name="History").click()
    expect(bo.page.locator("#history-title")).to_be_visible()
    expect(bo.page.get_by_role("button", name="Restore this version")).to_be_hidden()
    expect(bo.page.get_by_role("button", name="Name this version")).to_be_hidden()
    # Changes can be viewed, but not restored.
    bo.page.get_by_role("button", name="Show changes").click()
    expect(bo.page.locator("#history")).to_have_attribute("data-shown", re.compile(r"^\d+-\d+$"))
    expect(bo.page.locator("#history-page ins").first).to_be_visible()
    expect(bo.page.locator("#history-text .restore-part")).to_have_count(0)
    expect(bo.page.locator("#history-change-restore")).to_be_hidden()
    bo.press("Escape")
    bo.page.reload()
    bo.wait_for_status("saved")
    bo.wait_for_text("Once upon a time, a duck.")
    # Ada withdraws the link.
    ada.page.get_by_role("button", name="Share", exact=True).click()
    ada.page.get_by_role("button", name="Withdraw all links").click()
    ada.page.get_by_role("button", name="Withdraw them").click()
    expect(bo.page.locator("[data-kind=connection]")).to_contain_text("This link no longer works.")
    expect(bo.page.locator("#status-text")).to_have_text("Link has expired")
    bo.page.reload()
    expect(bo.page.locator("#gone-title")).to_have_text("This link no longer works.")
    bo.picture("link-ended")


def test_a_link_for_writing(guarded, person):
    note = guarded.create("To be written")
    ada = person("Somebody").open(note, f"#token={token()}")
    link = share(ada, "Read and write", "3600")
    bo = follow(person("Bo"), link)
    expect(bo.page.locator("#access")).to_be_hidden()
    bo.type("Bo was here.")
    assert converge(ada, bo) == "Bo was here."
    # A guest cannot make links, but can copy this one.
    bo.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bo.page.get_by_role("button", name="Copy link").click()
    wait_until(lambda: bo.page.evaluate("navigator.clipboard.readText()") == link)


def test_rights_that_change_while_writing(guarded, person):
    note = guarded.create("Changing")
    ada = person("Somebody").open(note, f"#token={token()}")
    ada.type("written")
    ada.wait_until_saved()
    verbs = ["read", "presence"]

    def come_with(rights):
        ada.page.evaluate("(hash) => { location.hash = hash }", f"#token={token(rights)}")

    come_with([{"match": note, "may": verbs}])
    expect(ada.page.locator("#access")).to_be_visible()
    expect(ada.editor).to_have_attribute("contenteditable", "false")
    come_with([{"match": "another", "may": verbs}])
    expect(ada.page.locator("#gone-title")).to_have_text("This note cannot be opened.")
    expect(ada.page.get_by_role("button", name="Copy your version of the text")).to_be_visible()
    come_with([{"match": note, "may": [*verbs, "write"]}])
    expect(ada.page.locator("#gone")).to_be_hidden()
    expect(ada.page.locator("#access")).to_be_hidden()
    ada.to_end()
    ada.type(" again")
    ada.wait_until_saved()
    assert "#token" not in ada.page.url


def test_forbidden_actions_are_not_offered(guarded, person):
    note = guarded.create("Ours")
    rights = [{"match": note, "may": ["read", "write", "presence"]}]
    bo = person("Somebody")
    bo.page.goto(f"/n/{note}#token={token(rights, sub='bo')}")
    bo.wait_for_status("saved")
    create = bo.page.get_by_role("button", name="New note")
    expect(create).to_be_hidden()
    expect(bo.page.get_by_label("Title of the note")).to_be_disabled()
    expect(bo.page.get_by_role("button", name="Share")).to_be_hidden()
    bo.page.get_by_role("button", name="More for this note").click()
    # Users who may write may comment.
    menu = ["Add pictures or files…", *MENU_OF_READERS]
    menu.insert(2, "Comment on the selection")
    menu.insert(menu.index("Download Markdown"), "Turn into a formatted note…")
    expect(bo.page.get_by_role("menuitem")).to_have_text(menu)
    bo.picture("no-managing")
    bo.press("Escape")
    bo.page.locator("#notes .note-row").hover()
    bo.page.get_by_role("button", name="More for “Ours”").click()
    expect(bo.page.get_by_role("menuitem")).to_have_text(["Pin to the top", "Copy link"])
    bo.press("Escape")
    bo.page.locator("#notes .note-link").focus()
    bo.press("Delete", "F2", "Alt+n")
    expect(bo.page.get_by_role("dialog")).to_have_count(0)
    expect(bo.page.get_by_label("New title")).to_have_count(0)
    expect(bo.page).to_have_url(re.compile(f"/n/{note}$"))
    # At the next visit, the page knows the rights from the beginning.
    bo.page.route("**/api/notes[?]parts=*", lambda route: None)
    bo.page.goto("/")
    expect(bo.page.locator("#me-name")).to_have_text("bo")
    expect(bo.page.get_by_role("button", name="Start a note")).to_be_hidden()
    bo.page.unroute("**/api/notes[?]parts=*")
    # Actions that become allowed are offered at once.
    bo.page.evaluate("(hash) => { location.hash = hash }", f"#token={token(sub='bo')}")
    expect(create).to_be_visible()
    # A user who may share but not write can make links only for reading.
    bo.page.goto(f"/n/{note}#token={token([{'match': '*', 'may': ['read', 'manage']}], sub='bo')}")
    bo.page.reload()
    bo.wait_for_status("saved")
    bo.page.get_by_role("button", name="Share", exact=True).click()
    dialog = bo.page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="Read", exact=True)).to_be_checked()
    expect(dialog.get_by_role("radio", name="Read and write")).to_be_hidden()
    bo.picture("sharing-reading-only")


def test_a_restarted_server_that_rejects_the_token_replaces_the_offline_notice(guarded, person):
    ada = person("Ada").open(guarded.create("Away"), f"#token={token()}")
    guarded.kill()
    away = ada.page.locator("[data-kind=offline]")
    expect(away).to_be_visible()
    (guarded.folder / "secret").write_bytes(SECRET[::-1])
    guarded.start()
    expect(ada.page.locator("[data-kind=connection]")).to_contain_text("Your token was not accepted.")
    expect(away).to_have_count(0)


def test_a_late_link_is_not_shown_in_another_notes_dialog(guarded, person):
    first, second = guarded.create("First"), guarded.create("Second")
    ada = person("Somebody", worker=False).open(first, f"#token={token()}")
    held = []
    ada.page.route(f"**/api/notes/{first}/share", lambda route: held.append(route))
    sharing = ada.page.get_by_role("button", name="Share", exact=True)
    sharing.click()
    ada.page.get_by_role("button", name="Create link").click()
    wait_until(lambda: ada.page.evaluate("true") and len(held) == 2)
    ada.press("Escape")
    ada.page.locator(f"[data-note='{second}'] .note-link").click()
    ada.wait_for_status("saved")
    with ada.page.expect_response(re.compile(f"{second}/share")):
        sharing.click()
    # The server has made the link, so it is listed in its own note.
    for route in held:
        with ada.page.expect_response(re.compile(f"{first}/share")):
            route.continue_()
    make = ada.page.get_by_role("button", name="Create link")
    make.click()
    link = ada.page.locator("#sharing-link")
    expect(link).to_have_value(re.compile("/s/"))
    expect(ada.page.locator("#sharing-list .deleted-row")).to_have_count(1)
    opened = guarded.request("POST", "/api/links/open", {"key": link.input_value().split("/")[-1]})
    assert opened["note"] == second


def test_the_servers_messages_for_developers_are_not_shown(guarded, person):
    ada = person("Somebody", worker=False).open(guarded.create("Plain"), f"#token={token()}")
    refusal = '{"code":"notAllowed","message":"the token does not grant this"}'
    ada.page.route(
        "**/api/notes/**",
        lambda route: route.fulfill(status=403, content_type="application/json", body=refusal)
        if route.request.method != "GET"
        else route.continue_(),
    )
    ada.page.get_by_label("Title of the note").fill("Other")
    ada.press("Enter")
    toast = ada.page.locator("#toast")
    expect(toast).to_have_text("The title was not changed. You are not allowed to do this.")
    ada.page.goto(f"/n/another#token={token([{'match': 'x', 'may': ['read']}])}")
    expect(ada.page.locator("#gone-text")).to_have_text("You are not allowed to read it.")
    ada.picture("not-allowed-to-read")


def test_a_guest_requests_nothing_beyond_the_link(guarded, person):
    note = guarded.create("By link")
    link = guarded.request("POST", f"/api/notes/{note}/share", {"access": "write"})
    bo = follow(person("Bo"), link["path"])
    bo.type("Hello")
    bo.wait_until_saved()
    expect(bo.page.locator("#notes .note-title")).to_have_text(["By link"])
    # The guest is still notified of a changed title.
    guarded.request("PATCH", f"/api/notes/{note}", {"title": "Renamed"})
    expect(bo.page.locator("#notes .note-title")).to_have_text(["Renamed"])
    assert "notAllowed" not in (guarded.folder / "server.log").read_text()


def test_visitors_with_a_link_in_the_open_demo_can_only_read(server, person):
    note = server.create("Open")
    ada = person("Ann").open(note)
    ada.page.get_by_role("button", name="Share", exact=True).click()
    expect(ada.page.locator("#sharing-hint")).to_contain_text("this server is open")
    ada.press("Escape")
    link = share(ada)
    bo = follow(person("Bo"), link)
    expect(bo.page.locator("#access")).to_be_visible()
    ada.type("Hello")
    bo.wait_for_text("Hello")
    bo.page.get_by_role("button", name="More for this note").click()
    bo.page.get_by_role("menuitem", name="Edit name and colour").click()
    bo.page.get_by_role("button", name="Leave this link").click()
    expect(bo.page.locator("#access")).to_be_hidden()
    bo.wait_for_status("saved")
    bo.to_end()
    bo.type("!")
    assert converge(ada, bo) == "Hello!"


def test_who_is_writing(server, person):
    note = server.create("Busy")
    ann = person("Ann").open(note)
    bo = person("Bo", "#b0452a").open(note)
    expect(ann.page.locator("#people")).to_have_attribute("aria-label", "Here with you: Bo")
    bo.type("one, two, three")
    expect(ann.page.locator("#writing")).to_have_text("Bo is writing…")
    ann.page.locator("#people").click()
    expect(ann.page.locator("#people-list .writing")).to_have_text("writing…")
    expect(ann.page.locator("#people")).to_have_attribute("aria-label", "Here with you: Bo (writing)")
    ann.picture("writing")
    # The mark disappears after a while, and moving a caret does not count as writing.
    bo.put_caret(0)
    expect(ann.page.locator("#writing")).to_have_text("")
    expect(ann.page.locator("#people-list .writing")).to_have_count(0)
    # A person who leaves is no longer shown as writing.
    bo.type("four")
    expect(ann.page.locator("#writing")).to_have_text("Bo is writing…")
    began = time.monotonic()
    bo.page.close()
    expect(ann.page.locator("#people-list li")).to_have_count(1)
    expect(ann.page.locator("#writing")).to_have_text("")
    # Immediately, not only after `presence-lease`.
    assert time.monotonic() - began < 85


def test_unsaved_edits_of_one_user_are_not_sent_by_another(guarded, person):
    note = guarded.create("Left behind")
    ada = person("Somebody").open(note, f"#token={token()}")
    ada.type("kept: ")
    ada.wait_until_saved()
    guarded.kill()
    ada.wait_for_status("offline")
    ada.type("mine")
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('parley.pending.')).length"
    wait_until(lambda: ada.page.evaluate(kept) == 1)
    ada.page.close()
    guarded.start()
    # Another user at the same browser.
    ada.page = ada.new_page()
    ada.open(note, f"#token={token(sub='eve')}")
    assert ada.text() == "kept: "
    ada.type("not ")
    ada.wait_until_saved()
    ada.page.close()
    ada.page = ada.new_page()
    ada.page.goto(f"/n/{note}")
    ada.page.get_by_label("Token").fill(token())
    ada.page.get_by_role("dialog").get_by_role("button", name="Sign in").click()
    expect(ada.page.get_by_role("dialog")).to_be_hidden()
    ada.wait_until_saved()
    wait_until(lambda: ada.page.evaluate(kept) == 0)
    assert ada.text() in ("not kept: mine", "kept: minenot ", "kept: not mine")
    assert guarded.request("GET", f"/api/notes/{note}/text")["text"] == ada.text()
