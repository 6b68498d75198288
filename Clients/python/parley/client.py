"""A connection to a gateway. The client core contains the rules of the protocol; the socket, the clock and the disk
are here."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import websockets

from .core import Action, CoreError
from .doors import load_core
from .engine import Engine, News
from .errors import ConnectionEnded, NoteUnavailable, ParleyError, StorageFailed
from .note import Note, NoteState
from .notes import Notes
from .notices import Notices
from .position import Position
from .requests import Requests
from .room import ResourceUpdate, Room, RoomState
from .values import Hub
from .storage import EditFolder

TokenSource = Callable[[], "str | None | Awaitable[str | None]"]

_log = logging.getLogger("parley")
#: The subprotocol of Documentation/Protocol.md.
_SUBPROTOCOL = websockets.Subprotocol("parley.v1")
#: Close codes about tokens, of Documentation/Protocol.md: missing or invalid, expired, revoked.
_ACCESS_CODES = (4502, 4507, 4508)
#: Maximum refused tokens in a row after which the client asks for another one.
_REFUSALS_MAX = 2
#: Seconds before the second call of a token function that failed, and their maximum; they double with each call.
_TOKEN_PAUSE = 1.0
_TOKEN_PAUSE_MAX = 30.0
#: The close code for a hello that is not understood, and the core's errors for a reply that is not.
_BAD_MESSAGE = 4500
_VERSION_ERRORS = ("badMessage", "unknownType")
#: Maximum bytes of a message: a text of 4 MB in JSON, with room to spare.
_MESSAGE_BYTES_MAX = 64 << 20


class connect:
    """Connects to a gateway: `async with connect("https://notes.example.org", name="Bot") as client:`.

    - `name`, `color`: the name and colour that other users see.
    - `token`: a function, async or not, that returns the token; called before each connection and when a token expires.
    - `keep`: a folder for this client alone, in which unsaved edits outlive the process. Without one, they are in
      memory.
    - `timeout`: the maximum seconds for which a call waits without a connection. It then raises NoAnswer; edits and
      publications remain queued. With a connection, but without an answer, four times as long. None: without limit.

    The block begins before the connection is established; a note has its text when `await client.note(id)` returns. The
    end of the block waits until everything is saved, if there is a connection, and closes the connection.
    """

    _client: Client

    def __init__(
        self,
        url: str,
        *,
        name: str = "Python",
        color: str = "#4b5563",
        token: TokenSource | None = None,
        keep: str | os.PathLike[str] | None = None,
        timeout: float | None = 30.0,
    ) -> None:
        self._url = _address(url)
        self._of = (name, color, token, keep, timeout)

    async def __aenter__(self) -> Client:
        # Compiling WebAssembly takes about a second: on another thread, so that the loop is not blocked.
        await asyncio.to_thread(load_core)
        self._client = Client(self._url, *self._of)
        try:
            await self._client._open()
        except BaseException:
            # For example, the token function failed: release the folder.
            await self._client.close(wait=False)
            raise
        return self._client

    async def __aexit__(self, kind: type | None, *_: object) -> None:
        await self._client.close(wait=kind is None)


class open_note:
    """Connects and opens one note by its address, as the browser shows it:
    `async with open_note("https://notes.example.org/n/minutes", name="Bot") as note:`.

    It takes the arguments of `connect`, raises what `Client.note` raises, and waits at its end as `connect` does. The
    parts of the address after `#` or `?` are ignored: pass a shared link's token as `token`.
    """

    def __init__(
        self,
        address: str,
        *,
        name: str = "Python",
        color: str = "#4b5563",
        token: TokenSource | None = None,
        keep: str | os.PathLike[str] | None = None,
        timeout: float | None = 30.0,
    ) -> None:
        parts = urlsplit(address)
        gateway, between, note = parts.path.rpartition("/n/")
        if not between or not note or "/" in note:
            raise ValueError("expected a note's address, such as https://notes.example.org/n/minutes")
        self._note = unquote(note)
        self._connection = connect(
            urlunsplit((parts.scheme, parts.netloc, gateway, "", "")), name=name, color=color, token=token, keep=keep,
            timeout=timeout,
        )  # fmt: skip

    async def __aenter__(self) -> Note:
        client = await self._connection.__aenter__()
        try:
            return await client.note(self._note)
        except BaseException:
            await client.close(wait=False)
            raise

    async def __aexit__(self, *raised: Any) -> None:
        await self._connection.__aexit__(*raised)


def _address(url: str) -> str:
    """Returns the address of the gateway's WebSocket."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("expected the gateway's address, such as https://notes.example.org")
    path = parts.path.rstrip("/") + "/ws"
    return urlunsplit(("wss" if parts.scheme == "https" else "ws", parts.netloc, path, "", ""))


