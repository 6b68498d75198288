"""A forgotten password, from the sign-in to the link in a message, in a real browser."""

import pytest
from conftest import Server, barriers
from mail_receiver import MailReceiver
from playwright.sync_api import expect
from test_joining import OTHER
from test_login import put_user

PAGE = "https://notes.example.org"


@pytest.fixture
def receiver():
    with MailReceiver() as receiver:
        yield receiver


@pytest.fixture
def users(tmp_path, receiver):
    file = tmp_path / "users"
    put_user(file, "ada", "mail:ada@example.org", "document:*=all")
    running = Server(
        tmp_path, "--users-file", str(file), "--smtp-url", receiver.url, "--mail-from", "parley@example.org",
        "--public-url", PAGE,
    )  # fmt: skip
    yield running
    running.stop()


def test_a_link_gives_a_new_password(users, person, receiver):
    ada = person("Ada")
    page = ada.page
    page.goto("/")
    page.get_by_label("E-mail").fill("ada")
    page.get_by_role("button", name="Forgot your password?").click()
    dialog = page.get_by_role("dialog", name="Forgot your password?")
    expect(dialog.get_by_label("E-mail")).to_have_value("ada")
    dialog.get_by_role("button", name="Send the link").click()
    expect(page.get_by_text("a link is on its way")).to_be_visible()
    text = receiver.next().texts["text/plain"]
    link = next(line for line in text.splitlines() if line.startswith(PAGE))
    page.goto(link.removeprefix(PAGE))
    dialog = page.get_by_role("dialog", name="Choose a new password")
    expect(page).to_have_url(users.url + "/")
    assert not barriers(page)
    dialog.get_by_label("New password").fill(OTHER)
    dialog.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    expect(page.locator("#me-hint")).to_be_visible()
    # The link was for one password.
    page.goto(link.removeprefix(PAGE))
    dialog = page.get_by_role("dialog", name="Choose a new password")
    dialog.get_by_label("New password").fill(OTHER)
    dialog.get_by_role("button", name="Change it").click()
    expect(dialog.get_by_text("This link was used or has expired.")).to_be_visible()
