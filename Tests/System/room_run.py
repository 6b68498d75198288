"""People of every dialect in one room of several gateways, and what they have to have heard.

Publishers go over HTTP and ask again, with the same key, until they are answered. Subscribers of
`parley.v1` resume from their position, those of Engine.IO and Bayeux with a new session. Visitors
come and go, so that people who are shown and are not there can be found. `cluster_run.py` has them all.
"""

import contextlib
import http.client
import itertools
import json
import random
import threading
import time
import urllib.parse

from crash_run import BREAKS
from engine_client import EngineSocket
from native_client import NativeClient, Unavailable
from patience import SECONDS
from test_bayeux import BayeuxSocket

# A name that every dialect can say.
ROOM = "/group/9"
PATH = "/api/rooms/" + urllib.parse.quote(ROOM, safe="")
# For how long a person who has gone may be shown, whatever was lost on the way; and of that, for how long a person is
# shown who may reconnect.
GHOST_SECONDS = 6
GRACE_SECONDS = 1


def ask(port, method, path, body=None):
    """Sends a request on a new connection. Returns status and JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        headers = {"content-type": "application/json"}
        connection.request(method, path, body and json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if response.status == 200 else None
    finally:
        connection.close()


class RoomThread(threading.Thread):
    """A client that repeats a step, and reconnects when the connection breaks."""

    def __init__(self, port, seed):
        super().__init__(daemon=True)
        self.port = port
        self.rng = random.Random(seed)
        self.client = None
        self.failure = None
        self.is_over = threading.Event()

    def run(self):
        try:
            while not self.is_over.is_set():
                try:
                    self.step()
                except TimeoutError:
                    pass
                except (*BREAKS, http.client.HTTPException, Unavailable):
                    self.lose()
                    self.is_over.wait(self.rng.uniform(0.01, 0.05))
        except BaseException as error:
            self.failure = error
            raise
        finally:
            self.lose()

    def lose(self):
        client, self.client = self.client, None
        if client:
            # A killed gateway does not answer a closing handshake.
            with contextlib.suppress(OSError):
                client.socket.socket.shutdown(2)
            client.close()


class Publisher(RoomThread):
    """Publishes number after number. `acknowledged` has epoch, offset and number."""

    def __init__(self, port, seed, name):
        super().__init__(port, seed)
        self.numbers = (f"{name}.{count}" for count in itertools.count())
        self.number = next(self.numbers)
        self.acknowledged = []
        self.again = 0

    def step(self):
        data = {"action": "saved", "type": "message", "path": None, "resource": {"id": self.number}}
        body = {"data": data, "key": self.number}
        status, answer = ask(self.port, "POST", PATH + "/publish", body)
        if status != 200:
            assert status in (429, 500, 502, 503, 504), status
            raise Unavailable(str(status))
        self.again += answer["repeated"]
        self.acknowledged.append((answer["epoch"], answer["offset"], self.number))
        self.number = next(self.numbers)
        self.is_over.wait(self.rng.expovariate(8))


def number_of(data):
    return data["resource"]["id"]


class NativeSubscriber(RoomThread):
    """Resumes from its position: hears everything from its first subscription on."""

    def __init__(self, port, seed):
        super().__init__(port, seed)
        self.epoch = None
        self.claim = None
        self.offset = None
        self.first = None
        # Numbers, the first at the offset after `first`.
        self.heard = []
        self.resumed = 0

    def step(self):
        if not self.client:
            # A step may not be cut short half way: what is there of it is lost, then.
            try:
                self.connect()
            except TimeoutError as error:
                raise Unavailable("no answer") from error
        message = self.client.inbox.popleft() if self.client.inbox else self.client.receive(0.2)
        if message["type"] == "publication":
            self.hear(message["data"])

    def connect(self):
        self.client = NativeClient(self, claim=self.claim)
        self.claim = self.client.claim
        data = {"room": ROOM, "presence": True}
        if self.epoch:
            data["position"] = {"epoch": self.epoch, "offset": self.offset}
        kind, reply = self.client.request("subscribe", data)
        if kind == "error":
            assert reply["code"] in ("unavailable", "tooManyRequests"), reply
            raise Unavailable(reply["code"])
        if self.epoch is None:
            self.epoch, self.offset = reply["epoch"], reply["offset"]
            self.first = self.offset
            return
        assert reply["recovered"] is True, reply
        assert reply["epoch"] == self.epoch, "another history"
        self.resumed += 1
        for publication in reply.get("publications", []):
            self.hear(publication)
        assert self.offset == reply["offset"], "the answer lacks a publication"

    def hear(self, publication):
        assert publication["offset"] == self.offset + 1, (publication["offset"], self.offset)
        self.offset += 1
        self.heard.append(number_of(publication["data"]))


class SessionSubscriber(RoomThread):
    """Starts over each time: hears everything from each subscription to the end of its session."""

    def __init__(self, port, seed):
        super().__init__(port, seed)
        # The publications that each session has received.
        self.sessions = []

    def step(self):
        if not self.client:
            try:
                self.connect()
            except (TimeoutError, AssertionError) as error:
                raise Unavailable("no session") from error
            self.sessions.append([])
        self.sessions[-1] += [number_of(data) for data in self.receive()]

    @property
    def heard(self):
        return self.sessions[-1] if self.client and self.sessions else []


class EngineSubscriber(SessionSubscriber):
    def connect(self):
        self.client = EngineSocket(self)
        self.client.begin()
        self.client.authenticate("anything")
        self.client.join(ROOM)

    def receive(self):
        event = self.client.event(0.2)
        if isinstance(event, str):
            raise EOFError(event)
        name, data = event
        return [data] if name == "realtime:resource" else []


class BayeuxSubscriber(SessionSubscriber):
    def connect(self):
        self.client = BayeuxSocket(self)
        self.client.begin()
        assert self.client.subscribe(ROOM, None)["successful"]
        self.client.connect()

    def receive(self):
        found = []
        for message in self.client.receive(0.2):
            if message["channel"] == ROOM:
                found.append(message["data"])
            elif message["channel"] == "/meta/connect":
                if not message["successful"]:
                    raise EOFError(message)
                self.client.connect()
        return found


class Visitor(RoomThread):
    """Comes as another person each time, stays for a while, and leaves with or without a message.

    `gone` has when each of them had left."""

    def __init__(self, port, seed):
        super().__init__(port, seed)
        self.gone = {}
        self.person = None
        self.until = 0

    def step(self):
        if not self.client:
            self.client = NativeClient(self, name="Visitor")
            self.person = self.client.welcome.get("personId", self.client.id)
            kind, reply = self.client.request("subscribe", {"room": ROOM, "presence": True})
            if kind == "error":
                raise Unavailable(reply["code"])
            self.until = time.monotonic() + self.rng.uniform(0.5, 3)
        while time.monotonic() < self.until:
            self.client.receive(0.2)
        if self.rng.random() < 0.5:
            self.client.drop()
        self.lose()

    def lose(self):
        super().lose()
        if self.person:
            self.gone[self.person] = time.monotonic()
            self.person = None


class RoomRun:
    """All clients in the room, through a balancer's port."""

    def __init__(self, port, rng):
        def seed():
            return rng.getrandbits(32)

        self.port = port
        self.publishers = [Publisher(port, seed(), name) for name in ("p", "q")]
        self.natives = [NativeSubscriber(port, seed()) for _ in range(2)]
        self.sessions = [EngineSubscriber(port, seed()), BayeuxSubscriber(port, seed())]
        self.visitors = [Visitor(port, seed())]
        self.threads = [*self.publishers, *self.natives, *self.sessions, *self.visitors]

    def start(self):
        for thread in self.threads:
            thread.start()

    def check_threads(self):
        for thread in self.threads:
            if thread.failure:
                raise thread.failure

    def look_for_ghosts(self, servers):
        """Waits for the maximum time for which absent people may be shown, and checks that none is shown."""
        began = time.monotonic()
        while time.monotonic() < began + GHOST_SECONDS:
            self.check_threads()
            threading.Event().wait(0.05)
        gone = {
            person for visitor in self.visitors for person, moment in list(visitor.gone.items())
            if moment < began
        }  # fmt: skip
        for server in servers:
            status, answer = ask(server.port, "GET", PATH + "/presence")
            assert status == 200, status
            ghosts = gone & {one["personId"] for one in answer["present"]}
            assert not ghosts, f"shown {GHOST_SECONDS} s after they went: {ghosts}"

    def settle(self):
        """Publishes until each subscriber has received one of the last, and ends all."""
        for publisher in self.publishers:
            publisher.is_over.set()
            publisher.join()
        last = Publisher(self.port, 0, "last")
        self.publishers.append(last)
        last.start()
        deadline = time.monotonic() + SECONDS
        subscribers = [*self.natives, *self.sessions]
        while not all(
            thread.heard and thread.heard[-1].startswith("last") for thread in subscribers
        ):
            self.check_threads()
            assert time.monotonic() < deadline, [thread.heard[-1:] for thread in subscribers]
            threading.Event().wait(0.05)
        self.close()
        self.check_threads()

    def close(self):
        for thread in [*self.publishers, *self.threads]:
            thread.is_over.set()
        for thread in [*self.publishers, *self.threads]:
            if thread.ident:
                thread.join()

    def check(self, server):
        """Compares the received publications of all clients with the room. Returns measurements."""
        epoch, numbers = None, []
        while True:
            status, page = ask(
                server.port, "GET", f"{PATH}/history?since={len(numbers)}&limit=100"
            )
            assert status == 200, status
            epoch = page["epoch"]
            for publication in page["publications"]:
                assert publication["offset"] == len(numbers) + 1, "the room has a gap"
                numbers.append(number_of(publication["data"]))
            if not page["publications"]:
                break
        assert len(set(numbers)) == len(numbers), "published twice"
        places = {number: place for place, number in enumerate(numbers)}
        for publisher in self.publishers:
            for found, offset, number in publisher.acknowledged:
                assert found == epoch and numbers[offset - 1] == number, "acknowledged and lost"
            own = [number for _, _, number in publisher.acknowledged]
            assert [places[number] for number in own] == sorted(places[number] for number in own)
        for native in self.natives:
            assert native.epoch == epoch
            assert native.heard == numbers[native.first : native.offset], "a subscriber missed one"
        for subscriber in self.sessions:
            for heard in subscriber.sessions:
                if heard:
                    first = places[heard[0]]
                    assert heard == numbers[first : first + len(heard)], "a session missed one"
        return {
            "publications": len(numbers),
            "publications acknowledged": sum(len(one.acknowledged) for one in self.publishers),
            "publications known when asked again": sum(one.again for one in self.publishers),
            "subscribers that came back with a position": sum(one.resumed for one in self.natives),
            "sessions of Engine.IO and Bayeux": sum(len(one.sessions) for one in self.sessions),
            "heard": sum(len(one.heard) for one in self.natives)
            + sum(len(heard) for one in self.sessions for heard in one.sessions),
            "visitors": sum(len(one.gone) for one in self.visitors),
            "publications lost, doubled, or out of order": 0,
            f"visitors shown {GHOST_SECONDS} s after they went": 0,
        }
