"""Delta, the form in which Quill and other editors describe formatted texts and their changes, and the form of notes.

Lengths count characters, as Python's strings do; the core counts UTF-16 units. A note has one attribute `block` for the
kind of a line, where Quill has `header`, `list`, `blockquote` and `code-block`. An embedded thing is U+FFFC with the
attribute `embed`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Attributes = dict[str, Any]
Op = dict[str, Any]
"""An operation of a Delta: insert, retain or delete, and attributes."""

_OBJECT = "\ufffc"
_LINE_KEYS = ("block", "indent", "align", "direction", "language")
_KEY = re.compile(r"[a-z][a-z0-9-]{0,39}")
_NAMES: dict[str, tuple[str, Any]] = {
    "bullet": ("list", "bullet"), "ordered": ("list", "ordered"), "task": ("list", "unchecked"),
    "done": ("list", "checked"), "quote": ("blockquote", True), "code": ("code-block", True),
    **{f"h{level}": ("header", level) for level in range(1, 7)},
}  # fmt: skip
_QUILL_LINE_KEYS = ("header", "list", "blockquote", "code-block")


def units(text: str, start: int, end: int) -> int:
    """Returns the number of UTF-16 units in a part of a text."""
    if text.isascii():
        return end - start
    return len(text[start:end].encode("utf-16-le")) // 2


def characters(text: str, start: int, count: int) -> int:
    """Converts a number of units after `start` to characters."""
    if text.isascii():
        return count
    # This many characters have at least this many units. Encoded, each unit is two bytes.
    encoded = text[start : start + count].encode("utf-16-le")
    return len(encoded[: 2 * count].decode("utf-16-le"))


def to_quill(attributes: Mapping[str, Any], *, is_change: bool = False) -> Attributes:
    """Returns Quill's attributes for a note's. In a change, None removes a key, and one kind of a line ends the others."""
    result = {key: value for key, value in attributes.items() if key not in ("embed", "block", "language")}
    block, language = attributes.get("block"), attributes.get("language")
    key, value = _NAMES.get(block, (None, None)) if isinstance(block, str) else (None, None)
    if key == "code-block":
        result[key] = language if language is not None else value
    elif "language" in attributes:
        result["language"] = language
    if key and key != "code-block":
        result[key] = value
    elif block is not None and not key:
        result["block"] = block
    if is_change and "block" in attributes:
        for name in _QUILL_LINE_KEYS:
            result.setdefault(name, None)
    return result


def _checked(key: str, value: Any) -> Any:
    if not _KEY.fullmatch(key):
        raise ValueError("expected a key of lower-case letters, digits and hyphens")
    if value is None or value is False:
        return None
    if value is True or isinstance(value, (str, int)):
        return value
    raise ValueError(f"expected True, a whole number or a string as the value of {key}, got another")


def _block(key: str, value: Any) -> str:
    if key == "header" and isinstance(value, int):
        return f"h{min(6, max(1, int(value)))}"
    if key == "code-block":
        return "code"
    for block, known in _NAMES.items():
        if known == (key, value):
            return block
    raise ValueError(f"expected a known kind of {key}, got another")


def to_note(attributes: Mapping[str, Any], present: Mapping[str, Any]) -> Attributes:
    """Returns a note's change for Quill's attributes. `present`: the note's attributes of the text that changes; a kind
    of line is removed only where the line is of that kind."""
    result: Attributes = {}
    for key, given in attributes.items():
        value = _checked(key, given)
        if key not in _QUILL_LINE_KEYS:
            result[key] = value
        elif value is not None:
            result["block"] = _block(key, value)
            if key == "code-block" and isinstance(value, str):
                result["language"] = value
        elif _NAMES.get(present.get("block", ""), ("",))[0] == key and not result.get("block"):
            result["block"] = None
            if "language" in present:
                result["language"] = None
    return result


class Runs:
    """The attributes of a text, by position in characters."""

    def __init__(self, text: str, form: Mapping[str, Any] | None) -> None:
        self._runs: list[tuple[int, int, Attributes]] = []
        place = 0
        sets, runs = (form or {}).get("sets", []), (form or {}).get("runs", [])
        for at in range(0, len(runs), 2):
            end = place + characters(text, place, runs[at])
            self._runs.append((place, end, sets[runs[at + 1] - 1] if runs[at + 1] else {}))
            place = end
        if place < len(text):
            self._runs.append((place, len(text), {}))

    def within(self, start: int, end: int) -> Iterator[tuple[int, int, Attributes]]:
        """Returns the pieces of a range."""
        for first, last, attributes in self._runs:
            if max(first, start) < min(last, end):
                yield max(first, start), min(last, end), attributes


def _insertions(text: str, attributes: Attributes) -> list[Op]:
    shown = to_quill(attributes)
    more: Op = {"attributes": shown} if shown else {}
    embed = attributes.get("embed")
    if embed is None:
        return [{"insert": text, **more}] if text else []
    return [{"insert": embed, **more} for _ in text]


def of_text(text: str, form: Mapping[str, Any] | None) -> list[Op]:
    """Returns a text with its attributes, in the core's form, as a Delta."""
    pieces = Runs(text, form).within(0, len(text))
    return [op for start, end, attributes in pieces for op in _insertions(text[start:end], attributes)]


