"""The page without its server: it starts, reads and writes. The data in the browser belongs to one user."""

import re

import pytest
from conftest import barriers, converge, token, wait_until
from playwright.sync_api import expect
from test_upgrade import Upgradable, is_marked, mark

WORKER = True

# In the page: all data in the browser except localStorage, as text: addresses and bodies of caches, and all copies.
KEPT = """async () => {
    const found = [];
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
            const response = await cache.match(request, { ignoreVary: true });
            const type = response.headers.get("content-type") ?? "";
            found.push(request.url + (type.includes("html") ? await response.text() : ""));
        }
    }
    for (const { name, version } of await indexedDB.databases()) {
        const database = await new Promise((resolve, reject) => {
            const request = indexedDB.open(name, version);
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        for (const store of database.objectStoreNames) {
            const all = await new Promise((resolve) => {
                const request = database.transaction(store).objectStore(store).getAll();
                request.onsuccess = () => resolve(request.result);
            });
            found.push(...all.map((one) => `${name} ${store} ${JSON.stringify(one)}`));
        }
        database.close();
    }
    return found;
}"""

COPIED = "(text) => (KEPT)().then((all) => all.some((one) => one.includes(' states ') && one.includes(text)))".replace(
    "KEPT", KEPT
)


def wait_until_kept(person, page=None):
    """Waits until the browser has cached the page."""
    (page or person.page).evaluate("navigator.serviceWorker.ready.then(() => true)")
    wait_until(lambda: (page or person.page).evaluate("caches.keys().then((names) => names.length)") >= 1)
    wait_until(lambda: (page or person.page).evaluate("navigator.serviceWorker.controller !== null"))


def wait_until_copied(person, text, page=None):
    wait_until(lambda: (page or person.page).evaluate(COPIED, text), lambda: f"no copy has {text!r}")


def kept(person):
    return "\n".join(person.page.evaluate(KEPT))


def write_note(server, person, title, text):
    note = server.create(title)
    person.open(note)
    person.type(text)
    person.wait_until_saved()
    wait_until_kept(person)
    # Leaving a note copies it at once.
    person.page.locator(".brand-link").click()
    wait_until_copied(person, text)
    return note


def test_a_reload_without_a_server_shows_the_page(server, person):
    ann = person("Ann")
    note = write_note(server, ann, "Kept", "first words")
    ann.page.goto(f"/n/{note}")
    ann.wait_for_text("first words")
    server.kill()
    ann.page.reload()
    ann.wait_for_text("first words")
    ann.wait_for_status("offline")
    expect(ann.page.locator("#notes .note-title")).to_have_text(["Kept"])
    assert barriers(ann.page) == []
    ann.to_end()
    ann.type(" and more")
    # The edits also survive another reload, and closing the tab.
    ann.page.reload()
    ann.wait_for_text("first words and more")
    ann.to_end()
    ann.type(" still")
    ann.page.close()
    ann.page = ann.new_page()
    ann.page.goto(f"/n/{note}")
    ann.wait_for_text("first words and more still")
    server.start()
    ann.wait_until_saved()
    bo = person("Bo").open(note)
    assert converge(ann, bo) == "first words and more still"


def test_the_list_and_another_note_can_be_opened_without_a_server(server, person):
    ann = person("Ann")
    for number in (1, 2):
        write_note(server, ann, f"Note {number}", f"text {number}")
    server.kill()
    ann.page.goto("/")
    expect(ann.page.locator("#notes .note-title")).to_have_text(["Note 2", "Note 1"])
    for number in (1, 2):
        ann.page.get_by_role("link", name=f"Note {number}").click()
        ann.wait_for_text(f"text {number}")


def test_two_tabs_and_a_crash_without_a_server(server, person):
    ann = person("Ann")
    note = write_note(server, ann, "Twice", "base")
    server.kill()
    tabs = [ann.page, ann.new_page()]
    for number, tab in enumerate(tabs):
        ann.page = tab
        tab.goto(f"/n/{note}")
        ann.wait_for_text("base")
        ann.to_end()
        ann.type(f" tab{number}")
        wait_until(
            lambda: tab.evaluate(
                "(word) => Object.values(localStorage).some((one) => one.includes(word))", f"tab{number}"
            )
        )
    # Both tabs are closed before the server is restarted.
    for tab in tabs:
        tab.close()
    ann.page = ann.new_page()
    server.start()
    ann.open(note)
    wait_until(lambda: sorted((ann.text() or "").split()) == ["base", "tab0", "tab1"])
    ann.wait_until_saved()
    bo = person("Bo").open(note)
    assert sorted(converge(ann, bo).split()) == ["base", "tab0", "tab1"]


