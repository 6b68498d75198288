"""A room: its publications, in order and each once, and the people present."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .core import Action, CoreError
from .engine import Engine, News
from .errors import Overflowed, ParleyError, PublishRefused, RoomUnavailable
from .events import EVENTS_MAX, Event, Events, Readers, ended
from .position import Position

if TYPE_CHECKING:
    from .values import Hub, Values

# Python raises an error for integers with many more digits.
_DIGITS_MAX = 4_000


def _integer(digits: str) -> float:
    """Returns an integer, or a float if it is too long: no publication may end another client's connection."""
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


@dataclass(frozen=True, slots=True)
class Publication:
    """A publication in a room."""

    data: Any
    """The decoded JSON."""
    position: Position
    """Its position; store it, and pass it to `Client.room` as `since` in the next process."""
    time: int
    """Milliseconds since 1970 of the gateway's clock."""
    person_id: str
    """The publisher, as verified by the gateway; "" if unknown."""
    sender_id: str
    """The publisher's own id for itself, or ""."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Publications between the two positions are missing: the gateway no longer has them, or the reader was too slow.

    Fetch the room's data again.
    """

    after: Position
    through: Position


@dataclass(frozen=True, slots=True)
class ResourceUpdate:
    """The resource that the room is named after has changed: fetch it again. Rooms do not store these updates."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The delivery state of a publication of this program, for one person."""

    position: Position
    """The publication's position."""
    person_id: str
    stage: str
    """delivered or read."""


@dataclass(frozen=True, slots=True)
class RoomPerson:
    """A person in a room."""

    id: str
    name: str
    color: str
    is_typing: bool
    is_self: bool


RoomNews = Publication | Gap | ResourceUpdate


