"""The client core: events go in, actions come out.

This module encodes and decodes both; it contains no rule of the protocol. An event or action is one byte for the kind,
then fields: a number is a 64-bit float, little-endian; a text or byte string is its length as a number, then its bytes.
Positions are UTF-16 units. Web/core/Door.swift in Parley's sources is the other side; doors.py loads the core.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

from .doors import CoreInstance

_NUMBER = struct.Struct("<d")
_EVENTS = {
    "start": 1, "stop": 2, "opened": 3, "received": 4, "closed": 5, "wake": 6, "reachable": 7, "token": 8,
    "profile": 9, "suspending": 10, "open": 20, "restore": 21, "reopen": 22, "leave": 23, "edit": 24, "select": 25,
    "retryRefused": 26, "discard": 27, "kept": 28, "keepFailed": 29, "unkept": 30, "openFormatted": 31,
    "restoreFormatted": 32, "editFormatted": 33, "undo": 34, "redo": 35, "endStep": 36, "subscribe": 40,
    "unsubscribe": 41, "publish": 42, "typing": 43, "confirm": 44, "askReceipts": 45,
}  # fmt: skip


class CoreError(Exception):
    """The core rejects its input, for example edits stored by another version."""


@dataclass(frozen=True, slots=True)
class Change:
    """A replacement of the text from `start` to `end` by `text`. Positions count characters (code points)."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """An action to perform. `values` are in the order in which the door writes them."""

    kind: str
    note: str = ""
    values: tuple[Any, ...] = ()
    room: str = ""


@dataclass(slots=True)
class _Writer:
    parts: bytearray = field(default_factory=bytearray)

    def write(self, *values: str | bytes | float) -> _Writer:
        for value in values:
            if isinstance(value, str):
                value = value.encode("utf-8", "replace")
            if isinstance(value, bytes):
                self.parts += _NUMBER.pack(len(value))
                self.parts += value
            else:
                self.parts += _NUMBER.pack(value)
        return self


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def number(self) -> float:
        self._at += 8
        return _NUMBER.unpack_from(self._data, self._at - 8)[0]  # type: ignore[no-any-return]

    def integer(self) -> int:
        return int(self.number())

    def text(self) -> str:
        count = self.integer()
        self._at += count
        return self._data[self._at - count : self._at].decode()


class Core:
    """The core of one client. The door contains its state."""

    def __init__(self, door: CoreInstance) -> None:
        self._door = door

    @property
    def kind(self) -> str:
        """library or wasm."""
        return self._door.kind

    def create(self, name: str, color: str, seed: int, claim: tuple[str, str] | None) -> None:
        """Creates the client. `claim`: the id and resume token of its former identity."""
        known, token = claim or ("", "")
        self._call("client_create", _Writer().write(name, color, seed, 1 if claim else 0, known, token))

    def handle(self, now: int, kind: str, *values: str | bytes | float) -> list[Action]:
        """Handles an event at `now`, in milliseconds of a monotonic clock. Returns actions to perform in order."""
        count = self._call("client_handle", _Writer(bytearray([_EVENTS[kind]])).write(*values), float(now))
        reader = _Reader(self._output())
        return [_read_action(reader) for _ in range(count)]

    def edit(
        self, now: int, note: str, changes: list[tuple[int, int, str]], form: str | None = None
    ) -> list[Action]:
        """Handles edits: start, units removed, text inserted. They are sorted, and refer to the text before all of
        them. `form`: the formatting as JSON, or "", for a note that was opened with formats."""
        values = [value for change in changes for value in change]
        if form is None:
            return self.handle(now, "edit", note, len(changes), *values)
        return self.handle(now, "editFormatted", note, len(changes), *values, form)

    def text(self, note: str) -> str | None:
        """Returns the text with all edits made here; None until there is one."""
        return self._output().decode() if self._call("note_text", _Writer().write(note)) else None

    def form(self, note: str) -> dict[str, Any] | None:
        """Returns the formatting of the text, with lengths in units; None until there is a text."""
        return json.loads(self._output()) if self._call("note_format", _Writer().write(note)) else None

    def flags(self, note: str) -> tuple[bool, bool, bool]:
        """Returns whether there is an edit to undo, one to redo, and whether the server knows formatting."""
        flags = self._call("note_flags", _Writer().write(note))
        return flags & 1 > 0, flags & 2 > 0, flags & 4 > 0

    def revision(self, note: str) -> int:
        """Returns the newest known revision of the server."""
        return int(self._call("note_revision", _Writer().write(note)))

    def people(self, note: str) -> list[tuple[str, str, str, str, bool, list[tuple[int, int]]]]:
        """Returns the other people: client id, name, colour, person id, whether they are writing, and selections in units."""
        self._call("note_people", _Writer().write(note))
        reader = _Reader(self._output())
        reader.number()
        people = []
        for _ in range(reader.integer()):
            person = (reader.text(), reader.text(), reader.text(), reader.text(), reader.number() == 1)
            selections = [(reader.integer(), reader.integer()) for _ in range(reader.integer())]
            people.append((*person, selections))
        return people

    def room_people(self, room: str) -> tuple[list[tuple[str, str, str]], list[str]]:
        """Returns the people present in a room, as id, name and colour; and the ids of the people who are typing."""
        self._call("room_people", _Writer().write(room))
        reader = _Reader(self._output())
        present = [(reader.text(), reader.text(), reader.text()) for _ in range(reader.integer())]
        return present, [reader.text() for _ in range(reader.integer())]

    def kept_text(self, note: str) -> str:
        """Returns the server's text on which the edits of the note's oldest unanswered `keep` were made."""
        self._call("kept_text", _Writer().write(note))
        return self._output().decode()

    def _call(self, name: str, fields: _Writer, *more: float) -> int:
        result = self._door.call(name, bytes(fields.parts), *more)
        if result < 0:
            raise CoreError(f"{name}: the core does not take this")
        return int(result)

    def _output(self) -> bytes:
        return self._door.output()


def _read_action(fields: _Reader) -> Action:
    """Reads an action, in the order in which Door.swift writes it."""
    text, number, integer = fields.text, fields.number, fields.integer
    match kind := fields.byte():
        case 1: return Action("connect")
        case 2: return Action("disconnect")
        case 3: return Action("send", values=(text(),))
        case 4: return Action("wake", values=(number(),))
        case 5: return Action("needToken")
        case 6: return Action("claim", values=(text(), text()))
        case 7: return Action("line", values=(text(), integer(), integer(), text()))
        case 8: return Action("welcome", values=(number() == 1, integer(), integer(), text()))
        case 9: return Action("tokenEnds", values=(number(),))
        case 10: return Action("refreshed", values=(text(),))
        case 11: return Action("resource", values=(text(),))
    if kind >= 40:
        return _read_room_action(kind, fields)
    note = text()
    match kind:
        case 20: return Action("keep", note, (number() == 1, text(), text(), text()))
        case 21: return Action("forget", note)
        case 22: return Action("reset", note, (text(), ""))
        case 23:
            revision = integer()
            return Action("apply", note, (revision, _read_changes(fields), ""))
        case 24: return Action("status", note, (text(), text(), text(), integer(), text(), number() == 1))
        case 25: return Action("people", note)
        case 26: return Action("carets", note)
        case 27: return Action("title", note, (text(),))
        case 28: return Action("rebased", note)
        case 29: return Action("outOfStep", note)
        case 30: return Action("misfit", note)
        case 31: return Action("reset", note, (text(), text()))
        case 32:
            revision = integer()
            return Action("apply", note, (revision, _read_changes(fields), text()))
        case 33: return Action("step", note, (_read_changes(fields), text(), integer(), integer()))
        case 34: return Action("becomes", note, (text(),))
    raise CoreError(f"the core asks for {kind}, which this package does not know")


def _read_changes(fields: _Reader) -> tuple[tuple[int, int, str], ...]:
    return tuple((fields.integer(), fields.integer(), fields.text()) for _ in range(fields.integer()))


def _read_room_action(kind: int, fields: _Reader) -> Action:
    text, number, integer = fields.text, fields.number, fields.integer

    def receipts() -> list[tuple[str, str]]:
        return [(text(), "read" if number() == 1 else "delivered") for _ in range(integer())]

    def position() -> tuple[str, int]:
        return (text(), integer())

    room = text()
    match kind:
        case 40: return Action("roomStatus", room=room, values=(text(), text()))
        case 41: return Action("publication", room=room, values=(position(), integer(), text(), text(), text()))
        case 42: return Action("gap", room=room, values=(position(), position()))
        case 43: return Action("position", room=room, values=(position(),))
        case 44: return Action("roomPeople", room=room)
        case 45: return Action("published", room=room, values=(text(), position(), number() == 1))
        case 46: return Action("publishFailed", room=room, values=(text(), text()))
        case 47: return Action("roomNews", room=room)
        case 48: return Action("receipt", room=room, values=(integer(), receipts()))
        case 49: return Action("receipts", room=room, values=(integer(), receipts(), text()))
    raise CoreError(f"the core asks for {kind}, which this package does not know")
