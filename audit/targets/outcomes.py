"""What Python code has released, as an outcome: exactly, or not at all."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AnySet
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, cast

import numpy as np

from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import is_in_its_fields

_PLAIN = frozenset(
    (int, float, bool, str, bytes, type(None), complex, Fraction, Decimal, date, time, datetime, timedelta, Refused)
)
_Parts = Iterable[Any]


def as_outcome(released: Any) -> Hashable:
    """Return what was released as an outcome that says all of it and can recur.

    Numbers, strings, None, dates and members of an Enum are outcomes as they are. Tuples stand for lists, tuples,
    arrays and tensors (whatever has `tolist`, `to_numpy` or `__array__`); items, sorted, for mappings and for the
    fields of a dataclass, with its name as "__class__"; items in their order for what has `items` and is no mapping, a
    series or a frame; sorted tuples for sets; `Refused` for an exception.

    Raises TypeError, with the name of the type, for anything else, on its own or inside: a generator, a model, an
    instance of a class of one's own. Where nothing but identity tells two of them apart, nothing ever recurs, and what
    they print may be an abbreviation.

    >>> as_outcome({"b": [1, 2.5], "a": None})
    (('a', None), ('b', (1, 2.5)))
    """
    kind = type(released)
    if kind in _PLAIN or isinstance(released, Enum):
        return cast("Hashable", released)
    if isinstance(released, list | tuple | deque | range):
        return tuple(map(as_outcome, released))
    if isinstance(released, BaseException):
        return refused(released)
    if isinstance(released, bytearray):
        return bytes(released)
    if "__dataclass_fields__" in vars(kind):
        if not is_in_its_fields(released):
            raise TypeError(_told(released, "cannot be told apart by their fields, which are not all that they hold"))
        named = [(field.name, getattr(released, field.name)) for field in fields(released)]
        return _sorted([("__class__", kind.__qualname__), *named])
    if isinstance(released, Mapping):
        return _sorted(_converted(released, released.items))
    if isinstance(released, AnySet):
        return _sorted(released)
    return _of_others(released)


def refused(error: BaseException) -> Refused:
    """Return an exception as the outcome that it is."""
    return Refused(f"{type(error).__name__}: {error}")


def _sorted(parts: _Parts) -> tuple[Hashable, ...]:
    return tuple(sorted(map(as_outcome, parts), key=repr))


def _of_others(released: Any) -> Hashable:
    if not isinstance(released, type):
        for method in ("items", "tolist", "to_numpy", "__array__"):  # a series has its index in its items alone
            found = getattr(released, method, None)
            if callable(found):
                made = _converted(released, (lambda: np.asarray(released)) if method == "__array__" else found)
                if type(made) is type(released):  # as numpy's long doubles do
                    break
                return as_outcome(tuple(made) if method == "items" else made)
        if hasattr(released, "__index__"):  # other people's integers
            return operator.index(released)
    raise TypeError(_told(released, "cannot be told apart for certain"))


def _converted(released: Any, convert: Callable[[], Any]) -> Any:
    try:
        return convert()
    except Exception as error:
        raise TypeError(_told(released, f"cannot be converted ({type(error).__name__}: {error})")) from error


def _told(released: Any, what: str) -> str:
    kind = type(released)
    return (
        f"outcomes of type {kind.__module__}.{kind.__qualname__} {what}: "
        "return numbers, strings, or tuples, arrays or mappings of them"
    )
