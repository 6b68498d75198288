"""Hosts that an open server answers to: a page of another name is foreign, whatever address
that name stands for."""

import json
import socket

import pytest
from patience import SECONDS

UPGRADE = (
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: c2l4dGVlbiBieXRlcyAuLg==",
)  # fmt: skip
REQUESTS = [
    ("GET / HTTP/1.1",),
    ("GET /api/notes HTTP/1.1",),
    ("GET /health HTTP/1.1",),
    ("POST /api/notes HTTP/1.1", "Content-Type: application/json", "Content-Length: 2", "", "{}"),
    ("OPTIONS /api/notes HTTP/1.1",),
    ("GET /socket/?EIO=4&transport=polling HTTP/1.1",),
    ("GET /ws HTTP/1.1", *UPGRADE, "Sec-WebSocket-Protocol: parley.v1"),
    ("GET /socket HTTP/1.1", *UPGRADE),
    ("GET /socket/?EIO=4&transport=websocket HTTP/1.1", *UPGRADE),
    ("GET /faye HTTP/1.1", *UPGRADE),
]


def ask(server, request, *headers):
    """Sends a request with these headers behind its first line; returns status and body."""
    line, rest = request[0], request[1:]
    if "" not in rest:
        rest = (*rest, "", "")
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as raw:
        raw.sendall("\r\n".join((line, *headers, *rest)).encode())
        said = b""
        while b"\r\n\r\n" not in said:
            said += raw.recv(4096)
        head, _, body = said.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            ),
            0,
        )
        while len(body) < length:
            body += raw.recv(4096)
    return int(head.split(b" ")[1]), body


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request[0])
def test_a_page_with_dns_rebinding_is_refused(server, request_):
    host = f"evil.example:{server.port}"
    status, body = ask(server, request_, f"Host: {host}", f"Origin: http://{host}")
    assert status == 421
    problem = json.loads(body)
    assert problem["code"] == "notAllowed"
    assert "allowed-origin" in problem["message"]
    assert "host refused" in server.log.read_text()


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request[0])
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "[::1]", "127.0.0.1", "notes.localhost"])
def test_requests_with_own_host_names_are_answered(common_server, host, request_):
    assert ask(common_server, request_, f"Host: {host}:{common_server.port}")[0] in (101, 200, 201, 204, 400, 405)


def test_hosts_of_allowed_origins_and_of_servers_with_tokens_are_answered(start, tmp_path):
    allowed = start("--allowed-origin", "https://notes.example.org")
    assert ask(allowed, REQUESTS[1], "Host: notes.example.org")[0] == 200
    assert ask(allowed, REQUESTS[1], "Host: evil.example")[0] == 421
    secret = tmp_path / "secret"
    secret.write_bytes(b"a secret for these tests, of 32 bytes or more")
    guarded = start("--hmac-secret-file", str(secret))
    assert ask(guarded, REQUESTS[0], "Host: evil.example")[0] == 200
    assert ask(guarded, REQUESTS[1], "Host: evil.example")[0] == 401