def _origin(url: str) -> str:
    """Returns the gateway's address, from that of its WebSocket."""
    return "http" + url.removeprefix("ws").removesuffix("/ws")


class Client:
    """A client of a gateway. Created by `connect`; belongs to the thread and the event loop in which it was created.

    From another thread: `loop.call_soon_threadsafe(note.append, "text")`, or `asyncio.run_coroutine_threadsafe`.
    """

    def __init__(
        self, url: str, name: str, color: str, token: TokenSource | None, keep: str | os.PathLike[str] | None,
        timeout: float | None,
    ) -> None:  # fmt: skip
        self.state = "connecting"
        """connecting, online, waiting (the gateway cannot be reached; the client retries), stopped."""
        self._url = url
        self._profile = (name, color)
        requests = Requests(_origin(url), self._request_token, timeout)
        self.notes = Notes(requests)
        """Requests about notes, which need not be open: create, list, search, rename, move, delete, restore, share,
        history, versions, comments, files."""
        self.notices = Notices(requests)
        """Requests about the user's notices: list, count, mark as read."""
        self._source = token
        self._token: str | None = None
        self._refused: str | None = None
        self._refusals = 0
        self._engine = Engine(self._perform, timeout)
        self._folder = EditFolder(keep) if keep is not None else None
        self._hub = Hub(self._engine, self._put, self._folder)
        self._notes: dict[str, tuple[Note, NoteState]] = {}
        self._rooms: dict[str, tuple[Room, RoomState]] = {}
        self._claims: dict[str, tuple[str, str]] = {}
        self._claim: tuple[str, str] | None = None
        self._kept: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._socket: asyncio.Task[None] | None = None
        self._outgoing: asyncio.Queue[str] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._news = News()

    async def until(self, state: str) -> None:
        """Returns when `state` has this value. Raises ConnectionEnded if the client stops instead, and NoAnswer."""
        async with self._engine.limit():
            while self.state != state:
                self._engine.check()
                await self._news.wait()

    @property
    def problem(self) -> str:
        """The reason why there is no connection, in words: the token function failed, the gateway cannot be reached, or
        it has ended the connection; "" once the gateway has accepted the client."""
        return self._engine.problem

    async def note(self, id: str, *, create: str | None = None, formats: bool = False) -> Note:
        """Opens a note, and returns when it has its text. The same id returns the same note.

        `formats`: this program reads and changes the note's formatting; otherwise the note is its text alone.

        Raises NoteUnavailable, ConnectionEnded, StorageFailed, NoAnswer.
        """
        if not id:
            raise ValueError("expected a note's id, got none")
        self._engine.check()
        if formats and id in self._notes and not self._notes[id][1].has_formats:
            raise ValueError("the note is open without formats; close it first")
        if id not in self._notes:
            state = NoteState(self._engine, id, formats)
            self._notes[id] = (Note(state, lambda: self._leave(state)), state)
            try:
                self._restore_or_open(id, "Formatted" if formats else "")
            except StorageFailed:
                # When the folder can be read again, the note is opened as if for the first time.
                del self._notes[id]
                raise
        note, state = self._notes[id]
        async with self._engine.limit():
            while state.text is None:
                if state.phase in ("failed", "deleted", "closed"):
                    self._notes.pop(id, None)
                    raise state.unavailable()
                await state.wait()
        return note

    def room(self, name: str, *, is_present: bool = False, since: Position | None = None) -> Room:
        """Subscribes to a room. The same name returns the same room, until it is closed.

        - `is_present`: this program appears in the room's presence, and receives it.
        - `since`: the position of the last processed publication; those after it are delivered first, or a `Gap`.

        Raises ConnectionEnded.
        """
        if not name:
            raise ValueError("expected a room's name, got none")
        self._engine.check()
        if name not in self._rooms:
            state = RoomState(self._engine, self._hub, name, is_present, since)
            self._rooms[name] = (Room(state, lambda: self._forget_room(name)), state)
            state.subscribe()
        room, state = self._rooms[name]
        if is_present:
            state.be_present()
        return room

    @property
    def person_id(self) -> str:
        """This program's id in rooms, once the gateway has answered: the token's user, or an id that the gateway
        assigned."""
        return self._engine.person_id

    def set_profile(self, *, name: str | None = None, color: str | None = None) -> None:
        """Changes the name and colour that other users see; omitted arguments are not changed. Raises
        ConnectionEnded."""
        self._engine.check()
        self._profile = (name or self._profile[0], color or self._profile[1])
        self._engine.do("profile", *self._profile)

    @property
    def core(self) -> str:
        """How the client core runs: library, or wasm if the package's library does not work on this machine."""
        return self._engine.core.kind

    @property
    def unsaved(self) -> int:
        """The number of edits of all open notes that the gateway has not confirmed."""
        return sum(state.unsaved for _, state in self._notes.values())

    @property
    def left_behind(self) -> list[str]:
        """The notes with edits that an earlier process left in the folder. They are sent when the note is opened."""
        return [note for note in (self._folder.notes if self._folder else []) if note not in self._notes]

    async def close(self, *, wait: bool = True) -> None:
        """Closes the client; if there is a connection, once everything is saved.

        Raises ChangesRefused or NoteUnavailable if edits of a note could not be saved; edits of other notes are saved.
        """
        if self._is_closed:
            return
        problem = None
        try:
            if wait and self.state == "online":
                waiting = (note.saved() for note, state in list(self._notes.values()) if state.phase == "live")
                told = await asyncio.gather(*waiting, return_exceptions=True)
                problem = next((each for each in told if isinstance(each, BaseException)), None)
        finally:
            if self.unsaved and not self._folder:
                _log.warning("the client is closed with %d edits that are not saved", self.unsaved)
            # A client that was never started has nothing to store, nor to stop.
            with contextlib.suppress(CoreError):
                # The newest edits may not be stored yet.
                self._engine.do("suspending")
            self._is_closed = True
            self._engine.ended = ConnectionEnded("closed")
            with contextlib.suppress(CoreError):
                self._engine.do("stop")
            for _, note in self._notes.values():
                note.close()
            for _, room in self._rooms.values():
                room.end(ConnectionEnded("closed"), ConnectionEnded("closed"))
            self._hub.end(ConnectionEnded("closed"))
            self._news.stir()
            if self._timer:
                self._timer.cancel()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._folder:
                self._folder.close()
        if problem:
            raise problem

    # The core.

    async def _open(self) -> None:
        claim = self._folder.claim if self._folder else None
        if claim:
            self._claim = claim
            self._claims[claim[0]] = claim
        self._engine.core.create(*self._profile, random.getrandbits(52), claim)
        await self._ask_token()
        self._engine.do("start")

    def _restore_or_open(self, note: str, how: str) -> None:
        kept = self._folder.kept(note) if self._folder else None
        if self._folder and kept:
            try:
                self._kept.add(note)
                self._engine.do("restore" + how, note, *kept)
                return
            except CoreError:
                self._kept.discard(note)
                self._folder.set_aside(note)
                _log.warning("edits of a note were kept by another version; they are set aside in the client's folder")
        self._engine.do("open" + how, note)

    def _perform(self, action: Action) -> None:
        match action.kind:
            case "connect":
                self._hang_up()
                self._outgoing = asyncio.Queue()
                self._socket = self._spawn(self._run_socket(self._outgoing))
            case "disconnect":
                self._hang_up()
            case "send":
                self._put(self._hub.outgoing(action.values[0]))
            case "wake":
                self._wake_at(action.values[0])
            case "claim":
                self._claimed(*action.values)
            case "line":
                self._became(*action.values)
            case "welcome":
                self._engine.person_id = action.values[3]
            case "resource" if action.values[0] in self._rooms:
                self._rooms[action.values[0]][1].tell(ResourceUpdate())
            case "tokenEnds":
                self._spawn(self._renew())
            case "keep":
                self._keep(action.note, *action.values)
            case "forget":
                self._forget(action.note)
            case _ if action.room in self._rooms:
                self._rooms[action.room][1].take(action)
            case _ if action.note in self._notes:
                self._notes[action.note][1].take(action)

    def _put(self, message: str) -> None:
        if self._outgoing:
            self._outgoing.put_nowait(message)

    def _wake_at(self, at: float) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if at >= 0:
            delay = max(0.0, (at - self._engine.now()) / 1_000)
            self._timer = asyncio.get_running_loop().call_later(delay, self._engine.do, "wake")

    def _became(self, state: str, _until: int, code: int, error: str) -> None:
        self.state = state
        self._engine.connection_changed(state == "online")
        if state != "online":
            self._hub.disconnected()
        self._news.stir()
        if state == "online":
            self._refused, self._refusals = None, 0
            self._engine.problem = ""
        if state == "stopped" and not self._is_closed:
            is_access = error == "unauthorised" or code in _ACCESS_CODES
            if is_access and self._source and self._refusals < _REFUSALS_MAX:
                self._refusals += 1
                self._refused = self._token
                self._spawn(self._renew())
                return
            is_other = error in _VERSION_ERRORS or code == _BAD_MESSAGE
            refused = "otherVersion" if is_other else "refused" if code or error else "closed"
            self._end("noAccess" if is_access else refused, code)

    def _end(self, reason: str, code: int = 0, cause: Exception | None = None) -> None:
        ended = self._engine.ended = ConnectionEnded(reason, code)
        ended.__cause__ = cause
        self.state = "stopped"
        self._engine.problem = str(ended)
        self._news.stir()
        for _, note in self._notes.values():
            note.end(ended)
        for _, room in self._rooms.values():
            room.end(ended, ended)
        self._hub.end(ended)

    def _leave(self, note: NoteState) -> None:
        if note.id in self._notes and self._notes[note.id][1] is note:
            self._engine.do("leave", note.id)
            self._notes.pop(note.id, None)
            note.close()

    def _forget_room(self, name: str) -> None:
        self._rooms.pop(name, None)
        self._hub.forget(name)

    # Tokens.

    async def _ask_token(self) -> None:
        if self._source is None:
            return
        given = self._source()
        if inspect.isawaitable(given):
            self._engine.problem = "the token function has not returned yet"
            async with self._engine.limit():
                token = await given
            self._engine.problem = ""
        else:
            token = given
        if token is not None and token != self._token:
            self._token = token
            self._engine.do("token", token)

    async def _request_token(self, is_refused: bool) -> str | None:
        """Returns the token for a request."""
        if is_refused:
            await self._ask_token()
        return self._token

    async def _renew(self) -> None:
        """Gets another token, and continues with it."""
        is_stopped = self.state == "stopped"
        pause = _TOKEN_PAUSE
        while not await self._has_asked():
            if is_stopped and not self._is_closed:
                self.state = "waiting"
                self._news.stir()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _TOKEN_PAUSE_MAX)
        if self._is_closed or not is_stopped:
            return
        if self._token is None or self._token == self._refused:
            self._end("noAccess")
        else:
            self._engine.do("start")

    async def _has_asked(self) -> bool:
        """Calls the token function; returns False if it failed."""
        try:
            await self._ask_token()
        except Exception as error:
            # The program's own error; the current token is valid until it expires. The error's text may contain
            # anything.
            self._engine.problem = f"the token function failed with {type(error).__name__}"
            _log.warning("%s", self._engine.problem)
            return self._is_closed
        return True

    # The socket.

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _hang_up(self) -> None:
        task, self._socket, self._outgoing = self._socket, None, None
        if task and task is not asyncio.current_task():
            task.cancel()

    async def _run_socket(self, outgoing: asyncio.Queue[str]) -> None:
        """Runs one connection, from its opening to its end."""
        code = 1006
        try:
            async with websockets.connect(
                self._url, subprotocols=[_SUBPROTOCOL], max_size=_MESSAGE_BYTES_MAX,
                # The core sends its own pings, and decides when to close.
                ping_interval=None, open_timeout=None, compression=None, user_agent_header="parley-python",
            ) as socket:  # fmt: skip
                self._engine.do("opened")
                sender = self._spawn(self._send_all(socket, outgoing))
                try:
                    async for message in socket:
                        if self._outgoing is not outgoing:
                            return
                        for each in self._hub.incoming(message):
                            self._engine.do("received", each)
                finally:
                    sender.cancel()
                code = socket.close_code or 1006
        except (OSError, websockets.WebSocketException, asyncio.TimeoutError) as error:
            if isinstance(error, websockets.InvalidStatus):
                # A gateway accepts every connection: this address belongs to another server, or to a proxy.
                self._engine.problem = f"expected a gateway, got the HTTP status {error.response.status_code}"
                _log.warning("%s", self._engine.problem)
            else:
                self._engine.problem = f"the connection ended: {type(error).__name__}"
                _log.info("%s", self._engine.problem)
            if isinstance(error, websockets.ConnectionClosed) and error.rcvd:
                code = error.rcvd.code
        except Exception as error:
            # For example, a proxy that websockets does not support: each further attempt would fail as well.
            _log.warning("the connection failed: %s", type(error).__name__)
            if self._outgoing is outgoing and not self._is_closed:
                self._outgoing = None
                self._end("failed", cause=error)
            return
        if self._outgoing is outgoing and not self._is_closed:
            self._outgoing = None
            self._engine.do("closed", code)

    @staticmethod
    async def _send_all(socket: websockets.ClientConnection, outgoing: asyncio.Queue[str]) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await socket.send(await outgoing.get())

    # The disk.

    def _claimed(self, client: str, resume_token: str) -> None:
        self._claim = (client, resume_token)
        self._claims[client] = self._claim
        if self._folder:
            with self._said_when_failing():
                self._folder.keep_claim(client, resume_token)

    def _keep(self, note: str, is_required: bool, client: str, tag: str, edits: str) -> None:
        if self._folder is None:
            self._engine.do("unkept", note)
            return
        began = time.monotonic()
        try:
            self._folder.keep(note, client, edits, tag, lambda: self._engine.core.kept_text(note))
        except StorageFailed as error:
            _log.warning("%s", error)
            # A process that restored the older stored edits would send edits twice.
            if is_required:
                self._forget(note)
            self._engine.do("keepFailed", note)
            return
        self._kept.add(note)
        self._engine.do("kept", note, round((time.monotonic() - began) * 1_000))

    def _forget(self, note: str) -> None:
        if self._folder and note in self._kept:
            self._kept.discard(note)
            with self._said_when_failing():
                self._folder.forget(note)

    @contextlib.contextmanager
    def _said_when_failing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ParleyError) as error:
            _log.warning("the client's folder cannot be written: %s", type(error).__name__)
