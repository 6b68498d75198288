"""Too much in too short a time, over real sockets: by connection, by user and by address, in every
protocol. Bursts are made small; a client that waits as long as it is told is let through."""

import contextlib
import json

import pytest
from engine_client import EnginePoll, EngineSocket
from native_client import NativeClient
from parley_server import ParleyServer
from test_bayeux import BayeuxSocket
from test_tokens import EVERYTHING, SECRET, bearer, greet, token
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from whaler_client import WhalerClient

# A proxy in front of it says who comes, so that a test can come from anywhere.
BEHIND_A_PROXY = ["--trusted-proxy", "127.0.0.1"]


def at(address):
    return {"X-Forwarded-For": address}


def wait_as_told(client, data):
    """Waits for the time in the answer."""
    assert data["retryable"] is True
    assert data["retryAfter"] > 0
    with contextlib.suppress(TimeoutError):
        while True:
            client.inbox.append(client.receive(timeout=data["retryAfter"] / 1000))


def until_refused(ask, burst):
    """Asks until it is too much. At least `burst` times it is not; on a busy machine, where time passes
    between two questions, a few times more."""
    for number in range(1_000):
        status, headers, body = ask()
        if status != 200:
            assert number >= burst
            assert (status, headers["retry-after"]) == (429, "1")
            return body
    raise AssertionError("however much was asked, it was not too much")


def exhaust(*clients):
    """Pings until it is too much; what that was answered with."""
    for number in range(10_000):
        client = clients[number % len(clients)]
        kind, data = client.request("ping", {})
        if kind != "pong":
            assert (kind, data["code"]) == ("error", "tooFast")
            return client, data
    raise AssertionError("however much came, it was not too much")


def exhaust_bytes(*clients):
    """Sends pings of 9,000 bytes until they are too much; what that was answered with."""
    for number in range(1_000):
        client = clients[number % len(clients)]
        kind, data = client.request("ping", {"x": "x" * 9_000})
        if kind != "pong":
            assert (kind, data["code"]) == ("error", "tooFast")
            return client, data
    raise AssertionError("however much came, it was not too much")


def limited(server):
    """Returns the numbers of refusals in the metrics, by limit."""
    body = server.request("GET", "/metrics")[2].decode()
    prefix = 'parley_limited_total{limit="'
    return {
        line[len(prefix) :].split('"')[0]: int(float(line.rsplit(" ", 1)[1]))
        for line in body.splitlines()
        if line.startswith(prefix)
    }


