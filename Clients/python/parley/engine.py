"""The client core on the event loop: events go in, and the resulting actions are performed in order."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable

from .core import Action, Core
from .doors import create_core
from .errors import ConnectionEnded


class Engine:
    """The core of one client, in one thread."""

    def __init__(self, perform: Callable[[Action], None]) -> None:
        self.core = Core(create_core())
        self.ended: ConnectionEnded | None = None
        """The reason why the client has ended; None while it runs."""
        self.person_id = ""
        self._perform = perform
        self._actions: deque[Action] = deque()
        self._acting = False
        self._thread = threading.get_ident()

    def now(self) -> int:
        """Returns milliseconds of a monotonic clock."""
        return int(time.monotonic() * 1_000)

    def do(self, kind: str, *values: str | bytes | float) -> None:
        """Passes an event to the core."""
        self._act(self.core.handle(self.now(), kind, *values))

    def edit(self, note: str, start: int, count: int, text: str) -> None:
        """Replaces units of a note's text."""
        self._act(self.core.edit(self.now(), note, [(start, count, text)]))

    def check(self) -> None:
        """Raises RuntimeError in another thread, and ConnectionEnded after the end."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("expected a call in the client's own thread; use loop.call_soon_threadsafe elsewhere")
        if self.ended:
            raise self.ended

    def _act(self, actions: list[Action]) -> None:
        """Performs the core's actions in order: all actions of one event before those of the next."""
        self._actions.extend(actions)
        if self._acting:
            return
        self._acting = True
        try:
            while self._actions:
                self._perform(self._actions.popleft())
        finally:
            self._acting = False


class News:
    """Wakes all callers that wait for the next change of a state."""

    def __init__(self) -> None:
        self._came = asyncio.Event()

    async def wait(self) -> None:
        """Returns at the next change."""
        await self._came.wait()

    def stir(self) -> None:
        """Wakes the callers."""
        self._came.set()
        self._came = asyncio.Event()
