"""Undo of own changes of a room's values: what each one replaced, and whether others have changed it since."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Operation = dict[str, Any]

#: Maximum steps of each kind; beyond it, the oldest is dropped.
STEPS_MAX = 100

MISSING = object()
"""The value of a name without one."""


def merged(value: Any, patch: Any) -> Any:
    """Returns a value with a patch merged into it (JSON Merge Patch, RFC 7396)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(value) if isinstance(value, dict) else {}
    for name, change in patch.items():
        if change is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), change)
    return result


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def applied(value: Any, operation: Operation) -> Any:
    """Returns the value after an operation; `MISSING` for none. Raises ValueError if the operation does not fit."""
    if "set" in operation:
        return copy.deepcopy(operation["to"])
    if "merge" in operation:
        return merged(None if value is MISSING else value, operation["with"])
    if "add" in operation:
        former = 0 if value is MISSING else value
        if not is_integer(former):
            raise ValueError("expected an integer")
        return former + operation["by"]
    return MISSING


def name_of(operation: Operation) -> str:
    """Returns the name of the value that an operation changes."""
    for word in ("set", "merge", "add", "delete"):
        if word in operation:
            return str(operation[word])
    raise ValueError("expected an operation")


@dataclass
class Part:
    """An operation with the value that it replaced."""

    operation: Operation
    before: Any


@dataclass
class Step:
    """An own change."""

    key: str
    parts: list[Part] | None = None
    """What it has changed; None until its publication has arrived."""
    lost: set[str] = field(default_factory=set)
    """The names that others have changed since."""


def _equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: `true` is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _overlap(one: Any, other: Any) -> bool:
    """Whether two patches change one field."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return True
    return any(_overlap(one[name], other[name]) for name in one.keys() & other.keys())


def _is_overwritten(own: Operation, other: Operation) -> bool:
    """Whether another's later operation changes what an own one left."""
    if name_of(own) != name_of(other):
        return False
    if "merge" in own and "merge" in other:
        return _overlap(own["with"], other["with"])
    return not ("add" in own and "add" in other)


class _Changed(Exception):
    """What an own change left is not there."""


def _unmerged(value: dict[str, Any], patch: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Returns an object without a patch that was merged into it. Raises _Changed."""
    result = dict(value)
    for name, change in patch.items():
        former, present = before.get(name, MISSING), result.get(name, MISSING)
        if isinstance(change, dict) and isinstance(former, dict):
            if not isinstance(present, dict):
                raise _Changed
            result[name] = _unmerged(present, change, former)
            continue
        if not _equal(present, MISSING if change is None else merged(None, change)):
            raise _Changed
        if former is MISSING:
            result.pop(name, None)
        else:
            result[name] = former
    return result


def _has_null(value: Any) -> bool:
    """Whether merging the value would lose fields that are null."""
    return value is None or (isinstance(value, dict) and any(map(_has_null, value.values())))


def _patch_between(start: dict[str, Any], end: dict[str, Any]) -> dict[str, Any] | None:
    """Returns a patch that makes one object the other; None if there is none."""
    patch: dict[str, Any] = {name: None for name in start if name not in end}
    for name, value in end.items():
        former = start.get(name, MISSING)
        if _equal(former, value):
            continue
        if isinstance(former, dict) and isinstance(value, dict):
            inner = _patch_between(former, value)
            if inner is None:
                return None
            patch[name] = inner
        elif _has_null(value):
            return None
        else:
            patch[name] = value
    return patch


def _reverted(value: Any, part: Part) -> Any:
    """Returns the value before an operation, from the value that it left. Raises _Changed if it left another one."""
    operation, before = part.operation, part.before
    if "add" in operation:
        if not is_integer(value):
            raise _Changed
        is_first = before is MISSING and value == operation["by"]
        return MISSING if is_first else value - operation["by"]
    if "merge" in operation and isinstance(before, dict) and isinstance(value, dict):
        return _unmerged(value, operation["with"], before)
    if not _equal(value, applied(before, operation)):
        raise _Changed
    return before


def _operation_between(name: str, start: Any, end: Any, undone: Operation) -> Operation | None:
    """Returns the operation that makes one value another; None if they are equal."""
    if _equal(start, end):
        return None
    if end is MISSING:
        return {"delete": name}
    if "add" in undone:
        # An addition does not disturb those of others.
        return {"add": name, "by": -undone["by"]}
    patch = _patch_between(start, end) if isinstance(start, dict) and isinstance(end, dict) else None
    return {"set": name, "to": end} if patch is None else {"merge": name, "with": patch}


class Undo:
    """The own changes that can be undone, and those that were undone."""

    def __init__(self) -> None:
        self.steps: dict[str, list[Step]] = {"undo": [], "redo": []}

    def propose(self, key: str, cause: str) -> None:
        """Adds an own change, the newest. `cause`: change, undo or redo."""
        steps = self.steps["redo" if cause == "undo" else "undo"]
        steps.append(Step(key))
        del steps[:-STEPS_MAX]
        if cause == "change":
            self.steps["redo"].clear()

    def remove(self, key: str) -> None:
        """Removes a change that was refused, or undone."""
        for steps in self.steps.values():
            steps[:] = [step for step in steps if step.key != key]

    def published(self, key: str, count: int, parts: list[Part]) -> None:
        """Handles a publication: an own one says what it replaced, and another's may change what own ones have left.

        `count`: the number of its operations. `parts`: those that were applied.
        """
        steps = [*self.steps["undo"], *self.steps["redo"]]
        for step in steps:
            if step.key == key:
                # If a part was contained in a page, what it replaced is not known.
                if count == len(parts):
                    step.parts = parts
                return
        for step in steps:
            step.lost |= {
                name_of(own.operation) for own in step.parts or []
                if any(_is_overwritten(own.operation, other.operation) for other in parts)
            }  # fmt: skip

    def reread(self, has_changed: Callable[[str], bool]) -> None:
        """Handles values that were read again, without the publications in between."""
        for step in [*self.steps["undo"], *self.steps["redo"]]:
            names = {name_of(part.operation) for part in step.parts or []}
            step.lost |= {name for name in names if has_changed(name)}


def inverse(
    step: Step, stored: Callable[[str], tuple[Any, int]]
) -> tuple[list[Operation], dict[str, int], list[str]]:
    """Returns the operations that undo a change, with the offsets at which its names must be; and the names that others
    have changed since."""
    values: dict[str, Any] = {}
    offsets: dict[str, int] = {}
    operations: list[Operation] = []
    changed = set(step.lost)
    for part in reversed(step.parts or []):
        name = name_of(part.operation)
        if name not in offsets:
            values[name], offsets[name] = stored(name)
        try:
            end = _reverted(values[name], part)
        except _Changed:
            changed.add(name)
            continue
        operation = _operation_between(name, values[name], end, part.operation)
        if operation is not None:
            operations.append(operation)
        values[name] = end
    return operations, offsets, sorted(changed)
