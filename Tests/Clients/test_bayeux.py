"""Group chats over Bayeux against the real program, check by check."""

import contextlib
import json
import shutil
import threading
import time
import urllib.parse

import pytest
from dialect_clients import DialectClient
from native_client import NativeClient
from patience import SECONDS, in_time
from test_tokens import EVERYTHING, SECRET, bearer, token
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

# Between events that come as long as a time limit lasts; more of them would show nothing more.
PAUSE = threading.Event()
GROUP = {"rooms": [{"match": "/group/*", "may": ["read", "publish", "presence"]}]}


def user(name="185", rights=GROUP, **claims):
    return token(rights, sub=name, **claims)


@pytest.fixture
def guarded(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    return start(
        "--hmac-secret-file", secret, "--audience", "parley", "--connect-hold", "2s",
        "--clock-skew", "0s",
    )  # fmt: skip


class BayeuxSocket:
    """One WebSocket, frame by frame; sends single objects, as old clients do."""

    def __init__(self, server, path="/faye"):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(f"ws://127.0.0.1:{server.port}{path}", compression=None)
        )

    def send(self, message):
        self.socket.send(message if isinstance(message, (str, bytes)) else json.dumps(message))

    def receive(self, timeout=SECONDS):
        frame = json.loads(self.socket.recv(timeout=timeout))
        assert isinstance(frame, list)
        return frame

    def ask(self, message):
        self.send(message)
        (reply,) = self.receive()
        return reply

    def begin(self):
        reply = self.ask(
            {
                "channel": "/meta/handshake", "version": "1.0",
                "supportedConnectionTypes": ["long-polling"], "id": "1",
            }
        )  # fmt: skip
        assert reply["successful"], reply
        self.client_id = reply["clientId"]
        return reply

    def connect(self, id="2"):
        self.send(
            {
                "channel": "/meta/connect", "clientId": self.client_id,
                "connectionType": "long-polling", "id": id,
            }
        )  # fmt: skip

    def subscribe(self, channel, credentials, id="3"):
        message = {
            "channel": "/meta/subscribe", "clientId": self.client_id, "subscription": channel,
            "id": id,
        }  # fmt: skip
        if credentials is not None:
            message["ext"] = {"access_token": credentials, "timestamp": "2014-01-01"}
        return self.ask(message)

    def close(self):
        self.stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def publish(server, room, data):
    status, _, body = server.request(
        "POST", "/api/publish", {"publications": [{"room": room, "data": data}]},
        bearer(token(EVERYTHING)),
    )  # fmt: skip
    assert status == 200, body


def post(server, *messages):
    status, _, body = server.request(
        "POST", "/bayeux", list(messages), {"content-type": "application/json"}
    )
    assert status == 200, body
    return json.loads(body)


def test_C1_the_frames_of_a_session(guarded):
    with BayeuxSocket(guarded) as socket:
        shake = socket.begin()
        assert shake == {
            "id": "1", "channel": "/meta/handshake", "successful": True, "version": "1.0",
            "supportedConnectionTypes": [
                "long-polling", "cross-origin-long-polling", "callback-polling", "websocket",
            ],
            "clientId": socket.client_id,
            "advice": {"reconnect": "retry", "interval": 0, "timeout": 2000},
        }  # fmt: skip
        socket.connect()
        assert socket.subscribe("/user/185", user()) == {
            "id": "3", "clientId": socket.client_id, "channel": "/meta/subscribe",
            "successful": True, "subscription": "/user/185",
        }  # fmt: skip
        data = {"type": "line.create", "alert": "Andygv: hey", "subject": {"id": "7"}}
        publish(guarded, "/user/185", data)
        (event,) = socket.receive()
        assert set(event) == {"channel", "data", "id"}
        assert event["channel"] == "/user/185"
        assert event["data"].pop("received_at", None) is None
        assert event["data"] == data
        # The connect was held all the while, and is answered when its time is over.
        (reply,) = socket.receive()
        assert reply == {
            "id": "2", "clientId": socket.client_id, "channel": "/meta/connect",
            "successful": True, "advice": {"reconnect": "retry", "interval": 0, "timeout": 2000},
        }  # fmt: skip


