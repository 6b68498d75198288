"""Requests about notes, which need not be open: from creation to deletion. They use HTTP and the client's token
function."""

from __future__ import annotations

import asyncio
import dataclasses
import http.client
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .errors import NoAnswer, NoteUnavailable, RequestRefused

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class NoteInfo:
    """A note as the gateway lists it; times are in milliseconds since 1970."""

    id: str
    title: str
    revision: int
    created_at: int
    updated_at: int
    folder: str = ""
    may: tuple[str, ...] = ()
    """The rights of this program, in lists: read, write, presence, manage, comment."""


@dataclass(frozen=True, slots=True)
class NotePage:
    """A page of a list of notes."""

    notes: tuple[NoteInfo, ...]
    next: str = ""
    """`after` of the next page; "" on the last one."""


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A note that a search has found, with a part of its text."""

    id: str
    title: str
    place: dict[str, Any]
    """`text`, its `start` in the note, and the `marks` of the found words."""


@dataclass(frozen=True, slots=True)
class DeletedNote:
    """A deleted note that can be restored."""

    id: str
    title: str
    deleted_at: int
    deleted_by: str = ""


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link that opens a note; `url` is what its holders open."""

    id: str
    access: str
    """read, comment or write."""
    expires_at: int
    path: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text at a revision."""

    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class EditingSession:
    """The changes of all people without a pause of more than five minutes."""

    first_revision: int
    last_revision: int
    first_time: int
    last_time: int
    authors: tuple[dict[str, Any], ...]
    """Of each: `author`, `changes`, `inserted`, `deleted`."""


@dataclass(frozen=True, slots=True)
class NoteHistory:
    """A page of a note's history, the newest session first."""

    head: int
    oldest: int
    sessions: tuple[EditingSession, ...]
    before: int | None = None
    """`before` of the next page; None on the last one."""


@dataclass(frozen=True, slots=True)
class NoteVersion:
    """A named revision."""

    revision: int
    name: str
    time: int
    author: str = ""


@dataclass(frozen=True, slots=True)
class NoteComment:
    """A comment on a part of a note, or an answer to one."""

    id: str
    created_at: int
    author: str = ""
    mine: bool = False
    text: str = ""
    thread: str = ""
    """The first comment of the thread, for an answer."""
    place: dict[str, int] | None = None
    """`revision`, `from` and `to`, in characters."""
    resolved: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A file of a note; the note's text refers to it by `path`."""

    hash: str
    name: str
    bytes: int
    path: str


