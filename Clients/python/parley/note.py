"""A note, for programs that read and write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import delta as deltas
from .core import Action, Change, CoreError
from .delta import Op
from .delta import characters as _characters
from .delta import units as _units
from .engine import Engine, News
from .errors import ChangesRefused, NoteUnavailable, Overflowed
from .events import EVENTS_MAX, Events, Readers, ended


@dataclass(frozen=True, slots=True)
class Person:
    """A person who has the note open."""

    id: str
    name: str
    color: str
    is_writing: bool
    selections: tuple[tuple[int, int], ...] = ()
    """The anchor and the head (the caret) of each selection, in characters."""
    person_id: str = ""
    """The same on all devices of one person, in this note alone: the value of the attribute `mention`; empty for people
    without an account."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Edits that were made, in order. The positions of each refer to the text after those before it.

    `is_own`: this program made them. `text` is set instead of edits if the whole text was replaced: at first, and after
    a long absence. `delta`: the edits and their formatting, for a note opened with formats.
    """

    changes: tuple[Change, ...]
    is_own: bool
    text: str | None = None
    delta: list[Op] = field(default_factory=list)


class Note:
    """A note. Positions count characters, as Python's strings do. Created by `Client.note`.

    Edits return at once; `saved` returns when the gateway has stored everything on disk. Without a connection edits
    wait, and are sent when it is restored.
    """

    def __init__(self, state: NoteState, leave: Callable[[], None]) -> None:
        self._state = state
        self._engine = state.engine
        self._leave = leave

    @property
    def id(self) -> str:
        """The note's id."""
        return self._state.id

    @property
    def title(self) -> str:
        """The note's title."""
        return self._state.title

    @property
    def state(self) -> str:
        """opening, live, away (no connection; edits wait), failed, deleted, closed."""
        return self._state.phase

    @property
    def access(self) -> str:
        """write or read."""
        return self._state.access

    @property
    def unsaved(self) -> int:
        """The number of edits that the gateway has not confirmed."""
        return self._state.unsaved

    @property
    def refusal(self) -> str:
        """Why the gateway rejects the unsaved edits: an error code of the protocol."""
        return self._state.refusal

    @property
    def failure(self) -> str:
        """Why the note could not be opened: an error code of the protocol."""
        return self._state.failure

    @property
    def text(self) -> str:
        """The text with all edits made here."""
        if self._state.text is None:
            raise self._state.unavailable()
        return self._state.text

    @property
    def kind(self) -> str:
        """plain, or rich for a note with formatting. A plain note becomes rich by the first edit with formatting."""
        return self._state.kind

    @property
    def delta(self) -> list[Op]:
        """The text with its formatting as a Delta: operations that insert. Without formatting if the note was not opened
        with formats."""
        return deltas.of_text(self.text, self._engine.core.form(self.id))

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit of this program to undo; only in a note opened with formats."""
        return self._engine.core.flags(self.id)[0]

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone edit."""
        return self._engine.core.flags(self.id)[1]

    @property
    def revision(self) -> int:
        """The newest known revision of the gateway."""
        return self._engine.core.revision(self.id)

    @property
    def people(self) -> list[Person]:
        """The other people with the note open; if they are many, the most recently active ones."""
        text = self._state.text or ""
        people = []
        for id, name, color, person_id, is_writing, selections in self._engine.core.people(self.id):
            places = tuple((_place(text, anchor), _place(text, head)) for anchor, head in selections)
            people.append(Person(id, name, color, is_writing, places, person_id))
        return people

    def select(self, anchor: int, head: int | None = None) -> None:
        """Shows a caret at `head` to the other people, and a selection from `anchor`.

        Raises IndexError for positions outside the text, and ConnectionEnded.
        """
        self._engine.check()
        text = self.text
        head = anchor if head is None else head
        if not (0 <= anchor <= len(text) and 0 <= head <= len(text)):
            raise IndexError(f"expected places from 0 to {len(text)}, got {anchor} and {head}")
        self._engine.do("select", self.id, _units(text, 0, anchor), _units(text, 0, head))

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces the characters from `start` to `end`.

        Raises IndexError for positions outside the text, NoteUnavailable if the note may not be written,
        ConnectionEnded.
        """
        before = self._writable()
        if not 0 <= start <= end <= len(before):
            raise IndexError(f"expected 0 <= start <= end <= {len(before)}, got {start} and {end}")
        # Lone surrogates cannot be encoded in UTF-8.
        text = text.encode("utf-16-le").decode("utf-16-le", "replace")
        if start == end and not text:
            return
        at = _units(before, 0, start)
        self._state.text = before[:start] + text + before[end:]
        form = "" if self._state.has_formats else None
        self._engine.edit(self.id, [(at, _units(before, start, end), text)], form)
        delta = deltas.of_change(before, [(start, end, text)], "") if self._state.has_formats else []
        self._state.readers.tell(Changed((Change(start, end, text),), is_own=True, delta=delta))

    def _writable(self) -> str:
        self._engine.check()
        text = self.text
        if self.state in ("failed", "deleted", "closed"):
            raise self._state.unavailable()
        if self.access == "read":
            raise NoteUnavailable(self.id, "readOnly")
        return text

    def update(self, delta: Sequence[Mapping[str, Any]]) -> None:
        """Makes the edits that a Delta describes: operations that retain, insert or delete, in characters. Inserted text has
        the Delta's formatting, and no other.

        Raises ValueError for a Delta that does not fit the text or contains unknown values, or if the note was not opened
        with formats; NoteUnavailable, ConnectionEnded.
        """
        text = self._writable()
        self._make(deltas.change_of(delta, text, self._engine.core.form(self.id)))

    def format(self, start: int, end: int, attributes: Mapping[str, Any]) -> None:
        """Changes the formatting of the characters from `start` to `end`: {"bold": True}; None removes an attribute.
        Attributes of lines, such as `header`, apply to all lines that the range touches.

        Raises IndexError, and as `update`.
        """
        text = self._writable()
        self._make(deltas.formatting_of(text, self._engine.core.form(self.id), start, end, attributes))

    def _make(self, change: deltas.Change) -> None:
        state, before = self._state, change.text
        if not state.has_formats:
            raise ValueError("expected a note opened with formats=True, got one without")
        form = change.form
        if not change.edits and not form:
            return
        units = [(_units(before, 0, start), _units(before, start, end), text) for start, end, text in change.edits]
        if form and self.kind == "plain" and self._engine.core.flags(self.id)[2]:
            form = '{"kind":"rich",' + form[1:]
        text = before
        for start, end, inserted in reversed(change.edits):
            text = text[:start] + inserted + text[end:]
        state.text = text
        try:
            self._engine.edit(self.id, units, form)
        except CoreError as error:
            state.text = before
            raise ValueError("expected formatting that fits the edits and the text") from error
        told, moved = [], 0
        for start, end, inserted in change.edits:
            told.append(Change(start + moved, end + moved, inserted))
            moved += len(inserted) - (end - start)
        delta = deltas.of_change(before, change.edits, form)
        state.readers.tell(Changed(tuple(told), is_own=True, delta=delta))

    def undo(self) -> None:
        """Undoes this program's newest edit that still has an effect; only in a note opened with formats."""
        self._writable()
        self._engine.do("undo", self.id)

    def redo(self) -> None:
        """Redoes the edit that was undone last."""
        self._writable()
        self._engine.do("redo", self.id)

    def insert(self, at: int, text: str) -> None:
        """Inserts a text before the character at `at`."""
        self.replace(at, at, text)

    def append(self, text: str) -> None:
        """Adds a text at the end."""
        end = len(self.text)
        self.replace(end, end, text)

    def set_text(self, text: str) -> None:
        """Replaces the part of the text that differs from `text`. Concurrent edits outside this part are preserved."""
        before = self.text
        start = 0
        shorter = min(len(before), len(text))
        while start < shorter and before[start] == text[start]:
            start += 1
        end = 0
        while end < shorter - start and before[-1 - end] == text[-1 - end]:
            end += 1
        self.replace(start, len(before) - end, text[start : len(text) - end])

    async def saved(self) -> None:
        """Waits until the gateway has stored all edits made here on disk.

        Raises ChangesRefused, NoteUnavailable, ConnectionEnded; and NoAnswer after an outage of connect()'s `timeout`:
        the edits remain then, and are sent later.
        """
        async with self._engine.limit():
            while self.unsaved:
                if self.refusal:
                    raise ChangesRefused(self.id, self.refusal)
                if self.state in ("failed", "deleted", "closed"):
                    raise self._state.unavailable()
                await self._state.wait()

    def retry(self) -> None:
        """Sends rejected edits again, or tries again to open the note."""
        self._engine.do("reopen" if self.state == "failed" else "retryRefused", self.id)

    def discard_unsaved(self) -> None:
        """Discards unsaved edits, and restores the gateway's text."""
        self._engine.do("discard", self.id)

    def changes(self) -> Events[Changed]:
        """Returns edits from this call on, by others and by this program, until the note is closed or deleted.

        `text` may be ahead of the iterator: it includes edits that the reader has not read yet. After 1,000 unread
        edits the iterator raises Overflowed, and ConnectionEnded if the connection has ended.
        """
        reader = _Changes(self.id)
        if self.state in ("deleted", "closed"):
            return ended(reader, None)
        if self._engine.ended:
            return ended(reader, self._engine.ended)
        self._state.readers.add(reader)
        return reader

    async def close(self) -> None:
        """Closes the note, once all edits are saved; without a connection immediately. Edits stored in the folder
        are sent when the note is opened again, others as soon as there is a connection."""
        if self.state == "live" and not self.refusal:
            await self.saved()
        self._leave()