def test_C1_arrays_and_single_objects_are_taken(guarded):
    with BayeuxSocket(guarded) as socket:
        socket.begin()
        socket.send("[]")
        assert socket.receive() == []
        socket.send(
            [{"channel": "/meta/unsubscribe", "clientId": socket.client_id, "subscription": "/a"}]
        )
        assert socket.receive() == [
            {
                "channel": "/meta/unsubscribe", "successful": True, "subscription": "/a",
                "clientId": socket.client_id,
            }
        ]  # fmt: skip
        # Some clients send no id with these.
        reply = socket.ask({"channel": "/meta/disconnect", "clientId": socket.client_id})
        assert reply["successful"]
        reply = socket.subscribe("/user/185", user())
        assert reply["error"] == f"401:{socket.client_id}:Unknown client"


FAYE = [shutil.which("ruby") or "ruby"]


def faye(server, only="websocket", credentials=None):
    return DialectClient(
        "faye_client.rb", server.origin + "/faye", credentials or user(), only, interpreter=FAYE
    )


def cometd(server, kind="websocket", credentials=None):
    return DialectClient(
        "cometd_client.py", server.origin + "/faye", credentials or user(), kind,
        packages="dialects",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["websocket", "long-polling"])
@pytest.mark.parametrize("make", [faye, cometd], ids=["ruby-faye 1.4.0", "aiocometd 0.4.5"])
def test_C1_a_real_client_subscribes_publishes_and_receives(guarded, make, kind):
    with make(guarded, kind) as client:
        client.ask("subscribe", "/user/185")
        client.ask("subscribe", "/group/*")
        for number in range(20):
            publish(guarded, "/user/185", {"number": number})
        for number in range(20):
            assert client.expect("event")[2] == {"number": number}
        client.tell("publish", "/group/9", {"text": "é👍"})
        heard = sorted(client.hear()[0] for _ in range(2))
        assert heard == ["done", "event"]
        publish(guarded, "/group/9/deeper", {"not": "heard"})
        client.tell("subscribe", "/user/186")
        refusal = client.expect("refused", "subscribe")
        assert "403" in str(refusal)
        # Longer than a connect is held: it is renewed, and events continue.
        client.ask("subscribe", "/group/**")
        time_is_over = time.monotonic() + 3
        while time.monotonic() < time_is_over:
            publish(guarded, "/group/9/deeper", {"tick": 1})
            assert client.expect("event")[2] == {"tick": 1}
            PAUSE.wait(0.05)


def test_C2_the_channel_of_another_user_is_refused(guarded):
    with BayeuxSocket(guarded) as socket:
        socket.begin()
        refused = {"/user/186": user(), "/user/185": user("186"), "/**": user(), "/user/*": user()}
        for channel, credentials in refused.items():
            reply = socket.subscribe(channel, credentials)
            assert not reply["successful"]
            assert reply["error"] == f"403:{channel}:Forbidden channel"
        for credentials in [None, "", "garbage", user(secret=SECRET[::-1]), user(exp=1)]:
            reply = socket.subscribe("/user/185", credentials)
            assert reply["error"] == "403:/user/185:Forbidden channel"
        assert socket.subscribe("/user/185", user())["successful"]


