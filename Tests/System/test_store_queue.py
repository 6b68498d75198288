"""A disk that hangs: what waits for it is bounded, the rest is told to retry later, nothing is lost."""

import json
import threading

import pytest
from fault_library import Faults
from native_client import NativeClient
from parley_server import ParleyServer
from patience import SECONDS
from stalled_run import resident_bytes

CLIENTS = 6
PUBLICATION = "x" * 20_000


@pytest.fixture
def faults(tmp_path):
    return Faults(tmp_path / "faults")


@pytest.fixture
def begin(tmp_path, faults):
    """Starts a server whose disk can be made to hang."""
    servers = []

    def begin(*flags):
        server = ParleyServer(tmp_path, *flags, environment=faults.environment)
        servers.append(server)
        return server.start()

    yield begin
    faults.clear()
    for server in servers:
        assert server.is_running, "the server has died"
        assert server.stop() == 0


def metric(server, name):
    body = server.request("GET", "/metrics")[2].decode()
    (line,) = [line for line in body.splitlines() if line.startswith(name + " ")]
    return float(line.split()[1])


def publish_until_busy(client, room, taken, answers):
    """Publishes until the answer is `busy`; accepted publications are answered when the disk works again."""
    for number in range(5_000):
        key = f"{client.id}-{number}"
        message_id = client.send("publish", {"room": room, "data": PUBLICATION, "key": key})
        # Answers of the taken ones wait for the disk: only a refusal comes at once.
        client.send("ping", {}, f"ping-{number}")
        while True:
            message = client.receive()
            if message["messageId"] == f"ping-{number}":
                taken.append((message_id, key))
                break
            if message["messageId"] == message_id and message["type"] == "error":
                answers.append(message["data"])
                return
    raise AssertionError("nobody was told to wait")


@pytest.mark.parametrize(
    ("flags", "requests_max", "bytes_max"),
    [
        (("--store-queue-max", "60"), 60, 64 << 20),
        (("--store-queue-size-max", "4MiB"), 100_000, 4 << 20),
    ],
)
def test_what_waits_for_a_disk_is_bounded(begin, faults, flags, requests_max, bytes_max):
    server = begin(*flags, "--store-stall-time", "500ms")
    note = server.create_note()
    clients = [NativeClient(server, f"c{number}") for number in range(CLIENTS)]
    joined = clients[0].join(note)
    before = resident_bytes(server)
    faults.begin("sync")
    taken = [[] for _ in clients]
    answers = []
    threads = [
        threading.Thread(target=publish_until_busy, args=(client, f"r{index}", keys, answers))
        for index, (client, keys) in enumerate(zip(clients, taken))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert len(answers) == CLIENTS
    for answer in answers:
        assert (answer["code"], answer["retryable"]) == ("busy", True)
    # One message of each client may go beyond.
    assert metric(server, "parley_store_waiting_requests") <= requests_max + CLIENTS
    assert metric(server, "parley_store_waiting_bytes") <= bytes_max + CLIENTS * 21_000
    assert resident_bytes(server) - before < 8 * bytes_max
    # Changes and requests get the same answer, and reading still works.
    change = {
        "documentId": note, "epoch": joined["epoch"], "revision": joined["revision"],
        "sequence": 1, "operation": ["text"],
    }  # fmt: skip
    kind, data = clients[0].request("change", change)
    assert (kind, data["code"]) == ("refused", "busy")
    status, headers, body = server.request("POST", "/api/rooms/r/publish", {"data": 1})
    assert (status, json.loads(body)["code"]) == (503, "busy")
    assert int(headers["retry-after"]) > 0
    assert server.request("GET", f"/api/notes/{note}/text")[0] == 200
    assert server.request("GET", "/health")[0] == 200
    while metric(server, "parley_store_oldest_seconds") < 0.5:
        pass
    assert server.request("GET", "/ready")[0] == 503
    faults.end("sync")
    # Accepted work is acknowledged once, and stored.
    for index, (client, keys) in enumerate(zip(clients, taken)):
        for message_id, _ in keys:
            kind, data = client.reply_to(message_id)
            assert kind == "published"
        kind, page = client.request("roomHistory", {"room": f"r{index}", "limit": 1})
        assert page["offset"] == len(keys)
    assert server.request("GET", "/ready")[0] == 200
    # The refused change is accepted now, and a publication with a stored key is not stored again.
    kind, data = clients[0].request("change", change)
    assert (kind, data["revision"]) == ("acknowledged", 1)
    _, key = taken[1][0]
    kind, data = clients[1].request(
        "publish", {"room": "r1", "data": PUBLICATION, "key": key})
    assert (kind, data["repeated"]) == ("published", True)
    for client in clients:
        client.socket.close()
