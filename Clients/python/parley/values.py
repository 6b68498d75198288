"""Values of rooms: shared state that every member sees and changes.

The client core knows publications with data. This module reads the connection's messages before the core does: it
follows the operations on values, and hides from the core what it does not know.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import random
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Protocol

from .engine import Engine, News
from .errors import ChangedSince, ParleyError, PublishRefused, StorageFailed, TooManyConflicts, ValueConflict
from .position import Position
from .storage import EditFolder
from .undo import MISSING, Operation, Part, Undo, applied, inverse, name_of

_log = logging.getLogger("parley")
_TRIES_MAX = 25
"""Maximum tries of a transaction."""
_WAITING_MAX = 1_000
"""Maximum own changes of a room without an answer."""
_KEEP_SECONDS = 0.05
"""The time after which a change that was sent, but not answered, is stored. Most are answered earlier."""
_FORGET_SECONDS = 1.0
"""The time after which an answered change is removed. Sent again under its key, it would be stored once."""
_KEY_SECONDS = 20 * 3_600
"""The time for which the server surely knows a key: a day by default."""


class _Pending:
    """A change of this program's that the server's values do not contain yet."""

    def __init__(self, operations: list[Operation], key: str, if_offsets: dict[str, int] | None) -> None:
        self.operations = operations
        self.key = key
        self.if_offsets = if_offsets
        self.offset: int | None = None
        self.client = ""
        """The client id under which it was first sent."""
        self.time = 0
        """The time at which it was first sent, in seconds since 1970."""
        self.is_sent = False
        self.is_settling = False
        """Whether it was stored before the last subscription, which brings it, or shows that the server lost it."""
        self.answer: asyncio.Future[Position] = asyncio.get_running_loop().create_future()

    @classmethod
    def of(cls, kept: dict[str, Any]) -> _Pending:
        """Returns a change that an earlier process has stored."""
        pending = cls(kept["operations"], kept["key"], kept["ifOffsets"])
        pending.client, pending.time = kept["client"], kept["time"]
        return pending

    @property
    def kept(self) -> dict[str, Any]:
        """What is stored of it."""
        return {
            "operations": self.operations, "key": self.key, "ifOffsets": self.if_offsets, "client": self.client,
            "time": self.time,
        }  # fmt: skip


class Values(Mapping[str, Any]):
    """The values of a room, as a read-only mapping; changed by its methods. Created by `Room.values`.

    Own changes show at once, are applied again over each change of others, and are withdrawn if they are refused.
    Without a connection they wait, and are sent once and in order. If `connect` has a folder to keep edits, they outlive
    the process, and are sent when the room's values are used again.
    """

    def __init__(self, hub: Hub, room: str) -> None:
        self._hub = hub
        self._room = room
        self._values: dict[str, Any] = {}
        self._offsets: dict[str, int] = {}
        self._ranges: list[tuple[str | None, int]] = []
        self._epoch = ""
        self._offset = 0
        self._former: set[str] = set()
        self._is_complete = False
        self._is_live = False
        self._pending: list[_Pending] = []
        self._listeners: list[Callable[[set[str]], None]] = []
        self._refusal_listeners: list[Callable[[list[Operation], ParleyError], None]] = []
        self._kept: list[dict[str, Any]] = []
        """The changes on disk."""
        self._keeping: asyncio.TimerHandle | None = None
        self._ready = asyncio.Event()
        self._page_request = ""
        self._undo = Undo()
        self._undoing = asyncio.Lock()
        self._before = Position("", 0)
        """The position up to which publications had arrived before the values were read again."""
        self._news = News()

    # Reading.

    async def ready(self) -> None:
        """Returns when all values have arrived. Raises ConnectionEnded, NoAnswer."""
        async with self._hub.engine.limit():
            await self._ready.wait()

    @property
    def is_ready(self) -> bool:
        """Whether all values have arrived."""
        return self._is_complete

    @property
    def waiting(self) -> int:
        """The number of own changes without an answer."""
        return sum(1 for change in self._pending if change.offset is None)

    def __getitem__(self, name: str) -> Any:
        value = self._shown().get(name, MISSING)
        if value is MISSING:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._shown())

    def __len__(self) -> int:
        return len(self._shown())

    def offset(self, name: str) -> int:
        """Returns the offset of the last change of a value; 0 if there is none. For conditions."""
        return self._offsets.get(name, 0)

    def on_change(self, listener: Callable[[set[str]], None]) -> Callable[[], None]:
        """Calls a function with the names that have changed, after each change. Returns a function that ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_refused(self, listener: Callable[[list[Operation], ParleyError], None]) -> Callable[[], None]:
        """Calls a function with the operations and the error of each own change that fails, also those of an earlier
        process. Returns a function that ends this."""
        self._refusal_listeners.append(listener)
        return lambda: self._refusal_listeners.remove(listener)

    # Changing.

    async def set(self, name: str, value: Any, *, ttl: int | None = None, while_connected: bool = False) -> Position:
        """Replaces a value. `ttl`: seconds after which the server deletes it unless it changes."""
        return await self.change([_bound({"set": name, "to": value}, ttl, while_connected)])

    async def merge(self, name: str, fields: dict[str, Any], *, ttl: int | None = None) -> Position:
        """Merges fields into a value (JSON Merge Patch): None removes a field."""
        return await self.change([_bound({"merge": name, "with": fields}, ttl, False)])

    async def add(self, name: str, number: int = 1) -> Position:
        """Adds an integer to a value; a missing one is 0."""
        return await self.change([{"add": name, "by": number}])

    async def delete(self, name: str) -> Position:
        """Removes a value, if there is one."""
        return await self.change([{"delete": name}])

    async def change(
        self, operations: list[Operation], *, if_offsets: dict[str, int] | None = None, key: str | None = None
    ) -> Position:
        """Makes several changes, all or none. Returns the position once the gateway has stored them on disk.

        `if_offsets`: the offset at which each of these names must have changed last, 0 if it must not exist. Raises
        ValueConflict otherwise; PublishRefused, ConnectionEnded, NoAnswer.
        """
        return await self._change(operations, if_offsets, key, "change")

    async def _change(
        self, operations: list[Operation], if_offsets: dict[str, int] | None, key: str | None, cause: str
    ) -> Position:
        self._hub.engine.check()
        if self.waiting >= _WAITING_MAX:
            raise PublishRefused(self._room, "tooMany")
        operations = json.loads(json.dumps(operations, allow_nan=False))
        pending = _Pending(operations, key or secrets.token_hex(16), if_offsets)
        self._pending.append(pending)
        self._undo.propose(pending.key, cause)
        self._tell({name_of(operation) for operation in operations})
        self._send_pending()
        async with self._hub.engine.limit():
            return await asyncio.shield(pending.answer)

    async def transaction(
        self, names: Collection[str], update: Callable[[dict[str, Any]], list[Operation] | None], *,
        tries: int = _TRIES_MAX,
    ) -> Position | None:  # fmt: skip
        """Changes values that depend on values: publishes the operations that `update` returns for the values of the
        names, if none of them was changed meanwhile. Otherwise it is called again with the current values.

        `update` gets the values on the server's disk, without missing ones. Nothing is published if it returns nothing.
        Waits for a connection. Raises TooManyConflicts after the last try; NoAnswer after an outage of connect()'s
        `timeout`: a try that was sent remains queued, with its conditions. PublishRefused, ConnectionEnded.
        """
        async with self._hub.engine.limit():
            await self._until(lambda: self._is_current(names))
            base = {name: self._stored(name) for name in names}
            count = 1
            while True:
                values = {name: copy.deepcopy(value) for name, (value, _) in base.items() if value is not MISSING}
                operations = update(values)
                if not operations:
                    return None
                offsets = {name: offset for name, (_, offset) in base.items()}
                try:
                    return await self._change(operations, offsets, None, "change")
                except ValueConflict as error:
                    if count >= tries:
                        raise TooManyConflicts(self._room, error.values) from None
                    base |= {name: _item(item) for name, item in error.values.items()}
                await self._pause(count)
                await self._until(lambda: self._is_live)
                count += 1

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._undo.steps["undo"])

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""
        return bool(self._undo.steps["redo"])

    async def undo(self) -> Position | None:
        """Undoes this program's last change by a new change, which restores what that one replaced. Changes of others
        stay. Returns None if there is nothing to undo.

        Waits for a connection. Raises ChangedSince if another client has changed the same name or field since: nothing
        is changed, and the next undo is for the change before. NoAnswer, PublishRefused, ConnectionEnded.
        """
        return await self._revert("undo")

    async def redo(self) -> Position | None:
        """Undoes the last undo, under the same conditions. Another change ends it."""
        return await self._revert("redo")

    async def _revert(self, cause: str) -> Position | None:
        async with self._hub.engine.limit(), self._undoing:
            steps = self._undo.steps[cause]
            if not steps:
                return None
            step = steps[-1]
            offset = 0
            for count in range(1, _TRIES_MAX + 1):
                await self._until(lambda: step not in steps or self._is_known(step.key, offset))
                if step not in steps:
                    # It was refused meanwhile.
                    return None
                operations, offsets, changed = inverse(step, self._stored)
                try:
                    if step.parts is None:
                        raise PublishRefused(self._room, "unsure")
                    if changed:
                        raise ChangedSince(self._room, changed)
                    position = await self._change(operations, offsets, None, cause) if operations else None
                except ValueConflict as error:
                    if count < _TRIES_MAX:
                        # Publications show whether the other change was of the same fields.
                        offset = max((_item(item)[1] for item in error.values.values()), default=0)
                        await self._pause(count)
                        continue
                    self._undo.remove(step.key)
                    raise TooManyConflicts(self._room, error.values) from None
                except BaseException:
                    self._undo.remove(step.key)
                    raise
                self._undo.remove(step.key)
                return position
        return None

    def _is_known(self, key: str, offset: int) -> bool:
        """Whether the server's values contain an own change, and all others up to an offset."""
        is_pending = any(change.key == key for change in self._pending)
        return self._is_live and self._is_complete and not is_pending and self._offset >= offset

    def _is_current(self, names: Collection[str]) -> bool:
        """Whether the server's values of the names are known, and contain all own changes."""
        is_pending = any(name_of(each) in names for change in self._pending for each in change.operations)
        return self._is_live and self._is_complete and not is_pending

    def _stored(self, name: str) -> tuple[Any, int]:
        return self._values.get(name, MISSING), self.offset(name)

    async def _until(self, condition: Callable[[], bool]) -> None:
        self._hub.check(self._room, self)
        while not condition():
            await self._news.wait()
            self._hub.check(self._room, self)

    @staticmethod
    async def _pause(count: int) -> None:
        """Waits before another try, longer after each, so that of many clients one succeeds."""
        await asyncio.sleep(random.random() * min(0.02 * (count - 1), 0.4))

    def signal(self, name: str, data: Any) -> None:
        """Sends an event of at most 4 KiB to the other subscribers; dropped without a connection."""
        if self._is_live:
            self._hub.send("signal", {"room": self._room, "name": name, "data": data})

    # The connection.

    def subscribed(self, data: dict[str, Any]) -> None:
        self._is_live = True
        self._page_request = ""
        if "values" in data:
            self._begin(data["epoch"], data["offset"])
            self._add_page(data)
        elif data.get("recovered") and data["epoch"] == self._epoch:
            for publication in data.get("publications", []):
                self.published(self._epoch, publication)
            self._offset = max(self._offset, data["offset"])
            self._settle()
        else:
            self._begin(data["epoch"], data["offset"])
        self._pending = [change for change in self._pending if not change.is_settling]
        self._request_page()
        for change in list(self._pending):
            # Under another client, or when the server has forgotten the key, it could be stored twice.
            is_old = change.time and not change.is_sent and time.time() - change.time > _KEY_SECONDS
            if change.client and (change.client != self._hub.client or is_old):
                self._withdraw(change, PublishRefused(self._room, "unsure"))
        self._send_pending()
        self._news.stir()

    def end(self, error: Exception) -> None:
        """Fails the calls that wait, because no answer will come."""
        for change in self._pending:
            if not change.answer.done():
                change.answer.set_exception(error)
                change.answer.exception()
        self._keep()
        self._news.stir()

    def disconnected(self) -> None:
        self._is_live = False
        self._page_request = ""
        for change in self._pending:
            change.is_sent = change.is_settling = change.offset is not None
        self._keep()

    def paged(self, request: str, data: dict[str, Any]) -> None:
        if request != self._page_request:
            return
        self._page_request = ""
        if data["epoch"] != self._epoch:
            self._begin(data["epoch"], data["offset"])
        else:
            self._add_page(data)
        self._request_page()
        self._news.stir()

    def published(self, epoch: str, publication: dict[str, Any]) -> None:
        offset = publication["offset"]
        if epoch != self._epoch or offset <= self._offset:
            return
        self._offset = offset
        changed = set()
        parts: list[Part] = []
        for operation in publication.get("values", []):
            name = name_of(operation)
            if not self._counts(name, offset):
                continue
            before = self._values.get(name, MISSING)
            value = applied(before, operation)
            parts.append(Part(operation, before))
            changed.add(name)
            if value is MISSING:
                self._values.pop(name, None)
                self._offsets.pop(name, None)
            else:
                self._values[name] = value
                self._offsets[name] = offset
        key = publication.get("senderId", "")
        self._undo.published(key, len(publication.get("values", [])), parts)
        self.answered(key, Position(epoch, offset))
        if changed and self._is_complete:
            self._tell(changed)

    def answered(self, key: str, position: Position) -> None:
        for change in self._pending:
            if change.key == key:
                change.offset = position.offset
                if not change.answer.done():
                    change.answer.set_result(position)
        if self._kept:
            self._keep_within(_FORGET_SECONDS)
        self._settle()
        self._news.stir()

    def refused(self, key: str, error: dict[str, Any]) -> None:
        for change in [change for change in self._pending if change.key == key]:
            if error.get("retryable"):
                change.is_sent = False
                delay = error.get("retryAfter", 1_000) / 1_000
                asyncio.get_running_loop().call_later(delay, self._send_pending)
                return
            code = error["code"]
            self._withdraw(
                change,
                ValueConflict(self._room, error.get("values", {}))
                if code == "conflict" else PublishRefused(self._room, code),
            )  # fmt: skip

    def _withdraw(self, change: _Pending, error: ParleyError) -> None:
        self._pending = [other for other in self._pending if other is not change]
        self._undo.remove(change.key)
        if not change.answer.done():
            change.answer.set_exception(error)
            change.answer.exception()
        self._keep()
        self._news.stir()
        for listener in list(self._refusal_listeners):
            listener(change.operations, error)
        self._tell({name_of(operation) for operation in change.operations})

    def restore(self) -> None:
        """Takes the changes that an earlier process has stored. Raises StorageFailed."""
        if self._hub.folder is None:
            return
        self._kept = self._hub.folder.kept_changes(self._room)
        self._pending = [_Pending.of(kept) for kept in self._kept]

    def _keep(self) -> None:
        """Stores the changes without an answer."""
        if self._keeping is not None:
            self._keeping.cancel()
            self._keeping = None
        kept = [change.kept for change in self._pending if change.offset is None]
        if self._hub.folder is None or kept == self._kept:
            return
        self._kept = kept
        try:
            self._hub.folder.keep_changes(self._room, kept)
        except StorageFailed as error:
            _log.warning("%s", error)

    def _keep_within(self, seconds: float) -> None:
        """Stores the changes without an answer, together with those of the next time."""
        if self._hub.folder is None:
            return
        loop = asyncio.get_running_loop()
        if self._keeping is not None and self._keeping.when() > loop.time() + seconds:
            self._keeping.cancel()
            self._keeping = None
        self._keeping = self._keeping or loop.call_later(seconds, self._keep)

    def _send_pending(self) -> None:
        if not self._is_live:
            return self._keep_within(0)
        due = [change for change in self._pending if not change.is_sent and change.offset is None]
        unsent = {kept["key"] for kept in self._kept if not kept["client"]}
        for change in due:
            change.is_sent = True
            change.client = change.client or self._hub.client
            change.time = change.time or int(time.time())
        if any(change.key in unsent for change in due):
            # What is stored as not sent would be sent under any client id.
            self._keep()
        self._keep_within(_KEEP_SECONDS)
        for change in due:
            data: dict[str, Any] = {
                "room": self._room, "values": change.operations, "key": change.key, "senderId": change.key,
            }  # fmt: skip
            if change.if_offsets:
                data["ifOffsets"] = change.if_offsets
            self._hub.send("publish", data, change.key, self._room)

    # Pages.

    def _begin(self, epoch: str, offset: int) -> None:
        if self._is_complete:
            self._before = Position(self._epoch, self._offset)
        if epoch != self._epoch:
            # Of a former history, the pages contain what was not lost.
            self._pending = [change for change in self._pending if change.offset is None]
        self._epoch, self._offset = epoch, offset
        self._former |= set(self._values)
        self._values, self._offsets, self._ranges = {}, {}, []
        self._is_complete = False

    def _add_page(self, data: dict[str, Any]) -> None:
        for name, item in data["values"].items():
            self._values[name] = item["value"]
            self._offsets[name] = item["offset"]
        has_more = bool(data.get("more"))
        last = max(data["values"], key=lambda name: name.encode(), default=None)
        self._ranges.append((last if has_more else None, data["offset"]))
        if not has_more:
            self._is_complete = True
            self._settle()
            before = self._before
            self._undo.reread(lambda name: before.epoch != self._epoch or self.offset(name) > before.offset)
            self._ready.set()
            former, self._former = self._former, set()
            self._tell(former | set(self._values))

    def _request_page(self) -> None:
        if self._is_complete or not self._is_live:
            return
        data = {"room": self._room}
        if self._ranges and self._ranges[-1][0] is not None:
            data["after"] = self._ranges[-1][0]
        self._page_request = self._hub.send("values", data, "", self._room)

    def _counts(self, name: str, offset: int) -> bool:
        """Whether an operation is not in the page that covers its name."""
        if not self._ranges:
            return self._is_complete
        for through, position in self._ranges:
            if through is None or name.encode() <= through.encode():
                return offset > position
        return False

    def _settle(self) -> None:
        if self._is_complete and all(position <= self._offset for _, position in self._ranges):
            self._ranges = []
        self._pending = [change for change in self._pending if change.offset is None or change.offset > self._offset]

    def _shown(self) -> dict[str, Any]:
        """Returns the server's values with own changes over them."""
        if not self._pending:
            return self._values
        shown = dict(self._values)
        for operation in (operation for change in self._pending for operation in change.operations):
            name = name_of(operation)
            try:
                value = applied(shown.get(name, MISSING), operation)
            except ValueError:
                # It will be refused, or fits again after others' changes.
                continue
            if value is MISSING:
                shown.pop(name, None)
            else:
                shown[name] = value
        return shown

    def _tell(self, names: Collection[str]) -> None:
        for listener in list(self._listeners):
            listener({*names})