class Notes:
    """Requests about notes. Created by `Client.notes`.

    Each ends within connect()'s `timeout`. Raises NoteUnavailable with unknownDocument if no note has the id,
    RequestRefused with the protocol's error code, and NoAnswer.
    """

    def __init__(
        self, origin: str, token: Callable[[bool], Awaitable[str | None]], timeout: float | None
    ) -> None:  # fmt: skip
        self._origin = origin
        self._token = token
        self._timeout = timeout

    # Making and finding.

    async def create(self, title: str, *, id: str | None = None, folder: str | None = None) -> NoteInfo:
        """Creates a note. With an `id` of your own, a note that this client has created under it already is
        returned."""
        body = {"title": title, "folder": folder}
        method, path = ("POST", "/api/notes") if id is None else ("PUT", _note(id))
        return _read(NoteInfo, await self._ask(method, path, body, note=id))

    async def info(self, id: str) -> NoteInfo:
        """Returns a note."""
        return _read(NoteInfo, await self._ask("GET", _note(id), note=id))

    async def list(
        self, *, folder: str | None = None, tag: str | None = None, after: str | None = None, limit: int = 100
    ) -> NotePage:  # fmt: skip
        """Returns a page of the notes that this program may read; `folder=""` for those in none."""
        data = await self._ask("GET", _path("/api/notes", folder=folder, tag=tag, after=after, limit=limit))
        return NotePage(_all(NoteInfo, data["notes"]), data.get("next", ""))

    async def search(self, words: str, *, limit: int = 20) -> tuple[FoundNote, ...]:
        """Returns the notes with all of the words in title or text, the best first."""
        return _all(FoundNote, (await self._ask("GET", _path("/api/search", q=words, limit=limit)))["notes"])

    async def folders(self) -> dict[str, int]:
        """Returns the folders with notes, and the number of the notes that this program may read."""
        return {each["folder"]: each["notes"] for each in (await self._ask("GET", "/api/folders"))["folders"]}

    # Changing and deleting.

    async def rename(self, id: str, title: str) -> NoteInfo:
        """Gives a note another title."""
        return _read(NoteInfo, await self._ask("PATCH", _note(id), {"title": title}, note=id))

    async def move(self, id: str, folder: str) -> NoteInfo:
        """Moves a note to a folder; "" for none."""
        return _read(NoteInfo, await self._ask("PATCH", _note(id), {"folder": folder}, note=id))

    async def delete(self, id: str) -> None:
        """Deletes a note. It can be restored for a while."""
        await self._ask("DELETE", _note(id), note=id)

    async def deleted(self, *, limit: int = 100) -> tuple[DeletedNote, ...]:
        """Returns the deleted notes that this program may restore, most recently deleted first."""
        return _all(DeletedNote, (await self._ask("GET", _path("/api/deleted", limit=limit)))["notes"])

    async def restore(self, id: str) -> NoteInfo:
        """Restores a deleted note, with its history."""
        return _read(NoteInfo, await self._ask("POST", f"/api/deleted/{_quoted(id)}/restore", note=id))

    async def purge(self, id: str) -> None:
        """Removes a deleted note for good."""
        await self._ask("DELETE", f"/api/deleted/{_quoted(id)}", note=id)

    # Sharing.

    async def share(self, id: str, access: str = "read", *, expires_in: int | None = None) -> NoteLink:
        """Makes a link that opens the note for every holder, for some seconds, by default for a week."""
        data = await self._ask("POST", _note(id, "share"), {"access": access, "expiresIn": expires_in}, note=id)
        return _read(NoteLink, {**data, "url": self._origin + data["path"]})

    async def links(self, id: str) -> tuple[NoteLink, ...]:
        """Returns a note's links, the newest first."""
        return _all(NoteLink, (await self._ask("GET", _note(id, "share"), note=id))["links"])

    async def unshare(self, id: str, link: str | None = None) -> None:
        """Ends a link of a note, or all of them."""
        await self._ask("DELETE", _note(id, "share", *([] if link is None else [link])), note=id)

    # The history.

    async def text(self, id: str, *, revision: int | None = None) -> NoteText:
        """Returns a note's text: the newest, or that of a revision."""
        return _read(NoteText, await self._ask("GET", _path(_note(id, "text"), revision=revision), note=id))

    async def history(self, id: str, *, before: int | None = None, limit: int = 100) -> NoteHistory:
        """Returns a page of a note's history, the newest session first."""
        data = await self._ask("GET", _path(_note(id, "sessions"), before=before, limit=limit), note=id)
        return _read(NoteHistory, {**data, "sessions": _all(EditingSession, data["sessions"])})

    async def changes(self, id: str, older: int, newer: int) -> tuple[dict[str, Any], ...]:
        """Returns the words that were changed between two revisions: `kept`, `deleted` and `inserted`, in order."""
        data = await self._ask("GET", _path(_note(id, "diff"), **{"from": older, "to": newer}), note=id)
        return tuple(data["parts"])

    async def restore_to(self, id: str, revision: int) -> int:
        """Makes the text of a revision the newest one, by an ordinary change; returns its revision."""
        return int((await self._ask("POST", _note(id, "restore"), {"revision": revision}, note=id))["revision"])

    async def versions(self, id: str) -> tuple[NoteVersion, ...]:
        """Returns a note's versions: its named revisions."""
        return _all(NoteVersion, (await self._ask("GET", _note(id, "versions"), note=id))["versions"])

    async def add_version(self, id: str, name: str, revision: int) -> NoteVersion:
        """Names a revision."""
        body = {"name": name, "revision": revision}
        return _read(NoteVersion, await self._ask("POST", _note(id, "versions"), body, note=id))

    async def remove_version(self, id: str, revision: int) -> None:
        """Removes the name of a revision."""
        await self._ask("DELETE", _note(id, "versions", str(revision)), note=id)

    # Comments.

    async def comments(self, id: str) -> tuple[NoteComment, ...]:
        """Returns a note's comments, the oldest first."""
        return _all(NoteComment, (await self._ask("GET", _note(id, "comments"), note=id))["comments"])

    async def comment(
        self, id: str, text: str, *, start: int, end: int, revision: int, mentions: Iterable[str] = ()
    ) -> NoteComment:  # fmt: skip
        """Comments on a range of characters of the text at a revision. `mentions` are the ids of users who get a
        notice."""
        body = {"text": text, "anchor": {"revision": revision, "from": start, "to": end}, "mentions": [*mentions]}
        return _read(NoteComment, await self._ask("POST", _note(id, "comments"), body, note=id))

    async def answer(self, id: str, comment: str, text: str, *, mentions: Iterable[str] = ()) -> NoteComment:
        """Answers a comment."""
        body = {"text": text, "thread": comment, "mentions": [*mentions]}
        return _read(NoteComment, await self._ask("POST", _note(id, "comments"), body, note=id))

    async def edit_comment(
        self, id: str, comment: str, text: str, *, mentions: Iterable[str] = ()
    ) -> NoteComment:  # fmt: skip
        """Changes the text of a comment of this program."""
        body = {"text": text, "mentions": [*mentions]}
        return _read(NoteComment, await self._ask("PATCH", _note(id, "comments", comment), body, note=id))

    async def resolve(self, id: str, comment: str, is_resolved: bool = True) -> NoteComment:
        """Resolves a thread, or reopens it."""
        body = {"resolved": is_resolved}
        return _read(NoteComment, await self._ask("PATCH", _note(id, "comments", comment), body, note=id))

    async def delete_comment(self, id: str, comment: str) -> None:
        """Deletes a comment."""
        await self._ask("DELETE", _note(id, "comments", comment), note=id)

    # Files.

    async def files(self, id: str) -> tuple[NoteFile, ...]:
        """Returns a note's files, the newest first."""
        return _all(NoteFile, (await self._ask("GET", _note(id, "files"), note=id))["files"])

    async def upload(self, id: str, content: bytes, name: str) -> NoteFile:
        """Adds a file to a note; returns once it is on the gateway's disk. Insert its `path` into the text, or the
        gateway removes it after some time."""
        return _read(NoteFile, await self._ask("POST", _path(_note(id, "files"), name=name), content, note=id))

    async def download(self, id: str, file: NoteFile) -> bytes:
        """Returns the content of a file."""
        return await self._send("GET", _note(id, "files", file.hash, file.name), None, id)

    # The requests themselves.

    async def _ask(self, method: str, path: str, body: Any = None, *, note: str | None = None) -> Any:
        answer = await self._send(method, path, body, note)
        try:
            return json.loads(answer) if answer else None
        except ValueError:
            raise _foreign(200) from None

    async def _send(self, method: str, path: str, body: Any, note: str | None) -> bytes:
        headers = {}
        content: bytes | None = None
        if isinstance(body, bytes):
            content, headers["Content-Type"] = body, "application/octet-stream"
        elif body is not None:
            content = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
            headers["Content-Type"] = "application/json"
        if method == "POST":
            # A request that is sent again for a new token is performed once.
            headers["Idempotency-Key"] = secrets.token_hex(16)
        is_refused = False
        while True:
            token = await self._token(is_refused)
            if token is not None:
                headers["Authorization"] = f"Bearer {token}"
            try:
                work = asyncio.to_thread(self._exchange, method, path, content, headers)
                status, answer = await asyncio.wait_for(work, self._timeout)
            except (OSError, http.client.HTTPException, asyncio.TimeoutError) as error:
                raise NoAnswer(f"the request failed with {type(error).__name__}", False) from error
            if 200 <= status < 300:
                return answer
            # The token may have expired: the token function has a new one.
            if status == 401 and token is not None and not is_refused:
                is_refused = True
                continue
            raise _refusal(status, answer, note)

    def _exchange(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:  # fmt: skip
        parts = urlsplit(self._origin)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=self._timeout)
        try:
            connection.request(method, parts.path + path, content, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def _refusal(status: int, answer: bytes, note: str | None) -> Exception:
    """Returns the error for an answer that is no success."""
    try:
        problem = json.loads(answer)
        code, message = str(problem["code"]), str(problem.get("message", ""))
    except (ValueError, TypeError, KeyError, AttributeError):
        return _foreign(status)
    if code == "unknownDocument" and note is not None:
        return NoteUnavailable(note, code)
    return RequestRefused(code, message)


def _foreign(status: int) -> RequestRefused:
    """Returns the error for an answer of another server, such as a network's sign-in page."""
    return RequestRefused("notParley", f"expected a gateway, got an answer of another server, with status {status}")


def _quoted(part: str) -> str:
    return quote(part, safe="")


def _note(id: str, *rest: str) -> str:
    """Returns the path of a note."""
    return "/".join(["/api/notes", *map(_quoted, (id, *rest))])


def _path(path: str, **fields: str | int | None) -> str:
    given = {name: value for name, value in fields.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _read(kind: type[Value], data: dict[str, Any]) -> Value:
    """Returns a value from its fields; unknown ones are ignored."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    made = {_snake(name): tuple(each) if isinstance(each, list) else each for name, each in data.items()}
    return kind(**{name: each for name, each in made.items() if name in names})


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _all(kind: type[Value], data: Iterable[dict[str, Any]]) -> tuple[Value, ...]:
    return tuple(_read(kind, each) for each in data)