def test_a_duplicated_tab_without_a_server(server, person):
    ann = person("Ann")
    note = write_note(server, ann, "Doubled", "base")
    ann.page.goto(f"/n/{note}")
    ann.wait_for_text("base")
    server.kill()
    ann.wait_for_status("offline")
    ann.to_end()
    ann.type(" one")
    first = ann.page
    # A window opened by a page gets a copy of its session storage.
    with ann.context.expect_page() as opened:
        first.evaluate("window.open(location.href)")
    ann.page = opened.value
    # The new window is empty at first.
    ann.editor.wait_for(state="attached")
    wait_until(lambda: (ann.text() or "").startswith("base"))
    ann.to_end()
    ann.type(" two")
    server.start()
    ann.wait_until_saved()
    second, ann.page = ann.page, first
    ann.wait_until_saved()
    wait_until(lambda: sorted((ann.text() or "").split()) == ["base", "one", "two"], ann.text)
    second.close()


def test_a_new_note_without_a_server_outlives_its_tab(server, person):
    ann = person("Ann")
    ann.page.goto("/")
    wait_until_kept(ann)
    server.kill()
    ann.page.goto("/")
    ann.page.get_by_role("button", name="New note").click()
    ann.page.keyboard.type("On a plane")
    ann.page.keyboard.press("Enter")
    ann.page.keyboard.type("written above the clouds")
    expect(ann.page.locator("#status-text")).to_have_text("Not made yet")
    assert barriers(ann.page) == []
    ann.page.close()
    ann.page = ann.new_page()
    ann.page.goto("/")
    ann.page.get_by_role("link", name="On a plane").click()
    expect(ann.page.locator("#early")).to_have_value("written above the clouds")
    server.start()
    expect(ann.page).to_have_url(re.compile(r"/n/.+"))
    ann.wait_until_saved()
    ann.wait_for_text("written above the clouds")
    assert [note["title"] for note in server.request("GET", "/api/notes")["notes"]] == ["On a plane"]


def test_signing_out_removes_all_data(guarded, person):
    note = guarded.create("Secret plan")
    ada = person("Ada")
    ada.page.goto(f"/#token={guarded.token}")
    expect(ada.page.locator("#me-hint")).to_have_text("Signed in")
    ada.page.get_by_role("link", name="Secret plan").click()
    ada.type("classified")
    ada.wait_until_saved()
    wait_until_kept(ada)
    ada.page.locator(".brand-link").click()
    wait_until_copied(ada, "classified")
    assert guarded.token not in kept(ada)
    ada.page.locator("#me").click()
    mark(ada.page)
    ada.page.get_by_role("button", name="Sign out").click()
    expect(ada.page.locator("html[data-before]")).to_have_count(0)
    expect(ada.page.get_by_role("dialog")).to_contain_text("You are not signed in.")
    all_that_is_kept = kept(ada)
    assert "classified" not in all_that_is_kept and "Secret plan" not in all_that_is_kept
    assert note not in all_that_is_kept


def test_another_user_of_the_browser_finds_no_data(guarded, person):
    guarded.create("Secret plan")
    ada = person("Ada")
    ada.page.goto(f"/#token={guarded.token}")
    ada.page.get_by_role("link", name="Secret plan").click()
    ada.type("classified")
    ada.wait_until_saved()
    wait_until_kept(ada)
    ada.page.locator(".brand-link").click()
    wait_until_copied(ada, "classified")
    # The user closes the tab without signing out.
    ada.page.close()
    ada.page = ada.new_page()
    guarded.kill()
    ada.page.goto("/")
    expect(ada.page.locator("#line")).to_be_visible()
    expect(ada.page.locator("#notes .note-title")).to_have_count(0)
    guarded.start()
    other = token([{"match": "none-*", "may": ["read"]}], sub="bob")
    ada.page.goto(f"/#token={other}")
    ada.page.reload()
    wait_until(lambda: "classified" not in kept(ada))
    assert "Secret plan" not in kept(ada)


def test_no_data_is_stored_for_a_visitor_with_a_link(guarded, person):
    note = guarded.create("Shared")
    link = guarded.request("POST", f"/api/notes/{note}/share", {"access": "write"})["token"]
    guest = person("Guest")
    guest.open(note, f"#share={link}")
    guest.type("seen by a guest")
    guest.wait_until_saved()
    wait_until_kept(guest)
    guest.page.reload()
    guest.wait_for_text("seen by a guest")
    all_that_is_kept = kept(guest)
    assert link not in all_that_is_kept and "seen by a guest" not in all_that_is_kept
    assert note not in all_that_is_kept


def test_a_deleted_note_is_removed_from_the_browser(server, person):
    ann = person("Ann")
    note = write_note(server, ann, "Gone", "soon gone")
    server.request("DELETE", f"/api/notes/{note}")
    wait_until(lambda: "soon gone" not in kept(ann))
    assert note not in kept(ann)