class NoteState:
    """A client's state of a note."""

    def __init__(self, engine: Engine, id: str, has_formats: bool) -> None:
        self.engine = engine
        self.id = id
        self.has_formats = has_formats
        self.kind = "plain"
        self.title = ""
        self.phase = "opening"
        self.access = "write"
        self.unsaved = 0
        self.refusal = ""
        self.failure = ""
        self.text: str | None = None
        self.readers: Readers[Changed] = Readers()
        self._news = News()

    def unavailable(self) -> NoteUnavailable:
        """Returns the error for a note that cannot be used."""
        # To the gateway, a note that was deleted before it was opened here is one that never was.
        is_unknown = self.phase == "deleted" and self.text is None
        return NoteUnavailable(self.id, "unknownDocument" if is_unknown else self.failure or self.phase)

    async def wait(self) -> None:
        """Returns at the next change; raises ConnectionEnded."""
        self.engine.check()
        await self._news.wait()

    def close(self) -> None:
        """Closes the note for this client."""
        self.phase = "closed"
        self.end(None)

    def take(self, action: Action) -> None:
        """Applies an action of the core."""
        match action.kind:
            case "status":
                phase, self.failure, self.access, self.unsaved, self.refusal, _ = action.values
                self.phase = {"joining": "opening", "leaving": "closed", "left": "closed"}.get(phase, phase)
                if self.phase in ("deleted", "closed"):
                    self.end(None)
            case "title":
                (self.title,) = action.values
            case "reset":
                self.text = action.values[0]
                self.readers.tell(Changed((), is_own=False, text=self.text))
            case "apply":
                self._apply(action.values[1], action.values[2], is_own=False)
            case "step":
                self._apply(action.values[0], action.values[1], is_own=True)
            case "becomes":
                (self.kind,) = action.values
        self._news.stir()

    def _apply(self, changes: tuple[tuple[int, int, str], ...], form: str, is_own: bool) -> None:
        """Applies others' edits and undone ones: sorted, in units of the text before all of them."""
        if (not changes and not form) or self.text is None:
            return
        before = self.text
        told = []
        edits = []
        pieces: list[str] = []
        # Positions in the text before, in characters and in units, and the shift by the edits so far.
        character = unit = moved = 0
        for start, count, text in changes:
            first = character + _characters(before, character, start - unit)
            last = first + _characters(before, first, count)
            pieces += (before[character:first], text)
            edits.append((first, last, text))
            told.append(Change(first + moved, last + moved, text))
            moved += len(text) - (last - first)
            character, unit = last, start + count
        self.text = "".join(pieces) + before[character:]
        delta = deltas.of_change(before, edits, form) if self.has_formats else []
        self.readers.tell(Changed(tuple(told), is_own=is_own, delta=delta))

    def end(self, error: Exception | None) -> None:
        """Ends all iterators."""
        self.readers.end(error)
        self._news.stir()


class _Changes(Events[Changed]):
    """A note's changes for one reader."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self._note = note

    def _shorten(self) -> None:
        self._waiting.pop()
        self._end(Overflowed(f"expected changes of {self._note} to be read: {EVENTS_MAX} were waiting"))


def _place(text: str, units: int) -> int:
    """Converts a position in units to characters; a position beyond the end becomes the end."""
    if text.isascii():
        return min(units, len(text))
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "replace"))
