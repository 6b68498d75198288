"""Requests about notes, which need not be open: from creation to deletion. They use HTTP and the client's token
function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .requests import Requests, all_of, path_with, quoted, read


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

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    # Making and finding.

    async def create(self, title: str, *, id: str | None = None, folder: str | None = None) -> NoteInfo:
        """Creates a note. With an `id` of your own, a note that this client has created under it already is
        returned."""
        body = {"title": title, "folder": folder}
        method, path = ("POST", "/api/notes") if id is None else ("PUT", _note(id))
        return read(NoteInfo, await self._requests.ask(method, path, body, note=id))

    async def info(self, id: str) -> NoteInfo:
        """Returns a note."""
        return read(NoteInfo, await self._requests.ask("GET", _note(id), note=id))

    async def list(
        self, *, folder: str | None = None, tag: str | None = None, after: str | None = None, limit: int = 100
    ) -> NotePage:  # fmt: skip
        """Returns a page of the notes that this program may read; `folder=""` for those in none."""
        data = await self._requests.ask("GET", path_with("/api/notes", folder=folder, tag=tag, after=after, limit=limit))
        return NotePage(all_of(NoteInfo, data["notes"]), data.get("next", ""))

    async def search(self, words: str, *, limit: int = 20) -> tuple[FoundNote, ...]:
        """Returns the notes with all of the words in title or text, the best first."""
        return all_of(FoundNote, (await self._requests.ask("GET", path_with("/api/search", q=words, limit=limit)))["notes"])

    async def folders(self) -> dict[str, int]:
        """Returns the folders with notes, and the number of the notes that this program may read."""
        return {each["folder"]: each["notes"] for each in (await self._requests.ask("GET", "/api/folders"))["folders"]}

    # Changing and deleting.

    async def rename(self, id: str, title: str) -> NoteInfo:
        """Gives a note another title."""
        return read(NoteInfo, await self._requests.ask("PATCH", _note(id), {"title": title}, note=id))

    async def move(self, id: str, folder: str) -> NoteInfo:
        """Moves a note to a folder; "" for none."""
        return read(NoteInfo, await self._requests.ask("PATCH", _note(id), {"folder": folder}, note=id))

    async def delete(self, id: str) -> None:
        """Deletes a note. It can be restored for a while."""
        await self._requests.ask("DELETE", _note(id), note=id)

    async def deleted(self, *, limit: int = 100) -> tuple[DeletedNote, ...]:
        """Returns the deleted notes that this program may restore, most recently deleted first."""
        return all_of(DeletedNote, (await self._requests.ask("GET", path_with("/api/deleted", limit=limit)))["notes"])

    async def restore(self, id: str) -> NoteInfo:
        """Restores a deleted note, with its history."""
        return read(NoteInfo, await self._requests.ask("POST", f"/api/deleted/{quoted(id)}/restore", note=id))

    async def purge(self, id: str) -> None:
        """Removes a deleted note for good."""
        await self._requests.ask("DELETE", f"/api/deleted/{quoted(id)}", note=id)

    # Sharing.

    async def share(self, id: str, access: str = "read", *, expires_in: int | None = None) -> NoteLink:
        """Makes a link that opens the note for every holder, for some seconds, by default for a week."""
        data = await self._requests.ask("POST", _note(id, "share"), {"access": access, "expiresIn": expires_in}, note=id)
        return read(NoteLink, {**data, "url": self._requests.origin + data["path"]})

    async def links(self, id: str) -> tuple[NoteLink, ...]:
        """Returns a note's links, the newest first."""
        return all_of(NoteLink, (await self._requests.ask("GET", _note(id, "share"), note=id))["links"])

    async def unshare(self, id: str, link: str | None = None) -> None:
        """Ends a link of a note, or all of them."""
        await self._requests.ask("DELETE", _note(id, "share", *([] if link is None else [link])), note=id)

    # The history.

    async def text(self, id: str, *, revision: int | None = None) -> NoteText:
        """Returns a note's text: the newest, or that of a revision."""
        return read(NoteText, await self._requests.ask("GET", path_with(_note(id, "text"), revision=revision), note=id))

    async def history(self, id: str, *, before: int | None = None, limit: int = 100) -> NoteHistory:
        """Returns a page of a note's history, the newest session first."""
        data = await self._requests.ask("GET", path_with(_note(id, "sessions"), before=before, limit=limit), note=id)
        return read(NoteHistory, {**data, "sessions": all_of(EditingSession, data["sessions"])})

    async def changes(self, id: str, older: int, newer: int) -> tuple[dict[str, Any], ...]:
        """Returns the words that were changed between two revisions: `kept`, `deleted` and `inserted`, in order."""
        data = await self._requests.ask("GET", path_with(_note(id, "diff"), **{"from": older, "to": newer}), note=id)
        return tuple(data["parts"])

    async def restore_to(self, id: str, revision: int) -> int:
        """Makes the text of a revision the newest one, by an ordinary change; returns its revision."""
        return int((await self._requests.ask("POST", _note(id, "restore"), {"revision": revision}, note=id))["revision"])

    async def versions(self, id: str) -> tuple[NoteVersion, ...]:
        """Returns a note's versions: its named revisions."""
        return all_of(NoteVersion, (await self._requests.ask("GET", _note(id, "versions"), note=id))["versions"])

    async def add_version(self, id: str, name: str, revision: int) -> NoteVersion:
        """Names a revision."""
        body = {"name": name, "revision": revision}
        return read(NoteVersion, await self._requests.ask("POST", _note(id, "versions"), body, note=id))

    async def remove_version(self, id: str, revision: int) -> None:
        """Removes the name of a revision."""
        await self._requests.ask("DELETE", _note(id, "versions", str(revision)), note=id)

    # Comments.

    async def comments(self, id: str) -> tuple[NoteComment, ...]:
        """Returns a note's comments, the oldest first."""
        return all_of(NoteComment, (await self._requests.ask("GET", _note(id, "comments"), note=id))["comments"])

    async def comment(
        self, id: str, text: str, *, start: int, end: int, revision: int, mentions: Iterable[str] = ()
    ) -> NoteComment:  # fmt: skip
        """Comments on a range of characters of the text at a revision. `mentions` are the ids of users who get a
        notice."""
        body = {"text": text, "anchor": {"revision": revision, "from": start, "to": end}, "mentions": [*mentions]}
        return read(NoteComment, await self._requests.ask("POST", _note(id, "comments"), body, note=id))

    async def answer(self, id: str, comment: str, text: str, *, mentions: Iterable[str] = ()) -> NoteComment:
        """Answers a comment."""
        body = {"text": text, "thread": comment, "mentions": [*mentions]}
        return read(NoteComment, await self._requests.ask("POST", _note(id, "comments"), body, note=id))

    async def edit_comment(
        self, id: str, comment: str, text: str, *, mentions: Iterable[str] = ()
    ) -> NoteComment:  # fmt: skip
        """Changes the text of a comment of this program."""
        body = {"text": text, "mentions": [*mentions]}
        return read(NoteComment, await self._requests.ask("PATCH", _note(id, "comments", comment), body, note=id))

    async def resolve(self, id: str, comment: str, is_resolved: bool = True) -> NoteComment:
        """Resolves a thread, or reopens it."""
        body = {"resolved": is_resolved}
        return read(NoteComment, await self._requests.ask("PATCH", _note(id, "comments", comment), body, note=id))

    async def delete_comment(self, id: str, comment: str) -> None:
        """Deletes a comment."""
        await self._requests.ask("DELETE", _note(id, "comments", comment), note=id)

    # Files.

    async def files(self, id: str) -> tuple[NoteFile, ...]:
        """Returns a note's files, the newest first."""
        return all_of(NoteFile, (await self._requests.ask("GET", _note(id, "files"), note=id))["files"])

    async def upload(self, id: str, content: bytes, name: str) -> NoteFile:
        """Adds a file to a note; returns once it is on the gateway's disk. Insert its `path` into the text, or the
        gateway removes it after some time."""
        return read(NoteFile, await self._requests.ask("POST", path_with(_note(id, "files"), name=name), content, note=id))

    async def download(self, id: str, file: NoteFile) -> bytes:
        """Returns the content of a file."""
        return await self._requests.send("GET", _note(id, "files", file.hash, file.name), None, id)


def _note(id: str, *rest: str) -> str:
    """Returns the path of a note."""
    return "/".join(["/api/notes", *map(quoted, (id, *rest))])
