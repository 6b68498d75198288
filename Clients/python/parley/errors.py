"""The errors of this package."""


class ParleyError(Exception):
    """The base class of this package's errors. Their texts never contain users' text or tokens."""


class ConnectionEnded(ParleyError):
    """The connection has ended permanently, for `reason`.

    closed: this program closed it. noAccess: there is no token, or the gateway rejected it. refused: the gateway
    rejects this client. otherVersion: the gateway and this package do not understand each other's first messages;
    upgrade one of them. failed: no connection can be made with this program's configuration; `__cause__` contains the
    reason.
    """

    def __init__(self, reason: str, code: int = 0) -> None:
        self.reason = reason
        self.code = code
        words = {
            "closed": "the connection was closed",
            "noAccess": "expected a token that the gateway takes; give connect() a token function that has one",
            "otherVersion": "expected a gateway that speaks parley.v1, got one of another version; edits wait in `keep`",
            "failed": "no connection can be made as this program is set up; the cause says why",
            "refused": f"the gateway refuses this client, with close code {code}; see Close codes in Protocol.md",
        }
        super().__init__(words.get(reason, reason))


class NoAnswer(ParleyError):
    """The gateway gave no answer within connect()'s `timeout`. Edits and publications remain queued, and the client
    continues to connect. `problem`: the last problem of the connection, or ""."""

    def __init__(self, problem: str, is_online: bool) -> None:
        self.problem = problem
        if is_online:
            super().__init__("the gateway is connected, but does not answer; try again later")
            return
        expected = "expected a connection to the gateway, there was none within the timeout"
        super().__init__(f"{expected}{': ' if problem else ''}{problem}; the client still tries")


class NoteUnavailable(ParleyError):
    """A note cannot be opened or written; `code` is an error code of the protocol, or deleted, closed, readOnly.

    unknownDocument: no note has this id; none was made, or it was deleted before it was opened here.
    """

    def __init__(self, note: str, code: str) -> None:
        self.note = note
        self.code = code
        if code == "unknownDocument":
            super().__init__(f"no note has the id {note}; create it first")
        else:
            super().__init__(f"the note {note} cannot be used: {code}")


class RequestRefused(ParleyError):
    """The gateway rejects a request; `code` is an error code of the protocol, or notParley for an answer of another
    server, such as a network's sign-in page."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(f"the request is refused: {code}{': ' if message else ''}{message}")


class ChangesRefused(ParleyError):
    """The gateway rejects edits; they are retained until `retry` or `discard_unsaved`."""

    def __init__(self, note: str, code: str) -> None:
        self.note = note
        self.code = code
        super().__init__(
            f"edits of {note} were not taken: {code}; retry() sends them again, discard_unsaved() drops them"
        )


class RoomUnavailable(ParleyError):
    """A room cannot be subscribed to; `code` is an error code of the protocol, or readingLost, closed."""

    def __init__(self, room: str, code: str) -> None:
        self.room = room
        self.code = code
        super().__init__(f"the room {room} cannot be heard: {code}")


class PublishRefused(ParleyError):
    """A publication failed; `code` is an error code of the protocol, such as notAllowed, tooLarge, tooMany.

    unsure: the gateway has discarded this client's state, so whether it was published is unknown.
    """

    def __init__(self, room: str, code: str) -> None:
        self.room = room
        self.code = code
        super().__init__(f"the gateway did not publish this in {room}: {code}")


class ValueConflict(PublishRefused):
    """A condition of a change does not hold; `values` has the current value and offset of each name that has changed."""

    def __init__(self, room: str, values: dict[str, dict[str, object]]) -> None:
        self.values = values
        super().__init__(room, "conflict")


class TooManyConflicts(ValueConflict):
    """Other clients changed the same values at each try of a transaction or an undo; `values` has the current ones."""


class ChangedSince(PublishRefused):
    """Another client has changed the same values since, so nothing was undone; `names` has the changed ones."""

    def __init__(self, room: str, names: list[str]) -> None:
        self.names = names
        super().__init__(room, "changedSince")


class StorageFailed(ParleyError):
    """Unsaved edits could not be stored, or stored edits cannot be read."""


class CoreUnavailable(ParleyError):
    """The client core cannot be loaded: neither the package's library nor, by wasmtime, WebAssembly."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the client core cannot be loaded: {reason}; reinstall the package for this machine")


class Overflowed(ParleyError):
    """An iterator of changes or receipts was left unread for too long: read `note.text`, ask `room.receipts_of`, and
    iterate again."""