class Room:
    """A room. Created by `Client.room`."""

    def __init__(self, state: RoomState, forget: Callable[[], None]) -> None:
        self._state = state
        self._engine = state.engine
        self._forget = forget
        self._is_typing = False

    @property
    def name(self) -> str:
        """The room's name."""
        return self._state.name

    @property
    def state(self) -> str:
        """opening, live, away (no connection; missed publications are delivered later), failed, closed."""
        return self._state.phase

    @property
    def failure(self) -> str:
        """Why the subscription failed, in the state failed: an error code of the protocol, or readingLost."""
        return self._state.failure

    @property
    def position(self) -> Position | None:
        """The position of the newest publication that was received."""
        return self._state.position

    @property
    def values(self) -> Values:
        """The room's values: shared state that every member sees and changes."""
        return self._state.hub.follow(self.name, self._state)

    def on_signal(self, listener: Callable[[str, str, Any], None]) -> None:
        """Calls a function with the name, the client's id and the data of each signal in the room."""
        self._state.hub.on_signal(self.name, listener)

    async def opened(self) -> None:
        """Returns when the room is live. Raises RoomUnavailable, ConnectionEnded, NoAnswer."""
        async with self._engine.limit():
            while self.state != "live":
                if self.state in ("failed", "closed"):
                    raise RoomUnavailable(self.name, self.failure or self.state)
                await self._state.wait()

    async def publish(self, data: Any, *, key: str | None = None, sender_id: str = "") -> Position:
        """Publishes data that `json.dumps` accepts. Returns its position once the gateway has stored it on disk.

        Without a connection it waits in memory, with at most 999 others. Data is published once for each `key`, even if
        it is sent again; default: a new key. `sender_id`: an id by which an app recognises its own publications.

        Raises PublishRefused, RoomUnavailable, ConnectionEnded, and ValueError or TypeError for data that is not JSON;
        NoAnswer after an outage of connect()'s `timeout`: the publication remains queued then.
        """
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if self.state == "closed":
            raise RoomUnavailable(self.name, "closed")
        self._engine.check()
        key = key or secrets.token_hex(16)
        if key in self._state.answers:
            asked, answer = self._state.answers[key]
            if asked != text:
                raise PublishRefused(self.name, "keyReused")
        else:
            answer = asyncio.get_running_loop().create_future()
            self._state.answers[key] = (text, answer)
            try:
                self._engine.do("publish", self.name, key, sender_id, text)
            except CoreError as error:
                del self._state.answers[key]
                raise ValueError("expected data nested at most 24 deep, of whole characters") from error
        # A cancelled caller does not cancel the publication for other callers.
        async with self._engine.limit():
            return await asyncio.shield(answer)

    def publications(self) -> Events[RoomNews]:
        """Returns publications from now on, in order, each once, with gaps and resource updates between them.

        At most 1,000 wait for the loop; beyond it, one `Gap` replaces the older half. It ends when the room is closed.
        Raises RoomUnavailable if the subscription is rejected, ConnectionEnded if the connection has ended.
        """
        return self._open(_News(), self._state.readers)

    def confirm(self, position: Position, stage: str = "read") -> None:
        """Confirms to the publisher that a publication was `delivered` to this program, or `read`; it is never revoked.

        It is sent when there is a connection. Raises RoomUnavailable, ConnectionEnded, and ValueError for a position of
        another history or an invalid stage.
        """
        if stage not in ("delivered", "read"):
            raise ValueError("expected the stage delivered or read")
        self._engine.do("confirm", self.name, self._offset(position), stage == "read")

    async def receipts_of(self, position: Position) -> dict[str, str]:
        """Returns the receipts of a publication of this program: `delivered` or `read`, by user id.

        Raises RoomUnavailable, with the protocol's error code if the server rejects this; ConnectionEnded, NoAnswer,
        ValueError.
        """
        offset = self._offset(position)
        question = self._state.questions.get(offset)
        if question is None:
            question = self._state.questions[offset] = asyncio.get_running_loop().create_future()
            self._engine.do("askReceipts", self.name, offset)
        async with self._engine.limit():
            return await asyncio.shield(question)

    def receipts(self) -> Events[Receipt]:
        """Returns receipts of this program's publications, from this call on.

        Receipts during an outage are not repeated: `receipts_of` returns the current ones. After 1,000 unread receipts
        it raises Overflowed; otherwise it ends as `publications` does.
        """
        return self._open(_Receipts(self.name), self._state.hearers)

    @property
    def people(self) -> list[RoomPerson]:
        """The people present, this program included; empty unless the room was opened with `is_present`."""
        present, typing = self._engine.core.room_people(self.name)
        own = self._engine.person_id
        return [RoomPerson(*person, person[0] in typing, person[0] == own) for person in present]

    @property
    def typists(self) -> list[str]:
        """The ids of the people who are typing."""
        return self._engine.core.room_people(self.name)[1]

    @property
    def is_typing(self) -> bool:
        """Whether the others see that this program is typing. It remains True until it is set to False."""
        return self._is_typing

    @is_typing.setter
    def is_typing(self, is_typing: bool) -> None:
        if is_typing != self._is_typing and self.state != "closed":
            self._is_typing = is_typing
            self._engine.do("typing", self.name, is_typing)

    async def changed(self) -> None:
        """Returns at the next change of state, people or typists; raises ConnectionEnded if the connection has
        ended."""
        await self._state.wait()

    def retry(self) -> None:
        """Subscribes again after a failure."""
        if self.state == "failed":
            self._state.subscribe()

    def close(self) -> None:
        """Unsubscribes. Pending publications may still be stored, but `publish` raises RoomUnavailable."""
        if self.state == "closed":
            return
        self.is_typing = False
        self._engine.do("unsubscribe", self.name)
        self._forget()
        self._state.phase = "closed"
        self._state.end(None, RoomUnavailable(self.name, "closed"))

    def _offset(self, position: Position) -> int:
        self._engine.check()
        if self.state == "closed":
            raise RoomUnavailable(self.name, "closed")
        if self.position is None or position.epoch != self.position.epoch:
            raise ValueError("expected the place of a publication in this room's history")
        return position.offset

    def _open(self, reader: Events[Event], readers: Readers[Event]) -> Events[Event]:
        """Adds an iterator, or ends it if no event will come."""
        if self.state == "closed":
            return ended(reader, None)
        if self.state == "failed":
            return ended(reader, RoomUnavailable(self.name, self.failure))
        if self._engine.ended:
            return ended(reader, self._engine.ended)
        readers.add(reader)
        return reader


