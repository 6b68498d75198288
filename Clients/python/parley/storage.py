"""Unsaved edits in a folder, where they outlive the process."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
from collections.abc import Callable
from typing import Any

from .errors import StorageFailed


class EditFolder:
    """The folder of one client: its identity at the gateway, and its unsaved edits.

    One process uses it at a time. Each file is written under another name and then renamed, so that a killed process
    leaves either the former file or the new one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = pathlib.Path(path)
        # The names of the texts on disk, by note; of this process alone, because a former one may have been killed.
        self._texts: dict[str, str] = {}
        try:
            self._path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageFailed(f"expected a folder that may be written: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise StorageFailed("another process has this folder; give each client one of its own") from None

    def close(self) -> None:
        """Releases the folder for other processes."""
        os.close(self._lock)

    @property
    def claim(self) -> tuple[str, str] | None:
        """The stored identity of this client: id and resume token."""
        kept = self._read("client")
        return None if kept is None else (str(kept["id"]), str(kept["resumeToken"]))

    def keep_claim(self, client: str, resume_token: str) -> None:
        """Stores the identity of this client."""
        self._write("client", {"id": client, "resumeToken": resume_token})

    def keep(self, note: str, client: str, edits: str, tag: str, read_text: Callable[[], str]) -> None:
        """Stores a note's edits; they are on disk when it returns.

        The text on which they were made is as long as the note and seldom changes: it is read and written only when its
        tag changes.
        """
        name, text = self._name(note), self._text_name(note, client, tag)
        former = self._texts.get(note)
        if former != text:
            self._write(text, {"text": read_text()})
        self._write(name, {"note": note, "client": client, "edits": edits, "text": text})
        if former != text:
            self._texts[note] = text
            for path in self._path.glob(f"text-{name}-*"):
                if path.name != text:
                    path.unlink()

    def forget(self, note: str) -> None:
        """Removes a note's edits."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path / self._name(note))
            self._sync()
        self._texts.pop(note, None)
        for path in self._path.glob(f"text-{self._name(note)}-*"):
            path.unlink()

    def kept(self, note: str) -> tuple[str, str] | None:
        """Returns a note's edits, and the text on which they were made."""
        kept = self._read(self._name(note))
        if kept is None or kept.get("note") != note:
            return None
        text = self._read(str(kept["text"]))
        return None if text is None else (str(kept["edits"]), str(text["text"]))

    @property
    def notes(self) -> list[str]:
        """The notes with stored edits."""
        kept = [self._read(path.name) for path in sorted(self._path.glob("note-*"))]
        return [str(each["note"]) for each in kept if each]

    def set_aside(self, note: str) -> None:
        """Moves unreadable edits to a name that no other edits overwrite."""
        name = self._name(note)
        number = 1
        while (aside := self._path / f"aside-{number}-{name}").exists():
            number += 1
        os.rename(self._path / name, aside)
        self._sync()

    def keep_changes(self, room: str, changes: list[dict[str, Any]]) -> None:
        """Stores the changes of a room's values that have no answer, or removes the former ones; they are on disk when
        it returns."""
        name = self._room_name(room)
        if changes:
            self._write(name, {"room": room, "changes": changes})
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path / name)
            self._sync()

    def kept_changes(self, room: str) -> list[dict[str, Any]]:
        """Returns the changes of a room's values that were stored last."""
        kept = self._read(self._room_name(room))
        return list(kept["changes"]) if kept and kept.get("room") == room else []

    @staticmethod
    def _room_name(room: str) -> str:
        return f"values-{hashlib.sha256(room.encode()).hexdigest()[:32]}"

    @staticmethod
    def _name(note: str) -> str:
        # Users choose ids, so no part of an id is used in a path.
        return f"note-{hashlib.sha256(note.encode()).hexdigest()[:32]}"

    def _text_name(self, note: str, client: str, tag: str) -> str:
        digest = hashlib.sha256(f"{client} {tag}".encode()).hexdigest()[:16]
        return f"text-{self._name(note)}-{digest}"

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            kept = json.loads((self._path / name).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StorageFailed(f"the file {name} of the client's folder cannot be read; move it away") from error
        if not isinstance(kept, dict):
            raise StorageFailed(f"the file {name} of the client's folder cannot be read; move it away")
        return kept

    def _write(self, name: str, value: dict[str, Any]) -> None:
        beside = self._path / f".{name}.new"
        try:
            # An existing folder may be readable by others; unsaved edits and the identity must not be.
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(json.dumps(value).encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self._path / name)
            self._sync()
        except OSError as error:
            raise StorageFailed(f"unsaved edits cannot be kept: {error.strerror}") from error

    def _sync(self) -> None:
        folder = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
