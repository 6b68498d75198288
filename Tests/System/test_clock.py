"""A machine's clock that is far ahead for a while: afterwards all times are right again."""

import json
import time

import pytest
from fault_library import Faults
from native_client import NativeClient
from parley_server import ParleyServer

DAYS = 86_400_000
MINUTE = 60_000


@pytest.fixture
def faults(tmp_path):
    return Faults(tmp_path / "faults")


@pytest.fixture
def server(tmp_path, faults):
    server = ParleyServer(tmp_path, environment=faults.environment).start()
    yield server
    faults.clear()
    assert server.is_running, "the server has died"
    assert server.stop() == 0


def now():
    return int(time.time() * 1_000)


def get(server, path):
    status, _, body = server.request("GET", path)
    assert status == 200, (status, body)
    return json.loads(body)


def write(server, note, text):
    headers = {"Content-Type": "text/plain"}
    status, _, body = server.request("PUT", f"/api/notes/{note}/text", text.encode(), headers)
    assert status == 200, (status, body)
    return json.loads(body)["revision"]


def publish(server, room, data):
    status, _, body = server.request("POST", f"/api/rooms/{room}/publish", {"data": data})
    assert status == 200, (status, body)


def times(server, room):
    history = get(server, f"/api/rooms/{room}/history")
    return [publication["time"] for publication in history["publications"]]


def test_a_clock_that_was_ahead_leaves_no_trace(server, faults):
    note = server.create_note()
    with NativeClient(server) as client:
        joined = client.join(note)
        assert write(server, note, "before") == 1
        publish(server, "r", 1)
        before = now()
        faults.begin("clock", 900 * DAYS)
        assert write(server, note, "meanwhile") == 2
        assert get(server, f"/api/notes/{note}")["updatedAt"] > before + 899 * DAYS
        publish(server, "r", 2)
        # No client is disconnected, and a change is accepted.
        change = {
            "documentId": note, "epoch": joined["epoch"], "revision": 2, "sequence": 1,
            "operation": [9, "!"],
        }  # fmt: skip
        kind, data = client.request("change", change)
        assert (kind, data["revision"]) == ("acknowledged", 3)
        faults.end("clock")
        change |= {"revision": 3, "sequence": 2, "operation": [10, "?"]}
        kind, data = client.request("change", change)
        assert (kind, data["revision"]) == ("acknowledged", 4)
        assert abs(data["time"] - now()) < MINUTE
    assert abs(get(server, f"/api/notes/{note}")["updatedAt"] - now()) < MINUTE
    publish(server, "r", 3)
    first, ahead, last = times(server, "r")
    assert ahead > before + 899 * DAYS
    assert max(abs(first - now()), abs(last - now())) < MINUTE
    for moment, revision, text in [
        (before, 1, "before"), (now(), 4, "meanwhile!?"), (now() + 899 * DAYS, 4, "meanwhile!?"),
    ]:
        found = get(server, f"/api/notes/{note}/text?time={moment}")
        assert (found["revision"], found["text"]) == (revision, text)
    server.kill()
    server.start()
    assert write(server, note, "after") == 5
    assert get(server, f"/api/notes/{note}/text?time={now()}")["revision"] == 5
