"""What existing clients and their own servers said to each other, frame by frame, said again.

`C>` is sent as it is; `S>` is the expected answer: the same JSON, whatever the order of its
fields. `…` stands for anything, `<name>` for what is called so from then on.
"""

import json
import re

import pytest
from engine_client import EnginePoll
from patience import SECONDS
from test_bayeux import publish as publish_in_room
from test_tokens import SECRET, token
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


def said(line, names):
    return re.sub(r"<(\w+)>", lambda found: names.get(found[1], found[0]), line)


def parts(text):
    """Splits a packet of Socket.IO into its first digits and the rest, which is decoded if it is JSON."""
    digits = re.match(r"\d*", text)[0]
    rest = text[len(digits) :]
    try:
        return digits, json.loads(rest) if rest else ""
    except ValueError:
        return digits, rest


def fits(expected, actual, names):
    if expected == "…":
        return True
    if isinstance(expected, str) and (found := re.fullmatch(r"<(\w+)>", expected)):
        return isinstance(actual, str) and names.setdefault(found[1], actual) == actual
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and expected.keys() == actual.keys()
            and all(fits(value, actual[key], names) for key, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(fits(*pair, names) for pair in zip(expected, actual))
        )
    return expected == actual and isinstance(expected, bool) == isinstance(actual, bool)


def replay(socket, transcript, names, binary=False):
    for line in transcript.strip().splitlines():
        side, frame = line.split(" ", 1)
        if side == "C>":
            frame = said(frame, names)
            socket.send(frame.encode() if binary else frame)
            continue
        actual = socket.recv(timeout=SECONDS)
        assert isinstance(actual, str), "servers send text"
        digits, expected = parts(frame)
        got_digits, got = parts(actual)
        assert digits == got_digits and fits(expected, got, names), f"expected {frame}, got {actual}"


def dial(server, path, **headers):
    return connect(
        f"ws://127.0.0.1:{server.port}{path}", compression=None, additional_headers=headers
    )


@pytest.fixture
def guarded(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    return start(
        "--hmac-secret-file", secret, "--audience", "parley", "--allow-legacy-room-tokens",
        "--ping-interval", "1s", "--connect-hold", "2s",
    )  # fmt: skip


@pytest.fixture
def names():
    return {"TOKEN": token(sub="u1")}


WHALER = """
C> {"messageId":"5E1C","type":"resourceConnection","data":{"resourceId":"acc-1"}}
S> {"senderId":"<server>","messageId":"5E1C","type":"resourceConnectionConf","data":{"resourceId":"acc-1","initialState":"Hello orld","revision":1}}
C> {"messageId":"A77B","type":"docChange","data":{"resourceId":"acc-1","rev":1,"n":[6,0,4],"s":["","w",""]}}
S> {"senderId":"<server>","messageId":"A77B","type":"docChangeReturnOps","data":{"resourceId":"acc-1","n":[6,0,4],"s":["","w",""]}}
"""
WHALER_UPDATE = """
S> {"senderId":"<server>","messageId":"…","type":"resourceUpdate","data":{"resourceId":"org-1","senderId":null}}
"""


def test_whaler(server):
    names = {}
    with dial(server, "/socket", ObjectId="org-1") as first:
        replay(
            first,
            """
C> {"messageId":"1","type":"resourceConnection","data":{"resourceId":"acc-1"}}
S> {"senderId":"<server>","messageId":"1","type":"resourceConnectionConf","data":{"resourceId":"acc-1","initialState":"","revision":0}}
C> {"messageId":"2","type":"docChange","data":{"resourceId":"acc-1","rev":0,"n":[0],"s":["Hello orld"]}}
S> {"senderId":"<server>","messageId":"2","type":"docChangeReturnOps","data":{"resourceId":"acc-1","n":[0],"s":["Hello orld"]}}
""",
            names,
            binary=True,
        )
    with dial(server, "/socket", ObjectId="org-1") as client:
        replay(client, WHALER, names, binary=True)
        publication = {"publications": [{"room": "org-1", "data": {}}]}
        assert server.request("POST", "/api/publish", publication)[0] == 200
        replay(client, WHALER_UPDATE, names)


ROOM = "/companies/c/workspaces/w/channels?type=public"
ENGINE_3 = f"""
S> 0{{"sid":"…","upgrades":[],"pingInterval":1000,"pingTimeout":20000}}
S> 40
C> 2
S> 3
C> 42["authenticate",{{"token":"<TOKEN>"}}]
S> 42["authenticated"]
C> 42["realtime:join",{{"name":"{ROOM}","token":"twake"}}]
S> 42["realtime:join:success",{{"name":"{ROOM}"}}]
C> 421["online:get",{{"name":"/users/online/c","type":"user:online","data":["u1"]}}]
S> 431[{{"data":[["u1",true]]}}]
"""
ENGINE_4 = """
S> 0{"sid":"<engine>","upgrades":[],"pingInterval":1000,"pingTimeout":20000,"maxPayload":1000000}
C> 40{}
S> 40{"sid":"<socket>"}
S> 2
C> 3
S> 2
C> 3
C> 41
C> 42["too late"]
"""


def test_engine_3(guarded, names):
    with dial(guarded, "/socket/?EIO=3&transport=websocket") as client:
        replay(client, ENGINE_3, names)


def test_engine_4(guarded, names):
    with dial(guarded, "/socket/?EIO=4&transport=websocket") as client:
        replay(client, ENGINE_4, names)
        assert names["engine"] != names["socket"]
        # Outside of every namespace an event breaks the protocol.
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=SECONDS)


