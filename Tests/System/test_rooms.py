"""Rooms with history over real sockets: live, missed and expired publications, and errors."""

import json
import socket
import time

import pytest
from native_client import NativeClient
from patience import SECONDS


def publish(client, room, data, **more):
    kind, reply = client.request("publish", {"room": room, "data": data, **more})
    assert kind == "published", (kind, reply)
    return reply


def subscribe(client, room, position=None, **more):
    data = {"room": room, **more}
    if position:
        data["position"] = position
    kind, reply = client.request("subscribe", data)
    assert kind == "subscribed", (kind, reply)
    return reply


def post(server, path, body, headers=None):
    status, _, answer = server.request("POST", path, body, headers)
    return status, json.loads(answer)


def test_a_publication_reaches_every_subscriber_once_in_order(server):
    with NativeClient(server) as ann, NativeClient(server) as ben, NativeClient(server) as eve:
        start = subscribe(ben, "r")
        subscribe(eve, "other")
        for number in range(50):
            assert publish(ann, "r", {"n": number, "x": 1.5e3})["offset"] == number + 1
        for number in range(50):
            push = ben.expect("publication")
            assert push["offset"] == number + 1
            assert push["epoch"] == start["epoch"]
            assert push["data"] == {"n": number, "x": 1500.0}
            assert push["personId"] == ann.id
        assert ben.take_all() == ann.take_all() == eve.take_all() == []


def test_a_backend_publishes_over_http(server):
    with NativeClient(server) as ann:
        subscribe(ann, "a/b ü")
        status, answer = post(
            server, "/api/rooms/a%2Fb%20%C3%BC/publish", {"data": [1], "senderId": "app"}
        )
        assert (status, answer["offset"], answer["repeated"]) == (200, 1, False)
        push = ann.expect("publication")
        assert (push["data"], push["senderId"]) == ([1], "app")
        status, answer = post(
            server, "/api/publish",
            {"publications": [{"room": "a/b ü", "data": n} for n in range(5)] + [{"room": "x"}]},
        )  # fmt: skip
        assert status == 200
        assert [item.get("offset") for item in answer["results"]] == [2, 3, 4, 5, 6, None]
        assert answer["results"][5]["code"] == "badMessage"
        assert [ann.expect("publication")["data"] for _ in range(5)] == list(range(5))
        status, _, body = server.request("GET", "/api/rooms/a%2Fb%20%C3%BC/history?since=4")
        assert status == 200
        assert [item["data"] for item in json.loads(body)["publications"]] == [3, 4]


def test_a_reconnecting_client_misses_nothing(server):
    with NativeClient(server) as ann:
        ben = NativeClient(server)
        position = subscribe(ben, "r")
        publish(ann, "r", 0)
        assert ben.expect("publication")["offset"] == 1
        ben.drop()
        for number in range(1, 201):
            publish(ann, "r", number)
        with NativeClient(server, claim=ben.claim) as again:
            resumed = subscribe(again, "r", {"epoch": position["epoch"], "offset": 1})
            assert resumed["recovered"] is True
            assert [item["data"] for item in resumed["publications"]] == list(range(1, 201))
            assert resumed["offset"] == 201
            publish(ann, "r", "live")
            assert again.expect("publication")["offset"] == 202
            assert again.take_all() == []


def test_publications_survive_a_kill(server):
    with NativeClient(server) as ann:
        position = subscribe(ann, "r")
        last = publish(ann, "r", "kept", key="k")
    server.kill()
    server.start()
    with NativeClient(server, claim=ann.claim) as ann:
        resumed = subscribe(ann, "r", {"epoch": position["epoch"], "offset": 0})
        assert resumed["recovered"] is True
        assert [item["data"] for item in resumed["publications"]] == ["kept"]
        # A publication sent again with the same key is recognised.
        assert publish(ann, "r", "kept", key="k") == {**last, "repeated": True}
        again = publish(ann, "r", "kept", key="k-2")
        assert (again["epoch"], again["offset"]) == (last["epoch"], 2)


