"""Clients that take for ever, on purpose or because their line is dead: each ends in its time, and
no other client notices. What drips, drips as long as the server lets it."""

import base64
import contextlib
import socket
import ssl

import pytest
from native_client import NativeClient
from patience import SECONDS
from test_tls import make_certificate

UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    + base64.b64encode(b"sixteen bytes ..").decode()
    + "\r\n"
)
# Between two bytes of a drip: far less than any of the server's times.
PAUSE = 0.1


def dial(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)


def drip(line, byte=b"x", count=600):
    """Sends a byte now and then until the other side ends it; returns what that said."""
    said = b""
    for _ in range(count):
        line.settimeout(PAUSE)
        try:
            piece = line.recv(4096)
            if not piece:
                return said
            said += piece
        except (TimeoutError, ssl.SSLWantReadError):
            with contextlib.suppress(ConnectionError):
                line.settimeout(SECONDS)
                line.sendall(byte)
        except (ConnectionError, ssl.SSLError):
            return said
    raise AssertionError("the server lets it drip for a minute")


def rest(line):
    """Returns all bytes until the other side closes."""
    said = b""
    line.settimeout(SECONDS)
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(4096):
            said += piece
    return said


@pytest.fixture
def hasty(start):
    """A server with time limits of a second, and a client that must not be affected."""
    server = start("--request-time", "1s", "--keep-alive-time", "1s")
    note = server.create_note()
    with NativeClient(server) as bystander:
        joined = bystander.join(note)
        yield server
        assert bystander.change(note, joined, 1, ["undisturbed"])[0] == "acknowledged"


class TestRequests:
    def test_a_head_that_drips(self, hasty):
        with dial(hasty) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            assert drip(line).startswith(b"HTTP/1.1 408 ")

    def test_a_silent_connection(self, hasty):
        with dial(hasty) as line:
            assert rest(line).startswith(b"HTTP/1.1 408 ")

    def test_a_body_that_drips(self, hasty):
        with dial(hasty) as line:
            line.sendall(
                b"POST /api/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n"
            )
            drip(line)

    def test_a_body_that_is_refused_and_drips_on(self, hasty):
        with dial(hasty) as line:
            line.sendall(
                b"POST /api/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
            )
            assert drip(line).startswith(b"HTTP/1.1 413 ")

    def test_a_second_head_that_drips(self, hasty):
        with dial(hasty) as line:
            line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert line.recv(4096).startswith(b"HTTP/1.1 200 ")
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            drip(line)

    def test_a_connection_kept_alive_for_nothing(self, hasty):
        with dial(hasty) as line:
            line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert line.recv(4096).startswith(b"HTTP/1.1 200 ")
            rest(line)

    def test_a_slow_line_is_no_attack(self, start):
        """Pieces with pauses between them, within the time."""
        with dial(start("--request-time", "2m")) as line:
            for piece in (b"GET /health HT", b"TP/1.1\r\nHost: ", b"localhost\r\n\r"):
                line.sendall(piece)
                line.settimeout(PAUSE)
                with pytest.raises(TimeoutError):
                    line.recv(1)
            line.settimeout(SECONDS)
            line.sendall(b"\n")
            assert line.recv(4096).startswith(b"HTTP/1.1 200 ")


class TestEncrypted:
    @pytest.fixture
    def hasty(self, start, tmp_path):
        pem, key = make_certificate(tmp_path)
        return start(
            "--tls-certificate", str(pem), "--tls-key", str(key), "--request-time", "1s",
            "--keep-alive-time", "1s",
        )  # fmt: skip

    @staticmethod
    def wrap(line):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(line)

    def test_a_silent_connection(self, hasty):
        with dial(hasty) as line:
            rest(line)

    def test_a_handshake_that_drips(self, hasty):
        with dial(hasty) as line:
            # The head of a record that never becomes whole.
            line.sendall(b"\x16\x03\x01\x02\x00\x01")
            drip(line, b"\x00")

    def test_a_head_that_drips(self, hasty):
        with self.wrap(dial(hasty)) as line:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            drip(line)


class TestSockets:
    def test_a_client_that_never_says_hello(self, start):
        server = start("--hello-time", "500ms")
        client = NativeClient(server, greet=False)
        assert client.close_code() == 4506

    @pytest.mark.parametrize("path, more", [
        ("/ws", "Sec-WebSocket-Protocol: parley.v1\r\n"), ("/socket", ""), ("/faye", ""),
        ("/socket/?EIO=3&transport=websocket", ""),
    ])  # fmt: skip
    def test_a_line_that_is_dead_at_the_other_end(self, start, path, more):
        """The line accepts bytes, as a router may, but nobody answers pings."""
        server = start("--ping-interval", "1s", "--idle-timeout", "2s", "--hello-time", "1m")
        with dial(server) as line:
            line.sendall((UPGRADE.format(path=path) + more + "\r\n").encode())
            said = rest(line)
            assert said.startswith(b"HTTP/1.1 101 ")
            # It was asked before.
            assert b"\x89" in said

    def test_a_client_that_sends_pings_of_its_own_stays(self, start):
        server = start("--ping-interval", "1s", "--idle-timeout", "5s")
        note = server.create_note()
        with NativeClient(server) as alive, NativeClient(server) as witness:
            joined = alive.join(note)
            witness.join(note)
            with dial(server) as line:
                line.sendall((UPGRADE.format(path="/socket") + "\r\n").encode())
                rest(line)
            # Longer than the one that was hung up on, these two have answered pings.
            assert alive.change(note, joined, 1, ["still here"])[0] == "acknowledged"
            assert witness.expect("changes")["changes"][0]["operation"] == ["still here"]
