"""A server whose loop or disk hangs: it ends, and reports where."""

import json
import os
import resource
import signal
import socket
import threading
import time

import pytest
from fault_library import Faults
from native_client import NativeClient
from parley_server import ParleyServer


@pytest.fixture
def faults(tmp_path):
    return Faults(tmp_path / "faults")


@pytest.fixture
def begin(tmp_path, faults):
    """Starts a server that faults can be made in; it may be gone at the end."""
    servers = []

    def begin(*flags, before_start=None, **variables):
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        server = ParleyServer(
            folder, "--log-format", "json", *flags,
            environment={**faults.environment, **variables}, before_start=before_start,
        )  # fmt: skip
        servers.append(server)
        return server.start()

    yield begin
    faults.clear()
    for server in servers:
        if server.is_running:
            server.kill()


def change(note, joined):
    """The data of a first change."""
    return {
        "documentId": note, "epoch": joined["epoch"], "revision": joined["revision"],
        "sequence": 1, "operation": ["text"],
    }  # fmt: skip


def last_line(server):
    return json.loads(server.log.read_text().splitlines()[-1])


def test_a_spinning_loop_ends_the_process_with_its_location(begin, faults):
    server = begin("--turn-time-max", "1s")
    with NativeClient(server) as client:
        faults.begin("spin")
        client.socket.send(b"x" * 10)
        assert server.process.wait(timeout=60) == 4
    line = last_line(server)
    assert (line["level"], line["message"]) == ("error", "the loop is stuck")
    assert line["at"] == "reading from sockets"
    assert int(line["processorMilliseconds"]) >= 1000


def test_a_stopped_process_continues(begin, faults):
    server = begin("--turn-time-max", "1s")
    for _ in range(3):
        server.process.send_signal(signal.SIGSTOP)
        # All of its threads have stopped, however busy the machine is.
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED)
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            line.settimeout(1.5)
            with pytest.raises(TimeoutError):
                line.recv(1)
        server.process.send_signal(signal.SIGCONT)
        assert server.request("GET", "/health")[0] == 200
    assert server.stop() == 0


def test_a_disk_that_hangs_stops_neither_the_loop_nor_the_end(begin, faults):
    server = begin("--turn-time-max", "1s", "--drain-time", "2s")
    note = server.create_note()
    client = NativeClient(server)
    joined = client.join(note)
    faults.begin("sync")
    client.send("change", change(note, joined))
    until = time.monotonic() + 2
    pause = threading.Event()
    while time.monotonic() < until:
        assert server.request("GET", "/health")[0] == 200
        # Requests without a pause would take processor time from other tests.
        pause.wait(0.02)
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=60) == 3
    assert time.monotonic() - begun >= 1.9
    line = last_line(server)
    # The index of words may be on its way to the same disk.
    assert line["message"] == "ended by force"
    assert line["waitingFor"] in ("search", "the store")
    client.close()


def test_a_stop_waits_for_a_slow_disk(begin, faults):
    server = begin("--drain-time", "30s")
    note = server.create_note()
    client = NativeClient(server)
    joined = client.join(note)
    faults.begin("sync")
    client.send("change", change(note, joined))
    server.process.send_signal(signal.SIGTERM)
    # It no longer listens.
    while True:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
        except OSError:
            break
    faults.end("sync")
    assert server.process.wait(timeout=60) == 0
    client.close()


class Manager:
    """A service manager's end of sd_notify."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(60)

    def next(self):
        return self.socket.recv(4096).decode()


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_the_service_manager_is_notified(begin, faults, tmp_path, kind):
    name = str(tmp_path / "n") if kind == "path" else f"@parley-test-{os.getpid()}"
    manager = Manager(name if kind == "path" else "\0" + name[1:])
    server = begin(NOTIFY_SOCKET=name, WATCHDOG_USEC="400000")
    told = [manager.next() for _ in range(5)]
    assert "READY=1\n" in told
    assert told.count("WATCHDOG=1\n") == 4
    server.process.send_signal(signal.SIGTERM)
    while (message := manager.next()) != "STOPPING=1\n":
        assert message == "WATCHDOG=1\n"
    assert server.process.wait(timeout=60) == 0


def test_a_watchdog_of_another_process_is_not_notified(begin, faults, tmp_path):
    name = str(tmp_path / "n")
    manager = Manager(name)
    server = begin(NOTIFY_SOCKET=name, WATCHDOG_USEC="100000", WATCHDOG_PID="1")
    assert manager.next() == "READY=1\n"
    manager.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        manager.next()
    manager.socket.settimeout(60)
    server.process.send_signal(signal.SIGTERM)
    assert manager.next() == "STOPPING=1\n"
    assert server.process.wait(timeout=60) == 0


def test_a_lack_of_descriptors_is_logged_once(begin, faults):
    server = begin(before_start=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)))
    sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(80)]
    while "connections cannot be accepted" not in server.log.read_text():
        assert server.process.poll() is None
    for connection in sockets:
        connection.close()
    assert server.request("GET", "/health")[0] == 200
    assert server.log.read_text().count("connections cannot be accepted") == 1


def descriptors_allowed(server):
    for line in open(f"/proc/{server.process.pid}/limits"):
        if line.startswith("Max open files"):
            return tuple(int(word) for word in line.split()[3:5])


def test_no_more_descriptors_than_connections_need(begin, faults):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    server = begin("--connections-max", "100")
    assert descriptors_allowed(server) == (min(100 + 64 + 1024, hard), hard)
