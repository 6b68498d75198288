"""Write notes on a Parley gateway from Python, together with people.

    import asyncio, parley

    async def main():
        async with parley.connect("http://127.0.0.1:8080", name="Bot") as client:
            note = await client.note("minutes")
            note.append("Written by a program.\\n")

    asyncio.run(main())
"""

from .client import Client, connect, open_note
from .core import Change
from .doors import LibraryUnavailable
from .errors import (
    ChangedSince,
    ChangesRefused,
    ConnectionEnded,
    CoreUnavailable,
    NoAnswer,
    NoteUnavailable,
    Overflowed,
    ParleyError,
    PublishRefused,
    RequestRefused,
    RoomUnavailable,
    StorageFailed,
    TooManyConflicts,
    ValueConflict,
)
from .events import Events
from .note import Changed, Note, Person
from .notes import (
    DeletedNote,
    EditingSession,
    FoundNote,
    NoteComment,
    NoteFile,
    NoteHistory,
    NoteInfo,
    NoteLink,
    NotePage,
    Notes,
    NoteText,
    NoteVersion,
)
from .notices import Notice, NoticePage, Notices, UnreadNotices
from .orderkey import OrderKey
from .position import Position
from .room import Gap, Publication, Receipt, ResourceUpdate, Room, RoomPerson
from .values import Values

__all__ = [
    "Change", "Changed", "ChangedSince", "ChangesRefused", "Client", "ConnectionEnded", "CoreUnavailable",
    "DeletedNote", "EditingSession", "Events", "FoundNote", "Gap", "LibraryUnavailable", "NoAnswer", "Note",
    "NoteComment", "NoteFile", "NoteHistory", "NoteInfo", "NoteLink", "NotePage", "NoteText",
    "NoteUnavailable", "NoteVersion", "Notes", "Notice", "NoticePage", "Notices", "OrderKey", "Overflowed",
    "ParleyError", "Person", "Position", "Publication", "PublishRefused", "Receipt", "RequestRefused",
    "ResourceUpdate", "Room", "RoomPerson", "RoomUnavailable", "StorageFailed", "TooManyConflicts",
    "UnreadNotices", "ValueConflict", "Values", "connect", "open_note",
]  # fmt: skip
