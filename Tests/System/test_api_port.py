"""A separate port for programs: the requests that it answers, and those that the page's port no longer answers."""

import http.client
import json
import pathlib
import re
import socket

import pytest
from native_client import NativeClient
from patience import SECONDS
from test_command_line import run
from test_tokens import EVERYTHING, SECRET, bearer, new_key, token
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

FOR_PROGRAMS = [
    "/metrics", "/api/stats", "/api/connections", "/api/rooms", "/api/rooms/team/history",
    "/api/rooms/team/presence",
]  # fmt: skip
NOT_HERE = b"not at this port"
AT_BOTH = ["/health", "/ready", "/api/notes", "/api/openapi.json"]
WORK = [
    "/api/publish", "/api/revoke", "/api/tokens", "/api/rooms/team/publish",
    "/api/users/ada/disconnect", "/api/users/ada/refresh-rights", "/api/connections/1/disconnect",
]  # fmt: skip


@pytest.fixture
def divided(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    key = new_key(tmp_path, "backend", "operator", "document:*=all", "room:*=all")
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--connections-max", "3",
        "--api-key-file", tmp_path / "api-keys", "--api-listen", "127.0.0.1:0",
    )  # fmt: skip
    server.key = key
    (line,) = [line for line in server.output if line.startswith("programs are answered on ")]
    server.api_port = int(line.rsplit(":", 1)[1])
    assert server.api_port not in (0, server.port)
    return server


def ask(port, method, path, credentials, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request(method, path, body, bearer(credentials) if credentials else {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def requested_by_the_page():
    """The first two parts of each path of the API that the page's modules name, the operators' page aside."""
    modules = pathlib.Path(__file__).resolve().parents[2] / "Web" / "js"
    texts = [module.read_text() for module in modules.rglob("*.js") if "admin" not in module.parts]
    return sorted({match for text in texts for match in re.findall(r"[`\"'](/api/[a-z]+)", text)})


def test_all_requests_of_the_page_are_served_at_its_port(divided):
    paths = requested_by_the_page()
    assert {"/api/notes", "/api/folders", "/api/search", "/api/links"} <= set(paths)
    for path in paths:
        _, body = ask(divided.port, "GET", path, token(EVERYTHING))
        assert NOT_HERE not in body, path
    assert NOT_HERE in ask(divided.port, "GET", "/api/stats", token(EVERYTHING))[1]


def test_the_api_for_programs_is_served_only_at_its_port(divided):
    for path in FOR_PROGRAMS:
        assert ask(divided.api_port, "GET", path, divided.key)[0] == 200, path
        for credentials in (divided.key, token(EVERYTHING)):
            status, body = ask(divided.port, "GET", path, credentials)
            assert (status, json.loads(body)["code"]) == (404, "notOffered"), path
    for path in WORK:
        status, body = ask(divided.port, "POST", path, token(EVERYTHING), b"{}")
        assert (status, json.loads(body)["code"]) == (404, "notOffered"), path
        status, body = ask(divided.api_port, "POST", path, divided.key, b"{}")
        assert status in (200, 400) or json.loads(body)["code"] == "unknownConnection", path


def test_api_keys_count_at_the_programs_port_alone(divided):
    assert ask(divided.api_port, "GET", "/api/notes", divided.key)[0] == 200
    status, body = ask(divided.port, "GET", "/api/notes", divided.key)
    assert (status, json.loads(body)["code"]) == (401, "unauthorised")
    assert "api-listen" in json.loads(body)["message"]


def test_the_pages_port_serves_all_that_users_need(divided):
    for path in AT_BOTH:
        for port in (divided.port, divided.api_port):
            assert ask(port, "GET", path, token(EVERYTHING))[0] == 200, path
    assert ask(divided.port, "GET", "/", None)[0] == 200
    assert ask(divided.api_port, "GET", "/", None)[0] == 404
    assert ask(divided.api_port, "GET", "/n/n-1", None)[0] == 404


@pytest.mark.parametrize("path", ["/ws", "/socket", "/socket/?EIO=4&transport=websocket", "/faye"])
def test_no_websocket_opens_at_the_programs_port(divided, path):
    protocols = ["parley.v1"] if path == "/ws" else None
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{divided.api_port}{path}", subprotocols=protocols)
    assert refused.value.response.status_code == 404
    if path == "/ws":
        with NativeClient(divided, greet=False) as client:
            kind, _ = client.request("hello", {"name": "Ada", "token": token(EVERYTHING)})
            assert kind == "welcome"


def test_operators_have_access_while_the_server_is_full(divided):
    clients = [NativeClient(divided, greet=False) for _ in range(3)]
    with socket.create_connection(("127.0.0.1", divided.port)) as another:
        assert another.recv(1024).startswith(b"HTTP/1.1 503")
    status, body = ask(divided.api_port, "GET", "/api/connections", divided.key)
    assert (status, json.loads(body)["total"]) == (200, 3)
    first = json.loads(body)["connections"][0]["id"]
    path = f"/api/connections/{first}/disconnect"
    assert ask(divided.api_port, "POST", path, divided.key)[0] == 200
    assert clients[0].close_code() == 4509
    for client in clients:
        client.close()


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--api-listen", "8081"], "an address and a port"),
        (["--api-listen", "127.0.0.1:x"], "an address and a port"),
        (["--api-listen", "::1:8081"], "an address and a port"),
        (["--api-listen", ":8081"], "an address and a port"),
        (["--api-listen", "0.0.0.0:8081"], "loopback"),
        (["--api-listen", "127.0.0.1:9", "--port", "9"], "the same address"),
    ],
)
def test_an_unusable_listening_address_is_reported(flags, said):
    result = run("serve", *flags)
    assert result.returncode == 2
    assert said in result.stderr


def test_a_taken_port_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run(
            "serve", "--port", "0", "--data-dir", str(tmp_path), "--api-listen", f"127.0.0.1:{port}"
        )
    assert result.returncode == 1
    assert str(port) in result.stderr
