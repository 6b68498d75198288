"""Partially received messages and bodies, from clients with and without a token, with the real program."""

import contextlib
import json
import re
import socket

import pytest
from native_client import NativeClient
from patience import SECONDS
from test_slow_readers import resident_bytes
from test_tokens import EVERYTHING, SECRET, bearer, greet, make_note, token
from websockets.exceptions import ConnectionClosed

CLIENTS = 60
MEGABYTE = 1_000_000
PLAIN = {"content-type": "text/plain"}


@pytest.fixture
def guarded(start, tmp_path):
    """A server that checks tokens and has little memory for partial messages, and a note."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--reception-size-max", "16MiB",
        "--user-connections-max", "0", "--user-connect-rate", "0",
    )  # fmt: skip
    server.note = make_note(server)
    return server


@pytest.fixture
def others(guarded):
    """Bea, who sends large messages, texts and files, and must not be affected."""
    client, reply = greet(guarded, token(EVERYTHING, sub="bea"))
    assert reply == "welcome"
    joined = client.join(guarded.note)
    bea = bearer(token(EVERYTHING, sub="bea"))

    def work():
        nonlocal joined
        kind, _ = client.change(guarded.note, joined, work.sequence, [*remain(joined), "x" * MEGABYTE])
        assert kind == "acknowledged"
        status, _, _ = guarded.request(
            "PUT", f"/api/notes/{guarded.note}/text", b"y" * 3_900_000, bea | PLAIN
        )
        assert status == 200
        status, _, _ = guarded.request("POST", f"/api/notes/{guarded.note}/files", b"z" * (5 * MEGABYTE), bea)
        assert status in (200, 201)

    def remain(joined):
        return [len(joined["text"])] if joined["text"] else []

    work.sequence = 1
    with client:
        yield work


def metric(server, name):
    _, _, page = server.request("GET", "/metrics")
    return float(re.search(rf"^{re.escape(name)} (\S+)$", page.decode(), re.M)[1])


def send(line, data):
    """Sends data, unless the server has closed the connection."""
    with contextlib.suppress(ConnectionError):
        line.sendall(data)


def rest(line):
    said = b""
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(65_536):
            said += piece
    return said


def put(server, headers, count=MEGABYTE):
    """Connects a client, and sends the head of a text."""
    line = socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    line.sendall(
        f"PUT /api/notes/{server.note}/text HTTP/1.1\r\nHost: localhost\r\ncontent-type: text/plain\r\n"
        f"content-length: {count}\r\n{fields}\r\n".encode()
    )
    return line


def test_bodies_without_a_token_are_refused_by_their_heads(guarded, others):
    before = resident_bytes(guarded)
    lines = [put(guarded, {}) for _ in range(CLIENTS)]
    for line in lines:
        send(line, b"x" * (MEGABYTE - 1))
    assert resident_bytes(guarded) - before < 20 * MEGABYTE
    for line in lines:
        said = rest(line)
        assert said.startswith(b"HTTP/1.1 401 ")
        assert b"connection: close" in said.lower()
        line.close()
    assert metric(guarded, 'parley_memory_refused_total{kind="early"}') == CLIENTS
    others()


def test_messages_are_short_until_a_token_is_accepted(guarded, others):
    before = resident_bytes(guarded)
    clients = [NativeClient(guarded, greet=False) for _ in range(CLIENTS)]
    for client in clients:
        with contextlib.suppress(ConnectionClosed, ConnectionError):
            client.socket.send(" " * MEGABYTE)
    for client in clients:
        error = client.receive()["data"]
        assert error["code"] == "tooLarge"
        assert "16384" in error["message"] and "token" in error["message"]
        assert client.close_code() == 4501
    assert resident_bytes(guarded) - before < 20 * MEGABYTE
    others()


def test_one_user_holds_a_share_of_what_comes_in_part(guarded, others):
    before = resident_bytes(guarded)
    ada = bearer(token(EVERYTHING, sub="ada"))
    lines = []
    refused = 0
    for _ in range(CLIENTS):
        line = put(guarded, ada)
        send(line, b"x" * (MEGABYTE - 1))
        lines.append(line)
    held = metric(guarded, "parley_reception_bytes")
    while metric(guarded, 'parley_memory_refused_total{kind="reception"}') < CLIENTS - 9:
        pass
    assert held <= 8 << 20
    assert resident_bytes(guarded) - before < 40 * MEGABYTE
    others()
    for line in lines:
        send(line, b"x")
        said = rest_of_answer(line)
        if said.startswith(b"HTTP/1.1 503 "):
            refused += 1
            head, _, body = said.partition(b"\r\n\r\n")
            assert 3 <= int(re.search(rb"(?i)retry-after: (\d+)", head)[1]) <= 8
            assert json.loads(body)["code"] == "busy"
        else:
            assert said.startswith(b"HTTP/1.1 200 ")
        line.close()
    assert CLIENTS - 9 <= refused < CLIENTS
    while metric(guarded, "parley_reception_bytes") > 0:
        pass


def rest_of_answer(line):
    """One answer with its body."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while True:
            head, end, body = said.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if end and length and len(body) >= int(length[1]):
                break
            piece = line.recv(65_536)
            if not piece:
                break
            said += piece
    return said


def test_a_user_over_the_share_gets_a_time_to_retry(guarded, others):
    ada = token(EVERYTHING, sub="ada")
    refusals = 'parley_memory_refused_total{kind="reception"}'
    waiting, refused = [], []
    while len(refused) < 3:
        client, reply = greet(guarded, ada)
        assert reply == "welcome"
        held = metric(guarded, "parley_reception_bytes")
        # A frame of a megabyte without its last byte.
        send(client.socket.socket, b"\x81\xff" + MEGABYTE.to_bytes(8, "big") + b"\0\0\0\0")
        send(client.socket.socket, b" " * (MEGABYTE - 1))
        while metric(guarded, refusals) == len(refused):
            if metric(guarded, "parley_reception_bytes") >= held + MEGABYTE - 1:
                waiting.append(client)
                break
        else:
            refused.append(client)
    # Half of all is eight messages.
    assert 6 <= len(waiting) <= 8
    others()
    for client in refused:
        error, goodbye = client.receive(), client.receive()
        assert (error["type"], error["data"]["code"]) == ("error", "busy")
        assert error["data"]["retryAfter"] > 0
        low, high = goodbye["data"]["reconnectAfter"]
        assert 0 < low < high
        assert client.close_code() == 4006
    for client in waiting:
        client.drop()


def test_a_large_message_may_follow_the_hello_directly(guarded):
    client = NativeClient(guarded, greet=False)
    hello = {"name": "Ada", "token": token(EVERYTHING)}
    first = client.send("hello", hello)
    second = client.send("ping", {"padding": "x" * MEGABYTE})
    assert client.reply_to(first)[0] == "welcome"
    assert client.reply_to(second)[0] == "pong"
    client.drop()


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_client_that_has_ended_its_side_gets_its_answer(server, method):
    note = server.create_note()
    body = b"text" if method == "PUT" else b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as line:
        line.sendall(
            f"{method} /api/notes/{note}/text HTTP/1.1\r\nHost: localhost\r\ncontent-type: text/plain\r\n"
            f"content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        line.shutdown(socket.SHUT_WR)
        assert rest(line).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", ["/api/../health", "/api/%2e%2e/health", "/api/notes/.", "/./health"])
def test_a_path_with_dots_is_refused_with_a_reason(server, path):
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        said = rest(line)
    assert said.startswith(b"HTTP/1.1 400 ") and b"segment" in said