def test_beyond_the_window_a_client_is_notified(start):
    server = start("--room-history", "short-*=3/1h", "--room-history", "off=0/1h")
    with NativeClient(server) as ann:
        for room, kept in (("short-1", 3), ("off", 0), ("else", 10)):
            epoch = subscribe(ann, room)["epoch"]
            for number in range(10):
                publish(ann, room, number)
            for offset in range(11):
                reply = subscribe(ann, room, {"epoch": epoch, "offset": offset})
                whole = offset >= 10 - kept
                assert reply["recovered"] is whole
                assert len(reply.get("publications", [])) == (10 - offset if whole else 0)
            page = ann.request("roomHistory", {"room": room, "since": 0})[1]
            assert [item["data"] for item in page["publications"]] == list(range(10 - kept, 10))
            assert page["gap"] is (kept < 10)
            assert reply["offset"] == 10


def test_expired_publications_are_reported_as_a_gap(start):
    # A client that waits by asking again asks fast.
    server = start("--room-history", "brief-*=100/1s", "--connection-message-rate", "0")
    with NativeClient(server) as ann:
        position = publish(ann, "brief-1", "old")
        publish(ann, "else", "kept")

        def page(room):
            return ann.request("roomHistory", {"room": room, "since": 0})[1]

        end = time.monotonic() + SECONDS
        while page("brief-1")["publications"]:
            assert time.monotonic() < end, "what is too old is still there"
        publish(ann, "brief-1", "new")
        assert [item["data"] for item in page("brief-1")["publications"]] == ["new"]
        assert page("brief-1")["gap"] and not page("else")["gap"]
        point = {"epoch": position["epoch"], "offset": 0}
        reply = subscribe(ann, "brief-1", point)
        assert reply["recovered"] is False and "publications" not in reply
        reply = subscribe(ann, "brief-1", {**point, "offset": 1})
        assert reply["recovered"] is True and len(reply["publications"]) == 1
        assert subscribe(ann, "else", point)["recovered"] is True


def test_a_position_of_another_epoch_is_not_resumed(server):
    with NativeClient(server) as ann:
        first = publish(ann, "r", 1)
        assert subscribe(ann, "r", {"epoch": "other", "offset": 0})["recovered"] is False
        ahead = subscribe(ann, "r", {"epoch": first["epoch"], "offset": 7})
        assert ahead["recovered"] is False
        assert ahead["epoch"] != first["epoch"]


def test_history_is_paged_by_twenty_both_ways(server):
    with NativeClient(server) as ann:
        for number in range(1, 46):
            publish(ann, "r", number)

        def page(**range_):
            kind, reply = ann.request("roomHistory", {"room": "r", **range_})
            assert kind == "roomHistory", reply
            return [item["offset"] for item in reply["publications"]], reply["more"]

        assert page() == (list(range(26, 46)), True)
        assert page(before=26) == (list(range(6, 26)), True)
        assert page(before=6) == ([1, 2, 3, 4, 5], False)
        assert page(since=0, limit=45) == (list(range(1, 46)), False)
        assert page(since=30) == (list(range(31, 46)), False)


def test_catching_up_by_pages_leaves_no_gap(server):
    """Check C5 of the reference clients: 200 messages while away, all in order by `since`."""
    with NativeClient(server) as ann:
        for number in range(200):
            publish(ann, "r", number)
        seen, since = [], 0
        while True:
            page = ann.request("roomHistory", {"room": "r", "since": since})[1]
            seen += [item["data"] for item in page["publications"]]
            assert not page["gap"]
            since = page["publications"][-1]["offset"]
            if not page["more"]:
                break
        assert seen == list(range(200))


def test_the_same_key_is_delivered_once(server):
    with NativeClient(server) as ann, NativeClient(server) as ben:
        subscribe(ben, "r")
        first = publish(ann, "r", "x", key="guid")
        again = publish(ann, "r", "x", key="guid")
        assert (first["repeated"], again["repeated"]) == (False, True)
        assert first["offset"] == again["offset"]
        kind, data = ann.request("publish", {"room": "r", "data": "y", "key": "guid"})
        assert (kind, data["code"]) == ("error", "keyReused")
        assert [message["type"] for message in ben.take_all()] == ["publication"]
        for repeated in (False, True):
            status, answer = post(server, "/api/rooms/r/publish", {"data": 1, "key": "http"})
            assert (status, answer["repeated"]) == (200, repeated)
        assert post(server, "/api/rooms/r/publish", {"data": 2, "key": "http"})[0] == 409
        assert [message["data"]["data"] for message in ben.take_all()] == [1]


def test_an_unsubscribed_client_receives_no_publications(server):
    with NativeClient(server) as ann:
        subscribe(ann, "r")
        assert ann.request("unsubscribe", {"room": "r"})[0] == "unsubscribed"
        publish(ann, "r", 1)
        assert ann.take_all() == []


