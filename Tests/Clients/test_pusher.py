"""Pusher's protocol against the real program, with clients and a back end that know nothing of Parley."""

import contextlib
import hashlib
import hmac
import json
import signal

import pytest
from dialect_clients import DialectClient
from patience import SECONDS
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

SECRET = "7ad3773142a6692b25b8"


@pytest.fixture
def shop(start, tmp_path):
    secret = tmp_path / "shop"
    secret.write_text(SECRET + "\n")
    return start(
        "--pusher-app",
        f"shop id:7 secret-file:{secret} origin:https://shop.example.org client-events:yes",
        "--presence-grace", "0s",
    )  # fmt: skip


def client(server, user="7"):
    return DialectClient(
        "pusher_client.py", str(server.port), "shop", SECRET, user, packages="dialects"
    )


def subscribe(person, channel):
    # The answer may come before the client says that it has sent the request.
    person.tell("subscribe", channel)
    person.expect("event", channel, "pusher_internal:subscription_succeeded")


def back_end(server, secret=SECRET):
    return DialectClient(
        "pusher_client.py", str(server.port), "shop", secret, "back-end", "7", packages="dialects"
    )


class PusherSocket:
    """One WebSocket, frame by frame."""

    def __init__(self, server, key="shop", query="protocol=7&client=js", origin=None):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}/app/{key}?{query}", compression=None, origin=origin
            )
        )

    def send(self, event, data, **fields):
        self.socket.send(json.dumps({"event": event, "data": data, **fields}))

    def receive(self):
        return json.loads(self.socket.recv(timeout=SECONDS))

    def greeting(self):
        return json.loads(self.receive()["data"])["socket_id"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


def test_a_client_and_a_back_end_of_others_work_together(shop):
    with client(shop) as ann, client(shop, "8") as ben, back_end(shop) as app:
        for person in [ann, ben]:
            person.expect("connected")
            for channel in ["news", "private-a", "presence-r", "cache-c"]:
                subscribe(person, channel)
            person.expect("event", "cache-c", "pusher:cache_miss")
        added = ann.expect("event", "presence-r", "pusher_internal:member_added")
        assert json.loads(added[3]) == {"user_id": "8", "user_info": {"name": "The 8"}}
        text = '{"n": 1, "é": "👍"}'
        assert app.ask("trigger", ["news", "private-a", "cache-c"], "order", text) == [{}]
        for person in [ann, ben]:
            for channel in ["news", "private-a", "cache-c"]:
                assert person.expect("event", channel, "order")[3] == text
        batch = [{"channel": "news", "name": "order", "data": str(n)} for n in range(10)]
        assert app.ask("trigger_batch", batch) == [{}]
        assert [ann.expect("event", "news", "order")[3] for _ in batch] == [
            str(n) for n in range(10)
        ]
        ann.ask("emit", "presence-r", "client-typing", {"on": True})
        assert ben.expect("event", "presence-r", "client-typing")[3] == {"on": True}
        (channels,) = app.ask("channels_info", "presence-", ["user_count"])
        assert channels == {"channels": {"presence-r": {"user_count": 2}}}
        (users,) = app.ask("users_info", "presence-r")
        assert users == {"users": [{"id": "7"}, {"id": "8"}]}
        with client(shop, "9") as late:
            late.expect("connected")
            subscribe(late, "cache-c")
            assert late.expect("event", "cache-c", "order")[3] == text
        ben.close()
        ann.expect("event", "presence-r", "pusher_internal:member_removed")


@pytest.mark.parametrize("how", ["kill", "drain"])
def test_clients_come_back_after_the_server(shop, how):
    with client(shop) as ann:
        ann.expect("connected")
        subscribe(ann, "private-a")
        if how == "kill":
            shop.kill()
        else:
            shop.process.send_signal(signal.SIGTERM)
            assert ann.expect("error")[1]["code"] == 4200
            shop.process.wait(SECONDS)
        shop.start()
        ann.expect("event", "private-a", "pusher_internal:subscription_succeeded")
        with back_end(shop) as app:
            assert app.ask("trigger", "private-a", "order", "1") == [{}]
        assert ann.expect("event", "private-a", "order")[3] == "1"


def test_forged_signatures_open_nothing(shop):
    with back_end(shop, SECRET[::-1]) as forger:
        forger.tell("trigger", "news", "order", "1")
        assert "auth_signature" in str(forger.hear())
    with PusherSocket(shop) as one, PusherSocket(shop) as other:
        names = [one.greeting(), other.greeting()]
        assert names[0] != names[1]
        for signed, secret, error in [
            (f"{names[1]}:private-a", SECRET, 401), (f"{names[0]}:private-b", SECRET, 401),
            (f"{names[0]}:private-a", SECRET[::-1], 401), (f"{names[0]}:private-a", SECRET, None),
        ]:  # fmt: skip
            auth = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
            one.send("pusher:subscribe", {"channel": "private-a", "auth": f"shop:{auth}"})
            frame = one.receive()
            assert (frame["event"] == "pusher:subscription_error") == bool(error), frame
            assert not error or frame["data"]["status"] == error


@pytest.mark.parametrize(
    "key, query, code",
    [("other", "protocol=7", 4001), ("shop", "", 4008), ("shop", "protocol=99", 4007)],
)
def test_a_client_that_cannot_stay_learns_why_by_a_code(shop, key, query, code):
    with PusherSocket(shop, key, query) as socket:
        assert socket.receive()["data"]["code"] == code
        with pytest.raises(ConnectionClosed) as closed:
            socket.receive()
        assert closed.value.rcvd.code == code


def test_pages_of_other_origins_and_clients_without_a_token_stay_out(shop):
    with PusherSocket(shop, origin="https://shop.example.org") as socket:
        assert socket.greeting()
    with pytest.raises(Exception, match="403"):
        PusherSocket(shop, origin="https://evil.example.org")
    assert shop.request("GET", "/api/notes")[0] == 401
    assert shop.request("GET", "/app/shop?protocol=7")[0] == 426


def test_metrics_count_its_connections(shop):
    with PusherSocket(shop) as socket:
        socket.greeting()
        assert b'parley_connections{dialect="pusher"} 1' in shop.request("GET", "/metrics")[2]
