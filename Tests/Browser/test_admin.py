"""The operator's page: access, its lists, and disconnecting clients."""

import json
import re
import subprocess

import pytest
from conftest import PHONE, PROGRAM, Server, converge
from playwright.sync_api import expect
from websockets.sync.client import connect


@pytest.fixture
def server(tmp_path):
    """An open server with an operator's key, and a key without that right."""
    keys = tmp_path / "api-keys"

    def new_key(name, *rights):
        made = subprocess.run(
            [PROGRAM, "apikey", name, *rights, "--file", keys],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return re.search(r"pk_\S+", made.stdout).group()

    operator = new_key("admin", "operator", "document:*=read")
    publisher = new_key("shop", "room:*=publish")
    running = Server(tmp_path, "--api-key-file", str(keys))
    running.operator, running.publisher = operator, publisher
    yield running
    running.stop()


def sign_in(person, key):
    person.page.goto("/admin")
    person.page.get_by_label("API key").fill(key)
    person.page.get_by_role("button", name="Sign in").click()


def connections(person):
    return person.page.locator("#connections tbody tr")


def figure(person, name):
    return person.page.locator(".chart", has=person.page.get_by_role("heading", name=name)).locator(
        ".chart-figure"
    )


def test_only_an_operator_has_access(server, person):
    page = (eve := person("Eve")).page
    for key, problem in [
        ("pk_unknown", "does not know this key"),
        (server.publisher, "not an operator's"),
        ("no key at all", "That is no API key"),
    ]:
        sign_in(eve, key)
        expect(page.get_by_role("alert")).to_contain_text(problem)
        expect(page.locator("#main")).to_be_hidden()
    assert page.evaluate("sessionStorage.length + localStorage.length") == 1  # Only the profile of a visitor.
    assert page.url == f"{server.url}/admin"


def test_a_connection_is_listed_and_disconnected(server, person):
    note = server.create("Shopping")
    admin = person("Admin", viewport={"width": 1180, "height": 900})
    sign_in(admin, server.operator)
    expect(connections(admin)).to_have_count(0)
    expect(admin.page.get_by_text("No clients are connected.")).to_be_visible()
    expect(admin.page.locator("#state-text")).to_have_text("Serving")

    ann = person("Ann").open(note)
    bo = person("Bonifaz").open(note)
    expect(connections(admin)).to_have_count(2)
    expect(figure(admin, "Connections")).to_have_text("2")
    ann.type("milk")
    converge(ann, bo)
    expect(figure(admin, "Commit")).to_have_text(re.compile(r"\d (µs|ms|s)$"))
    expect(figure(admin, "Memory")).to_have_text(re.compile(r"\d MB$"))
    # The name must be rare, because “bo” is in every third id.
    admin.page.get_by_label("Filter the list").fill("bonifaz")
    expect(connections(admin)).to_have_count(1)
    expect(connections(admin)).to_contain_text("native")
    admin.picture("admin")

    # Disconnecting asks for confirmation.
    end = admin.page.get_by_role("button", name="Disconnect Bonifaz")
    end.click()
    admin.page.get_by_role("button", name="Cancel").click()
    bo.wait_for_status("saved")
    end.click()
    admin.page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(bo.page.locator('.notice[data-kind="connection"]')).to_contain_text("operator")
    expect(connections(admin)).to_have_count(0)
    admin.page.get_by_label("Filter the list").fill("")
    expect(connections(admin)).to_have_count(1)
    ann.wait_for_status("saved")


def test_a_disconnected_client_is_asked_to_reconnect(server, person):
    note = server.create("Shopping")
    admin = person("Admin")
    sign_in(admin, server.operator)
    ann = person("Ann").open(note)
    before = connections(admin).first.get_attribute("data-connection")
    admin.page.get_by_role("button", name="Disconnect Ann").click()
    admin.page.get_by_label("Ask the client to come back").check()
    admin.page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(connections(admin).first).not_to_have_attribute("data-connection", before)
    ann.wait_for_status("saved")
    ann.type("back")
    ann.wait_until_saved()


def test_a_row_follows_its_connection(server, person):
    """A client without a name is listed at once; the button has the name that the client sends later."""
    admin = person("Admin")
    sign_in(admin, server.operator)
    with connect(server.url.replace("http", "ws") + "/ws", subprotocols=["parley.v1"]) as client:
        button = connections(admin).get_by_role("button")
        button.focus()
        expect(button).not_to_have_accessible_name("Disconnect Cid")
        client.send(json.dumps({"messageId": "1", "type": "hello", "data": {"name": "Cid"}}))
        expect(button).to_have_accessible_name("Disconnect Cid")
        expect(button).to_be_focused()
        button.press("Enter")
        expect(admin.page.get_by_role("dialog")).to_contain_text("Disconnect Cid?")


def test_rooms_and_notes_are_listed(server, person):
    server.create("Shopping")
    person("Ann").open(server.create("Walks"))
    admin = person("Admin")
    sign_in(admin, server.operator)
    admin.page.get_by_role("tab", name="Connections").press("ArrowRight")
    expect(admin.page.get_by_role("tab", name="Rooms")).to_be_focused()
    expect(admin.page.locator('#rooms [data-room="notes"]')).to_be_visible()
    admin.page.get_by_role("tab", name="Notes").click()
    expect(admin.page.locator("#notes tbody tr")).to_have_count(2)
    admin.page.get_by_label("Filter the list").fill("walk")
    expect(admin.page.get_by_role("link", name="Walks")).to_be_visible()
    expect(admin.page.locator("#notes tbody tr")).to_have_count(1)


def test_the_key_stays_in_its_tab(server, person):
    admin = person("Admin")
    sign_in(admin, server.operator)
    expect(admin.page.locator("#main")).to_be_visible()
    admin.page.reload()
    expect(admin.page.locator("#state-text")).to_have_text("Serving")
    assert server.operator not in admin.page.url
    assert server.operator not in admin.page.evaluate("JSON.stringify({...localStorage})")
    other = admin.new_page()
    other.goto("/admin")
    expect(other.get_by_label("API key")).to_be_visible()
    admin.page.get_by_role("button", name="Sign out").click()
    expect(admin.page.get_by_label("API key")).to_be_focused()
    assert server.operator not in admin.page.evaluate("JSON.stringify({...sessionStorage})")


def test_an_unreachable_server_is_reported(server, person):
    admin = person("Admin")
    sign_in(admin, server.operator)
    expect(admin.page.locator("#state-text")).to_have_text("Serving")
    server.kill()
    expect(admin.page.locator("#state")).to_have_attribute("data-state", "offline")
    server.start()
    expect(admin.page.locator("#state-text")).to_have_text("Serving")


def test_the_operators_page_on_a_phone(server, person):
    person("Ann").open(server.create("Shopping"))
    admin = person("Admin", **PHONE)
    sign_in(admin, server.operator)
    expect(connections(admin)).to_have_count(1)
    admin.picture("admin-phone")
    assert admin.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_operators_page_obeys_a_strict_policy(server, person):
    admin = person("Admin")
    answer = admin.page.goto("/admin")
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    sign_in(admin, server.operator)
    expect(admin.page.locator("#state-text")).to_have_text("Serving")


def test_the_gateways_are_listed(server, person):
    admin = person("Admin", viewport={"width": 1180, "height": 900})
    sign_in(admin, server.operator)
    page = admin.page
    expect(page.locator("#nodes-total")).to_have_text("1")
    page.get_by_role("tab", name="Nodes").click()
    row = page.locator("#nodes tbody tr")
    expect(row).to_have_count(1)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    expect(row).to_contain_text(f":{server.url.rpartition(':')[2]}")
    expect(row).to_contain_text(version)
    expect(row).to_contain_text("answers now")


def test_the_audit_log_is_shown_and_filtered(server, person):
    admin = person("Admin", viewport={"width": 1180, "height": 900})
    sign_in(admin, server.operator)
    page = admin.page
    page.evaluate(
        """async (key) => {
          for (const user of ["bea", "<b>__proto__</b>"]) {
            await fetch("/api/revoke", {
              method: "POST", body: JSON.stringify({ user }),
              headers: { "authorization": `Bearer ${key}`, "content-type": "application/json" },
            });
          }
        }""",
        server.operator,
    )
    page.get_by_role("tab", name="Connections").press("ArrowLeft")
    expect(page.get_by_role("tab", name="Audit log")).to_be_focused()
    rows = page.locator("#audit tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("<b>__proto__</b>")
    expect(rows.first).to_contain_text("revoke")
    page.get_by_label("Filter the list").fill("bea")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("all tokens of the user")
    admin.picture("admin-audit")
