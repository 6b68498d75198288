"""A page of another origin in Chromium, with the requests of Faye's client for browsers (1.4.0).

The client makes its handshake with a script, since it does not know the server's transports yet, and then continues
with the best common transport: a WebSocket, requests across origins, or scripts.
"""

import http.server
import threading

import pytest
from conftest import SECONDS, SECRET, Server, token

# Only the transports of the client.
TRANSPORTS = """
window.heard = [];
window.count = 0;
window.byScript = (endpoint, messages) => new Promise((resolve, reject) => {
    const name = `__jsonp${++count}__`;
    const script = document.createElement("script");
    window[name] = (replies) => { delete window[name]; script.remove(); resolve(replies); };
    script.onerror = () => { delete window[name]; script.remove(); reject(new Error("refused")); };
    script.src = `${endpoint}?message=${encodeURIComponent(JSON.stringify(messages))}&jsonp=${name}`;
    document.head.appendChild(script);
});
window.byRequest = (endpoint, messages) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", endpoint, true);
    request.withCredentials = true;
    request.setRequestHeader("Pragma", "no-cache");
    request.onload = () => resolve(JSON.parse(request.responseText));
    request.onerror = () => reject(new Error("refused"));
    request.send("message=" + encodeURIComponent(JSON.stringify(messages)));
});
window.bySocket = (endpoint, messages) => new Promise((resolve, reject) => {
    const socket = new WebSocket(endpoint.replace("http", "ws"));
    socket.onopen = () => socket.send(JSON.stringify(messages));
    socket.onmessage = (event) => { resolve(JSON.parse(event.data)); socket.close(); };
    socket.onerror = () => reject(new Error("refused"));
});
window.shakeHands = async (endpoint) => {
    const [reply] = await byScript(endpoint, [{
        channel: "/meta/handshake", version: "1.0", id: "1",
        supportedConnectionTypes: ["websocket", "eventsource", "long-polling",
            "cross-origin-long-polling", "callback-polling"],
    }]);
    return reply;
};
window.ready = true;
"""


class Pages(http.server.BaseHTTPRequestHandler):
    """The web server of an app, with an empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if self.path == "/quiet":
            self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>App</title><script>{TRANSPORTS}</script>".encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def app():
    """The address of the app's pages."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def serve(tmp_path):
    """Starts a server with flags."""
    running = []

    def serve(*flags):
        folder = tmp_path / str(len(running))
        folder.mkdir()
        running.append(Server(folder, *flags))
        return running[-1]

    yield serve
    for server in running:
        server.stop()


@pytest.fixture
def page(browser):
    context = browser.new_context()
    context.set_default_timeout(SECONDS * 1_000)
    yield context.new_page()
    context.close()


def guarded_flags(folder):
    secret = folder / "secret"
    secret.write_bytes(SECRET)
    return ["--hmac-secret-file", str(secret), "--audience", "parley"]


def subscribe(channel, client, **ext):
    message = {
        "channel": "/meta/subscribe", "clientId": client, "subscription": channel, "id": "2",
    }  # fmt: skip
    return message | ({"ext": ext} if ext else {})


@pytest.mark.parametrize("transport", ["byRequest", "bySocket"])
def test_a_page_of_an_allowed_origin_connects_and_hears(serve, app, page, tmp_path, transport):
    server = serve(*guarded_flags(tmp_path), "--allowed-origin", app)
    rights = {"documents": [], "rooms": [{"match": "/group/*", "may": ["read", "publish"]}]}
    server.token = token(parley=rights)
    endpoint = server.url + "/faye"
    page.goto(app)
    shake = page.evaluate("shakeHands", endpoint)
    assert shake["successful"]
    assert {"websocket", "cross-origin-long-polling", "callback-polling"} <= set(
        shake["supportedConnectionTypes"]
    )
    client = shake["clientId"]
    ask = f"([endpoint, messages]) => {transport}(endpoint, messages)"
    ext = {"access_token": server.token, "timestamp": 1}
    (reply,) = page.evaluate(ask, [endpoint, [subscribe("/group/9", client, **ext)]])
    assert reply["successful"], reply
    server.request(
        "POST", "/api/publish", {"publications": [{"room": "/group/9", "data": {"n": 1}}]}
    )
    # A waiting event is delivered with the next connect, over any transport.
    connect = {
        "channel": "/meta/connect", "clientId": client, "id": "3",
        "connectionType": "cross-origin-long-polling", "advice": {"timeout": 0},
    }  # fmt: skip
    heard = page.evaluate(ask, [endpoint, [connect]])
    assert heard[0]["channel"] == "/group/9" and heard[0]["data"]["n"] == 1


def test_old_browsers_can_use_scripts_only(serve, app, page):
    server = serve("--allowed-origin", app)
    endpoint = server.url + "/faye"
    page.goto(app)
    client = page.evaluate("shakeHands", endpoint)["clientId"]
    ask = "([endpoint, messages]) => byScript(endpoint, messages)"
    assert page.evaluate(ask, [endpoint, [subscribe("/group/9", client)]])[0]["successful"]
    poll = {
        "channel": "/meta/connect", "clientId": client, "connectionType": "callback-polling",
        "id": "3",
    }  # fmt: skip
    page.evaluate(
        "([endpoint, messages]) => { byScript(endpoint, messages).then((it) => heard.push(...it)) }",
        [endpoint, [poll]],
    )
    # The data contains an unescaped line separator.
    data = {"text": "one\u2028two"}
    server.request("POST", "/api/publish", {"publications": [{"room": "/group/9", "data": data}]})
    page.wait_for_function("heard.length >= 1")
    assert page.evaluate("heard[0].data.text") == "one\u2028two"


def test_a_token_in_the_address_of_a_script_is_rejected(serve, app, page, tmp_path):
    server = serve(*guarded_flags(tmp_path), "--allowed-origin", app)
    page.goto(app)
    client = page.evaluate("shakeHands", server.url + "/faye")["clientId"]
    (reply,) = page.evaluate(
        "([endpoint, messages]) => byScript(endpoint, messages)",
        [server.url + "/faye", [subscribe("/user/ada", client, access_token=token())]],
    )
    assert reply["error"] == "403:/user/ada:Forbidden channel"


def test_a_foreign_page_is_refused_and_a_silent_one_has_its_tokens_alone(
    serve, app, page, tmp_path
):
    demo, guarded = serve(), serve(*guarded_flags(tmp_path))
    attempt = "async (endpoint) => { try { return await shakeHands(endpoint) } catch { return null } }"
    page.goto(app)
    for server in (demo, guarded):
        assert page.evaluate(attempt, server.url + "/faye") is None
    page.goto(app + "/quiet")
    assert page.evaluate(attempt, demo.url + "/faye") is None
    client = page.evaluate(attempt, guarded.url + "/faye")["clientId"]
    (reply,) = page.evaluate(
        "([endpoint, messages]) => byScript(endpoint, messages)",
        [guarded.url + "/faye", [subscribe("/group/9", client)]],
    )
    assert reply["error"] == "403:/group/9:Forbidden channel"
