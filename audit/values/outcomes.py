"""Converts values that Python code releases to outcomes: exactly, or with a TypeError."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, cast

import numpy as np

from subnormal.audit.values.outcome_details import columns, details, holds_more
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.outcome_identity import are_numeric, identity, is_in_its_fields

_PLAIN = frozenset(
    (int, float, bool, str, bytes, type(None), complex, Fraction, Decimal, date, time, datetime, timedelta, Refused)
)
_WITHOUT_FLOATS = frozenset((int, str, bool, type(None)))
_WHOLE = 1 / sys.float_info.epsilon  # from here on every float is an integer
_Parts = Iterable[Any]


def as_outcome(released: Any) -> Hashable:
    """Return a released value as a hashable outcome that holds all of it and can occur again.

    Numbers, strings, None, dates and members of an Enum stay as they are. A list, array or tensor (any type with
    `tolist`, `to_numpy` or `__array__`) becomes a tuple; a mapping its sorted items; a dataclass the sorted items of
    its fields, with its name as "__class__"; a series or frame (a type with `items` that is no mapping) its items in
    order; a set a sorted tuple; an exception `Refused`. What an array, series or frame shows beside its values follows
    them, as pairs (`outcome_details`): a name, `attrs`, the categories, what lies under a mask, and a type or a shape
    that an array of the same parts would not have.

    It does not tell apart a list from a tuple or an array, a set or a mapping from the list of its sorted parts (so {}
    is []), a numpy scalar from the number that its `item` gives, two exceptions that differ in their attributes alone,
    nor two mappings that hold the same items in another order, which Python calls equal too.

    Raises TypeError, with the name of the type, for any other value, also inside a container: a generator, a model, an
    instance of another class. Such values are equal only if identical, so none would occur twice, and their printed
    form may be abbreviated.

    >>> as_outcome({"b": [1, 2.5], "a": None})
    (('a', None), ('b', (1, 2.5)))
    >>> as_outcome(np.array([1.0, 2.5], dtype=np.float32))
    (1.0, 2.5, ('__dtype__', 'float32'))
    """
    kind = type(released)
    is_list = kind is tuple or kind is list  # the most frequent kinds are asked for by their types, in half of the time
    if kind in _PLAIN or (not is_list and isinstance(released, Enum)):
        return cast("Hashable", released)
    if is_list or isinstance(released, list | tuple | deque | range):
        return tuple(released if _PLAIN.issuperset(map(type, released)) else map(as_outcome, released))
    if isinstance(released, BaseException):
        return refused(released)
    if isinstance(released, bytearray):
        return bytes(released)
    if "__dataclass_fields__" in vars(kind):
        if not is_in_its_fields(released):
            raise TypeError(
                _problem(released, "cannot be told apart by their fields, which are not all that they hold")
            )
        named = [(field.name, getattr(released, field.name)) for field in fields(released)]
        return _sorted_items([("__class__", kind.__qualname__), *named])
    if isinstance(released, Mapping):
        return _sorted_items(_converted(released, released.items))
    if isinstance(released, AnySet):
        return _sorted(released)
    return _from_other_type(released)


def on_grid(outcome: Any, grid: float) -> Any:
    """Return an outcome with every finite float in it rounded to a multiple of the grid, and −0.0 as 0.0.

    >>> on_grid((0.1 + 0.2, "a", 3, (-0.01, 1e300)), 0.125)
    (0.25, 'a', 3, (0.0, 1e+300))
    """
    if type(outcome) is tuple:
        return tuple([one if type(one) in _WITHOUT_FLOATS else on_grid(one, grid) for one in outcome])
    if isinstance(outcome, float):
        steps = outcome / grid
        # a float that is finer than its last bit is a multiple of the grid, as far as floats tell
        return round(steps) * grid + 0.0 if abs(steps) < _WHOLE else outcome
    if isinstance(outcome, complex):
        return complex(on_grid(outcome.real, grid), on_grid(outcome.imag, grid))
    return outcome


def atoms_as_outcomes(atoms: Sequence[Any]) -> Sequence[Any]:
    """Return the atoms of a declared law as outcomes of a function that returns them; numbers in an array stay there.

    Raises ValueError where two atoms are one outcome, and TypeError as `as_outcome` does.

    >>> atoms_as_outcomes([frozenset({1}), "none"])
    [(1,), 'none']
    """
    if isinstance(atoms, range) or are_numeric(atoms):
        return atoms
    outcomes, seen = list(map(as_outcome, atoms)), dict[Hashable, Any]()
    for atom, outcome in zip(atoms, outcomes, strict=True):
        key = identity(outcome)
        if key in seen:
            raise ValueError(f"the law names one outcome twice: {seen[key]!r} and {atom!r} are both {outcome!r}")
        seen[key] = atom
    return outcomes


def refused(error: BaseException, handled: BaseException | None = None) -> Refused:
    """Return an exception as an outcome: what a traceback prints of it, beside lines of code.

    That is its type, its message, its notes, the exceptions of a group, and the cause or the context, each with theirs.
    handled: what was being handled when the code that raised was called: Python makes it a context, too.

    >>> error = ValueError("bad record")
    >>> error.add_note("record 3 is negative")
    >>> refused(error)
    Refused(error='ValueError: bad record (note: record 3 is negative)')
    """
    said, left, seen = "", [("", error)], {id(handled)}  # a cause may lead back to where it came from
    while left:
        role, one = left.pop()
        if role and id(one) in seen:
            continue
        seen.add(id(one))
        text, notes = f"{type(one).__name__}: {one}", getattr(one, "__notes__", None)
        said += f" ({role}: {text})" if role else text
        said += "".join(f" (note: {note})" for note in notes) if isinstance(notes, list) else ""
        if one.__cause__ is not None:
            left.append(("cause", one.__cause__))
        elif one.__context__ is not None and not one.__suppress_context__:
            left.append(("context", one.__context__))
        if isinstance(one, BaseExceptionGroup):
            left += [("part", part) for part in reversed(one.exceptions)]
    return Refused(said)


def _sorted(parts: _Parts) -> tuple[Hashable, ...]:
    return tuple(sorted(map(as_outcome, parts), key=repr))


def _sorted_items(items: Iterable[tuple[Any, Any]]) -> tuple[Hashable, ...]:
    """Return `_sorted` of items with different keys: texts alone decide their order, as none begins another's repr."""
    if all(type(key) is str for key, _ in items):
        return tuple(map(as_outcome, sorted(items, key=lambda item: repr(item[0]))))
    return _sorted(items)


