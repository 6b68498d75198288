"""Values of rooms in the whole program: limits, restarts, and signals."""

import json

from native_client import NativeClient


def change(client, *operations, **more):
    return client.request("publish", {"room": "r", "values": list(operations), **more})


def refusal(answer):
    kind, data = answer
    assert kind == "error", answer
    return data["code"]


def values(server, query=""):
    status, _, body = server.request("GET", f"/api/rooms/r/values{query}")
    assert status == 200, body
    return {name: item["value"] for name, item in json.loads(body)["values"].items()}


def test_limits(start):
    server = start(
        "--room-values-max", "2", "--room-value-size-max", "10", "--room-values-size-max", "24"
    )  # fmt: skip
    with NativeClient(server) as client:
        assert change(client, {"set": "a", "to": "x" * 8})[0] == "published"
        assert refusal(change(client, {"set": "a", "to": "x" * 9})) == "tooLarge"
        assert change(client, {"set": "b", "to": 1})[0] == "published"
        assert refusal(change(client, {"set": "c", "to": 1})) == "tooMany"
        long = [{"set": "b", "to": "x" * 8}, {"delete": "a"}, {"set": "n" * 14, "to": 1}]
        assert refusal(change(client, *long)) == "tooLarge"
        assert refusal(change(client, *[{"delete": "a"}] * 257)) == "tooLarge"
        assert refusal(change(client, {"delete": "n" * 201})) == "badMessage"
    assert values(server) == {"a": "x" * 8, "b": 1}


def test_a_late_client_gets_all_after_a_kill(server):
    with NativeClient(server) as client:
        for number in range(300):
            card = {"column": number % 3, "text": "é😀" * 200}
            answer, data = change(client, {"set": f"card-{number:03}", "to": card}, {"add": "count", "by": 1})
            assert answer == "published", data
        change(client, {"set": "brief", "to": 1, "ttl": 2})
    server.kill()
    server.start()
    with NativeClient(server) as late:
        kind, data = late.request("subscribe", {"room": "r", "values": True})
        assert kind == "subscribed"
        found, pages = dict(data["values"]), 1
        while data.get("more"):
            last = max(data["values"], key=str.encode)
            kind, data = late.request("values", {"room": "r", "after": last})
            assert kind == "values"
            found.update(data["values"])
            pages += 1
        assert pages > 1
        assert found["count"] == {"value": 300, "offset": 300}
        assert sum(name.startswith("card-") for name in found) == 300
        # What has expired meanwhile is deleted by a publication, once.
        ended = late.expect("publication")
        assert ended["values"] == [{"delete": "brief"}]
        assert "brief" not in values(server, "?prefix=b")
        moved = {"merge": "card-007", "with": {"column": 9}}
        offset = found["card-007"]["offset"]
        assert change(late, moved, ifOffsets={"card-007": offset})[0] == "published"
        kind, lost = change(late, moved, ifOffsets={"card-007": offset})
        assert lost["code"] == "conflict"
        assert lost["values"]["card-007"]["value"]["column"] == 9


def test_signals(start):
    server = start("--signals-per-second-max", "5")
    with NativeClient(server) as ann, NativeClient(server) as ben:
        for client in (ann, ben):
            assert client.request("subscribe", {"room": "r"})[0] == "subscribed"
        sent = [ann.send("signal", {"room": "r", "name": f"p{number}", "data": number}) for number in range(6)]
        kind, error = ann.reply_to(sent[-1])
        assert (kind, error["code"], error["retryable"]) == ("error", "tooFast", True)
        assert [ben.expect("signal")["data"] for _ in range(5)] == list(range(5))
    status, _, _ = server.request("POST", "/api/rooms/r/signal", {"name": "p", "data": 1})
    assert status == 204
