"""A client of `parley.v1`, as Documentation/Protocol.md describes it."""

import collections
import contextlib
import json
import socket
import uuid

from operations import apply, compose, transform
from patience import SECONDS
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Unavailable(Exception):
    """A temporary refusal by the server; the request can be repeated."""


class NativeClient:
    """A connection that has sent hello."""

    def __init__(self, server, name="Ada", claim=None, greet=True, **options):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}/ws", subprotocols=["parley.v1"],
                compression=None, max_size=None, **options,
            )
        )  # fmt: skip
        assert self.socket.subprotocol == "parley.v1"
        self.inbox = collections.deque()
        self.welcome = None
        if greet:
            self.hello(name, claim)

    def hello(self, name="Ada", claim=None):
        data = {"name": name, "color": "#3366cc"}
        if claim:
            data["client"] = claim
        kind, self.welcome = self.request("hello", data)
        assert kind == "welcome", (kind, self.welcome)
        assert self.welcome["protocol"] == "parley.v1"
        return self.welcome

    @property
    def id(self):
        return self.welcome["clientId"]

    @property
    def claim(self):
        """Returns the claim with which a later connection resumes as this client."""
        return {"id": self.id, "resumeToken": self.welcome["resumeToken"]}

    def send(self, kind, data, message_id=None):
        message_id = message_id or str(uuid.uuid4())
        self.socket.send(json.dumps({"messageId": message_id, "type": kind, "data": data}))
        return message_id

    def receive(self, timeout=SECONDS):
        """Returns the next received message, ignoring deferred ones."""
        text = self.socket.recv(timeout=timeout)
        assert isinstance(text, str), "the server sends text frames only"
        return json.loads(text)

    def reply_to(self, message_id):
        """Returns type and data of the reply to a message. Messages before it are deferred."""
        for message in list(self.inbox):
            if message["messageId"] == message_id:
                self.inbox.remove(message)
                return message["type"], message["data"]
        while True:
            message = self.receive()
            if message["messageId"] == message_id:
                return message["type"], message["data"]
            self.inbox.append(message)

    def request(self, kind, data):
        return self.reply_to(self.send(kind, data))

    def raw_request(self, text, message_id):
        self.socket.send(text)
        return self.reply_to(message_id)

    def expect(self, kind, where=lambda data: True):
        """Returns the data of the next message of a type. Other messages are deferred."""
        for message in list(self.inbox):
            if message["type"] == kind and where(message["data"]):
                self.inbox.remove(message)
                return message["data"]
        while True:
            message = self.receive()
            if message["type"] == kind and where(message["data"]):
                return message["data"]
            self.inbox.append(message)

    def take_all(self):
        """Returns all received messages; the reply to a ping follows all messages sent before it."""
        kind, _ = self.request("ping", {})
        assert kind == "pong"
        messages = list(self.inbox)
        self.inbox.clear()
        return messages

    def join(self, document, resume=None, unanswered=None):
        data = {"documentId": document}
        if resume:
            data["resume"] = resume
        if unanswered:
            data["unanswered"] = unanswered
        kind, joined = self.request("join", data)
        if kind == "error" and joined["code"] == "unavailable":
            raise Unavailable(joined["message"])
        assert kind == "joined", (kind, joined)
        return joined

    def change(self, document, joined, sequence, operation, revision=None):
        """Sends a change and returns type and data of the reply."""
        return self.request(
            "change",
            {
                "documentId": document, "epoch": joined["epoch"],
                "revision": joined["revision"] if revision is None else revision,
                "sequence": sequence, "operation": operation,
            },
        )  # fmt: skip

    def close_code(self):
        """Reads until the server closes; returns its code."""
        try:
            while True:
                self.inbox.append(self.receive())
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None

    def close(self):
        self.stack.close()

    def drop(self):
        """Ends the connection without a close frame, as a failing network does."""
        # close() alone would leave the reading thread, for which a later close() waits.
        self.socket.socket.shutdown(socket.SHUT_RDWR)
        self.socket.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Editor:
    """A person's copy of a document, with one change in flight, and later edits composed after it.

    It outlives its connections: `attach` resumes after any break.
    """

    def __init__(self, name, document):
        self.name = name
        self.document = document
        self.client = None
        self.claim = None
        self.text = None
        self.epoch = None
        self.revision = 0
        self.sequence = 1
        self.in_flight = None
        self.buffer = None
        self.acknowledged = 0
        # Data for the comparison with the server's log: the changes as first sent, by sequence;
        # the revisions of acknowledged changes; and the received content of each revision.
        self.sent = {}
        self.confirmed = {}
        self.taken = {}
        self.resent = 0

    def attach(self, server):
        """Connects or reconnects, applies missed changes and resends the change in flight."""
        if self.client:
            self.client.close()
        # Send nothing before all missed changes are applied.
        self.client = None
        client = NativeClient(server, self.name, self.claim)
        self.claim = client.claim
        resume = {"epoch": self.epoch, "revision": self.revision} if self.epoch else None
        unanswered = None
        if self.in_flight and self.in_flight["sent"]:
            unanswered = {"clientId": self.claim["id"], "sequence": self.sequence}
        joined = client.join(self.document, resume, unanswered)
        if resume is None:
            self.text, self.revision = joined["text"], joined["revision"]
            self.epoch = joined["epoch"]
        else:
            assert joined["epoch"] == self.epoch
            assert "text" not in joined, "history within the window is resumed, not replaced"
            for change in joined["changes"]:
                self._take(change, self.revision + 1)
            assert self.revision == joined["revision"]
        assert joined["lastSequence"] == self.acknowledged, joined["lastSequence"]
        self.client = client
        if self.in_flight:
            self.resent += self.in_flight["sent"]
            self._send()
        return self

    def edit(self, operation):
        self.text = apply(self.text, operation)
        if self.in_flight:
            self.buffer = compose(self.buffer, operation) if self.buffer else operation
        else:
            self._start(operation)

    def _start(self, operation):
        # After a break, the original is resent with its original base.
        self.in_flight = {
            "base": self.revision, "original": operation, "pending": operation, "sent": False,
        }  # fmt: skip
        self.sent[self.sequence] = operation
        self._send()

    def _send(self):
        if self.client is None:
            return
        self.in_flight["sent"] = True
        try:
            self.client.send(
                "change",
                {
                    "documentId": self.document, "epoch": self.epoch,
                    "revision": self.in_flight["base"], "sequence": self.sequence,
                    "operation": self.in_flight["original"],
                },
            )  # fmt: skip
        except ConnectionClosed:
            pass

    def pump(self, timeout=0):
        """Handles a received message. Returns whether there was one."""
        try:
            message = self.client.receive(timeout)
        except TimeoutError:
            return False
        data = message["data"]
        match message["type"]:
            case "changes":
                for offset, change in enumerate(data["changes"]):
                    self._take(change, data["revision"] + offset)
            case "acknowledged":
                assert data["sequence"] == self.sequence
                if data["revision"] > self.revision:
                    self._acknowledge(data["revision"])
            # A temporary refusal: the client continues after reconnecting.
            case "refused" | "error" if data["code"] == "unavailable":
                raise Unavailable(data["message"])
            case "refused" | "error" | "resync":
                raise AssertionError(message)
        return True

    def _take(self, change, revision):
        assert revision == self.revision + 1, f"got {revision} after {self.revision}"
        if change["clientId"] == self.claim["id"] and change["sequence"] == self.sequence:
            self._acknowledge(revision)
            return
        operation = change["operation"]
        assert operation != []
        self.taken[revision] = (change["clientId"], change["sequence"], operation)
        # Committed text precedes pending text.
        if self.in_flight:
            operation, self.in_flight["pending"] = transform(operation, self.in_flight["pending"])
        if self.buffer:
            operation, self.buffer = transform(operation, self.buffer)
        self.text = apply(self.text, operation)
        self.revision = revision

    def _acknowledge(self, revision):
        assert revision == self.revision + 1, f"got {revision} after {self.revision}"
        self.revision = revision
        self.acknowledged = self.sequence
        self.confirmed[self.sequence] = revision
        self.sequence += 1
        self.in_flight = None
        if self.buffer:
            operation, self.buffer = self.buffer, None
            self._start(operation)

    def settle(self):
        """Waits until all own changes are acknowledged."""
        while self.in_flight:
            self.pump(SECONDS)

    def reach(self, revision):
        """Waits until it has received a revision."""
        while self.revision < revision:
            self.pump(SECONDS)


def settle(editors):
    """Waits until all editors have received all changes."""
    for editor in editors:
        editor.settle()
    head = max(editor.revision for editor in editors)
    for editor in editors:
        editor.reach(head)
    return head
