"""Positions in the histories of rooms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a publication in a room's history. Another epoch is another history."""

    epoch: str
    offset: int