class RoomState:
    """A client's state of a room."""

    def __init__(self, engine: Engine, hub: Hub, name: str, is_present: bool, since: Position | None) -> None:
        self.engine = engine
        self.hub = hub
        self.name = name
        self.phase = "opening"
        self.failure = ""
        self.position = since
        self.readers: Readers[RoomNews] = Readers()
        self.hearers: Readers[Receipt] = Readers()
        self.answers: dict[str, tuple[str, asyncio.Future[Position]]] = {}
        self.questions: dict[int, asyncio.Future[dict[str, str]]] = {}
        self._is_present = is_present
        self._news = News()

    async def wait(self) -> None:
        """Returns at the next change; raises ConnectionEnded."""
        self.engine.check()
        await self._news.wait()

    @property
    def is_present(self) -> bool:
        """Whether this program appears in the room's presence."""
        return self._is_present

    def subscribe(self) -> None:
        """Subscribes to the publications after the position."""
        position = self.position or Position("", 0)
        self.engine.do("subscribe", self.name, self._is_present, position.epoch, position.offset)

    def be_present(self) -> None:
        """Makes this program appear in the room's presence."""
        if not self._is_present:
            self._is_present = True
            self.subscribe()

    def take(self, action: Action) -> None:
        """Applies an action of the core."""
        match action.kind:
            case "publication":
                position, time, person, sender, text = action.values
                self.position = Position(*position)
                data = json.loads(text, parse_int=_integer)
                self.tell(Publication(data, self.position, time, person, sender))
            case "gap":
                after, through = (Position(*position) for position in action.values)
                self.position = through
                self.tell(Gap(after, through))
            case "position":
                self.position = Position(*action.values[0])
            case "published":
                self._answer(action.values[0], Position(*action.values[1]))
            case "publishFailed":
                self._answer(action.values[0], PublishRefused(self.name, action.values[1]))
            case "receipt":
                offset, receipts = action.values
                epoch = self.position.epoch if self.position else ""
                for person, stage in receipts:
                    self.hearers.tell(Receipt(Position(epoch, offset), person, stage))
            case "receipts":
                offset, receipts, code = action.values
                answer = RoomUnavailable(self.name, code) if code else dict(receipts)
                _settle(self.questions.pop(offset, None), answer)
            case "roomStatus":
                self.phase, self.failure = action.values
                if self.phase == "failed":
                    self.readers.end(RoomUnavailable(self.name, self.failure))
                    self.hearers.end(RoomUnavailable(self.name, self.failure))
        self._news.stir()

    def _answer(self, key: str, answer: Position | ParleyError) -> None:
        _settle(self.answers.pop(key, ("", None))[1], answer)

    def tell(self, news: RoomNews) -> None:
        """Adds an event to all iterators."""
        self.readers.tell(news)

    def end(self, error: ParleyError | None, unanswered: ParleyError) -> None:
        """Ends all iterators, and fails the pending requests."""
        for key in list(self.answers):
            self._answer(key, unanswered)
        for offset in list(self.questions):
            _settle(self.questions.pop(offset), unanswered)
        self.readers.end(error)
        self.hearers.end(error)
        self._news.stir()


def _settle(future: asyncio.Future[Any] | None, answer: Any) -> None:
    """Passes a result, or an error, to the waiting callers."""
    if future is None or future.done():
        return
    if isinstance(answer, ParleyError):
        future.set_exception(answer)
        # Prevents a warning if the caller has stopped waiting.
        future.exception()
    else:
        future.set_result(answer)


class _Receipts(Events[Receipt]):
    """A room's receipts for one reader."""

    def __init__(self, room: str) -> None:
        super().__init__()
        self._room = room

    def _shorten(self) -> None:
        self._waiting.pop()
        self._end(Overflowed(f"expected receipts in {self._room} to be read: {EVENTS_MAX} were waiting"))


class _News(Events[RoomNews]):
    """A room's events for one reader."""

    def _shorten(self) -> None:
        """Replaces the older half by one gap."""
        dropped = [self._waiting.popleft() for _ in range(len(self._waiting) // 2 + 1)]
        placed = [news for news in dropped if not isinstance(news, ResourceUpdate)]
        if not placed:
            # Resource updates contain no data, so one represents many.
            self._waiting.appendleft(dropped[-1])
            return
        first, last = placed[0], placed[-1]
        after = first.after if isinstance(first, Gap) else Position(first.position.epoch, first.position.offset - 1)
        self._waiting.appendleft(Gap(after, last.through if isinstance(last, Gap) else last.position))