def test_a_note_whose_rights_are_withdrawn_is_removed_from_the_browser(guarded, person):
    note = guarded.create("Withdrawn")
    ada = person("Ada")
    ada.page.goto(f"/#token={guarded.token}")
    ada.page.get_by_role("link", name="Withdrawn").click()
    ada.type("no longer yours")
    ada.wait_until_saved()
    wait_until_kept(ada)
    ada.page.locator(".brand-link").click()
    wait_until_copied(ada, "no longer yours")
    ada.page.goto(f"/n/{note}#token={token([{'match': 'none-*', 'may': ['read']}])}")
    ada.page.reload()
    wait_until(lambda: "no longer yours" not in kept(ada))


def test_a_full_storage_is_reported_and_the_page_keeps_working(server, person):
    ann = person("Ann")
    session = ann.context.new_cdp_session(ann.page)
    session.send("Storage.overrideQuotaForOrigin", {"origin": server.url, "quotaSize": 1})
    note = server.create("Full")
    ann.open(note)
    expect(ann.page.locator("#news")).to_contain_text("stores no copies")
    assert barriers(ann.page) == []
    ann.type("goes on")
    ann.wait_until_saved()
    ann.page.get_by_role("button", name="OK").click()
    expect(ann.page.locator("#news")).to_be_empty()
    bo = person("Bo").open(note)
    assert converge(ann, bo) == "goes on"


def test_a_browser_that_forbids_storage_is_reported(server, person):
    ann = person("Ann")
    ann.context.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('forbidden', 'SecurityError'); }"
    )
    note = server.create("Private")
    ann.open(note)
    expect(ann.page.locator("#news")).to_contain_text("stores no copies")
    ann.type("goes on")
    ann.wait_until_saved()
    # A browser that forbids all storage, as with the setting for cookies.
    ben = person("Ben")
    ben.context.add_init_script(
        """for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
            Object.defineProperty(window, name, { get() { throw new DOMException("forbidden", "SecurityError"); } });
        }"""
    )
    ben.open(note)
    expect(ben.page.locator("#news")).to_contain_text("stores no copies")
    ben.to_end()
    ben.type(" here")
    assert converge(ann, ben) == "goes on here"
    ben.page.get_by_role("button", name="New note").click()
    ben.wait_for_editor()
    ben.type("new")
    ben.wait_until_saved()


def test_nothing_is_stored_if_the_server_forbids_it(server, person):
    ann = person("Ann")
    write_note(server, ann, "Kept", "kept words")
    server.options = (*server.options, "--no-offline-page")
    server.process.terminate()
    server.process.wait()
    server.start()
    ann.page.goto("/")
    wait_until(lambda: "kept words" not in kept(ann) and "/assets/" not in kept(ann))
    assert ann.page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0


@pytest.fixture
def upgradable(tmp_path):
    folder = tmp_path / "upgradable"
    folder.mkdir()
    running = Upgradable(folder)
    yield running
    running.server.stop()


class TestUpgrades:
    @pytest.fixture
    def server(self, upgradable):
        return upgradable.server

    def test_a_new_version_is_announced(self, server, upgradable, person):
        ann = person("Ann")
        note = server.create("Upgraded")
        ann.open(note)
        ann.type("before")
        ann.wait_until_saved()
        wait_until_kept(ann)
        mark(ann.page)
        upgradable.upgrade()
        server.kill()
        server.start()
        expect(ann.page.locator("#news")).to_contain_text("A new version of this page is available.")
        assert barriers(ann.page) == []
        # The old version continues until the user chooses the new one.
        ann.type(" and after")
        ann.wait_until_saved()
        assert is_marked(ann.page)
        ann.page.get_by_role("button", name="Reload").click()
        expect(ann.page.locator("html[data-before]")).to_have_count(0)
        ann.wait_for_text("before and after")
        build = ann.page.locator('meta[name="build"]').get_attribute("content")
        wait_until(lambda: ann.page.evaluate("caches.keys()") == [f"parley.page / {build}"])
        # The new version works without the server, too.
        wait_until_copied(ann, "before and after")
        server.kill()
        ann.page.reload()
        ann.wait_for_text("before and after")
        expect(ann.page.locator("#news")).to_be_empty()

    def test_a_page_of_the_new_version_activates_its_worker(self, server, upgradable, person):
        ann = person("Ann")
        ann.page.goto("/")
        wait_until_kept(ann)
        upgradable.upgrade()
        ann.page.goto("/")
        build = ann.page.locator('meta[name="build"]').get_attribute("content")
        wait_until(lambda: ann.page.evaluate("caches.keys()") == [f"parley.page / {build}"])
        expect(ann.page.locator("#news")).to_be_empty()
