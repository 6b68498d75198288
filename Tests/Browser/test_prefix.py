"""The page below a path prefix, behind the example proxy configuration for nginx."""

import pathlib
import re
import subprocess
import sys

import pytest
from conftest import PROGRAM, Person, Server
from playwright.sync_api import expect
from test_offline import wait_until_copied, wait_until_kept

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "System"))

from proxies import Proxy  # noqa: E402

PASSWORD = "correct horse battery staple"


class Place:
    """The address of a server for browsers."""

    def __init__(self, server, proxy):
        self.server = server
        self.url = f"{proxy.scheme}://127.0.0.1:{proxy.port}/parley/"


def run_behind_nginx(tmp_path, *options, kind="nginx"):
    running = Server(tmp_path, "--trusted-proxy", "127.0.0.1", *options)
    folder = tmp_path / "proxy"
    folder.mkdir()
    proxy = Proxy(kind, folder, running)
    try:
        yield Place(running, proxy.await_ready())
    finally:
        proxy.stop()
        running.stop()


@pytest.fixture
def server(tmp_path):
    keys = tmp_path / "api-keys"
    made = subprocess.run(
        [PROGRAM, "apikey", "admin", "operator", "document:*=read", "--file", keys],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for place in run_behind_nginx(tmp_path, "--api-key-file", str(keys)):
        place.operator = re.search(r"pk_\S+", made.stdout).group()
        yield place


@pytest.fixture
def users(tmp_path):
    file = tmp_path / "users"
    add = [PROGRAM, "user", "add", "ada@example.org", "document:*=all", "room:*=read"]
    subprocess.run(
        [*add, "--file", file], input=PASSWORD + "\n", text=True, check=True, capture_output=True
    )
    yield from run_behind_nginx(tmp_path, "--users-file", str(file))


def test_writing_and_sharing_below_a_path(server, person):
    ada = person("Ada", ignore_https_errors=True)
    page = ada.page
    # The page must not request addresses outside of its path.
    strays = []
    page.on("request", lambda request: strays.append(request.url))
    page.goto("")
    page.get_by_role("button", name="New note").click()
    expect(page).to_have_url(re.compile(r"/parley/n/.+"))
    page.keyboard.type("Below")
    page.keyboard.press("Enter")
    ada.wait_until_saved()
    expect(page).to_have_url(re.compile(re.escape(server.url) + "n/[^/]+$"))
    ada.type("below a path")
    ada.wait_until_saved()
    # Reload at a deeper path.
    page.reload()
    expect(ada.editor).to_have_text("below a path")
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(page.locator("#sharing-address")).to_have_value(re.compile(re.escape(server.url)))
    dialog.get_by_role("button", name="Create link").click()
    field = page.locator("#sharing-link")
    expect(field).to_be_visible()
    link = field.input_value()
    assert link.startswith(server.url + "s/")
    dialog.get_by_role("button", name="Done").click()
    guest = person("Guest", ignore_https_errors=True)
    guest.page.goto(link)
    expect(guest.editor).to_have_text("below a path")
    # Back to the list, whose icons are loaded, and to the note again.
    page.locator(".brand-link").click()
    expect(page).to_have_url(server.url)
    page.get_by_role("link", name="Below").click()
    expect(page).to_have_url(re.compile(re.escape(server.url) + "n/[^/]+$"))
    expect(ada.editor).to_have_text("below a path")
    icons = page.evaluate(
        "() => [...document.querySelectorAll('svg use')].filter((use) => use.checkVisibility())"
        ".map((use) => [use.href.baseVal, use.getBBox().width])"
    )
    assert icons and all(
        re.search(r"^#icon-|/parley/assets/icons\.svg#", address) and width > 0 for address, width in icons
    ), icons
    assert [url for url in strays if not url.startswith((server.url, "data:"))] == []


def test_signing_in_below_a_path(users, person):
    page = (ada := person("Ada", ignore_https_errors=True)).page
    page.goto("")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("ada@example.org")
    dialog.get_by_label("Password").fill(PASSWORD)
    ada.press("Enter")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="New note").click()
    expect(page).to_have_url(re.compile(r"/parley/n/.+"))
    page.keyboard.type("Mine")
    page.keyboard.press("Enter")
    ada.wait_until_saved()
    page.reload()
    ada.wait_for_status("saved")


def test_the_operators_page_below_a_path(server, person):
    page = person("Olga", ignore_https_errors=True).page
    page.goto("admin")
    page.get_by_label("API key").fill(server.operator)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".chart").first).to_be_visible()


def test_the_page_is_cached_below_a_path(tmp_path, browser):
    """While the server is down, the proxy's error pages must not replace the cached page."""
    for place in run_behind_nginx(tmp_path, kind="nginx_without_tls"):
        ada = Person(browser, place, "Ada")
        page = ada.page
        note = place.server.create("Below")
        page.goto(f"n/{note}")
        ada.wait_for_editor()
        ada.type("kept below ")
        ada.wait_until_saved()
        wait_until_kept(ada)
        # Leaving a note copies it at once.
        page.locator(".brand-link").click()
        wait_until_copied(ada, "kept below ")
        page.goto(f"n/{note}")
        ada.wait_for_text("kept below ")
        assert page.evaluate("navigator.serviceWorker.ready.then(({ scope }) => scope)") == place.url
        place.server.kill()
        ada.wait_for_status("offline")
        page.reload()
        ada.wait_for_text("kept below ")
        ada.to_end()
        ada.type("a path")
        ada.wait_for_text("kept below a path")
        # The page of the list is cached, too, and links to the note.
        page.goto("")
        page.get_by_role("link", name="Below").click()
        ada.wait_for_text("kept below a path")
        # Other paths of the host do not belong to Parley.
        other = page.request.get(place.url.replace("/parley/", "/other"))
        assert other.status == 502
        place.server.start()
        page.evaluate("() => void dispatchEvent(new Event('online'))")
        ada.wait_until_saved()
        assert place.server.request("GET", f"/api/notes/{note}/text")["text"] == "kept below a path"
        ada.leave()