@pytest.mark.parametrize(
    "kind, data, code",
    [
        ("publish", {"room": "r"}, "badMessage"),
        ("publish", {"room": "", "data": 1}, "tooLarge"),
        ("publish", {"room": "x" * 201, "data": 1}, "tooLarge"),
        ("publish", {"room": "r", "data": "x" * 65_536}, "tooLarge"),
        ("publish", {"room": "r", "data": 1, "key": "k" * 201}, "tooLarge"),
        ("publish", {"room": "r", "data": 1, "senderId": "k" * 201}, "tooLarge"),
        ("publish", {"room": "r", "data": 1, "key": 7}, "badMessage"),
        ("publish", {"room": 7, "data": 1}, "badMessage"),
        ("subscribe", {"room": "x" * 201}, "tooLarge"),
        ("subscribe", {"room": "r", "position": 7}, "badMessage"),
        ("subscribe", {"room": "r", "position": {"epoch": "x"}}, "badMessage"),
        ("roomHistory", {"room": "r", "limit": 101}, "badMessage"),
        ("roomHistory", {"room": "r", "limit": -1}, "badMessage"),
        ("roomHistory", {"room": "r", "since": 1, "before": 2}, "badMessage"),
        ("roomHistory", {"room": "r", "since": "x"}, "badMessage"),
    ],
)
def test_malformed_room_messages_get_an_error_code(server, bystander, kind, data, code):
    with NativeClient(server) as client:
        answer, reply = client.request(kind, data)
        assert (answer, reply["code"], reply["retryable"]) == ("error", code, False)
        assert client.request("ping", {})[0] == "pong"


def test_data_that_is_nested_too_deep_gets_an_error(server, bystander):
    with NativeClient(server) as client:
        for depth, kind in ((24, "published"), (25, "error")):
            text = '{"messageId":"m","type":"publish","data":{"room":"r","data":%s}}'
            assert client.raw_request(text % ("[" * depth + "]" * depth), "m")[0] == kind


@pytest.mark.parametrize(
    "path, body, status",
    [
        ("/api/rooms/r/publish", b"", 400), ("/api/rooms/r/publish", b"[]", 400),
        ("/api/rooms/r/publish", b"{}", 400), ("/api/rooms/r/publish", b'{"data":}', 400),
        ("/api/rooms/r/publish", b'{"data":"\xff"}', 400),
        ("/api/rooms/r/publish", b'{"data":"%s"}' % (b"x" * 65_536), 413),
        ("/api/rooms/%s/publish" % ("x" * 201), b'{"data":1}', 413),
        ("/api/rooms/%ff/publish", b'{"data":1}', 400),
        ("/api/publish", b"{}", 400), ("/api/publish", b'{"publications":[]}', 400),
        ("/api/publish", json.dumps({"publications": [{}] * 101}).encode(), 413),
    ],
)  # fmt: skip
def test_malformed_bodies_get_an_error_code(server, bystander, path, body, status):
    found, answer = post(server, path, body)
    assert found == status
    assert answer["code"]


# More than the server's side of a socket and its queue have room for.
PUBLISHED = 120


def test_a_subscriber_who_does_not_read_is_closed_and_resumes(start):
    server = start("--queue-size-max", "128 KiB", "--message-size-max", "128 KiB")
    # With little room in the socket, so that it is behind soon.
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect(("127.0.0.1", server.port))
    slow = NativeClient(server, max_queue=1, sock=line, ping_interval=None)
    epoch = subscribe(slow, "r")["epoch"]
    with NativeClient(server) as ann:
        payload = "x" * 60_000
        for _ in range(PUBLISHED):
            publish(ann, "r", payload)
        received = 0
        assert slow.close_code() == 4001
        for message in slow.inbox:
            if message["type"] == "publication":
                received += 1
                assert message["data"]["offset"] == received
        assert received < PUBLISHED
        with NativeClient(server) as again:
            # The rest is more than fits into one reply, and is fetched page by page.
            while received < PUBLISHED:
                page = again.request("roomHistory", {"room": "r", "since": received})[1]
                assert not page["gap"]
                for item in page["publications"]:
                    received += 1
                    assert item["offset"] == received
            position = {"epoch": epoch, "offset": received}
            assert subscribe(again, "r", position)["recovered"] is True
