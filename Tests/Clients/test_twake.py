"""Apps of the Twake family against the real program, check by check."""

import json
import time

import pytest
from dialect_clients import DialectClient
from engine_client import EnginePoll, EngineSocket
from patience import in_time
from test_tokens import EVERYTHING, SECRET, bearer, token
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

COMPANY = "ac1a0544"
ROOM = f"/companies/{COMPANY}/workspaces/w/channels?type=public"
ONLINE = f"/users/online/{COMPANY}"
RESOURCE = {
    "action": "updated", "type": "channel_activity", "path": "/a/b",
    "resource": {"id": "2982dc0a", "last_activity": 1620987774000, "title": "📄 ch1 • é"},
}  # fmt: skip


def user(name="ada", **claims):
    """A login token as such servers make it: who it is, and no rights."""
    return token(sub=name, **claims)


def room_token(room=ROOM, name="ada", until=31 * 86_400, **claims):
    """A token for one room; its `iat` is the deadline."""
    now = int(time.time())
    claims = {
        "sub": name, "name": room, "iat": now + until, "nbf": now - 60, "aud": "rooms",
        "exp": None, **claims,
    }  # fmt: skip
    return token(**claims)


@pytest.fixture
def guarded(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    return start(
        "--hmac-secret-file", secret, "--audience", "parley", "--clock-skew", "0s",
        "--room-token-audience", "rooms",
    )  # fmt: skip


def publish(server, room, data):
    status, _, body = server.request(
        "POST", "/api/publish", {"publications": [{"room": room, "data": data}]},
        bearer(token(EVERYTHING)),
    )  # fmt: skip
    assert status == 200, body


def socket_of(server, name="ada", generation=4):
    socket = EngineSocket(server, generation)
    socket.begin()
    socket.authenticate(user(name))
    return socket


CLIENTS = {
    "B1 python-socketio 4.6.1, websocket": ("socketio4", "websocket", "websocket"),
    "B1 python-socketio 4.6.1, polling with upgrade": (
        "socketio4", "polling,websocket", "websocket",
    ),
    "B1 python-socketio 4.6.1, polling": ("socketio4", "polling", "polling"),
    "B2 python-socketio 5, websocket": ("dialects", "websocket", "websocket"),
    "B2 python-socketio 5, polling with upgrade": ("dialects", "polling,websocket", "websocket"),
    "B2 python-socketio 5, polling": ("dialects", "polling", "polling"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CLIENTS)
def test_B1_B2_a_real_client_joins_and_receives_a_resource(guarded, kind):
    packages, transports, expected = CLIENTS[kind]
    with DialectClient(
        "socketio_client.py", guarded.origin, transports, packages=packages
    ) as client:
        client.expect("connected")
        client.ask("emit", "authenticate", {"token": user()})
        client.expect("event", "authenticated")
        assert client.ask("transport") == [expected]
        client.ask("emit", "realtime:join", {"name": ROOM, "token": room_token()})
        assert client.expect("event", "realtime:join:success")[2:] == [{"name": ROOM}]
        publish(guarded, ROOM, RESOURCE)
        heard = client.expect("event", "realtime:resource")[2]
        assert heard == {**RESOURCE, "room": ROOM}
        # Many at once: none is lost. (The client handles each in a thread of its own, in any order.)
        for number in range(40):
            publish(guarded, ROOM, {"number": number})
        heard = [client.expect("event", "realtime:event")[2]["data"] for _ in range(40)]
        assert sorted(data["number"] for data in heard) == list(range(40))
        assert client.ask("call", "online:get", {"data": ["ada", "bob"]}) == [
            {"data": [["ada", True], ["bob", False]]}
        ]


def test_B1_the_frames_of_the_third_generation(guarded):
    with EngineSocket(guarded, 3) as socket:
        opening = socket.receive()
        assert opening.startswith("0{")
        fields = json.loads(opening[1:])
        assert fields.pop("sid")
        assert fields == {"upgrades": [], "pingInterval": 25000, "pingTimeout": 20000}
        assert socket.receive() == "40"
        socket.send("2")
        assert socket.receive() == "3"
        socket.send("42" + json.dumps(["authenticate", {"token": user()}]))
        assert socket.receive() == '42["authenticated"]'
        socket.emit("realtime:join", {"name": ROOM, "token": room_token()})
        assert socket.receive() == f'42["realtime:join:success",{{"name":"{ROOM}"}}]'
        socket.send('421["online:get",{"name":"x","type":"user:online","data":["ada"]}]')
        assert socket.receive() == '431[{"data":[["ada",true]]}]'


def test_B2_the_frames_of_the_fourth_generation(guarded):
    with EngineSocket(guarded, 4) as socket:
        fields = json.loads(socket.receive()[1:])
        sid = fields.pop("sid")
        assert fields == {
            "upgrades": [], "pingInterval": 25000, "pingTimeout": 20000, "maxPayload": 1000000,
        }  # fmt: skip
        socket.send("40{}")
        reply = socket.receive()
        assert reply.startswith('40{"sid":"') and sid not in reply
        socket.send("40/admin,")
        assert socket.receive() == '44/admin,{"message":"Invalid namespace"}'
        socket.send("41")
        socket.send("1")
        with pytest.raises(ConnectionClosed):
            socket.receive()


def test_B2_the_server_pings(start):
    server = start("--ping-interval", "1s")
    with EngineSocket(server, 4) as socket:
        socket.begin()
        assert socket.receive() == "2"
        socket.send("3")
        assert socket.receive() == "2"


@pytest.mark.parametrize("generation, wrong", [(3, "3"), (4, "2")])
def test_a_ping_in_the_wrong_direction_ends_the_session(server, generation, wrong):
    with EngineSocket(server, generation) as socket:
        socket.begin()
        socket.send(wrong)
        with pytest.raises(ConnectionClosed):
            socket.receive()


@pytest.mark.parametrize(
    "query, code",
    [
        ("EIO=4&transport=telepathy", 0), ("EIO=4&transport=polling&sid=unknown", 1),
        ("EIO=5&transport=polling", 5), ("EIO=4&transport=websocket", 3), ("EIO=4", 0),
        ("EIO=4&transport=polling&j=0", 3),
    ],
)  # fmt: skip
def test_a_bad_request_gets_the_protocols_own_error(server, query, code):
    status, _, body = server.request("GET", f"/socket/?{query}")
    assert status == 400
    assert json.loads(body)["code"] == code
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{server.port}/socket/?{query}&sid=x")
    assert refused.value.response.status_code == 400


def test_a_handshake_is_no_post(server):
    status, _, body = server.request("POST", "/socket/?EIO=4&transport=polling", b"40")
    assert (status, json.loads(body)["code"]) == (400, 2)


@pytest.mark.parametrize("generation", [3, 4])
def test_polling_by_hand_with_an_upgrade(guarded, generation):
    poll = EnginePoll(guarded, generation)
    assert poll.begin()["upgrades"] == ["websocket"]
    poll.post("42" + json.dumps(["authenticate", {"token": user("é👍")}]))
    assert poll.poll() == ['42["authenticated"]']
    with EngineSocket(guarded, generation, f"&sid={poll.sid}") as socket:
        socket.send("2probe")
        assert socket.receive() == "3probe"
        assert poll.poll() == ["6"]
        socket.send("5")
        socket.emit("realtime:leave", {"name": "never joined"})
        assert socket.event() == ("realtime:leave:success", {"name": "never joined"})
        status, body = poll.request("GET")
        assert (status, json.loads(body)["code"]) == (400, 3)


@pytest.mark.parametrize(
    "packets",
    ["", "x", "9", "42", '42["x"', "51-[{}]", "\x00", "4" * 1000, '42["early"]', "4\xff"],
)
@pytest.mark.parametrize("generation", [3, 4])
def test_what_is_no_packet_ends_that_session_alone(server, bystander, generation, packets):
    with EngineSocket(server, generation) as socket:
        if generation == 3:
            socket.begin()
        else:
            socket.receive()
        if generation == 3 and packets == '42["early"]':
            packets = "0"
        socket.send(packets)
        with pytest.raises(ConnectionClosed):
            while True:
                socket.receive()
    poll = EnginePoll(server, generation)
    poll.begin()
    if generation == 4 and packets == '42["early"]':
        return
    assert poll.request("POST", b"\xff" + packets.encode())[0] == 400
    assert poll.request("GET")[0] == 400


def test_B3_a_bad_token_is_unauthorized_and_ends_it(guarded):
    with EngineSocket(guarded) as socket:
        socket.begin()
        socket.emit("authenticate", {"token": token(secret=SECRET[::-1])})
        name, error = socket.event()
        assert name == "unauthorized"
        assert error["data"]["code"] == "invalid_token" and error["message"]
        with pytest.raises(ConnectionClosed):
            while True:
                socket.receive()
    poll = EnginePoll(guarded)
    poll.begin()
    poll.post('42["authenticate",{"token":"garbage"}]')
    packets = poll.poll()
    assert packets[0].startswith('42["unauthorized"') and packets[1:] == ["41", "1"]
    assert poll.request("GET")[0] == 400


def test_B3_who_does_not_authenticate_is_disconnected(start):
    with EngineSocket(start("--authenticate-time", "1s")) as socket:
        assert socket.receive().startswith("0")
        socket.send("40")
        while not (said := socket.event()) or said[0] != "unauthorized":
            assert said.startswith("40"), said
        with pytest.raises(ConnectionClosed):
            while True:
                socket.receive()


def test_B3_authenticating_twice_doubles_nothing(guarded):
    with socket_of(guarded) as socket:
        socket.join(ROOM, room_token())
        socket.authenticate(user())
        socket.join(ROOM, room_token())
        publish(guarded, ROOM, {"n": 1})
        publish(guarded, ROOM, {"n": 2})
        assert [socket.event()[1]["data"]["n"] for _ in range(2)] == [1, 2]


def test_B3_another_user_on_the_same_socket_inherits_nothing(guarded):
    with socket_of(guarded) as socket:
        socket.join(ROOM, room_token())
        socket.authenticate(user("bob"))
        publish(guarded, ROOM, {"n": 1})
        socket.emit("realtime:leave", {"name": ROOM})
        assert socket.event()[0] == "realtime:leave:success"


REFUSED = {
    "none": lambda: None,
    "another user's": lambda: room_token(name="bob"),
    "another room's": lambda: room_token(room=ROOM + "x"),
    "expired": lambda: room_token(until=-1),
    "within a minute of now, as if a clock were ahead": lambda: room_token(until=55),
    "for another audience": lambda: room_token(aud="parley"),
    "for no audience": lambda: room_token(aud=None),
    "with an end": lambda: room_token(exp=time.time() + 60),
    "forged": lambda: room_token(secret=SECRET[::-1]),
    "the master token": lambda: "twake",
    "a login token": lambda: user(name=ROOM),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_B4_a_room_opens_to_its_own_token_alone(guarded, kind):
    with socket_of(guarded) as socket:
        socket.emit("realtime:join", {"name": ROOM, "token": REFUSED[kind]()})
        assert socket.event() == (
            "realtime:join:error",
            {"name": ROOM, "message": "User is not authorized to join room"},
        )
        socket.emit("realtime:event", {"name": ROOM, "data": {}, "token": REFUSED[kind]()})
        assert socket.event() == (
            "realtime:event:error",
            {"name": ROOM, "message": "User is not authorized to emit in this room"},
        )


def test_B4_before_authenticate_nothing_is_joined(guarded):
    with EngineSocket(guarded) as socket:
        socket.begin()
        socket.emit("realtime:join", {"name": ROOM, "token": room_token()})
        assert socket.event()[0] == "realtime:join:error"


def test_B4_leaving_a_room_not_joined_succeeds(guarded):
    with socket_of(guarded) as socket:
        socket.emit("realtime:leave", {"name": "/nowhere"})
        assert socket.event() == ("realtime:leave:success", {"name": "/nowhere"})


def test_B4_the_master_token_works_in_legacy_mode_alone(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    server = start(
        "--hmac-secret-file", secret, "--audience", "parley", "--allow-legacy-room-tokens"
    )
    with socket_of(server) as socket:
        socket.join(ROOM, "twake")
        socket.join("previous::anything")


def test_B5_an_event_reaches_the_room_its_sender_included(guarded):
    with socket_of(guarded) as ada, socket_of(guarded, "bob", 3) as bob:
        ada.join(ROOM, room_token())
        bob.join(ROOM, room_token(name="bob"))
        typing = {
            "type": "writing",
            "event": {"thread_id": "", "channel_id": "ch", "user_id": "bob", "is_writing": True},
        }
        ada.emit("realtime:event", {"name": ROOM, "data": typing, "token": room_token()})
        ada.emit("message", {"for": "everybody"})
        data = {"any": ["thing", 1.5], "user_id": "bob"}
        ada.emit("realtime:event", {"name": ROOM, "data": data, "token": room_token()})
        for socket in (ada, bob):
            name, event = socket.event()
            assert (name, event["name"]) == ("realtime:event", ROOM)
            # No client speaks for others.
            assert event["data"]["event"] == {**typing["event"], "user_id": "ada"}
            # The bare message in between reached no client.
            assert socket.event() == (
                "realtime:event", {"name": ROOM, "data": {**data, "user_id": "ada"}},
            )  # fmt: skip


def online(socket):
    name, resource = socket.event()
    assert name == "realtime:resource" and resource["type"] == "user:online", resource
    assert (resource["action"], resource["room"], resource["path"]) == ("event", ONLINE, None)
    (entry,) = resource["resource"]["online"]
    assert entry["company_id"] == COMPANY
    return entry["user_id"], entry["is_online"]


def test_B6_the_company_hears_who_comes_and_who_goes(guarded):
    with socket_of(guarded, "bob") as bob:
        bob.join(ONLINE, room_token(ONLINE, "bob"))
        assert online(bob) == ("bob", True)
        ada = socket_of(guarded)
        ada.join(ROOM, room_token())
        assert online(bob) == ("ada", True)
        phone = socket_of(guarded, generation=3)
        phone.join(ROOM, room_token())
        ada.close()
        bob.send('427["online:get",{"data":["ada","bob","cid"]}]')
        assert bob.event() == '437[{"data":[["ada",true],["bob",true],["cid",false]]}]'
        # A second device keeps the user online; with the last one they are gone.
        phone.close()
        assert online(bob) == ("ada", False)
        bob.send('428["online:get",{"data":["ada"]}]')
        assert bob.event() == '438[{"data":[["ada",false]]}]'


def test_B6_a_client_that_reconnects_at_once_was_never_gone(guarded):
    with socket_of(guarded, "bob") as bob:
        bob.join(ONLINE, room_token(ONLINE, "bob"))
        assert online(bob) == ("bob", True)
        with socket_of(guarded) as ada:
            ada.join(ROOM, room_token())
        assert online(bob) == ("ada", True)
        with socket_of(guarded) as ada:
            ada.join(ROOM, room_token())
        assert online(bob) == ("ada", False)


def test_B6_online_set_is_tolerated_in_every_form(guarded):
    with socket_of(guarded) as socket:
        socket.send('42["online:set","ada"]')
        socket.send('42["online:set",["ada"]]')
        socket.send('42["online:set"]')
        socket.send('429["online:set",{"data":["bob"]}]')
        assert socket.event() == '439[{"data":[["ada",true]]}]'


def test_B7_a_backend_publishes(guarded):
    room = "previous::channels/2982dc0a/messages/updates"
    data = {"client_id": "system", "action": "update", "message_id": "m", "thread_id": "t"}
    with socket_of(guarded) as socket:
        socket.join(room, room_token(room))
        secret = {"Authorization": "Token " + token(EVERYTHING)}
        body = {"room": room, "data": data}
        assert guarded.request("POST", "/private/pusher", body, secret)[0] == 200
        assert socket.event() == ("realtime:event", {"name": room, "data": data})
    for headers, expected in [
        ({}, 401), ({"Authorization": "Token wrong"}, 401),
        ({"Authorization": "Token " + user()}, 403),
    ]:  # fmt: skip
        status = guarded.request("POST", "/private/pusher", body, headers)[0]
        assert status == expected
    assert guarded.request("POST", "/private/pusher", {"room": 7}, secret)[0] == 400
    assert guarded.request("GET", "/private/pusher", headers=secret)[0] == 405


def test_a_token_that_ends_ends_its_session(guarded):
    def authenticate(end):
        socket = EngineSocket(guarded)
        socket.begin()
        socket.authenticate(user(exp=end))
        return socket

    _, socket = in_time(authenticate)
    with socket:
        with pytest.raises(ConnectionClosed):
            while True:
                socket.receive()


def test_whaler_and_socketio_share_a_path(server):
    from whaler_client import WhalerClient

    with WhalerClient(server, "acc-1") as whaler, EngineSocket(server, path="/socket") as socket:
        assert whaler.open()["revision"] == 0
        socket.begin()


def test_sessions_have_a_limit(start):
    server = start("--sessions-max", "2")
    with EngineSocket(server) as socket:
        socket.begin()
        poll = EnginePoll(server)
        poll.begin()
        assert EnginePoll(server).request("GET")[0] == 503
        with pytest.raises(InvalidStatus):
            EngineSocket(server)


def test_who_asks_for_places_gets_what_was_missed(guarded):
    def join(socket, position):
        fields = {"name": ROOM, "token": room_token(), "position": position}
        socket.emit("realtime:join", fields)
        name, fields = socket.event()
        assert (name, fields["name"]) == ("realtime:join:success", ROOM)
        return fields

    with socket_of(guarded) as socket, socket_of(guarded, "bob") as other:
        other.join(ROOM, room_token(name="bob"))
        joined = join(socket, None)
        assert joined["position"]["offset"] == 0 and not joined["recovered"]
        publish(guarded, ROOM, {"n": 1})
        event = socket.event()[1]
        place = {"epoch": event["epoch"], "offset": event["offset"]}
        assert place == {**joined["position"], "offset": 1}
        # Who does not ask hears what such clients always heard.
        assert other.event() == ("realtime:event", {"name": ROOM, "data": {"n": 1}})
    publish(guarded, ROOM, {"n": 2})
    publish(guarded, ROOM, {**RESOURCE})
    with socket_of(guarded) as socket:
        assert join(socket, place) == {
            "name": ROOM, "position": {**place, "offset": 3}, "recovered": True,
        }  # fmt: skip
        publish(guarded, ROOM, {"n": 4})
        heard = [socket.event() for _ in range(3)]
        assert [event["offset"] for _, event in heard] == [2, 3, 4]
        assert [name for name, _ in heard] == [
            "realtime:event", "realtime:resource", "realtime:event",
        ]  # fmt: skip
        assert not join(socket, {"epoch": "another", "offset": 1})["recovered"]


def recoverable(server, hello, generation=4):
    """Opens a session with this handshake, and returns its socket and the server's answer."""
    socket = EngineSocket(server, generation)
    socket.receive()
    socket.send("40" + json.dumps(hello))
    answer = socket.receive()
    return socket, json.loads(answer[2:]) if answer[2:] else {}


def test_connection_state_recovery_frame_by_frame(guarded):
    socket, reply = recoverable(guarded, {"recovery": True, "token": user()})
    assert set(reply) == {"sid", "pid"} and len(reply["pid"]) >= 20
    name, offset = socket.event()
    assert name == "authenticated" and isinstance(offset, str)
    socket.emit("realtime:join", {"name": ROOM, "token": room_token()})
    assert socket.event()[:2] == ("realtime:join:success", {"name": ROOM})
    publish(guarded, ROOM, {"n": 1})
    name, event, offset = socket.event()
    assert (name, event) == ("realtime:event", {"name": ROOM, "data": {"n": 1}})
    # The line breaks without a word.
    socket.socket.socket.close()
    publish(guarded, ROOM, {"n": 2})
    publish(guarded, ROOM, RESOURCE)
    # Who the owner is not gets nothing of it.
    thief, other = recoverable(guarded, {"pid": reply["pid"], "offset": offset, "token": user("eve")})
    assert other["pid"] != reply["pid"]
    assert thief.event()[0] == "authenticated"
    thief.emit("realtime:leave", {"name": "x"})
    assert thief.event()[0] == "realtime:leave:success"
    thief.close()
    # The owner does, in whichever way they say who they are.
    back, again = recoverable(guarded, {"pid": reply["pid"], "offset": offset})
    assert again == reply
    back.emit("authenticate", {"token": user()})
    heard = [back.event() for _ in range(3)]
    assert heard[0][:2] == ("realtime:event", {"name": ROOM, "data": {"n": 2}})
    assert heard[1][:2] == ("realtime:resource", {**RESOURCE, "room": ROOM})
    assert heard[2][0] == "authenticated"
    publish(guarded, ROOM, {"n": 3})
    assert back.event()[1]["data"] == {"n": 3}
    back.close()


def test_recovery_is_not_forced_on_who_does_not_ask(start):
    server = start()
    with EngineSocket(server) as socket:
        socket.begin()
        socket.authenticate("anything")
    socket, reply = recoverable(server, {})
    assert set(reply) == {"sid"}
    socket.close()
    server = start("--recover-all-sessions")
    socket, reply = recoverable(server, {})
    assert set(reply) == {"sid", "pid"}
    socket.close()
    server = start("--recovery-time", "0s")
    socket, reply = recoverable(server, {"recovery": True})
    assert set(reply) == {"sid"}
    socket.close()


def test_python_socketio_resumes_by_hand(guarded):
    """It keeps no position of its own, but takes the arguments and lets the app name one."""
    hello = {"recovery": True, "token": user()}
    with DialectClient(
        "socketio_client.py", guarded.origin, "websocket", json.dumps(hello), packages="dialects"
    ) as client:
        pid = client.expect("entered")[1]["pid"]
        client.expect("event", "authenticated")
        client.ask("emit", "realtime:join", {"name": ROOM, "token": room_token()})
        client.expect("event", "realtime:join:success")
        publish(guarded, ROOM, {"n": 1})
        offset = client.expect("event", "realtime:event")[3]
        client.ask("break")
    publish(guarded, ROOM, {"n": 2})
    hello = {"pid": pid, "offset": offset, "token": user()}
    with DialectClient(
        "socketio_client.py", guarded.origin, "polling,websocket", json.dumps(hello),
        packages="dialects",
    ) as client:  # fmt: skip
        assert client.expect("entered")[1]["pid"] == pid
        assert client.expect("event", "realtime:event")[2]["data"] == {"n": 2}