UPGRADE = """
C> 2probe
S> 3probe
C> 5
C> 42["authenticate",{"token":"<TOKEN>"}]
S> 42["authenticated"]
"""


@pytest.mark.parametrize("generation", [3, 4])
def test_upgrade(start, names, generation):
    server = start()
    poll = EnginePoll(server, generation)
    poll.begin()
    path = f"/socket/?EIO={generation}&transport=websocket&sid={poll.sid}"
    with dial(server, path) as client:
        lines = UPGRADE.strip().splitlines()
        replay(client, "\n".join(lines[:2]), names)
        # The poll that waits is released.
        assert poll.poll() == ["6"]
        replay(client, "\n".join(lines[2:]), names)


BAYEUX = """
C> {"channel":"/meta/handshake","version":"1.0","supportedConnectionTypes":["long-polling"],"id":"1"}
S> [{"id":"1","channel":"/meta/handshake","successful":true,"version":"1.0","supportedConnectionTypes":"…","clientId":"<client>","advice":{"reconnect":"retry","interval":0,"timeout":2000}}]
C> {"channel":"/meta/connect","clientId":"<client>","connectionType":"long-polling","id":"2"}
C> {"channel":"/meta/subscribe","clientId":"<client>","subscription":"/user/u1","id":"3","ext":{"access_token":"<TOKEN>","timestamp":"2014-01-01"}}
S> [{"id":"3","clientId":"<client>","channel":"/meta/subscribe","successful":true,"subscription":"/user/u1"}]
"""
BAYEUX_EVENT = """
S> [{"channel":"/user/u1","data":{"type":"line.create","alert":"Andygv: hey","subject":{"id":"7"}},"id":"…"}]
S> [{"id":"2","clientId":"<client>","channel":"/meta/connect","successful":true,"advice":"…"}]
"""


def test_bayeux(guarded, names):
    with dial(guarded, "/faye") as client:
        replay(client, BAYEUX, names)
        data = {"type": "line.create", "alert": "Andygv: hey", "subject": {"id": "7"}}
        publish_in_room(guarded, "/user/u1", data)
        replay(client, BAYEUX_EVENT, names)
