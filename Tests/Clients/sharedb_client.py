"""A client of ShareDB with one document of the type text-unicode, written from the protocol's description."""

import contextlib
import json

from operations import apply, transform
from patience import SECONDS
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

TEXT = "http://sharejs.org/types/text-unicode"


def components(operation):
    """`[1, "tag", -2]` in the form of text-unicode, without the last skip."""
    parts = [{"d": -part} if isinstance(part, int) and part < 0 else part for part in operation]
    while parts and isinstance(parts[-1], int):
        parts.pop()
    return parts


def operation(parts, text):
    """A received operation over all of a text. Fails as the type's own check does."""
    result, covered, last = [], 0, None
    for part in parts:
        kind = type(part)
        assert kind is not last, f"two components of one kind: {parts}"
        last = kind
        if isinstance(part, str):
            assert part, parts
            result.append(part)
            continue
        count = part["d"] if isinstance(part, dict) else part
        assert isinstance(count, int) and count > 0, parts
        covered += count
        result.append(-count if isinstance(part, dict) else count)
    assert not parts or not isinstance(parts[-1], int), f"ends with a skip: {parts}"
    assert covered <= len(text), parts
    return result + [len(text) - covered] if covered < len(text) else result


class ShareDBEditor:
    """A connection and a document: one change in flight, and a queue. Survives its sockets."""

    def __init__(self, document, collection="notes", path="/sharedb"):
        self.name = {"c": collection, "d": document}
        self.path = path
        self.socket = None
        self.stack = contextlib.ExitStack()
        self.id = None
        self.sequence = 0
        self.text = None
        self.version = None
        # Changes that are not acknowledged, each with its number; the first may be in flight.
        self.pending = []
        self.in_flight = None
        self.errors = []
        self.foreign = 0

    # Connections

    def attach(self, server, **options):
        """Connects, or connects again: greets, sends again what is open, and subscribes."""
        self.drop()
        options.setdefault("origin", server.origin)
        # A limited queue ends reading when it is full, and closing then waits ten seconds for the server's close frame.
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}{self.path}", compression=None, max_size=None, max_queue=None,
                **options,
            )
        )  # fmt: skip
        greeting = {"a": "hs", "id": self.id, "protocol": 1, "protocolMinor": 2}
        self.send(greeting)
        first = self.receive()
        assert first["a"] == "init" and first["protocol"] == 1, first
        self.send(greeting)
        ids = [self.receive()["id"] for _ in range(2)]
        assert ids[0] == ids[1], "another id makes a client take its own changes for others'"
        assert self.id in (None, ids[0])
        self.id = ids[0]
        self._flush()
        self.send({"a": "s", **self.name, "v": self.version})
        if self.version is None:
            while self.version is None:
                self.pump(SECONDS)
        return self

    def drop(self):
        """Loses the socket. What was in flight is sent again on the next one."""
        self.stack.close()
        self.stack = contextlib.ExitStack()
        self.socket = None
        self.in_flight = None

    def send(self, message):
        with contextlib.suppress(ConnectionClosed):
            self.socket.send(json.dumps(message))

    def receive(self, timeout=SECONDS):
        text = self.socket.recv(timeout=timeout)
        assert isinstance(text, str)
        return json.loads(text)

    # Changes

    def create(self, text):
        self.text = text
        self._submit({"create": {"type": TEXT, "data": text}})

    def edit(self, change):
        self.text = apply(self.text, change)
        self._submit({"op": change})

    def _submit(self, change):
        self.pending.append(change)
        self._flush()

    def _flush(self):
        if self.in_flight or not self.pending or self.socket is None:
            return
        change = self.in_flight = self.pending[0]
        if "seq" not in change:
            self.sequence += 1
            change["seq"], change["src"] = self.sequence, self.id
        message = {"a": "op", **self.name, "v": self.version, "seq": change["seq"], "x": {}}
        message["src"] = change["src"]
        if "op" in change:
            message["op"] = components(change["op"])
        else:
            message["create"] = change["create"]
        self.send(message)

    def pump(self, timeout=0):
        """Takes what has come. Returns whether there was anything."""
        try:
            message = self.receive(timeout)
        except TimeoutError:
            return False
        if "error" in message:
            self.errors.append(message["error"]["code"])
        elif message["a"] == "op":
            self._take(message)
        elif message["a"] in ("s", "f") and message.get("data") and not self.pending:
            data = message["data"]
            if self.version is None or data["v"] > self.version:
                self.version, self.text = data["v"], data.get("data")
                assert data["type"] in (TEXT, None)
        return True

    def _take(self, message):
        version = message["v"]
        if self.in_flight and (message["src"], message["seq"]) == (
            self.in_flight["src"], self.in_flight["seq"],
        ):  # fmt: skip
            assert version == self.version, f"{version} is acknowledged at {self.version}"
            self.version += 1
            self.pending.pop(0)
            self.in_flight = None
            return self._flush()
        assert version <= self.version, f"{version} came at {self.version}"
        if version < self.version:
            return None
        assert message["src"] != self.id, "an own change that is not in flight"
        self.version += 1
        self.foreign += 1
        if "create" in message:
            assert self.text is None and not self.pending
            self.text = message["create"]["data"]
            return None
        # Each side is as long as the text before all own changes.
        base = self.text
        for change in reversed(self.pending):
            base = "x" * (len(base) - _growth(change["op"]))
        change = operation(message["op"], base)
        for own in self.pending:
            own["op"], change = transform(own["op"], change)
        self.text = apply(self.text, change)
        return None

    def settle(self):
        while self.pending:
            self.pump(SECONDS)

    def reach(self, revision):
        while self.version < revision:
            self.pump(SECONDS)

    @property
    def revision(self):
        return self.version

    def close(self):
        self.drop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _growth(change):
    return sum(len(part) if isinstance(part, str) else min(part, 0) for part in change)
