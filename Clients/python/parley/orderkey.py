"""Keys for the order of a list: a key between any two others, so that moving an item changes that item alone."""

from __future__ import annotations

import random

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE = len(_DIGITS)
_HEAD = 6
_STEP = 1 << 12


class OrderKey:
    """Keys are texts of digits and letters, in the order of their bytes."""

    LENGTH_MAX = 64
    """The length from which a list is worth new keys, by `spread`."""

    @staticmethod
    def between(before: str | None, after: str | None) -> str:
        """Returns a key between two others; None for the beginning or the end of the list.

        Two people who insert at one place get different keys. Raises ValueError unless `before` < `after`.
        """
        if before is not None and after is not None and before >= after:
            raise ValueError("expected the keys of two items in their order")
        if before is None and after is None:
            return _text(_BASE**_HEAD // 2 + random.randrange(_STEP))
        if after is None and before is not None:
            number = _number(before) + 1 + random.randrange(_STEP)
            if number < _BASE**_HEAD:
                return _text(number)
        if before is None and after is not None:
            number = _number(after) - 1 - random.randrange(_STEP)
            if number > 0:
                return _text(number)
        return _middle(before or "", after)

    @staticmethod
    def spread(count: int) -> list[str]:
        """Returns keys for a whole list, equally far from each other."""
        step = _BASE**_HEAD // (count + 1)
        return [_text(step * (index + 1)) for index in range(count)]


def _number(key: str) -> int:
    number = 0
    for digit in key[:_HEAD].ljust(_HEAD, "0"):
        number = number * _BASE + _DIGITS.index(digit)
    return number


def _text(number: int) -> str:
    digits = ""
    for _ in range(_HEAD):
        number, digit = divmod(number, _BASE)
        digits = _DIGITS[digit] + digits
    return digits if digits[-1] != "0" else digits + _DIGITS[1 + random.randrange(_BASE - 1)]


def _middle(before: str, after: str | None) -> str:
    key, index = "", 0
    while True:
        low = _DIGITS.index(before[index]) if index < len(before) else 0
        high = _DIGITS.index(after[index]) if after is not None and index < len(after) else _BASE
        if high - low > 1:
            # The middle third, so that two people seldom choose the same digit, and two more digits.
            third = max((high - low) // 3, 1)
            digit = low + third + random.randrange(max(high - low - 2 * third, 1))
            return key + _DIGITS[digit] + _DIGITS[random.randrange(_BASE)] + _DIGITS[1 + random.randrange(_BASE - 1)]
        if high == low:
            key += _DIGITS[low]
        else:
            key += _DIGITS[low]
            after = None
        index += 1
