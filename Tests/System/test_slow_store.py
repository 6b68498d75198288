"""A disk that takes seconds to sync while people type: typing continues, and nothing is lost."""

import socket
import time

import pytest
from fault_library import Faults
from native_client import Editor, NativeClient, settle
from parley_server import ParleyServer

SECONDS_BLOCKED = 3


@pytest.fixture
def faults(tmp_path):
    return Faults(tmp_path / "faults")


@pytest.fixture
def server(tmp_path, faults):
    folder = tmp_path / "server"
    folder.mkdir()
    running = ParleyServer(
        folder, "--ping-interval", "1s", "--idle-timeout", "2s", environment=faults.environment
    )  # fmt: skip
    yield running.start()
    faults.clear()
    assert running.is_running
    running.kill()


def connections(server):
    body = server.request("GET", "/metrics")[2].decode()
    return sum(
        float(line.split()[-1])
        for line in body.splitlines()
        if line.startswith(("parley_connections ", "parley_connections{"))
    )


def deaf_reader(server, note):
    """A client that follows a note, and whose socket is never read again."""
    end = socket.socket()
    # So that the system does not read ahead for it.
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    end.connect(("127.0.0.1", server.port))
    reader = NativeClient(server, "Deaf", sock=end, max_queue=1, ping_interval=None)
    reader.join(note)
    return reader


class Typist(Editor):
    """Types words that no other client types, each at the end of the text."""

    def __init__(self, name, note):
        super().__init__(name, note)
        self.words = []

    def type(self):
        word = f"<{self.name}{len(self.words)}>" + "." * 200
        self.words.append(word)
        self.edit(([len(self.text)] if self.text else []) + [word])
        self.pump(0.01)


def type_for(typists, seconds, server):
    """All clients type; meanwhile the server answers what needs no disk."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for typist in typists:
            typist.type()
        assert server.request("GET", "/health")[0] == 200


def assert_whole(text, typists):
    for typist in typists:
        for word in typist.words:
            assert text.count(word) == 1, f"{word[:12]} is there {text.count(word)} times"
    assert len(text) == sum(len(word) for typist in typists for word in typist.words)


def test_typing_works_on_a_slow_disk(server, faults):
    note = server.create_note()
    typists = [Typist(name, note).attach(server) for name in ("ada", "ben", "cleo")]
    for typist in typists:
        typist.type()
    settle(typists)
    confirmed = [len(typist.confirmed) for typist in typists]

    faults.begin("sync")
    type_for(typists, SECONDS_BLOCKED, server)
    # A change that is not on the disk is not acknowledged, and no other client sees it.
    assert [len(typist.confirmed) for typist in typists] == confirmed
    assert len({typist.revision for typist in typists}) == 1
    faults.end("sync")

    settle(typists)
    assert len({typist.text for typist in typists}) == 1
    assert_whole(typists[0].text, typists)
    # Acknowledged changes survive the program.
    server.kill()
    server.start()
    with NativeClient(server) as reader:
        assert_whole(reader.join(note)["text"], typists)


def test_a_reader_who_never_reads_beside_a_slow_disk(server, faults):
    note = server.create_note()
    typists = [Typist(name, note).attach(server) for name in ("ada", "ben")]
    reader = deaf_reader(server, note)
    # What fills its buffers, so that it does not even hear pings.
    type_for(typists, 0.5, server)
    settle(typists)
    assert connections(server) == 3
    faults.begin("sync")
    # It answers no ping, and goes while the disk still hangs.
    while connections(server) > 2:
        type_for(typists, 0.1, server)
    faults.end("sync")
    settle(typists)
    assert_whole(typists[0].text, typists)
    reader.drop()
