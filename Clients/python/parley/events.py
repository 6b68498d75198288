"""News as iterators: each for one reader, with a bound."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TypeVar
from weakref import WeakSet

Event = TypeVar("Event")

#: Events that an iterator holds for a reader that is behind.
EVENTS_MAX = 1_000


class Events(AsyncIterator[Event]):
    """Events in their order, from the call that has made this iterator on.

    To wait for one with a time limit loses none: `await asyncio.wait_for(anext(events), 5)`. A reader that has heard
    enough calls `aclose`, or drops the iterator.
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
        """Ends it; what waits is dropped."""
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
        """What waits comes first, then the error, if there is one."""
        if not self._is_over:
            self._is_over, self._error = True, error
            self._came.set()

    def _shorten(self) -> None:
        """Does what this kind of iterator does when its reader is too far behind."""
        raise NotImplementedError


def ended(reader: Events[Event], error: Exception | None) -> Events[Event]:
    """Ends an iterator for which no event will come."""
    reader._end(error)
    return reader


class Readers(WeakSet[Events[Event]]):
    """The iterators of the same events. A dropped iterator is removed."""

    def tell(self, event: Event) -> None:
        """Gives an event to all."""
        for reader in self:
            reader._put(event)

    def end(self, error: Exception | None) -> None:
        """Ends all."""
        for reader in self:
            reader._end(error)
        self.clear()
