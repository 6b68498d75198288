"""The unchanged Socket.IO client for browsers, in Chromium."""

import pathlib

import pytest
from conftest import ROOT, SECONDS, token, wait_until

CLIENT = ROOT / ".venv" / "browser" / "nicegui" / "static" / "socket.io.min.js"
ROOM = "/companies/c/workspaces/w/channels?type=public"

START = """([transports, token]) => {
    window.heard = [];
    window.socket = io({
        path: "/socket", transports, reconnection: false, auth: { recovery: true, token },
    });
    socket.onAny((name, data) => heard.push([name, data]));
}"""


@pytest.fixture
def page(browser, guarded):
    context = browser.new_context(base_url=guarded.url, bypass_csp=True)
    context.set_default_timeout(SECONDS * 1_000)
    page = context.new_page()
    page.goto("/health")
    page.add_script_tag(content=pathlib.Path(CLIENT).read_text())
    yield page
    context.close()


def publish(server, number):
    publication = {"room": ROOM, "data": {"n": number}}
    server.request("POST", "/api/publish", {"publications": [publication]})


def numbers(page):
    return page.evaluate(
        'heard.filter(([name]) => name === "realtime:event").map(([, event]) => event.data.n)'
    )


@pytest.mark.parametrize("transports", [["websocket"], ["polling", "websocket"], ["polling"]])
def test_the_real_client_resumes_with_what_it_missed(page, guarded, transports):
    rights = {"documents": [], "rooms": [{"match": "*", "may": ["read", "publish"]}]}
    guarded.token = token(parley=rights)
    page.evaluate(START, [transports, guarded.token])
    page.wait_for_function("socket.connected")
    page.wait_for_function('heard.some(([name]) => name === "authenticated")')
    assert page.evaluate("socket.recovered") is False
    first = page.evaluate("socket.id")
    page.evaluate('room => socket.emit("realtime:join", { name: room })', ROOM)
    page.wait_for_function('heard.some(([name]) => name === "realtime:join:success")')
    publish(guarded, 1)
    wait_until(lambda: numbers(page) == [1])
    for base in (1, 3):
        # The way to break a connection in the client's documentation.
        page.evaluate("socket.io.engine.close()")
        page.wait_for_function("!socket.connected")
        publish(guarded, base + 1)
        page.evaluate("socket.connect()")
        page.wait_for_function("socket.connected")
        assert page.evaluate("socket.recovered") is True
        assert page.evaluate("socket.id") == first
        publish(guarded, base + 2)
        wait_until(lambda: numbers(page) == list(range(1, base + 3)))
    # A client that disconnects itself does not resume its session.
    page.evaluate("socket.disconnect()")
    publish(guarded, 6)
    page.evaluate("socket.connect()")
    page.wait_for_function("socket.connected")
    assert page.evaluate("socket.recovered") is False
    assert page.evaluate("socket.id") != first
    assert numbers(page) == list(range(1, 6))
