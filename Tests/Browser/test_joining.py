"""Joining with the link of an invitation, and changing the password, in a real browser."""

import functools
import re
import subprocess

import pytest
from conftest import PROGRAM, Server, wait_until
from playwright.sync_api import expect

PASSWORD = "correct horse é"
OTHER = "another battery"


@pytest.fixture
def users(tmp_path):
    """A server with one user, who invites others."""
    file = tmp_path / "users"
    add = [PROGRAM, "user", "add", "ada", "document:*=all", "--file", file]
    subprocess.run(add, input=PASSWORD + "\n", text=True, check=True, capture_output=True)
    running = Server(tmp_path, "--users-file", str(file))
    running.settings = ["--users-file", file, "--data-dir", tmp_path / "data"]
    yield running
    running.stop()


def invite(server):
    command = [PROGRAM, "invite", "make", "document:*=all", *server.settings]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def change_password(page, old, new):
    page.locator("#me").click()
    page.get_by_role("button", name="Change password…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Current password").fill(old)
    dialog.get_by_label("New password").fill(new)
    page.keyboard.press("Enter")
    return dialog


class Line:
    """The page's connection to the server. A new token may be late: the connection ends when it is sent."""

    def __init__(self, page):
        self.is_late = False
        self.late = 0
        self.close = None
        page.route_web_socket(re.compile(r"/ws$"), self.open)

    def open(self, client):
        server = client.connect_to_server()

        def send(message):
            if self.is_late and '"refresh"' in message:
                self.late += 1
                if self.close:
                    self.close()
            else:
                server.send(message)

        def closed(code, reason):
            end = functools.partial(client.close, code=code, reason=reason)
            # The server may end the connection first; the page is notified afterwards.
            if self.is_late and not self.late:
                self.close = end
            else:
                end()

        client.on_message(send)
        server.on_close(closed)


def test_an_invitation_survives_a_part_of_the_page_that_fails_to_load(users, person):
    page = person("Somebody", worker=False).page
    link = invite(users)
    page.route(re.compile("/passwords[^/]*[.]js$"), lambda route: route.abort())
    page.goto(f"/{link}")
    expect(page.locator("#toast")).to_have_text("Reload the page and try again.")
    page.unroute_all()
    page.reload()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You are invited")
    # Closing the dialog before the answer uses the invitation up, without a sign-in.
    held = []
    page.route("**/api/user/join", lambda route: held.append(route))
    dialog.get_by_label("E-mail").fill("cem")
    dialog.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    wait_until(lambda: page.evaluate("true") and held)
    page.keyboard.press("Escape")
    with page.expect_response("**/api/user/logout") as ended:
        held[0].continue_()
    assert ended.value.ok
    expect(page.locator("#toast")).to_contain_text("not signed in")
    assert page.evaluate("sessionStorage.getItem('parley.access')") is None


def test_an_invited_user_joins_and_changes_the_password(users, person):
    bea = person("Somebody", worker=False)
    page = bea.page
    line = Line(page)
    link = invite(users)
    page.goto(f"/{link}")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You are invited")
    expect(dialog.get_by_label("E-mail")).to_be_focused()
    assert "invite" not in page.url, "the address is not to be passed on by accident"
    bea.picture("invited")
    dialog.get_by_label("E-mail").fill("ada")
    dialog.get_by_label("Name shown to others").fill("Bea B.")
    dialog.get_by_label("Password").fill(PASSWORD)
    bea.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Another user has this name.")
    dialog.get_by_label("E-mail").fill("bea@example.org")
    dialog.get_by_role("button", name="Join").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#me-name")).to_have_text("Bea B.")
    page.get_by_role("button", name="New note").click()
    bea.type("Mine")
    bea.wait_until_saved()

    # If the dialog is closed before the answer, the result is still reported.
    held = []
    page.route("**/api/user/password", lambda route: held.append(route))
    dialog = change_password(page, "wrong password", "a third battery")
    wait_until(lambda: page.evaluate("true") and held)
    bea.press("Escape")
    expect(dialog).to_be_hidden()
    held[0].continue_()
    page.unroute("**/api/user/password")
    expect(page.locator("#toast")).to_contain_text("password is wrong")
    # A failed request does not close the dialog.
    page.route("**/api/user/password", lambda route: route.abort())
    dialog = change_password(page, "wrong password", "a third battery")
    expect(dialog.get_by_role("alert")).to_have_text("The server cannot be reached.")
    page.unroute("**/api/user/password")
    dialog.get_by_role("button", name="Change it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("password is wrong")
    expect(dialog.get_by_role("button", name="Change it")).to_be_focused()
    bea.picture("changing-the-password")
    dialog.get_by_label("Current password").fill(PASSWORD)
    bea.press("Enter")
    expect(dialog).to_be_hidden()
    # Bea can continue to write.
    page.locator(".cm-content").click()
    bea.type("!")
    bea.wait_until_saved()
    # The server may also close the connection of the former password before it receives the new token.
    line.is_late = True
    expect(change_password(page, "a third battery", OTHER)).to_be_hidden()
    line.is_late = False
    assert line.late == 1
    page.locator(".cm-content").click()
    bea.type("!")
    bea.wait_until_saved()
    page.reload()
    bea.wait_for_text("Mine!!")

    # The invitation is used up. Bea signs in with her current password.
    cem = person("Cem")
    cem.page.goto(f"/{link}")
    dialog = cem.page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("cem")
    dialog.get_by_label("Password").fill(PASSWORD)
    cem.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("This invitation has expired")
    dialog.get_by_role("button", name="Cancel").click()
    cem.page.reload()
    dialog = cem.page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("bea@example.org")
    dialog.get_by_label("Password").fill(OTHER)
    cem.press("Enter")
    expect(dialog).to_be_hidden()
    expect(cem.page.locator("#me-name")).to_have_text("Bea B.")
