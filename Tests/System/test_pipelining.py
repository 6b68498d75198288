"""Pipelined requests: they are answered in order, and do not keep the server busy."""

import contextlib
import itertools
import os
import socket
import ssl

import pytest
from test_tls import make_certificate

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
# Nothing is there to post to.
POST = b"POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"
NOTE = b'POST /api/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"title":"t"}'
PUT = b"PUT /api/notes/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n" + b"y" * 4000
EMPTY = b"POST /api/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
CHUNKED = b"POST /api/notes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx"
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: parley.v1\r\n\r\n"
)
KINDS = [GET, POST, NOTE, PUT, EMPTY]


def open_socket(server, context):
    plain = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(plain, server_hostname="127.0.0.1") if context else plain


class Reader:
    """Reads answers off a socket."""

    def __init__(self, connection):
        self.connection = connection
        self.bytes = b""

    def fill(self):
        piece = self.connection.recv(65536)
        self.bytes += piece
        return bool(piece)

    def answer(self):
        """Returns the next answer's status and whether the connection stays open; None at the end."""
        while b"\r\n\r\n" not in self.bytes:
            if not self.fill():
                assert self.bytes == b""
                return None
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        lines = head.decode().lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        length = int(fields.get("content-length", 0))
        while len(self.bytes) < length:
            assert self.fill(), "the answer was cut"
        self.bytes = self.bytes[length:]
        return int(lines[0].split()[1]), fields["connection"] == "keep-alive"


def exchange(server, context, *pieces):
    """Sends pieces; returns the statuses of all answers until the connection ends."""
    with contextlib.closing(open_socket(server, context)) as connection:
        reader = Reader(connection)
        for piece in pieces:
            connection.sendall(piece)
        statuses = []
        while (answer := reader.answer()) is not None:
            statuses.append(answer[0])
        return statuses


def alone(server, context, request):
    """The status that a request gets where nothing else is around."""
    return exchange(server, context, request, LAST)[0]


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def assert_calm(server, context):
    """It answers, and uses next to nothing without requests."""
    assert exchange(server, context, LAST) == [200]
    with contextlib.closing(open_socket(server, context)) as connection:
        connection.settimeout(0.5)
        before = processor_seconds(server)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        assert processor_seconds(server) - before < 0.2


@pytest.fixture(params=["plain", "sealed"])
def place(request, tmp_path):
    """Flags for a server, and what to reach it with."""
    if request.param == "plain":
        return [], None
    certificate, key = make_certificate(tmp_path)
    return (
        ["--tls-certificate", str(certificate), "--tls-key", str(key)],
        ssl.create_default_context(cafile=certificate),
    )


@pytest.fixture(params=["open", "with keys"])
def gate(request, place, start, tmp_path):
    flags, context = place
    if request.param == "with keys":
        secret = tmp_path / "secret"
        secret.write_bytes(b"k" * 32)
        flags = [*flags, "--hmac-secret-file", str(secret)]
    return start(*flags), context


def test_requests_in_one_packet_are_answered_in_order(gate):
    server, context = gate
    status = {kind: alone(server, context, kind) for kind in KINDS}
    for requests in itertools.product(KINDS, KINDS):
        expected = [status[request] for request in requests]
        assert exchange(server, context, b"".join(requests) + LAST) == [*expected, 200], requests
    for requests in ([POST] * 20, [GET] * 20, [GET, POST, NOTE], [NOTE, PUT, GET, PUT]):
        expected = [status[request] for request in requests]
        assert exchange(server, context, b"".join(requests) + LAST) == [*expected, 200], requests
    # The end of a broken body is unknown: what follows it is not read.
    assert exchange(server, context, CHUNKED + POST + POST) == [400]
    assert_calm(server, context)


def test_requests_may_be_split_anywhere(gate):
    server, context = gate
    status = {kind: alone(server, context, kind) for kind in KINDS}
    for requests in ((POST, POST), (GET, POST), (NOTE, GET)):
        whole = b"".join(requests) + LAST
        expected = [*(status[request] for request in requests), 200]
        for cut in range(1, len(whole)):
            assert exchange(server, context, whole[:cut], whole[cut:]) == expected, cut
    assert_calm(server, context)


def test_requests_after_an_answered_request_are_answered(gate):
    server, context = gate
    status = {kind: alone(server, context, kind) for kind in KINDS}
    for requests in itertools.product(KINDS, KINDS):
        with contextlib.closing(open_socket(server, context)) as connection:
            reader = Reader(connection)
            connection.sendall(GET)
            assert reader.answer() == (200, True)
            connection.sendall(b"".join(requests))
            for request in requests:
                assert reader.answer() == (status[request], True), requests
    assert_calm(server, context)


def test_requests_beside_an_upgrade(gate):
    server, context = gate
    assert exchange(server, context, UPGRADE.replace(b"/ws", b"/nowhere") + POST + POST) == [404]
    with contextlib.closing(open_socket(server, context)) as connection:
        reader = Reader(connection)
        connection.sendall(GET + UPGRADE)
        assert reader.answer() == (200, True)
        assert reader.answer()[0] == 101
    with contextlib.closing(open_socket(server, context)) as connection:
        connection.sendall(UPGRADE + POST + POST)
        # Requests are no frames: after the 101, the server closes.
        received = b""
        while piece := connection.recv(65536):
            received += piece
        assert received.startswith(b"HTTP/1.1 101")
    assert_calm(server, context)


def test_consecutive_requests_are_answered_on_one_connection(gate):
    """Nothing waits behind a request: there is no reason to end the connection."""
    server, context = gate
    with contextlib.closing(open_socket(server, context)) as connection:
        reader = Reader(connection)
        for number in range(20):
            connection.sendall([GET, NOTE, EMPTY, POST, PUT][number % 5])
            status, goes_on = reader.answer()
            assert status < 500 and goes_on, number
    assert_calm(server, context)


def test_flooding_closes_only_the_flooder(gate):
    """Records of TLS that are read in part, and bodies on their way, are of one connection alone."""
    server, context = gate
    with contextlib.ExitStack() as stack:
        many = [
            stack.enter_context(contextlib.closing(open_socket(server, context))) for _ in range(8)
        ]
        readers = [Reader(connection) for connection in many]
        for _ in range(20):
            for connection in many:
                connection.sendall(PUT)
            for connection, reader in zip(many, readers):
                status, goes_on = reader.answer()
                assert status < 500 and goes_on
    assert_calm(server, context)
