"""A note, as a program writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from .core import Action, Change
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
    """Where the selections begin and where their carets are, in characters."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Edits that were made, in order; each counts in the text after those before it.

    `is_own`: this program made them. `text` is set instead of edits when the whole text is another: at first, and after
    a return from long ago.
    """

    changes: tuple[Change, ...]
    is_own: bool
    text: str | None = None


class Note:
    """A note. Positions count characters, as Python's strings do. Made by `Client.note`.

    Writing returns at once; `saved` returns when the gateway has everything on its disk. Without a connection edits
    wait, and are sent once there is one.
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
        """Edits that the gateway has not confirmed to be stored."""
        return self._state.unsaved

    @property
    def refusal(self) -> str:
        """Why the gateway does not take the edits at hand: an error code of the protocol."""
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
    def revision(self) -> int:
        """The newest revision of the gateway that is known here."""
        return self._engine.core.revision(self.id)

    @property
    def people(self) -> list[Person]:
        """The other people in the note; of a crowd, the ones that acted last."""
        text = self._state.text or ""
        people = []
        for id, name, color, is_writing, selections in self._engine.core.people(self.id):
            places = tuple((_place(text, anchor), _place(text, head)) for anchor, head in selections)
            people.append(Person(id, name, color, is_writing, places))
        return people

    def select(self, anchor: int, head: int | None = None) -> None:
        """Shows the others a caret at `head`, and a selection from `anchor`.

        Raises IndexError where there are no such places, ConnectionEnded.
        """
        self._engine.check()
        text = self.text
        head = anchor if head is None else head
        if not (0 <= anchor <= len(text) and 0 <= head <= len(text)):
            raise IndexError(f"expected places from 0 to {len(text)}, got {anchor} and {head}")
        self._engine.do("select", self.id, _units(text, 0, anchor), _units(text, 0, head))

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces the characters from `start` to `end`.

        Raises IndexError where there are none, NoteUnavailable where the note may not be written, ConnectionEnded.
        """
        self._engine.check()
        before = self.text
        if not 0 <= start <= end <= len(before):
            raise IndexError(f"expected 0 <= start <= end <= {len(before)}, got {start} and {end}")
        if self.state in ("failed", "deleted", "closed"):
            raise self._state.unavailable()
        if self.access == "read":
            raise NoteUnavailable(self.id, "readOnly")
        # Halves of surrogate pairs have no form in UTF-8.
        text = text.encode("utf-16-le").decode("utf-16-le", "replace")
        if start == end and not text:
            return
        at = _units(before, 0, start)
        self._state.text = before[:start] + text + before[end:]
        self._engine.edit(self.id, at, _units(before, start, end), text)
        self._state.readers.tell(Changed((Change(start, end, text),), is_own=True))

    def insert(self, at: int, text: str) -> None:
        """Inserts a text before the character at `at`."""
        self.replace(at, at, text)

    def append(self, text: str) -> None:
        """Adds a text at the end."""
        end = len(self.text)
        self.replace(end, end, text)

    def set_text(self, text: str) -> None:
        """Makes this the text, by replacing what differs: what others write around it stays."""
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
        """Returns when the gateway has all edits made here on its disk, however long it cannot be reached.

        Raises ChangesRefused, NoteUnavailable, ConnectionEnded.
        """
        while self.unsaved:
            if self.refusal:
                raise ChangesRefused(self.id, self.refusal)
            if self.state in ("failed", "deleted", "closed"):
                raise self._state.unavailable()
            await self._state.wait()

    def retry(self) -> None:
        """Sends refused edits again, or tries again to open the note."""
        self._engine.do("reopen" if self.state == "failed" else "retryRefused", self.id)

    def discard_unsaved(self) -> None:
        """Drops the edits that are not saved, and takes the gateway's text."""
        self._engine.do("discard", self.id)

    def changes(self) -> Events[Changed]:
        """Edits from this call on, by others and by this program, until the note is closed or deleted.

        The text that they lead to is `text` at the time of the first one not read yet: an iterator that is behind sees
        the edits later than `text` shows them. After 1,000 unread edits it raises Overflowed, and ConnectionEnded
        where the connection has ended.
        """
        reader = _Changes(self.id)
        if self.state in ("deleted", "closed"):
            return ended(reader, None)
        if self._engine.ended:
            return ended(reader, self._engine.ended)
        self._state.readers.add(reader)
        return reader

    async def close(self) -> None:
        """Stops listening, once all edits are saved; without a connection at once. Edits that are kept are sent when the
        note is opened again, others as soon as there is a connection."""
        if self.state == "live" and not self.refusal:
            await self.saved()
        self._leave()


class NoteState:
    """What a client knows of a note."""

    def __init__(self, engine: Engine, id: str) -> None:
        self.engine = engine
        self.id = id
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
        """Why the note cannot be used."""
        return NoteUnavailable(self.id, self.failure or self.phase)

    async def wait(self) -> None:
        """Returns at the next change; raises ConnectionEnded."""
        self.engine.check()
        await self._news.wait()

    def close(self) -> None:
        """Ends it for this client."""
        self.phase = "closed"
        self.end(None)

    def take(self, action: Action) -> None:
        """Follows an action of the core."""
        match action.kind:
            case "status":
                phase, self.failure, self.access, self.unsaved, self.refusal, _ = action.values
                self.phase = {"joining": "opening", "leaving": "closed", "left": "closed"}.get(phase, phase)
                if self.phase in ("deleted", "closed"):
                    self.end(None)
            case "title":
                (self.title,) = action.values
            case "reset":
                (self.text,) = action.values
                self.readers.tell(Changed((), is_own=False, text=self.text))
            case "apply":
                self._apply(action.values[1])
        self._news.stir()

    def _apply(self, changes: tuple[tuple[int, int, str], ...]) -> None:
        """Others' edits: ascending, in units of the text before all of them."""
        if not changes or self.text is None:
            return
        before = self.text
        told = []
        pieces: list[str] = []
        # In characters and units of the text before, and how far those before have moved what follows.
        character = unit = moved = 0
        for start, count, text in changes:
            first = character + _characters(before, character, start - unit)
            last = first + _characters(before, first, count)
            pieces += (before[character:first], text)
            told.append(Change(first + moved, last + moved, text))
            moved += len(text) - (last - first)
            character, unit = last, start + count
        self.text = "".join(pieces) + before[character:]
        self.readers.tell(Changed(tuple(told), is_own=False))

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


def _units(text: str, start: int, end: int) -> int:
    """The UTF-16 units of a part of a text."""
    if text.isascii():
        return end - start
    return len(text[start:end].encode("utf-16-le")) // 2


def _place(text: str, units: int) -> int:
    """The place of the character after so many units; the end for a place beyond it."""
    if text.isascii():
        return min(units, len(text))
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "replace"))


def _characters(text: str, start: int, units: int) -> int:
    """The characters that so many units from `start` are."""
    if text.isascii():
        return units
    # As many characters have that many units or more. Encoded, the units are counted by bytes.
    encoded = text[start : start + units].encode("utf-16-le")
    return len(encoded[: 2 * units].decode("utf-16-le"))
