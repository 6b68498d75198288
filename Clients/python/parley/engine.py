"""The client core on the event loop: events go in, and the resulting actions are performed in order."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable

from .core import Action, Core
from .doors import create_core
from .errors import ConnectionEnded, NoAnswer


class Engine:
    """The core of one client, in one thread."""

    def __init__(self, perform: Callable[[Action], None], timeout: float | None = None) -> None:
        self.core = Core(create_core())
        self.problem = ""
        """The reason why there is no connection, in words; "" once the gateway has accepted the client."""
        self._timeout = timeout
        self._offline_since: float | None = time.monotonic()
        self._waits: dict[asyncio.Timeout, float] = {}
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

    def edit(self, note: str, changes: list[tuple[int, int, str]], form: str | None) -> None:
        """Makes edits of a note, as `Core.edit` does."""
        self._act(self.core.edit(self.now(), note, changes, form))

    def check(self) -> None:
        """Raises RuntimeError in another thread, and ConnectionEnded after the end."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("expected a call in the client's own thread; use loop.call_soon_threadsafe elsewhere")
        if self.ended:
            raise self.ended

    @contextlib.asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Cancels the block and raises NoAnswer after one timeout without a connection, or four timeouts altogether."""
        since = time.monotonic()
        limit = asyncio.timeout(self._left(since))
        self._waits[limit] = since
        try:
            async with limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise NoAnswer(self.problem, self._offline_since is None) from None
            raise
        finally:
            del self._waits[limit]

    def connection_changed(self, is_online: bool) -> None:
        """Updates the deadlines of all waits."""
        if is_online:
            self._offline_since = None
        elif self._offline_since is None:
            self._offline_since = time.monotonic()
        for limit, since in self._waits.items():
            left = self._left(since)
            if left is not None and limit.when() is not None and not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time() + left)

    def _left(self, since: float) -> float | None:
        """Returns the seconds until the deadline of a wait that began at `since`; None without a timeout."""
        if self._timeout is None:
            return None
        end = since + 4 * self._timeout
        if self._offline_since is not None:
            end = min(end, max(since, self._offline_since) + self._timeout)
        return max(0.0, end - time.monotonic())

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
