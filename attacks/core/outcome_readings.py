"""What is read from values that are neither numbers nor tuples: the numbers in a text, the seconds of a time.

A step of a path that is a tuple of one text names it: ("number at place 0 in the text",).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, TypeAlias

from subnormal.mechanisms.core.mechanism import Refused

Reading: TypeAlias = tuple[str]

FORM: Reading = ("text with # for each number",)
NUMERAL = re.compile(
    r"((?:(?<![\w.])[-+])?"  # in "3-5" and "2020-01-31" there is no sign
    r"(?:0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][-+]?[0-9]+)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?))"
)
BYTES_MAX = 64  # bytes that are read one by one
CHARACTERS_MAX = 64  # places of a text, different characters of texts, and items of tuples, that are read one by one
CHARACTERS: dict[Reading, int] = {(f"character at place {place}",): place for place in range(CHARACTERS_MAX)}
_COUNT = "count of "
_ITEMS = {int, bool, str}
ITEM_MAX = 1 << 64  # integers of thousands of digits have no text
_FIRST_DAY, _MIDNIGHT = date(1970, 1, 1), datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)


def characters(texts: Iterable[str]) -> list[Reading]:
    """Return the characters at each place of these texts, and the counts of each character, by their names."""
    each = list(texts)
    longest, seen = max(map(len, each), default=0), sorted(set("".join(each)))
    return [*list(CHARACTERS)[:longest], *((f"{_COUNT}{one!r}",) for one in seen[:CHARACTERS_MAX])]


def counted(name: Reading) -> Any:
    """Return the character or the item whose count has this name."""
    return ast.literal_eval(name[0].removeprefix(_COUNT)) if name[0].startswith(_COUNT) else None


def counted_items(tuples: Iterable[tuple[Any, ...]]) -> list[Reading]:
    """Return the counts of each item of these tuples, by their names; nothing where items are many, or no plain values.

    Numbers that are equal are one item.
    """
    seen: set[Any] = set()
    for one in tuples:
        seen.update(one)
        if len(seen) > CHARACTERS_MAX:
            return []
    are_plain = set(map(type, seen)) <= _ITEMS and all(isinstance(one, str) or abs(one) < ITEM_MAX for one in seen)
    return [(f"{_COUNT}{one!r}",) for one in sorted(seen, key=repr)] if are_plain else []


def readings(one: Any) -> dict[Reading, Any]:
    """Return what is read from a value, by its names; nothing from a value of any other type."""
    reader = READERS.get(type(one))
    return {} if reader is None else reader(one)


def _of_text(text: str) -> dict[Reading, Any]:
    pieces = NUMERAL.split(text)
    if len(pieces) == 1:
        return {}
    found: dict[Reading, Any] = {_at(place): _number(numeral) for place, numeral in enumerate(pieces[1::2])}
    found[FORM] = "#".join(pieces[::2])
    return found


@lru_cache(maxsize=1024)
def _at(place: int) -> Reading:
    return (f"number at place {place} in the text",)


def _number(numeral: str) -> int | float:
    try:
        return float(numeral) if "." in numeral else int(numeral)
    except ValueError:  # 1e5, hexadecimal, or thousands of digits
        return _unusual(numeral)


def _unusual(numeral: str) -> float:
    if "x" not in numeral.lower():
        return float(numeral)
    try:
        return float.fromhex(numeral)
    except OverflowError:
        return -math.inf if numeral.startswith("-") else math.inf


def _of_bytes(some: bytes) -> dict[Reading, Any]:
    if some.isascii():
        return _of_text(some.decode())
    return {(f"byte {place}",): byte for place, byte in enumerate(some[:BYTES_MAX])}


def _of_datetime(moment: datetime) -> dict[Reading, Any]:
    return {("seconds since 1970 on the clock",): (moment.replace(tzinfo=None) - _MIDNIGHT) / _SECOND}


def _of_time(moment: time) -> dict[Reading, Any]:
    since = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    return {("seconds since midnight",): since / _SECOND}


READERS: dict[type, Callable[[Any], dict[Reading, Any]]] = {
    str: _of_text,
    bytes: _of_bytes,
    Refused: lambda one: _of_text(one.error),
    complex: lambda one: {("real part",): one.real, ("imaginary part",): one.imag},
    date: lambda one: {("days since 1970",): (one - _FIRST_DAY).days},
    datetime: _of_datetime,
    time: _of_time,
    timedelta: lambda one: {("seconds",): one / _SECOND},
}
