"""The SDK for web pages with newer and older gateways."""

import pytest
from companions import python_package  # noqa: F401: finds Tests/System
from test_sdk import AREA, await_saved, await_text, box
from conftest import Server
from version_gateway import VersionGateway


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def gateway(server):
    running = VersionGateway(server.port, "same")
    yield running
    running.close()


def open_page(context, site, server, gateway, note):
    """Opens a page whose SDK is loaded from the server and connects to the gateway in front of it."""
    tab = context.new_page()
    url = f"http://127.0.0.1:{gateway.port}"
    tab.goto(site.add("app.html", AREA, sdk=f"{server.url}/sdk/1/parley.js", gateway=url, note=note, name="Ada"))
    return tab


@pytest.mark.parametrize("kind", ["newer", "bare"])
def test_the_sdk_works_with_a_gateway_of_the_same_protocol(server, site, gateway, browser, kind):
    gateway.kind = kind
    note = server.create("Shared")
    tab = open_page(browser, site, server, gateway, note)
    tab.wait_for_function("() => document.title === 'ready'")
    box(tab).press_sequentially("understood")
    await_saved(tab)
    assert gateway.welcomes == 1
    assert server.request("GET", f"/api/notes/{note}/text")["text"] == "understood"
    tab.close()


@pytest.mark.parametrize("kind", ["other", "deaf"])
def test_a_gateway_of_another_protocol_is_reported_and_edits_wait(server, site, gateway, browser, kind):
    note = server.create("Kept")
    context = browser.new_context()
    tab = open_page(context, site, server, gateway, note)
    tab.wait_for_function("() => document.title === 'ready'")
    server.kill()
    tab.wait_for_function("() => note.state === 'away'")
    box(tab).press_sequentially("typed meanwhile")
    gateway.kind = kind
    server.start()
    tab.evaluate("() => window.dispatchEvent(new Event('online'))")
    tab.wait_for_function("() => parley.status.state === 'stopped'")
    assert tab.evaluate("() => parley.status.reason") == "otherVersion"
    assert tab.evaluate("() => [note.text, parley.unsaved > 0]") == ["typed meanwhile", True]
    tab.close()
    assert server.request("GET", f"/api/notes/{note}/text")["text"] == ""
    gateway.kind = "same"
    again = open_page(context, site, server, gateway, note)
    await_text(again, "typed meanwhile")
    await_saved(again)
    assert server.request("GET", f"/api/notes/{note}/text")["text"] == "typed meanwhile"
    context.close()


@pytest.mark.parametrize("kind", ["other", "deaf"])
def test_a_gateway_of_another_protocol_is_reported_at_once(server, site, gateway, browser, kind):
    gateway.kind = kind
    tab = open_page(browser, site, server, gateway, server.create("Never opened"))
    tab.wait_for_function("() => window.parley?.status.state === 'stopped'")
    assert tab.evaluate("() => parley.status.reason") == "otherVersion"
    tab.close()