class Change:
    """A change of a note, built from the beginning of the text to its end."""

    def __init__(self, text: str, form: Mapping[str, Any] | None) -> None:
        self.text = text
        self.runs = Runs(text, form)
        self.place = 0
        self.edits: list[tuple[int, int, str]] = []
        """The start, the end and the new text of each edit, in the text before all of them."""
        self._sets: list[Attributes] = []
        self._kept: list[tuple[int, int, int]] = []
        self._put: list[tuple[str, int]] = []

    def _number(self, attributes: Attributes) -> int:
        if not attributes:
            return 0
        if attributes not in self._sets:
            self._sets.append(attributes)
        return self._sets.index(attributes) + 1

    def _move(self, count: Any) -> int:
        if not isinstance(count, int) or count < 0 or self.place + count > len(self.text):
            raise ValueError(f"expected a change within {len(self.text)} characters")
        self.place += count
        return self.place - count

    def retain(self, count: int, attributes: Mapping[str, Any] | None = None) -> None:
        """Keeps characters, and changes Quill's attributes of them."""
        start = self._move(count)
        for first, last, present in self.runs.within(start, self.place) if attributes else ():
            number = self._number(to_note(attributes or {}, present))
            if number:
                self._kept.append((first, last, number))

    def insert(self, insert: Any, attributes: Mapping[str, Any] | None = None) -> None:
        """Inserts a text, or an embedded thing."""
        own = {key: value for key, value in to_note(attributes or {}, {}).items() if value is not None}
        if isinstance(insert, Mapping):
            if len(insert) != 1:
                raise ValueError("expected one embedded thing in an insertion")
            ((kind, value),) = insert.items()
            known = _checked(kind, value)
            if known is None:
                raise ValueError("expected a value of an embedded thing")
            own["embed"], insert = {kind: known}, _OBJECT
        if not isinstance(insert, str):
            raise ValueError("expected a text or an embedded thing in an insertion")
        if not insert:
            return
        insert.encode()  # Raises UnicodeEncodeError, a ValueError, for half a surrogate pair.
        start, end, text = self._edit()
        self.edits[-1] = (start, end, text + insert)
        self._put.append((insert, self._number(own)))

    def delete(self, count: int) -> None:
        """Deletes characters."""
        if count == 0:
            return
        start, _, text = self._edit()
        self._move(count)
        self.edits[-1] = (start, self.place, text)

    def _edit(self) -> tuple[int, int, str]:
        if not self.edits or self.edits[-1][1] != self.place:
            self.edits.append((self.place, self.place, ""))
        return self.edits[-1]

    @property
    def form(self) -> str:
        """The formatting in the core's form; empty without formatting."""
        form: dict[str, Any] = {"sets": self._sets}
        if self._kept:
            end, form["kept"] = 0, []
            for start, stop, number in self._kept:
                form["kept"] += (units(self.text, end, start), units(self.text, start, stop), number)
                end = stop
        if any(number for _, number in self._put):
            form["put"] = [part for text, number in self._put for part in (units(text, 0, len(text)), number)]
        return json.dumps(form) if len(form) > 1 else ""