@pytest.fixture
def guarded(start, tmp_path):
    """Starts servers with flags that check tokens."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    return lambda *flags: start("--hmac-secret-file", secret, "--audience", "parley", *flags)


def as_user(server, name):
    client, kind = greet(server, token(EVERYTHING, sub=name))
    assert kind == "welcome", client.welcome
    return client


class TestConnections:
    def test_messages_of_a_connection(self, start):
        # One a second: on a busy machine the next message must not come when there is room again.
        server = start("--connection-message-rate", "1", "--rate-burst-seconds", "10")
        note = server.create_note()
        with NativeClient(server) as client, NativeClient(server) as other:
            assert client.welcome["limits"]["messagesPerSecondMax"] == 1
            assert client.welcome["limits"]["burstSeconds"] == 10
            joined = client.join(note)
            exhaust(client)
            kind, data = client.change(note, joined, 1, ["typed"])
            assert (kind, data["code"], data["sequence"]) == ("refused", "tooFast", 1)
            wait_as_told(client, data)
            # Nothing is lost: the same change under the same number.
            kind, data = client.change(note, joined, 1, ["typed"])
            assert kind == "acknowledged", data
            assert other.join(note)["text"] == "typed"
        assert set(limited(server)) == {"messagesPerSecondMax"}

    def test_bytes_of_a_connection(self, start):
        server = start("--connection-byte-rate", "10000", "--rate-burst-seconds", "1")
        note = server.create_note()
        with NativeClient(server) as client:
            assert client.welcome["limits"]["bytesPerSecondMax"] == 10_000
            joined = client.join(note)
            length = 0
            for sequence in range(1, 1_000):
                change = [length, "x" * 4_500] if length else ["x" * 4_500]
                kind, data = client.change(note, joined, sequence, change, sequence - 1)
                if kind == "refused":
                    break
                length += 4_500
            assert data["code"] == "tooFast" and length >= 9_000
            wait_as_told(client, data)
            assert client.change(note, joined, sequence, change, sequence - 1)[0] == "acknowledged"
        assert set(limited(server)) == {"bytesPerSecondMax"}

    def test_a_client_that_does_not_wait_is_closed_and_may_reconnect(self, start):
        server = start("--connection-message-rate", "5", "--rate-burst-seconds", "2")
        note = server.create_note()
        client = NativeClient(server)
        joined = client.join(note)
        client.change(note, joined, 1, ["kept"])
        with contextlib.suppress(ConnectionClosed):
            for _ in range(200):
                client.send("ping", {})
        assert client.close_code() == 4006
        goodbye = [message["data"] for message in client.inbox if message["type"] == "goodbye"]
        assert [message["reason"] for message in goodbye] == ["tooFast"]
        shortest, longest = goodbye[0]["reconnectAfter"]
        assert 1000 <= shortest <= longest
        with NativeClient(server, claim=client.claim) as again:
            assert again.join(note)["lastSequence"] == 1

    def test_a_burst_after_reconnecting_is_allowed(self, server):
        """With the defaults: everything at once that a client may have open."""
        note = server.create_note()
        with NativeClient(server) as client:
            limits = client.welcome["limits"]
            sent = [
                client.send("join", {"documentId": note})
                for _ in range(limits["documentsPerConnectionMax"])
            ] + [
                client.send("subscribe", {"room": f"room {number}"})
                for number in range(limits["roomsPerConnectionMax"])
            ]
            answers = {client.reply_to(message)[0] for message in sent}
            assert answers == {"joined", "subscribed"}
        assert limited(server) == {}


class TestUsers:
    def test_messages_of_a_user(self, guarded):
        server = guarded("--user-message-rate", "10", "--rate-burst-seconds", "1")
        with as_user(server, "ada") as one, as_user(server, "ada") as two:
            assert one.welcome["limits"]["userMessagesPerSecondMax"] == 10
            client, data = exhaust(one, two)
            with as_user(server, "ben") as other:
                assert other.request("ping", {})[0] == "pong"
            wait_as_told(client, data)
            assert client.request("ping", {})[0] == "pong"
        assert set(limited(server)) == {"userMessagesPerSecondMax"}

    def test_bytes_of_a_user(self, guarded):
        server = guarded("--user-byte-rate", "10000", "--rate-burst-seconds", "1")
        with as_user(server, "ada") as one, as_user(server, "ada") as two:
            assert one.welcome["limits"]["userBytesPerSecondMax"] == 10_000
            client, data = exhaust_bytes(one, two)
            wait_as_told(client, data)
            assert client.request("ping", {"x": "x" * 1_500})[0] == "pong"

    def test_connections_of_a_user(self, guarded):
        server = guarded("--user-connections-max", "2")
        with as_user(server, "ada") as one, as_user(server, "ada"):
            assert one.welcome["limits"]["userConnectionsMax"] == 2
            third, kind = greet(server, token(EVERYTHING, sub="ada"))
            assert (kind, third.welcome["code"]) == ("error", "tooMany")
            assert third.close_code() == 4504
            # Who shows the token with the upgrade hears it there.
            with pytest.raises(InvalidStatus) as refused:
                connect(
                    f"ws://127.0.0.1:{server.port}/socket",
                    additional_headers={"Authorization": token(EVERYTHING, sub="ada")},
                )
            assert refused.value.response.status_code == 429
            assert int(refused.value.response.headers["retry-after"]) > 0
            as_user(server, "ben").close()

    def test_connects_of_a_user(self, guarded):
        server = guarded("--user-connect-rate", "3", "--rate-burst-seconds", "1")
        for _ in range(3):
            as_user(server, "ada").close()
        client, kind = greet(server, token(EVERYTHING, sub="ada"))
        while kind == "welcome":
            client.close()
            client, kind = greet(server, token(EVERYTHING, sub="ada"))
        assert (kind, client.welcome["code"]) == ("error", "tooFast")
        assert 0 < client.welcome["retryAfter"] <= 1000
        assert client.close_code() == 4006
        as_user(server, "ben").close()
        assert set(limited(server)) == {"userConnectsPerSecondMax"}

    def test_requests_of_a_user(self, guarded):
        server = guarded("--user-request-rate", "3", "--rate-burst-seconds", "1")
        ada, ben = (bearer(token(EVERYTHING, sub=name)) for name in ("ada", "ben"))
        body = until_refused(lambda: server.request("GET", "/api/notes", headers=ada), 3)
        assert json.loads(body)["code"] == "tooFast"
        assert server.request("GET", "/api/notes", headers=ben)[0] == 200


class TestAddresses:
    def test_messages_of_an_address(self, start):
        server = start(
            *BEHIND_A_PROXY, "--address-message-rate", "10", "--rate-burst-seconds", "1"
        )
        here, there = at("203.0.113.7"), at("203.0.113.8")
        with (
            NativeClient(server, additional_headers=here) as one,
            NativeClient(server, additional_headers=here) as two,
            NativeClient(server, additional_headers=there) as other,
        ):
            assert one.welcome["limits"]["addressMessagesPerSecondMax"] == 10
            client, data = exhaust(one, two)
            assert other.request("ping", {})[0] == "pong"
            wait_as_told(client, data)
            assert client.request("ping", {})[0] == "pong"

    def test_bytes_of_an_address(self, start):
        server = start(
            *BEHIND_A_PROXY, "--address-byte-rate", "10000", "--rate-burst-seconds", "1"
        )
        # Of IPv6, a client with one address has as many as there are in its 64 bits.
        with (
            NativeClient(server, additional_headers=at("2001:db8::1")) as one,
            NativeClient(server, additional_headers=at("2001:db8::ffff:2")) as two,
        ):
            assert one.welcome["limits"]["addressBytesPerSecondMax"] == 10_000
            client, data = exhaust_bytes(one, two)
            wait_as_told(client, data)
            assert client.request("ping", {"x": "x" * 1_500})[0] == "pong"

    def test_connections_of_an_address(self, start):
        server = start(*BEHIND_A_PROXY, "--address-connections-max", "2")
        here = at("203.0.113.7")
        with NativeClient(server, additional_headers=here) as one:
            assert one.welcome["limits"]["addressConnectionsMax"] == 2
            with NativeClient(server, additional_headers=here):
                with pytest.raises(InvalidStatus) as refused:
                    NativeClient(server, additional_headers=here)
                assert refused.value.response.status_code == 429
                assert int(refused.value.response.headers["retry-after"]) > 0
                NativeClient(server, additional_headers=at("203.0.113.8")).close()

    def test_connects_of_an_address(self, start):
        server = start(
            *BEHIND_A_PROXY, "--address-connect-rate", "3", "--rate-burst-seconds", "1"
        )
        here = at("203.0.113.7")
        for _ in range(3):
            NativeClient(server, additional_headers=here).close()
        with pytest.raises(InvalidStatus) as refused:
            for _ in range(100):
                NativeClient(server, additional_headers=here).close()
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["retry-after"] == "1"
        assert json.loads(refused.value.response.body)["code"] == "tooFast"
        NativeClient(server, additional_headers=at("203.0.113.8")).close()

    def test_requests_of_an_address(self, start):
        server = start(
            *BEHIND_A_PROXY, "--address-request-rate", "3", "--rate-burst-seconds", "1"
        )
        here = at("203.0.113.7")
        body = until_refused(lambda: server.request("GET", "/api/notes", headers=here), 3)
        assert json.loads(body)["code"] == "tooFast"
        # A request for metrics is always answered.
        assert server.request("GET", "/health", headers=here)[0] == 200
        assert server.request("GET", "/api/notes", headers=at("203.0.113.8"))[0] == 200

    def test_sockets_without_a_request(self, start):
        """Before a request says who comes, the peer's own address counts."""
        server = start("--trusted-proxy", "192.0.2.1", "--address-connections-max", "2")
        with NativeClient(server), NativeClient(server):
            status, headers, _ = server.request("GET", "/health")
            assert status == 429
            assert int(headers["retry-after"]) > 0

    def test_sockets_opened_too_fast(self, start):
        server = start(
            "--trusted-proxy", "192.0.2.1", "--address-connect-rate", "3", "--rate-burst-seconds",
            "1",
        )  # fmt: skip
        until_refused(lambda: server.request("GET", "/health"), 3)

    def test_this_machine_is_not_limited_until_proxies_are_configured(self, start):
        server = start("--address-connections-max", "1", "--address-request-rate", "1")
        with NativeClient(server), NativeClient(server):
            assert [server.request("GET", "/")[0] for _ in range(20)] == [200] * 20


