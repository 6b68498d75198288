"""HTTP clients that ask for a long text and do not read the answer."""

import json
import socket

import pytest
from native_client import NativeClient
from patience import wait_until
from test_tokens import EVERYTHING, SECRET, bearer, make_note, token

READERS = 100


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def long_note(server, count, letter="x"):
    """A note with so many letters."""
    note = server.create_note()
    status, _, _ = server.request(
        "PUT", f"/api/notes/{note}/text", (letter * count).encode(), {"content-type": "text/plain"}
    )
    assert status == 200
    return note


def ask(server, note, headers=""):
    """A client that has asked, and has read no more than the first line of the answer."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(60)
    line.connect(("127.0.0.1", server.port))
    line.sendall(f"GET /api/notes/{note}/text HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
    return line


def status_of(line):
    said = b""
    while b"\r\n" not in said:
        piece = line.recv(64)
        assert piece, "no answer"
        said += piece
    return int(said.split(b" ")[1])


@pytest.fixture
def lines():
    lines = []
    yield lines
    for line in lines:
        line.close()


def test_readers_of_a_text_share_one_copy_of_it(start, lines):
    server = start()
    note = long_note(server, 3_000_000)
    server.request("GET", f"/api/notes/{note}/text")
    before = resident_bytes(server)
    lines += [ask(server, note) for _ in range(READERS)]
    assert [status_of(line) for line in lines] == [200] * READERS
    # A copy each would be 300 MB. Requests that are read in one turn have copies until they are compared.
    assert resident_bytes(server) - before < 150_000_000
    for line in lines:
        line.close()
    # Others are answered, and those that went leave nothing behind.
    assert server.request("GET", "/health")[0] == 200


def test_memory_of_answers_goes_back(start, lines):
    server = start()
    # Each note is longer than the system's buffer for a connection.
    notes = [long_note(server, 4_000_000, letter) for letter in "abcdefghij"]
    for note in notes:
        server.request("GET", f"/api/notes/{note}/text")
    before = resident_bytes(server)
    lines += [ask(server, note) for note in notes]
    assert [status_of(line) for line in lines] == [200] * len(notes)
    assert resident_bytes(server) - before > 15_000_000
    for line in lines:
        # With a reset, so that the server hears of it at once.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.close()
    lines.clear()
    # The server gives memory back in its own time, and each request gives it a turn.
    wait_until(lambda: server.request("GET", "/health")[0] == 200 and resident_bytes(server) - before < 8_000_000)


def test_unread_answers_have_a_limit(start, lines):
    server = start("--responses-size-max", "12MiB")
    notes = [long_note(server, 4_000_000, letter) for letter in "abcde"]
    lines += [ask(server, note) for note in notes]
    statuses = [status_of(line) for line in lines]
    assert set(statuses) == {200, 503}
    assert statuses.count(200) >= 2
    refused = notes[statuses.index(503)]
    status, headers, body = server.request("GET", f"/api/notes/{refused}/text")
    assert status == 503
    assert 3 <= int(headers["retry-after"]) <= 8
    assert json.loads(body)["code"] == "busy"
    # Clients that have the kept text already do not need more room.
    kept = notes[statuses.index(200)]
    lines.append(ask(server, kept))
    assert status_of(lines[-1]) == 200
    for line in lines:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.close()
    lines.clear()
    wait_until(lambda: server.request("GET", f"/api/notes/{refused}/text")[0] != 503)


def test_a_guest_who_reads_slowly_leaves_others_their_answers(start, tmp_path, lines):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--responses-size-max", "24MiB"
    )
    note = make_note(server)
    ada = bearer(token(EVERYTHING))
    path = f"/api/notes/{note}/text"

    def write(letter):
        assert server.request("PUT", path, letter * 4_000_000, ada | {"content-type": "text/plain"})[0] == 200

    _, _, body = server.request("POST", f"/api/notes/{note}/share", {"access": "read"}, ada)
    guest = json.loads(body)["token"]
    statuses = []
    for letter in b"abcde":
        write(bytes([letter]))
        lines.append(ask(server, note, f"Authorization: Bearer {guest}\r\n"))
        statuses.append(status_of(lines[-1]))
    # As much as it has taken remains for others.
    assert statuses == [200] * 3 + [503] * 2
    write(b"z")
    status, _, body = server.request("GET", path, headers=ada)
    assert (status, json.loads(body)["text"]) == (200, "z" * 4_000_000)


def followers(server):
    _, _, page = server.request("GET", "/metrics")
    name = "parley_document_subscriptions "
    return next(
        float(line[len(name) :]) for line in page.decode().splitlines() if line.startswith(name)
    )


def test_people_who_open_a_note_share_one_copy_of_its_text(start):
    server = start()
    note = long_note(server, 3_000_000)
    with NativeClient(server) as first:
        text = first.join(note)["text"]
        assert text == "x" * 3_000_000
        before = resident_bytes(server)
        crowd = []
        for _ in range(50):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", server.port))
            crowd.append(NativeClient(server, sock=line, max_queue=1, ping_interval=None))
            crowd[-1].send("join", {"documentId": note})
        wait_until(lambda: followers(server) >= 51)
        # A copy for each would be 150 MB, and twice that with the library's copies of unsent writes.
        assert resident_bytes(server) - before < 40_000_000
        assert crowd[0].expect("joined")["text"] == text
        for client in crowd:
            client.drop()
