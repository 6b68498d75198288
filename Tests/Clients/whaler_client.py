"""A client of the Whaler family: sends binary frames, reads text frames, counts frames."""

import contextlib
import json
import uuid

from operations import apply, compose, transform
from patience import SECONDS
from websockets.sync.client import connect


def pairs(operation):
    """`[1, "tag", -2]` as the two arrays n and s."""
    numbers = [0 if isinstance(part, str) else part for part in operation]
    texts = [part if isinstance(part, str) else "" for part in operation]
    return numbers, texts


def operation(data):
    """The two arrays n and s as `[1, "tag", -2]`."""
    assert len(data["n"]) == len(data["s"])
    parts = [text if number == 0 else number for number, text in zip(data["n"], data["s"])]
    return [part for part in parts if part != ""] or [0]


class StartedAnewError(ConnectionError):
    """The server has started over with the text, as after a failover: so does a client, on a new connection."""


class WhalerClient:
    """One connection, for one resource."""

    def __init__(self, server, resource, **options):
        self.resource = resource
        options.setdefault("origin", server.origin)
        headers = {"ObjectId": resource, "Authorization": "header.payload.signature"}
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}/socket", compression=None, max_size=None,
                additional_headers=headers, **options,
            )
        )  # fmt: skip
        assert self.socket.subprotocol is None

    def send(self, kind, data):
        message_id = str(uuid.uuid4()).upper()
        self.send_bytes(
            json.dumps({"messageId": message_id, "type": kind, "data": data}).encode()
        )
        return message_id

    def send_bytes(self, payload):
        self.socket.send(payload)

    def receive(self, timeout=SECONDS):
        text = self.socket.recv(timeout=timeout)
        assert isinstance(text, str), "such a client only logs binary frames"
        message = json.loads(text)
        assert set(message) == {"senderId", "messageId", "type", "data"}, message
        return message

    def expect(self, kind, message_id=None):
        message = self.receive()
        assert message["type"] == kind, message
        if message_id is not None:
            assert message["messageId"] == message_id
        return message["data"]

    def open(self, resource=None):
        """Asks for the document; returns text and revision."""
        resource = resource or self.resource
        message_id = self.send("resourceConnection", {"resourceId": resource})
        return self.expect("resourceConnectionConf", message_id)

    def change(self, revision, numbers, texts, resource=None):
        return self.send(
            "docChange",
            {"resourceId": resource or self.resource, "rev": revision, "n": numbers, "s": texts},
        )

    def close(self):
        self.stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class WhalerEditor:
    """The rules of the existing client, written independently: one change in flight, a composed buffer,
    the server's operation goes left, the revision counts frames."""

    def __init__(self, server, resource):
        self.client = WhalerClient(server, resource)
        state = self.client.open()
        self.text, self.revision = state["initialState"], state["revision"]
        self.message_id = self.pending = self.buffer = None
        # What a checker compares with the server's log: changes as they were sent, the revisions of the acknowledged
        # ones, and the revision that the server named for each.
        self.sent = []
        self.confirmed = {}
        self.taken = {}

    def edit(self, change):
        self.text = apply(self.text, change)
        if self.pending:
            self.buffer = compose(self.buffer, change) if self.buffer else change
        else:
            self._start(change)

    def _start(self, change):
        self.pending = change
        self.sent.append(change)
        self.message_id = self.client.change(self.revision, *pairs(change))

    def pump(self, timeout=0):
        try:
            message = self.client.receive(timeout)
        except TimeoutError:
            return False
        if message["type"] == "resourceConnectionConf":
            raise StartedAnewError("the server has another text than the one it told of")
        assert message["type"] == "docChangeReturnOps", message["type"]
        self.revision += 1
        self.taken[self.revision] = operation(message["data"])
        if message["messageId"] == self.message_id:
            self.confirmed[self.revision] = self.sent[-1]
            self.pending = self.message_id = None
            if self.buffer:
                change, self.buffer = self.buffer, None
                self._start(change)
            return True
        change = self.taken[self.revision]
        if self.pending:
            change, self.pending = transform(change, self.pending)
        if self.buffer:
            change, self.buffer = transform(change, self.buffer)
        self.text = apply(self.text, change)
        return True

    def settle(self):
        while self.pending:
            self.pump(SECONDS)

    def reach(self, revision):
        while self.revision < revision:
            self.pump(SECONDS)