def _item(item: dict[str, Any]) -> tuple[Any, int]:
    """Returns the value and the offset of a name in a conflict."""
    offset = int(item["offset"])
    return (item["value"] if offset > 0 else MISSING), offset


def _bound(operation: Operation, ttl: int | None, while_connected: bool) -> Operation:
    if ttl is not None:
        operation["ttl"] = ttl
    if while_connected:
        operation["while"] = "connected"
    return operation


class Followed(Protocol):
    """A room whose values are followed."""

    @property
    def is_present(self) -> bool: ...

    @property
    def position(self) -> Position | None: ...


class Hub:
    """The values of a client's rooms, between its socket and its core."""

    def __init__(self, engine: Engine, put: Callable[[str], None], folder: EditFolder | None) -> None:
        self.engine = engine
        self.folder = folder
        self.client = ""
        self._put = put
        self._rooms: dict[str, Values] = {}
        self._requests: dict[str, tuple[str, str]] = {}
        self._wished: set[str] = set()
        """The core's subscriptions to which a wish for values was added."""
        self._signals: dict[str, list[Callable[[str, str, Any], None]]] = {}
        self._next = 1

    def follow(self, room: str, state: Followed) -> Values:
        """Returns the values of a room, and follows them from now on. Raises StorageFailed."""
        if room not in self._rooms:
            values = Values(self, room)
            values.restore()
            self._rooms[room] = values
            if self.client:
                data: dict[str, Any] = {"room": room, "values": True, "presence": state.is_present}
                if state.position:
                    data["position"] = {"epoch": state.position.epoch, "offset": state.position.offset}
                self.send("subscribe", data, "", room)
        return self._rooms[room]

    def check(self, room: str, values: Values) -> None:
        """Raises ConnectionEnded, or PublishRefused if the values belong to a room that was closed."""
        self.engine.check()
        if self._rooms.get(room) is not values:
            raise PublishRefused(room, "closed")

    def forget(self, room: str) -> None:
        """Ends the values of a room that was closed."""
        self._signals.pop(room, None)
        values = self._rooms.pop(room, None)
        if values is not None:
            values.disconnected()
            values.end(PublishRefused(room, "closed"))

    def end(self, error: Exception) -> None:
        """Fails all calls that wait, because the client has ended."""
        for values in self._rooms.values():
            values.end(error)

    def on_signal(self, room: str, listener: Callable[[str, str, Any], None]) -> None:
        """Calls a function with the name, the client and the data of each signal in a room."""
        self._signals.setdefault(room, []).append(listener)

    def send(self, kind: str, data: dict[str, Any], key: str = "", room: str = "") -> str:
        """Sends a message of this module. Returns its id."""
        name = f"v{self._next}"
        self._next += 1
        self._requests[name] = (room, key)
        self._put(_text({"messageId": name, "type": kind, "data": data}))
        return name

    def outgoing(self, text: str) -> str:
        """Returns a message of the core, with a wish for values where they are followed."""
        if not self._rooms or '"type":"subscribe"' not in text:
            return text
        message = json.loads(text)
        if message["data"]["room"] not in self._rooms:
            return text
        message["data"]["values"] = True
        self._wished.add(message["messageId"])
        return _text(message)

    def incoming(self, text: str | bytes) -> list[str | bytes]:
        """Handles a message of the server. Returns the messages that the core gets."""
        if isinstance(text, bytes):
            return [text]
        if '"type":"welcome"' in text[:80]:
            self.client = json.loads(text)["data"]["clientId"]
            return [text]
        head = text[:120]
        if not (self._rooms or self._signals) or not any(f'"type":"{kind}"' in head for kind in _KINDS):
            return [text]
        message = json.loads(text)
        kind, data, name = message["type"], message["data"], message.get("messageId", "")
        if kind == "signal":
            for listener in self._signals.get(data["room"], []):
                listener(data["name"], data.get("clientId", ""), data["data"])
            return []
        if name in self._requests:
            return self._answer(name, kind, data, *self._requests.pop(name))
        values = self._rooms.get(data.get("room", ""))
        if values is None:
            return [text]
        if kind == "subscribed" and name in self._wished:
            self._wished.discard(name)
            values.subscribed(data)
            data["publications"] = [each for each in data.get("publications", []) if "data" in each]
            return [_text(message)]
        if kind == "publication":
            values.published(data["epoch"], data)
            return [text] if "data" in data else []
        return [text]

    def _answer(self, name: str, kind: str, data: dict[str, Any], room: str, key: str) -> list[str | bytes]:
        values = self._rooms.get(room)
        if values is None:
            return []
        if kind == "values":
            values.paged(name, data)
        elif kind == "published":
            values.answered(key, Position(data["epoch"], data["offset"]))
        elif kind == "error" and key:
            values.refused(key, data)
        elif kind == "subscribed":
            values.subscribed(data)
            # What was published meanwhile comes with this reply alone.
            return [
                _text({"messageId": "s", "type": "publication", "data": {"room": room, "epoch": data["epoch"], **each}})
                for each in data.get("publications", []) if "data" in each
            ]  # fmt: skip
        return []

    def disconnected(self) -> None:
        """Forgets requests that will not be answered."""
        self.client = ""
        self._requests.clear()
        self._wished.clear()
        for values in self._rooms.values():
            values.disconnected()


def _text(message: dict[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


_KINDS = ("subscribed", "publication", "values", "published", "error", "signal")
