"""Events as iterators, each for one reader, with a bound."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TypeVar
from weakref import WeakSet

Event = TypeVar("Event")

#: Maximum events that wait in an iterator for its reader.
EVENTS_MAX = 1_000


class Events(AsyncIterator[Event]):
    """Events in order, from the creation of this iterator on.

    A time limit loses no event: `await asyncio.wait_for(anext(events), 5)`. A reader that needs no more events calls
    `aclose`, or drops the iterator.
    """

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque()
        self._came = asyncio.Event()
        self._is_over = False
        self._error: Exception | None = None

    def __aiter__(self) -> Events[Event]:
        return self

    async def __anext__(self) -> Event:
        while not self._waiting:
            if self._is_over:
                error, self._error = self._error, None
                raise error or StopAsyncIteration
            self._came.clear()
            await self._came.wait()
        return self._waiting.popleft()

    async def aclose(self) -> None:
        """Ends the iterator, and drops the waiting events."""
        self._waiting.clear()
        self._end(None)

    def _put(self, event: Event) -> None:
        if self._is_over:
            return
        self._waiting.append(event)
        if len(self._waiting) > EVENTS_MAX:
            self._shorten()
        self._came.set()

    def _end(self, error: Exception | None) -> None:
        """Ends the iterator after the waiting events, with an error if there is one."""
        if not self._is_over:
            self._is_over, self._error = True, error
            self._came.set()

    def _shorten(self) -> None:
        """Called when more than EVENTS_MAX events wait: drops some, or ends with an error."""
        raise NotImplementedError


def ended(reader: Events[Event], error: Exception | None) -> Events[Event]:
    """Ends an iterator for which no event will come, and returns it."""
    reader._end(error)
    return reader


class Readers(WeakSet[Events[Event]]):
    """The iterators of the same events. A dropped iterator is removed."""

    def tell(self, event: Event) -> None:
        """Adds an event to all iterators."""
        for reader in self:
            reader._put(event)

    def end(self, error: Exception | None) -> None:
        """Ends all iterators."""
        for reader in self:
            reader._end(error)
        self.clear()
