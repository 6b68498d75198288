"""Default health checks of proxies and load balancers, and WebSocket requests without `Upgrade`."""

import json
import socket

import pytest
from patience import SECONDS

HANDSHAKE = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
# The default request of each product.
CHECKS = {
    "HAProxy": ("OPTIONS / HTTP/1.0\r\n\r\n", 204),
    "HAProxy 3": ("OPTIONS / HTTP/1.1\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n", 204),
    "HAProxy at another path": ("OPTIONS /health HTTP/1.0\r\n\r\n", 204),
    "a server-wide OPTIONS": ("OPTIONS * HTTP/1.1\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n", 204),
    "AWS": ("GET / HTTP/1.1\r\nHost: 10.0.0.1:8080\r\nUser-Agent: ELB-HealthChecker/2.0\r\n"
            "Connection: close\r\n\r\n", 200),
    "Kubernetes": ("GET / HTTP/1.1\r\nHost: 10.244.0.7:8080\r\nUser-Agent: kube-probe/1.34\r\nAccept: */*\r\n"
                   "Connection: close\r\n\r\n", 200),
    "Traefik": ("HEAD / HTTP/1.1\r\nHost: 10.0.0.1:8080\r\nConnection: close\r\n\r\n", 200),
    "Caddy": ("GET /ready HTTP/1.1\r\nHost: 10.0.0.1:8080\r\nUser-Agent: Go-http-client/1.1\r\n"
              "Connection: close\r\n\r\n", 200),
    "Google": ("GET / HTTP/1.1\r\nHost: 10.0.0.1\r\nUser-Agent: GoogleHC/1.0\r\nConnection: close\r\n\r\n", 200),
    "readiness by OPTIONS": ("OPTIONS /ready HTTP/1.0\r\n\r\n", 204),
}  # fmt: skip


@pytest.fixture
def reachable(start):
    """An open server on all addresses, as others reach it."""
    return start("--host", "::", "--allow-open-network")


def head(server, request):
    """Sends bytes. Returns status and head of the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as line:
        line.sendall(request.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = line.recv(65536)
            if not part:
                break
            answer += part
    text = answer.split(b"\r\n\r\n")[0].decode().lower()
    return int(text.split()[1]), text


def test_default_health_checks_succeed(reachable):
    answers = {name: head(reachable, request) for name, (request, _) in CHECKS.items()}
    assert {name: status for name, (status, _) in answers.items()} == {
        name: status for name, (_, status) in CHECKS.items()
    }
    for name, (status, text) in answers.items():
        if status == 204:
            assert "\r\nallow: get, head" in text and "options" in text, name


def test_the_wildcard_address_covers_both_families(reachable):
    assert reachable.output[-1] == f"listening on http://[::]:{reachable.port}"
    for address in ("127.0.0.1", "::1") if socket.has_ipv6 else ("127.0.0.1",):
        with socket.create_connection((address, reachable.port), timeout=SECONDS):
            pass


def test_several_hosts_are_listened_on(start):
    server = start("--host", "127.0.0.1", "--host", "127.0.0.2")
    assert server.output[-1] == (
        f"listening on http://127.0.0.1:{server.port}, http://127.0.0.2:{server.port}"
    )
    for address in ("127.0.0.1", "127.0.0.2"):
        with socket.create_connection((address, server.port), timeout=SECONDS):
            pass


STRIPPED = {
    "native": "/ws", "Whaler": "/socket", "Socket.IO": "/socket/?EIO=4&transport=websocket", "Bayeux": "/faye",
}  # fmt: skip


def test_a_handshake_without_upgrade_is_reported(server):
    for path in STRIPPED.values():
        status, headers, body = server.request("GET", path, headers=HANDSHAKE)
        assert (status, headers["upgrade"]) == (426, "websocket"), path
        assert b"a proxy on the way removed the header" in body
        assert "upgrade" in headers["connection"].lower()
    # Half of it is as little.
    status, _, _ = server.request("GET", "/ws", headers=HANDSHAKE | {"Upgrade": "websocket", "Connection": "close"})
    assert status == 426
    lines = [line for line in server.log.read_text().splitlines() if "WebSocket request without Upgrade" in line]
    assert len(lines) == len(STRIPPED) + 1
    assert all("Packaging/proxies" in line for line in lines)


def test_only_pure_websocket_paths_report_a_missing_handshake(server):
    for path, expected in (("/ws", 426), ("/socket", 426), ("/socket/?EIO=4&transport=polling", 200), ("/faye", 400)):
        assert server.request("GET", path)[0] == expected, path
    for path in ("/ws", "/socket"):
        status, headers, _ = server.request("POST", path)
        assert (status, headers["allow"]) == (405, "GET, HEAD"), path
        assert server.request("OPTIONS", path)[0] == 204
    assert server.request("GET", "/wsx")[0] == 404


def test_a_refused_name_of_a_new_user_speaks_of_no_flag(start, tmp_path):
    users = tmp_path / "users"
    users.touch(mode=0o600)
    server = start("--users-file", str(users))
    bodies = []
    for name in ("a\nb", "x" * 300):
        _, _, body = server.request(
            "POST", "/api/user/join", {"invitation": "none", "name": name, "email": "ada", "password": "correct horse"}
        )
        bodies.append(json.loads(body)["message"])
    assert not any("--" in message for message in bodies), bodies
