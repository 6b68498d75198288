"""A room: what is published there, in order and each once, and the people who are there."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .core import Action, CoreError
from .engine import Engine, News
from .errors import Overflowed, ParleyError, PublishRefused, RoomUnavailable
from .events import EVENTS_MAX, Event, Events, Readers, ended


# Python refuses to read numbers of many more digits.
_DIGITS_MAX = 4_000


def _integer(digits: str) -> float:
    """A number; a float if it is too long, since no publication may end another client's connection."""
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


@dataclass(frozen=True, slots=True)
class Position:
    """The place of a publication in a room's history; another epoch means another history."""

    epoch: str
    offset: int


@dataclass(frozen=True, slots=True)
class Publication:
    """Something that was published."""

    data: Any
    """What JSON says."""
    position: Position
    """Its place; keep it, and give it to `Client.room` as `since` in the next process."""
    time: int
    """Milliseconds since 1970, by the gateway's clock."""
    person_id: str
    """The person who published it, stamped by the gateway; "" where nobody is known."""
    sender_id: str
    """What the publisher called itself, or ""."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Publications between the two places are missing: they are no longer known, or the reader was too slow.

    Fetch the room's subject again.
    """

    after: Position
    through: Position


@dataclass(frozen=True, slots=True)
class ResourceUpdate:
    """The resource that the room is named after has changed: fetch it again. Rooms do not remember these."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """How far a publication of this program's has come with a person."""

    position: Position
    """The publication's place."""
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
    """A room. Made by `Client.room`."""

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
        """opening, live, away (no connection; what is missed comes later), failed, closed."""
        return self._state.phase

    @property
    def failure(self) -> str:
        """Why it cannot be heard, in the state failed: an error code of the protocol, or readingLost."""
        return self._state.failure

    @property
    def position(self) -> Position | None:
        """The place of the newest publication that came."""
        return self._state.position

    async def opened(self) -> None:
        """Returns when the room is heard. Raises RoomUnavailable, ConnectionEnded."""
        while self.state != "live":
            if self.state in ("failed", "closed"):
                raise RoomUnavailable(self.name, self.failure or self.state)
            await self._state.wait()

    async def publish(self, data: Any, *, key: str | None = None, sender_id: str = "") -> Position:
        """Publishes what `json.dumps` takes; returns its place when it is on the gateway's disk.

        Without a connection it waits, in memory, with at most 999 others. Under one `key` it is published once, however
        often it is tried; one is made if there is none. `sender_id`: a name by which an app knows its own again.

        Raises PublishRefused, RoomUnavailable, ConnectionEnded, and ValueError or TypeError for what is no JSON.
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
        # A caller that stops waiting for it does not keep others from it.
        return await asyncio.shield(answer)

    def publications(self) -> Events[RoomNews]:
        """What is published from now on, in order, each once, with gaps and resource updates between.

        1,000 of them wait for the loop; when more come, the older half gives way to one `Gap`. It ends when the room is
        closed. Raises RoomUnavailable when it cannot be heard, ConnectionEnded when the connection has ended.
        """
        return self._open(_News(), self._state.readers)

    def confirm(self, position: Position, stage: str = "read") -> None:
        """Tells a publication's author that it was `delivered` to this program, or `read`; it never goes back.

        It waits for a connection. Raises RoomUnavailable, ConnectionEnded, and ValueError for a place of another
        history or an invalid stage.
        """
        if stage not in ("delivered", "read"):
            raise ValueError("expected the stage delivered or read")
        self._engine.do("confirm", self.name, self._offset(position), stage == "read")

    async def receipts_of(self, position: Position) -> dict[str, str]:
        """How far a publication of this program's has come: `delivered` or `read`, by the people's ids.

        Raises RoomUnavailable, with the protocol's error code if the server refuses; ConnectionEnded, ValueError.
        """
        offset = self._offset(position)
        question = self._state.questions.get(offset)
        if question is None:
            question = self._state.questions[offset] = asyncio.get_running_loop().create_future()
            self._engine.do("askReceipts", self.name, offset)
        return await asyncio.shield(question)

    def receipts(self) -> Events[Receipt]:
        """Receipts of this program's publications, from this call on.

        Those of the time without a connection are not sent later: `receipts_of` says what holds. After 1,000
        unread receipts it raises Overflowed; otherwise it ends as `publications` does.
        """
        return self._open(_Receipts(self.name), self._state.hearers)

    @property
    def people(self) -> list[RoomPerson]:
        """The people who are there, this program included; none unless it was opened with `is_present`."""
        present, typing = self._engine.core.room_people(self.name)
        own = self._engine.person_id
        return [RoomPerson(*person, person[0] in typing, person[0] == own) for person in present]

    @property
    def typists(self) -> list[str]:
        """The ids of the people who type."""
        return self._engine.core.room_people(self.name)[1]

    @property
    def is_typing(self) -> bool:
        """Whether the others see that this program types. It stays so until it is set to False."""
        return self._is_typing

    @is_typing.setter
    def is_typing(self, is_typing: bool) -> None:
        if is_typing != self._is_typing and self.state != "closed":
            self._is_typing = is_typing
            self._engine.do("typing", self.name, is_typing)

    async def changed(self) -> None:
        """Returns at the next news of state, people or typists; raises ConnectionEnded where there is none to come."""
        await self._state.wait()

    def retry(self) -> None:
        """Tries again to hear it, after a failure."""
        if self.state == "failed":
            self._state.subscribe()

    def close(self) -> None:
        """Unsubscribes. Publishing continues, but its answer is not awaited."""
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
        """Adds an iterator, unless nothing will come."""
        if self.state == "closed":
            return ended(reader, None)
        if self.state == "failed":
            return ended(reader, RoomUnavailable(self.name, self.failure))
        if self._engine.ended:
            return ended(reader, self._engine.ended)
        readers.add(reader)
        return reader


class RoomState:
    """What a client knows of a room."""

    def __init__(self, engine: Engine, name: str, is_present: bool, since: Position | None) -> None:
        self.engine = engine
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

    def subscribe(self) -> None:
        """Asks the gateway for what is published from the position on."""
        position = self.position or Position("", 0)
        self.engine.do("subscribe", self.name, self._is_present, position.epoch, position.offset)

    def be_present(self) -> None:
        """Shows this program in the room."""
        if not self._is_present:
            self._is_present = True
            self.subscribe()

    def take(self, action: Action) -> None:
        """Follows an action of the core."""
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
        """Gives news to all iterators."""
        self.readers.tell(news)

    def end(self, error: ParleyError | None, unanswered: ParleyError) -> None:
        """Ends all iterators, and fails the requests that have no answer."""
        for key in list(self.answers):
            self._answer(key, unanswered)
        for offset in list(self.questions):
            _settle(self.questions.pop(offset), unanswered)
        self.readers.end(error)
        self.hearers.end(error)
        self._news.stir()


def _settle(future: asyncio.Future[Any] | None, answer: Any) -> None:
    """Gives the waiting callers a result, or an error."""
    if future is None or future.done():
        return
    if isinstance(answer, ParleyError):
        future.set_exception(answer)
        # A caller that has stopped waiting does not raise it.
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
    """A room's news for one reader."""

    def _shorten(self) -> None:
        """Puts one gap in place of the older half."""
        dropped = [self._waiting.popleft() for _ in range(len(self._waiting) // 2 + 1)]
        placed = [news for news in dropped if not isinstance(news, ResourceUpdate)]
        if not placed:
            # Of many updates the last says it all.
            self._waiting.appendleft(dropped[-1])
            return
        first, last = placed[0], placed[-1]
        after = first.after if isinstance(first, Gap) else Position(first.position.epoch, first.position.offset - 1)
        self._waiting.appendleft(Gap(after, last.through if isinstance(last, Gap) else last.position))