def _from_other_type(released: Any) -> Hashable:
    if not isinstance(released, type) and not holds_more(released):
        made = _converted(released, lambda: columns(released))
        if made is not None:
            return _with_details(released, made)
        for method in ("items", "tolist", "to_list", "to_numpy", "__array__"):  # only a series' items hold its index
            conversion = getattr(released, method, None)
            if callable(conversion):
                made = _converted(released, (lambda: np.asarray(released)) if method == "__array__" else conversion)
                if type(made) is type(released):  # numpy's long doubles
                    break
                return _with_details(released, tuple(made) if method == "items" else made)
        if hasattr(released, "__index__"):  # integers of other libraries
            return operator.index(released)
    raise TypeError(_problem(released, "cannot be told apart for certain"))


def _with_details(released: Any, made: Any) -> Hashable:
    outcome, beside = as_outcome(made), _converted(released, lambda: details(released, made))
    if not beside:
        return outcome
    return (*(outcome if isinstance(outcome, tuple) else (outcome,)), *map(as_outcome, beside))


def _converted(released: Any, convert: Callable[[], Any]) -> Any:
    try:
        return convert()
    except Exception as error:
        raise TypeError(_problem(released, f"cannot be converted ({type(error).__name__}: {error})")) from error


def _problem(released: Any, problem: str) -> str:
    kind = type(released)
    return (
        f"outcomes of type {kind.__module__}.{kind.__qualname__} {problem}: "
        "return numbers, strings, or tuples, arrays or mappings of them"
    )
