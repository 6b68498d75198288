"""Signing in at an identity provider, as users see it."""

import sys

import pytest
from conftest import ROOT, Server, barriers, wait_until
from playwright.sync_api import expect

sys.path.append(str(ROOT / "Tests" / "System"))
from identity_providers import CLIENT, SECRET, LyingProvider  # noqa: E402
from ports import free_port  # noqa: E402


@pytest.fixture
def provider():
    running = LyingProvider()
    yield running
    running.stop()


@pytest.fixture
def users(tmp_path, provider):
    """A server whose users sign in at the provider."""
    secret, port = tmp_path / "client-secret", free_port()
    secret.write_text(SECRET)
    running = Server(
        tmp_path, "--port", str(port), "--public-url", f"http://127.0.0.1:{port}", "--oidc-issuer", provider.issuer,
        "--oidc-client-id", CLIENT, "--oidc-client-secret-file", str(secret), "--oidc-name", "Example",
        "--oidc-group", "writers document:*=read,write,manage,presence",
    )  # fmt: skip
    yield running
    running.stop()


def button(person):
    return person.page.get_by_role("dialog").get_by_role("link", name="Sign in with Example")


def test_a_user_returns_to_the_note_and_stays_signed_in(users, provider, person):
    ada = person("Somebody")
    ada.page.goto("/")
    button(ada).click()
    expect(ada.page.locator("#me-name")).to_have_text("Ada L.")
    assert ada.page.url == users.url + "/", "nothing of the sign-in stays in the address"
    create = ada.page.get_by_role("button", name="New note")
    create.click()
    ada.wait_for_editor()
    ada.type("by Ada")
    ada.wait_until_saved()
    note = ada.page.url.rsplit("/", 1)[1]
    ada.reload()
    ada.wait_for_text("by Ada")
    ada.page.locator("#me").click()
    expect(ada.page.get_by_role("button", name="Change password")).to_be_hidden()
    # After signing out, one click signs in again and returns to the history of the same note.
    ada.page.get_by_role("button", name="Sign out").click()
    expect(button(ada)).to_be_visible()
    ada.page.get_by_role("button", name="Cancel").click()
    ada.page.goto(f"/n/{note}#history")
    ada.page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(button(ada)).to_be_focused()
    assert barriers(ada.page) == []
    ada.picture("sign-in-provider")
    button(ada).click()
    expect(ada.page.locator("#history")).to_be_visible()
    assert ada.page.url == f"{users.url}/n/{note}#history"
    cookies = {cookie["name"]: cookie for cookie in ada.context.cookies()}
    assert "parley-ticket" not in cookies and cookies["parley-browser"]["httpOnly"]


@pytest.mark.parametrize(
    "lies, said",
    [({"denies": True}, "cancelled"), ({"status": {"/token": 503}}, "does not respond")],
    ids=["denied", "down"],
)
def test_a_failed_sign_in_is_reported_once_and_not_repeated(users, provider, person, lies, said):
    provider.lies = lies
    ada = person("Somebody")
    ada.page.goto("/")
    button(ada).click()
    alert = ada.page.get_by_role("dialog").get_by_role("alert")
    expect(alert).to_contain_text(said)
    visits = [path for path in provider.asked if path.startswith("/authorize")]
    assert len(visits) == 1 and ada.page.url == users.url + "/"
    ada.picture(f"sign-in-{said.split()[0]}")
    provider.lies = {}
    button(ada).click()
    wait_until(lambda: len([path for path in provider.asked if path.startswith("/authorize")]) == 2)
    expect(ada.page.get_by_role("button", name="New note")).to_be_visible()