class TestDialects:
    def test_a_whaler_change_over_the_rate_is_answered_with_the_state(self, start):
        server = start("--connection-message-rate", "10", "--rate-burst-seconds", "1")
        with WhalerClient(server, "acc-1") as client:
            first = client.send("resourceConnection", {"resourceId": "acc-1"})
            client.expect("resourceConnectionConf", first)
            taken = 0
            while True:
                client.send(
                    "docChange",
                    {"resourceId": "acc-1", "rev": taken, "n": [taken, 0], "s": ["", "x"]},
                )
                message = client.receive()
                if message["type"] != "docChangeReturnOps":
                    break
                taken += 1
            # It starts again from everything that was taken.
            assert message["type"] == "resourceConnectionConf"
            state = message["data"]
            assert (state["revision"], state["initialState"]) == (taken, "x" * taken)
            assert taken > 0
            # From there on changes are taken again; one that comes too soon has the state once more.
            for _ in range(100):
                again = client.send(
                    "docChange",
                    {"resourceId": "acc-1", "rev": taken, "n": [taken, 0], "s": ["", "y"]},
                )
                message = client.receive()
                if message["messageId"] == again:
                    break
                assert message["type"] == "resourceConnectionConf"
                assert message["data"]["revision"] == taken
            assert message["messageId"] == again

    def test_a_whaler_client_that_floods_is_closed_and_may_reconnect(self, start):
        server = start("--connection-message-rate", "5", "--rate-burst-seconds", "1")
        with WhalerClient(server, "acc-1") as client:
            with pytest.raises(ConnectionClosed) as closed:
                for _ in range(100):
                    client.send("resourceConnection", {"resourceId": "acc-1"})
                while True:
                    client.receive()
            assert closed.value.rcvd.code == 4006

    def test_socket_io_events_get_their_own_error(self, start):
        server = start("--connection-message-rate", "10", "--rate-burst-seconds", "1")
        with EngineSocket(server) as client:
            client.begin()
            client.authenticate("anybody")
            for number in range(1_000):
                client.emit("realtime:join", {"name": "room"})
                name, refused = client.event()
                if name == "realtime:join:error":
                    break
            assert name == "realtime:join:error" and number >= 8
            assert refused["name"] == "room"
            assert "send it again after" in refused["message"]

    def test_socket_io_handshakes_get_their_own_error(self, start):
        server = start(
            *BEHIND_A_PROXY, "--address-connect-rate", "2", "--rate-burst-seconds", "1"
        )
        path = "/socket/?EIO=4&transport=polling"
        here = at("203.0.113.7")
        body = until_refused(lambda: server.request("GET", path, headers=here), 2)
        assert json.loads(body) == {"code": 4, "message": "Too many requests"}
        with pytest.raises(InvalidStatus) as refused:
            for _ in range(100):
                EngineSocket(server, additional_headers=here)
        assert refused.value.response.status_code == 429
        assert json.loads(refused.value.response.body)["code"] == 4

    def test_posts_of_socket_io_count_by_their_packets(self, start):
        server = start("--connection-message-rate", "5", "--rate-burst-seconds", "1")
        client = EnginePoll(server)
        client.begin()
        client.post('42["authenticate",{"token":"anybody"}]')
        client.poll()
        client.post(*(f'42["realtime:join",{{"name":"{number}"}}]' for number in range(20)))
        client.post('42["realtime:join",{"name":"last"}]')
        answers = client.poll()
        assert any("realtime:join:error" in packet for packet in answers), answers

    def test_socket_io_clients_that_flood_are_closed(self, start):
        server = start("--connection-message-rate", "5", "--rate-burst-seconds", "1")
        with EngineSocket(server) as client:
            client.begin()
            with pytest.raises(ConnectionClosed) as closed:
                for _ in range(200):
                    client.emit("online:get", {"data": []}, id=1)
                while True:
                    client.receive()
            assert closed.value.rcvd.code == 4006

    def test_bayeux_messages_get_their_own_error(self, start):
        server = start("--connection-message-rate", "5", "--rate-burst-seconds", "1")
        with BayeuxSocket(server) as client:
            client.begin()
            for _ in range(1_000):
                refused = client.subscribe("/group/1", "anybody")
                if not refused["successful"]:
                    break
            assert refused["error"] == "429:/meta/subscribe:Too many requests"
            assert refused["advice"]["interval"] > 0
            assert refused["advice"]["reconnect"] == "retry"


def test_the_rates_that_are_announced_are_those_of_the_settings(start):
    flags = {
        "rate-burst-seconds": ("burstSeconds", 7),
        "connection-message-rate": ("messagesPerSecondMax", 101),
        "connection-byte-rate": ("bytesPerSecondMax", 102_000),
        "user-connections-max": ("userConnectionsMax", 103),
        "user-connect-rate": ("userConnectsPerSecondMax", 104),
        "user-message-rate": ("userMessagesPerSecondMax", 105),
        "user-byte-rate": ("userBytesPerSecondMax", 106_000),
        "user-request-rate": ("userRequestsPerSecondMax", 107),
        "address-connections-max": ("addressConnectionsMax", 108),
        "address-connect-rate": ("addressConnectsPerSecondMax", 109),
        "address-message-rate": ("addressMessagesPerSecondMax", 110),
        "address-byte-rate": ("addressBytesPerSecondMax", 111_000),
        "address-request-rate": ("addressRequestsPerSecondMax", 0),
    }
    server: ParleyServer = start(*(f"--{name}={value}" for name, (_, value) in flags.items()))
    with NativeClient(server) as client:
        for announced, value in flags.values():
            assert client.welcome["limits"][announced] == value
