"""The address of a client behind a proxy: a header counts if the operator trusts the proxy, and
no header of another sender counts."""

import json
import socket
import subprocess

import pytest
from native_client import NativeClient
from parley_server import PROGRAM
from patience import SECONDS
from websockets.exceptions import InvalidStatus

# One request passes, and a second one only much later.
ONE_EACH = ["--address-request-rate", "1", "--rate-burst-seconds", "1"]


def passes(server, *lines):
    """Whether a request with these header lines, in this order, is within its address' limit."""
    head = ["GET /api/notes HTTP/1.1", "Host: localhost", "Connection: close", *lines, "", ""]
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as line:
        line.sendall("\r\n".join(head).encode())
        said = b""
        while piece := line.recv(4096):
            said += piece
    status = int(said.split(b" ")[1])
    assert status in (200, 429), said
    return status == 200


@pytest.fixture
def behind(start):
    return start("--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.0.0.0/8", *ONE_EACH)


def test_each_client_behind_a_trusted_proxy_has_its_own_limits(behind):
    assert passes(behind, "X-Forwarded-For: 203.0.113.1")
    assert not passes(behind, "X-Forwarded-For: 203.0.113.1")
    assert passes(behind, "X-Forwarded-For: 203.0.113.2")
    # The proxy's own requests, as for its health checks, are not limited.
    assert passes(behind) and passes(behind)


@pytest.mark.parametrize(
    "made_up",
    [
        "198.51.100.{}, 203.0.113.1", "10.0.0.{}, 203.0.113.1", "127.0.0.1, 203.0.113.1",
        "unknown, 203.0.113.1", "203.0.113.1", "198.51.100.{}, 203.0.113.1, 10.1.2.3",
        "[2001:db8::{}]:80, 203.0.113.1:4711",
    ],
)  # fmt: skip
def test_the_rightmost_address_that_is_no_proxy_counts(behind, made_up):
    """Addresses to the left of it the client may have made up, another one each time."""
    assert passes(behind, "X-Forwarded-For: 203.0.113.1")
    assert not passes(behind, "X-Forwarded-For: " + made_up.format(7))
    assert not passes(behind, "X-Forwarded-For: " + made_up.format(8))


def test_a_header_in_two_lines_is_one_list(behind):
    """Some proxies add a line of their own after the client's line."""
    assert passes(behind, "X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.1")
    assert not passes(behind, "X-Forwarded-For: 198.51.100.2", "X-Forwarded-For: 203.0.113.1")
    assert passes(behind, "X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2")


def test_only_the_configured_header_is_read(behind):
    """A proxy that writes X-Forwarded-For passes a client's Forwarded on as it is."""
    assert passes(behind, "X-Forwarded-For: 203.0.113.1")
    assert not passes(behind, "X-Forwarded-For: 203.0.113.1", "Forwarded: for=203.0.113.9")


def test_other_senders_are_not_believed(start):
    server = start("--trusted-proxy", "192.0.2.1", *ONE_EACH, "--address-connect-rate", "0")
    assert passes(server, "X-Forwarded-For: 203.0.113.1")
    assert not passes(server, "X-Forwarded-For: 203.0.113.2")
    assert not passes(server, "X-Forwarded-For: 192.0.2.1")
    assert not passes(server)


HTTPS = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "notes.example"}


def admits(server, origin, headers):
    try:
        NativeClient(server, origin=origin, additional_headers=headers).close()
    except InvalidStatus as refused:
        assert refused.response.status_code == 403
        return False
    return True


def test_the_origin_is_that_of_the_host_the_proxy_was_asked_for(start):
    # Its pages may ask for being this server's own; that another origin is allowed lets the host in.
    server = start("--trusted-proxy", "127.0.0.1", "--allowed-origin", "https://notes.example:1")
    assert admits(server, "https://notes.example", HTTPS)
    assert not admits(server, "http://notes.example", HTTPS)
    assert not admits(server, "https://evil.example", HTTPS)
    post = {"Origin": "https://notes.example"}
    assert server.request("POST", "/api/notes", {"title": "x"}, {**post, **HTTPS})[0] == 201
    assert server.request("POST", "/api/notes", {"title": "x"}, post)[0] == 403


def statuses(server, origin, headers):
    """What requests are answered that a page of an origin makes, one of them by a script."""
    for path in ("/api/notes", "/faye", "/socket/?EIO=4&transport=polling"):
        yield server.request("POST", path, b'{"title":"x"}', {"Origin": origin, **headers})[0]
    script = "/faye?message=[]&jsonp=call"
    yield server.request("GET", script, headers={"Referer": f"{origin}/page", **headers})[0]


@pytest.mark.parametrize("flags", [[], ["--trusted-proxy", "192.0.2.1"]], ids=["none", "another"])
def test_the_host_header_of_an_untrusted_proxy_is_ignored(start, flags):
    server = start(*flags)
    # The scheme alone is as little believed as the host.
    for told in (HTTPS, {"X-Forwarded-Host": "notes.example"}):
        assert not admits(server, "https://notes.example", told)
        assert set(statuses(server, "https://notes.example", told)) == {403}
    own = f"http://127.0.0.1:{server.port}"
    assert admits(server, own, HTTPS)
    assert 403 not in statuses(server, own, HTTPS)


def test_the_log_says_what_to_add(start):
    server = start("--log-format", "json")
    assert not admits(server, "https://other.example", {})
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    (line,) = [line for line in lines if line["message"] == "origin refused"]
    assert "allowed-origin = https://other.example" in json.dumps(line)
    assert "trusted-proxy" in json.dumps(line)
    allowed = start("--allowed-origin", "https://other.example")
    assert admits(allowed, "https://other.example", {})


def test_the_log_is_not_filled_with_refusals(server):
    for number in range(60):
        assert not admits(server, f"https://other{number}.example", {})
    lines = [line for line in server.log.read_text().splitlines() if "origin refused" in line]
    assert 20 <= len(lines) < 60


@pytest.mark.parametrize("value", ["10.0.0.0/33", "proxy.example", "::/200", "10.0.0"])
def test_malformed_ranges_are_refused(value):
    result = subprocess.run(
        [PROGRAM, "check", "--trusted-proxy", value], capture_output=True, text=True
    )
    assert result.returncode == 2
    assert "trusted-proxy" in result.stderr