def change_of(ops: Sequence[Mapping[str, Any]], text: str, form: Mapping[str, Any] | None) -> Change:
    """Returns the change of a note that a Delta describes. Raises ValueError."""
    change = Change(text, form)
    for op in ops:
        if "insert" in op:
            change.insert(op["insert"], op.get("attributes"))
        elif "delete" in op:
            change.delete(op["delete"])
        else:
            change.retain(op.get("retain", 0), op.get("attributes"))
    return change


def formatting_of(
    text: str, form: Mapping[str, Any] | None, start: int, end: int, attributes: Mapping[str, Any]
) -> Change:
    """Returns the change that formats a range: attributes of lines apply to all lines that it touches, and give a last
    line a newline; others apply to the text of the range. Raises ValueError."""
    if not 0 <= start <= end <= len(text):
        raise IndexError(f"expected 0 <= start <= end <= {len(text)}, got {start} and {end}")
    is_of_lines = {key: key in _LINE_KEYS or key in _QUILL_LINE_KEYS for key in attributes}
    of_lines = {key: value for key, value in attributes.items() if is_of_lines[key]}
    of_range = {key: value for key, value in attributes.items() if not is_of_lines[key]}
    change = Change(text, form)
    change.retain(start)
    while change.place < end:
        newline = text.find("\n", change.place, end)
        stop = end if newline < 0 else newline
        change.retain(stop - change.place, of_range)
        if stop < end:
            change.retain(1, of_lines)
    if of_lines and not (end > start and text[end - 1] == "\n"):
        newline = text.find("\n", end)
        change.retain((len(text) if newline < 0 else newline) - change.place)
        if newline < 0:
            change.insert("\n", of_lines)
        else:
            change.retain(1, of_lines)
    return change


def of_change(text: str, edits: Sequence[tuple[int, int, str]], form: str) -> list[Op]:
    """Returns a change of a note as a Delta. `text`: before it. `form`: its formatting in the core's form."""
    known = json.loads(form) if form else {}
    sets = known.get("sets", [])
    spans: list[tuple[int, int, Attributes]] = []
    end = 0
    kept = known.get("kept", [])
    for at in range(0, len(kept), 3):
        start = end + characters(text, end, kept[at])
        end = start + characters(text, start, kept[at + 1])
        spans.append((start, end, to_quill(sets[kept[at + 2] - 1], is_change=True)))
    inserted = "".join(insert for _, _, insert in edits)
    runs = Runs(inserted, {"sets": sets, "runs": known.get("put", [])})
    ops: list[Op] = []
    place = passed = 0

    def retain(to: int) -> None:
        nonlocal place
        for start, stop, attributes in spans:
            start, stop = max(start, place), min(stop, to)
            if start < stop:
                if start > place:
                    ops.append({"retain": start - place})
                ops.append({"retain": stop - start, "attributes": attributes})
                place = stop
        if to > place:
            ops.append({"retain": to - place})
        place = to

    for start, stop, insert in edits:
        retain(start)
        for first, last, attributes in runs.within(passed, passed + len(insert)):
            ops += _insertions(inserted[first:last], attributes)
        passed += len(insert)
        if stop > start:
            ops.append({"delete": stop - start})
        place = stop
    retain(spans[-1][1] if spans and spans[-1][1] > place else place)
    return ops
