"""The largest and the smallest of many lazy numbers: one path for each that may be it; and their sum.

A maximum that compares one number after the other has 2^(n − 1) paths, one for each history of records.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from subnormal.audit.laws.lazy import is_lazy
from subnormal.audit.laws.path import Constraint

IS_COMPENSATED = sum([0.1] * 10) == 1.0
FEW = 3  # numbers, of which fewer are compared one after the other


def of_extreme(original: Callable[..., Any], *, largest: bool) -> Callable[..., Any]:
    """Return `max` or `min`, which takes lazy numbers too."""

    def followed(*arguments: Any, **options: Any) -> Any:
        key = options.get("key")
        if len(arguments) == 1 and options.keys() <= {"key", "default"} and callable(key or len):
            given = arguments[0]
        elif options.keys() <= {"key"} and callable(key or len):
            given = arguments
        else:
            return original(*arguments, **options)  # raises
        values, keys = list[Any](), list[Any]()
        for value in given:  # a generator goes on when a key is known
            values.append(value)
            keys.append(value if key is None else key(value))
        if not values:
            return original(values, **options)
        at = extreme(keys, largest=largest)
        return values[original(range(len(keys)), key=keys.__getitem__) if at is None else at]

    return functools.wraps(original)(followed)


def of_sum(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return `sum`, which refuses lazy floats where Python adds floats with a compensation, from 3.12 on: of three
    numbers and more, the sum is another one."""

    def followed(values: Any, /, start: Any = 0) -> Any:
        added = [start, *values]
        lazy = next(filter(is_lazy, added), None)
        if IS_COMPENSATED and lazy is not None and sum(isinstance(one, float) for one in added) > 2:
            lazy.path.refuse("a sum of floats with a compensation")
        return original(added[1:], start)

    return functools.wraps(original)(followed)


def extreme(values: Sequence[Any], *, largest: bool) -> int | None:
    """Return the place of the first largest or smallest of lazy numbers of one uniform each; None of others."""
    if len(values) < FEW or not all(is_lazy(one) and len(one.signs) == 1 for one in values):
        return None
    if len({at for one in values for at in one.signs}) < len(values):
        return None
    ends = [one.ends() for one in values]
    if any(end != end for pair in ends for end in pair):  # not a number
        return None
    bound = max(low for low, _ in ends) if largest else min(high for _, high in ends)
    options = {
        at: [
            _beats(values[at], other, strict=place < at, largest=largest)
            for place, other in enumerate(values)
            if place != at and not _is_beaten(ends[place], ends[at], strict=place < at, largest=largest)
        ]
        for at, (low, high) in enumerate(ends)
        if (high >= bound if largest else low <= bound)
    }
    return int(values[0].path.choose(options))


def _is_beaten(other: tuple[Any, Any], one: tuple[Any, Any], *, strict: bool, largest: bool) -> bool:
    """Return whether any value of one number is beyond any value of the other."""
    far, near = (one[0], other[1]) if largest else (other[0], one[1])
    return bool(far > near if strict else far >= near)


def _beats(one: Any, other: Any, *, strict: bool, largest: bool) -> Constraint:
    """Return the constraint that one number is beyond another one, or equal where it is not strict."""
    lower, upper = (other, one) if largest else (one, other)
    compare = operator.lt if strict else operator.le
    f, g = lower.at, upper.at
    rising = {at: sign < 0 for at, sign in lower.signs.items()} | {at: sign > 0 for at, sign in upper.signs.items()}
    order = lower.name, upper.name, strict
    return Constraint(rising, lambda numbers: compare(f(numbers), g(numbers)), order, None, (lower, upper))
