"""A client of Rustpad, written from the protocol's description."""

import contextlib
import json

from operations import apply, compose, transform
from patience import SECONDS
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


def insert_first(operation):
    """The operation with each insert before the deletes beside it, as these clients build all of them."""
    out, deleted = [], 0
    for part in operation:
        if isinstance(part, str):
            if out and isinstance(out[-1], str):
                out[-1] += part
            else:
                out.append(part)
        elif part < 0:
            deleted += part
        else:
            if deleted:
                out.append(deleted)
                deleted = 0
            out.append(part)
    return out + [deleted] if deleted else out


class RustpadEditor:
    """One operation in flight and a composed buffer. Its revision outlives its connections."""

    def __init__(self, note):
        self.note = note
        self.stack = contextlib.ExitStack()
        self.socket = None
        self.me = None
        self.text, self.revision = "", 0
        self.outstanding = self.buffer = None
        self.users, self.language = {}, None

    def attach(self, server, **options):
        """Connects, or connects again: sends its name, its cursors and what is open before it reads."""
        self.drop()
        options.setdefault("origin", server.origin)
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}/api/socket/{self.note}", compression=None,
                max_size=None, **options,
            )
        )  # fmt: skip
        self.me = None
        self.send({"ClientInfo": {"name": "Rusty", "hue": 7}})
        self.send({"CursorData": {"cursors": [], "selections": []}})
        if self.outstanding:
            self._send_edit()
        return self

    def drop(self):
        self.stack.close()
        self.stack = contextlib.ExitStack()
        self.socket = None

    close = drop

    def send(self, message):
        with contextlib.suppress(ConnectionClosed):
            self.socket.send(json.dumps(message))

    def edit(self, operation):
        self.text = apply(self.text, operation)
        operation = insert_first(operation)
        if self.outstanding is None:
            self.outstanding = operation
            if self.socket:
                self._send_edit()
        elif self.buffer is None:
            self.buffer = operation
        else:
            self.buffer = insert_first(compose(self.buffer, operation))

    def _send_edit(self):
        self.send({"Edit": {"revision": self.revision, "operation": self.outstanding}})

    def pump(self, timeout=0):
        """Takes what has come. Returns whether there was anything."""
        try:
            text = self.socket.recv(timeout=timeout)
        except TimeoutError:
            return False
        ((kind, data),) = json.loads(text).items()
        match kind:
            case "Identity":
                assert self.me is None and 0 < data < 2**53
                self.me = data
            case "History":
                assert data["start"] <= self.revision, "a gap: such a client closes"
                for entry in data["operations"][self.revision - data["start"] :]:
                    self._take(entry)
            case "Language":
                self.language = data
            case "UserInfo":
                self.users[data["id"]] = data["info"]
            case "UserCursor":
                pass
            case _:
                raise AssertionError(kind)
        return True

    def _take(self, entry):
        self.revision += 1
        if entry["id"] == self.me:
            assert self.outstanding is not None
            self.outstanding, self.buffer = self.buffer, None
            if self.outstanding is not None:
                self._send_edit()
            return
        operation = entry["operation"] or [0]
        for name in ("outstanding", "buffer"):
            own = getattr(self, name)
            if own is None:
                break
            own, operation = transform(own, operation)
            setattr(self, name, insert_first(own))
            operation = insert_first(operation)
        self.text = apply(self.text, operation)

    def settle(self):
        while self.outstanding is not None:
            self.pump(SECONDS)

    def reach(self, revision):
        while self.revision < revision:
            self.pump(SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