@pytest.mark.parametrize(
    "message, error",
    [
        ({}, "402:channel:Missing required parameter"),
        ({"channel": "/meta/handshake"}, "402:version:Missing required parameter"),
        (
            {"channel": "/meta/handshake", "version": "1.0"},
            "402:supportedConnectionTypes:Missing required parameter",
        ),
        (
            {
                "channel": "/meta/handshake", "version": "1.0",
                "supportedConnectionTypes": ["carrier-pigeon"],
            },
            "301:carrier-pigeon:Connection types not supported",
        ),
        ({"channel": "/meta/connect"}, "402:clientId:Missing required parameter"),
        ({"channel": "/meta/connect", "clientId": "x"}, "401:x:Unknown client"),
        ({"channel": "/meta/nothing", "data": {}}, "403:/meta/nothing:Forbidden channel"),
        ({"channel": "no channel", "data": {}}, "405:no channel:Invalid channel"),
        ({"channel": "/a/*", "data": {}}, "405:/a/*:Invalid channel"),
        ({"channel": "/group/9"}, "402:data:Missing required parameter"),
        ({"channel": "/group/9", "data": {}}, "403:/group/9:Forbidden channel"),
        ({"channel": "/group/9", "data": {}, "clientId": "x"}, "401:x:Unknown client"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_gets_the_protocols_own_error(guarded, message, error):
    (reply,) = post(guarded, message)
    assert (reply["successful"], reply["error"]) == (False, error)
    if error.startswith("401") or "connect" in message.get("channel", ""):
        assert reply["advice"]["reconnect"] == "handshake"
        assert "clientId" not in reply


@pytest.mark.parametrize("bad", ["", "x", "7", "[7]", "{", "[" * 1000, b"\xff"])
def test_what_is_no_message_ends_that_connection_alone(server, bystander, bad):
    with BayeuxSocket(server) as socket:
        socket.send(bad)
        with pytest.raises(ConnectionClosed):
            socket.receive()
    body = bad if isinstance(bad, bytes) else bad.encode()
    assert server.request("POST", "/faye", body)[0] == 400


def test_C3_an_idle_client_connects_as_often_as_it_is_answered(start, guarded):
    """That this makes three rounds at most in a minute is tested over a minute of virtual time, with
    the same defaults (`BayeuxTests` in GatewayTests)."""
    with BayeuxSocket(start()) as socket:
        assert socket.begin()["advice"] == {"reconnect": "retry", "interval": 0, "timeout": 30_000}
        socket.connect()
        assert socket.subscribe("/group/9", None)["successful"]
    with BayeuxSocket(guarded) as socket:
        socket.begin()
        began = time.monotonic()
        for _ in range(3):
            socket.connect()
            assert socket.receive()[0]["channel"] == "/meta/connect"
        # Each was held for as long as was advised, two seconds here.
        assert time.monotonic() - began >= 3 * 2 - 0.5


@pytest.mark.parametrize("make", [faye, cometd], ids=["ruby-faye 1.4.0", "aiocometd 0.4.5"])
def test_a_subscription_ends_with_its_own_token(guarded, make):
    with make(guarded, "websocket", user()) as client:
        client.ask("subscribe", "/group/2")

        def hear(end):
            client.ask("token", user(exp=end))
            client.ask("subscribe", "/group/1")
            client.ask("token", user())
            publish(guarded, "/group/1", {"n": 1})
            assert client.expect("event", "/group/1")[2] == {"n": 1}

        in_time(hear, 3, 30)
        # Heard until its token ends, and then no more; the other continues.
        deadline = time.monotonic() + SECONDS
        number = 1
        while time.monotonic() < deadline:
            number += 1
            PAUSE.wait(0.05)
            publish(guarded, "/group/1", {"n": number})
            publish(guarded, "/group/2", {"n": number})
            heard = client.expect("event")
            if heard[1] == "/group/2":
                break
            assert client.expect("event", "/group/2")[2] == {"n": number}
        assert heard[1:] == ["/group/2", {"n": number}]


def test_C3_a_poll_is_held_and_a_lost_one_loses_nothing(guarded):
    (shake,) = post(
        guarded,
        {
            "channel": "/meta/handshake", "version": "1.0",
            "supportedConnectionTypes": ["long-polling"],
        },
    )  # fmt: skip
    client = shake["clientId"]
    subscribe = {
        "channel": "/meta/subscribe", "clientId": client, "subscription": "/user/185",
        "ext": {"access_token": user()},
    }  # fmt: skip
    assert post(guarded, subscribe)[0]["successful"]
    publish(guarded, "/user/185", {"n": 1})
    poll = {"channel": "/meta/connect", "clientId": client, "connectionType": "long-polling"}
    event, reply = post(guarded, poll)
    assert event["data"] == {"n": 1} and reply["channel"] == "/meta/connect"
    began = time.monotonic()
    assert [message["channel"] for message in post(guarded, poll)] == ["/meta/connect"]
    assert time.monotonic() - began >= 1.5
    # A form, and a field in it, as a page of another origin sends it: with that type, or as text.
    form = "message=" + json.dumps([poll | {"advice": {"timeout": 0}}]).replace(" ", "+")
    for kind in ("application/x-www-form-urlencoded", "text/plain;charset=UTF-8"):
        status, _, body = guarded.request("POST", "/faye", form.encode(), {"content-type": kind})
        assert status == 200 and json.loads(body)[-1]["successful"]


def script(server, messages, name="__jsonp1__", **headers):
    """Asks as a page of another origin does by a script; its text, or the status of a refusal."""
    query = urllib.parse.urlencode(
        {"message": json.dumps(messages)} | ({"jsonp": name} if name is not None else {})
    )
    status, answer, body = server.request("GET", "/faye?" + query, headers=headers)
    if status != 200:
        return status
    assert answer["content-type"] == "application/javascript; charset=utf-8"
    assert answer["x-content-type-options"] == "nosniff"
    assert answer["content-disposition"] == "attachment; filename=f.txt"
    assert answer["cache-control"] == "no-store"
    return body.decode()


HANDSHAKE = [
    {
        "channel": "/meta/handshake", "version": "1.0", "id": "1",
        "supportedConnectionTypes": ["callback-polling"],
    }
]  # fmt: skip


def test_a_page_of_another_origin_polls_by_scripts(guarded):
    def ask(message, name="__jsonp2__"):
        text = script(guarded, [message], name)
        opening = f"/**/{name}("
        assert text.startswith(opening) and text.endswith(");")
        return json.loads(text[len(opening) : -2])

    (shake,) = ask(HANDSHAKE[0], "org.cometd.callback_1")
    client = shake["clientId"]
    assert "callback-polling" in shake["supportedConnectionTypes"]
    # The token is not taken from a URL.
    subscribe = {
        "channel": "/meta/subscribe", "clientId": client, "subscription": "/user/185",
        "ext": {"access_token": user()},
    }  # fmt: skip
    assert ask(subscribe)[0]["error"] == "403:/user/185:Forbidden channel"
    assert post(guarded, subscribe)[0]["successful"]
    assert user()[:20] not in guarded.log.read_text()
    publish(guarded, "/user/185", {"n": 1})
    poll = {"channel": "/meta/connect", "clientId": client, "connectionType": "callback-polling"}
    event, reply = ask(poll)
    assert event["data"] == {"n": 1} and reply["successful"]
    # The next one is held.
    began = time.monotonic()
    assert [message["channel"] for message in ask(poll)] == ["/meta/connect"]
    assert time.monotonic() - began >= 1.5


@pytest.mark.parametrize("name", ["alert(1)//", "a;b", "</script>", "", "a" * 129, "1a", "a\u2028"])
def test_what_is_no_function_s_name_is_refused(guarded, name):
    assert script(guarded, HANDSHAKE, name) == 400


def test_where_a_page_is_tells_whether_it_may_ask_by_scripts(start, guarded):
    demo = start("--allowed-origin", "https://app.example")
    known, foreign = {"Referer": "https://app.example/page"}, {"Referer": "https://evil.example/"}
    own = {"Referer": demo.origin + "/"}
    assert script(demo, HANDSHAKE, **known).startswith("/**/")
    assert script(demo, HANDSHAKE, **own).startswith("/**/")
    assert script(demo, HANDSHAKE, **foreign) == 403
    # Anyone may do everything there, so a page that does not say where it is may not ask.
    assert script(demo, HANDSHAKE) == 403
    # A path without a script is not found.
    assert demo.request("GET", "/faye/client.js")[0] == 404
    assert "allowed-origin = https://evil.example" in demo.log.read_text()
    assert script(guarded, HANDSHAKE, **foreign) == 403
    assert script(guarded, HANDSHAKE).startswith("/**/")


def test_there_is_no_client_to_load(guarded):
    for path in ("/faye/client.js", "/bayeux/faye-browser-min.js"):
        status, _, body = guarded.request("GET", path)
        assert status == 404 and b"Faye" in body
    assert guarded.request("GET", "/faye")[0] == 400


@pytest.mark.parametrize("path", ["/faye/", "/faye/handshake", "/bayeux/handshake"])
def test_any_path_below_is_as_good(guarded, path):
    status, _, body = guarded.request("POST", path, HANDSHAKE)
    assert status == 200 and json.loads(body)[0]["successful"]
    with BayeuxSocket(guarded, path) as socket:
        assert socket.begin()["successful"]


def test_a_publisher_hears_the_event_first(guarded):
    with BayeuxSocket(guarded) as socket:
        socket.begin()
        socket.connect()
        assert socket.subscribe("/group/9", user())["successful"]
        socket.send({"channel": "/group/9", "clientId": socket.client_id, "data": 1, "id": "5"})
        assert socket.receive()[0]["data"] == 1
        assert socket.receive() == [
            {"id": "5", "clientId": socket.client_id, "channel": "/group/9", "successful": True}
        ]
        # Typing is stamped with its sender; a heartbeat is returned to its sender.
        typing = {"type": "typing", "user_id": "somebody else", "started": 5}
        socket.send({"channel": "/group/9", "clientId": socket.client_id, "data": typing})
        assert socket.receive()[0]["data"] == typing | {"user_id": "185"}
        assert socket.receive()[0]["successful"]
        socket.send({"channel": "/group/9", "clientId": socket.client_id, "data": {"type": "ping"}})
        assert socket.receive()[0]["data"] == {"type": "ping"}
        assert socket.receive()[0]["successful"]


def test_who_may_only_read_may_not_publish(guarded):
    reader = user(rights={"rooms": [{"match": "/group/9", "may": ["read"]}]})
    with BayeuxSocket(guarded) as socket:
        socket.begin()
        assert socket.subscribe("/group/9", reader)["successful"]
        reply = socket.ask({"channel": "/group/9", "clientId": socket.client_id, "data": {"n": 1}})
        assert reply["error"] == "403:/group/9:Forbidden channel"


def send_line(server, guid, text="hey", name="185"):
    headers = {"X-Access-Token": user(name)}
    body = {"message": {"source_guid": guid, "text": text, "attachments": []}}
    status, _, answer = server.request("POST", "/v3/groups/9/messages", body, headers)
    answer = json.loads(answer)
    assert answer["meta"]["code"] == status
    return status, answer["response"]


def test_C4_the_same_message_twice_is_stored_and_delivered_once(guarded):
    with BayeuxSocket(guarded) as socket:
        socket.begin()
        socket.connect()
        assert socket.subscribe("/group/9", user())["successful"]
        status, first = send_line(guarded, "G")
        assert status == 201
        # Sent again because its answer was lost: it is the same one.
        status, again = send_line(guarded, "G")
        assert status == 409
        assert again["message"]["id"] == first["message"]["id"]
        # Another text under the same name does not match, nor another's under that name.
        assert send_line(guarded, "G", "something else")[0] == 409
        assert send_line(guarded, "G", name="186")[0] == 201
        assert send_line(guarded, "H")[0] == 201
        heard = [socket.receive()[0]["data"] for _ in range(3)]
        assert [data["type"] for data in heard] == ["line.create"] * 3
        # By its source_guid the sender knows its own message again.
        assert [data["subject"]["source_guid"] for data in heard] == ["G", "G", "H"]
        assert [data["subject"]["user_id"] for data in heard] == ["185", "186", "185"]
        subject = heard[0]["subject"]
        assert subject["id"] == first["message"]["id"] and subject["group_id"] == "9"
        assert subject["text"] == "hey" and subject["created_at"] > 1_700_000_000
        assert heard[0]["alert"] == "185: hey"


def messages(server, query=""):
    headers = {"X-Access-Token": user()}
    status, _, body = server.request("GET", "/v3/groups/9/messages" + query, headers=headers)
    assert status == 200, body
    return json.loads(body)["response"]["messages"]


def test_C5_who_was_away_gets_everything_in_order(guarded):
    for number in range(200):
        assert send_line(guarded, f"G{number}", f"message {number}")[0] == 201
    caught_up, since = [], "0"
    while page := messages(guarded, f"?since_id={since}"):
        assert len(page) <= 20
        caught_up += [message["text"] for message in page]
        since = page[-1]["id"]
    assert caught_up == [f"message {number}" for number in range(200)]
    # Without since, and with before: the newest first.
    newest = messages(guarded)
    assert [message["text"] for message in newest] == [f"message {n}" for n in range(199, 179, -1)]
    earlier = messages(guarded, f"?before_id={newest[-1]['id']}")
    assert [message["text"] for message in earlier] == [f"message {n}" for n in range(179, 159, -1)]


def test_a_group_is_closed_to_those_without_a_right(guarded):
    path = "/v3/groups/9/messages"
    assert guarded.request("GET", path)[0] == 401
    headers = {"X-Access-Token": user(rights={})}
    assert guarded.request("GET", path, headers=headers)[0] == 403
    assert guarded.request("POST", path, {"message": {}}, headers)[0] == 403
    headers = {"X-Access-Token": user()}
    assert guarded.request("POST", path, {"message": {"text": "no guid"}}, headers)[0] == 400
    assert guarded.request("GET", path + "?since_id=x", headers=headers)[0] == 400


@pytest.mark.parametrize("room", ["/group/9", "/companies/c?type=public", "acc-1", "previous::é"])
def test_one_publish_is_seen_in_every_dialect(start, room):
    from engine_client import EngineSocket
    from whaler_client import WhalerClient

    server = start()
    channel = {
        "/group/9": "/group/9", "/companies/c?type=public": "/companies/c!3Ftype!3Dpublic",
        "acc-1": "/!00/acc-1", "previous::é": "/!00/previous!3A!3A!C3!A9",
    }[room]  # fmt: skip
    latin = room.isascii()
    resource = {"action": "saved", "type": "message", "path": None, "resource": {"id": "m"}}
    with (
        NativeClient(server) as native,
        EngineSocket(server, 4) as four,
        EngineSocket(server, 3) as three,
        BayeuxSocket(server) as bayeux,
        BayeuxSocket(server) as pattern,
        WhalerClient(server, room if latin else "acc-1") as whaler,
    ):
        assert native.request("subscribe", {"room": room})[0] == "subscribed"
        # The answer to the next request says that the pool, joined before, is joined.
        whaler.open("some document")
        for socket in (four, three):
            socket.begin()
            socket.authenticate("anything")
            socket.join(room)
        for socket, subscription in ((bayeux, channel), (pattern, "/**")):
            socket.begin()
            socket.connect()
            assert socket.subscribe(subscription, None)["successful"]
        status, _, _ = server.request(
            "POST", "/api/publish",
            {"publications": [{"room": room, "data": resource, "senderId": "app-1"}]},
        )  # fmt: skip
        assert status == 200
        heard = native.expect("publication")
        assert (heard["room"], heard["data"]) == (room, resource)
        if latin:
            update = whaler.expect("resourceUpdate")
            assert update == {"resourceId": room, "senderId": "app-1"}
        for socket in (four, three):
            assert socket.event() == ("realtime:resource", {**resource, "room": room})
        for socket in (bayeux, pattern):
            (event,) = socket.receive()
            assert (event["channel"], event["data"]) == (channel, resource)
