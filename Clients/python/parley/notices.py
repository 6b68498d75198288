"""Notices of the user whose token this program has: mentions, answers, resolved threads and shared notes."""

from __future__ import annotations

from dataclasses import dataclass

from .requests import Requests, all_of, path_with


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that somebody did in a note that concerns the user; times are in milliseconds since 1970."""

    id: int
    kind: str
    """mention, answer, resolved or shared; a later gateway may have further kinds."""
    note: str
    title: str
    author: str
    created_at: int
    read: bool
    comment: str = ""
    """The comment; "" for a notice about the whole note."""
    thread: str = ""
    """The first comment of its thread, where it is known."""


@dataclass(frozen=True, slots=True)
class NoticePage:
    """A page of the list of notices."""

    notices: tuple[Notice, ...]
    next: int | None = None
    """`before` of the next page; None on the last one."""


@dataclass(frozen=True, slots=True)
class UnreadNotices:
    """The numbers of unread notices."""

    count: int
    notes: dict[str, int]
    """The number for each note that has any."""


class Notices:
    """Requests about the user's notices. Created by `Client.notices`.

    Guests of a link and API keys have none: RequestRefused with notAllowed.
    """

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    async def list(self, *, before: int | None = None, limit: int = 50) -> NoticePage:
        """Returns a page of the notices about notes that the user may read, the newest first."""
        data = await self._requests.ask("GET", path_with("/api/notices", before=before, limit=limit))
        return NoticePage(all_of(Notice, data["notices"]), data.get("next"))

    async def unread(self) -> UnreadNotices:
        """Returns the numbers of unread notices."""
        data = await self._requests.ask("GET", "/api/notices/unread")
        return UnreadNotices(int(data["unread"]), {each["id"]: int(each["unread"]) for each in data["notes"]})

    async def read(self, id: int) -> int:
        """Marks a notice as read, on all devices of the user. Returns 0 if it was read already."""
        return await self._mark({"id": id})

    async def read_note(self, note: str) -> int:
        """Marks all notices about a note as read. Returns their number."""
        return await self._mark({"note": note})

    async def read_all(self, through: int) -> int:
        """Marks all notices up to an id as read, such as the newest one of a list. Returns their number."""
        return await self._mark({"through": through})

    async def _mark(self, body: dict[str, object]) -> int:
        return int((await self._requests.ask("POST", "/api/notices/read", body))["marked"])
