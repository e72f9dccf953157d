"""Functions of Python that take lazy numbers too: the largest and the smallest of many, their sum, and those of `math`.

A maximum has one path for each number that may be it. One that compares one number after the other has 2^(n − 1) paths,
one for each history of records.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from subnormal.audit.laws.kinds import Kind
from subnormal.audit.laws.lazy import Lazy, is_lazy
from subnormal.audit.laws.path import Constraint

RISING = (
    *("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sqrt", "cbrt", "degrees", "radians"),
    *("atan", "asin", "sinh", "asinh", "tanh", "atanh", "erf"),
)
FALLING = ("acos", "erfc")
PHASES = 1e6  # of a sine or a cosine, as far as the rounding of π is less than its flat part
IS_COMPENSATED = sum([0.1] * 10) == 1.0
FEW = 3  # numbers, of which fewer are compared one after the other
_python_copysign, _python_isfinite = math.copysign, math.isfinite
_python_isinf, _python_isnan = math.isinf, math.isnan


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


def of_math() -> list[tuple[Any, Any]]:
    """Return functions of `math`, each with one that takes lazy numbers too."""
    pairs = list[tuple[Any, Any]]()
    for sign, names in ((1, RISING), (-1, FALLING)):
        pairs += [(original, of_lazy(original, sign)) for name in names if (original := getattr(math, name, None))]
    pairs += [
        (math.floor, _unless_lazy(math.floor, lambda x: x.__floor__())),
        (math.ceil, _unless_lazy(math.ceil, lambda x: x.__ceil__())),
        (math.trunc, _unless_lazy(math.trunc, lambda x: x.__trunc__())),
        (math.fabs, _unless_lazy(math.fabs, lambda x: abs(x).of_kind(float))),
        (math.pow, _unless_lazy(math.pow, _pow)),
        (math.sin, _unless_lazy(math.sin, lambda x: wave(x, math.sin, 0.5, 1))),
        (math.cos, _unless_lazy(math.cos, lambda x: wave(x, math.cos, 0.0, -1))),
        (math.copysign, _copysign),
        (
            math.isfinite,
            _unless_lazy(math.isfinite, lambda x: all(map(math.isfinite, x.ends())) or _python_isfinite(x.point())),
        ),
        (math.isnan, _unless_lazy(math.isnan, lambda x: any(map(math.isnan, x.ends())) and _python_isnan(x.point()))),
        (math.isinf, _unless_lazy(math.isinf, lambda x: any(map(math.isinf, x.ends())) and _python_isinf(x.point()))),
    ]
    return pairs


def of_lazy(original: Callable[..., Any], sign: int) -> Callable[..., Any]:
    """Return a function of `math` that takes lazy numbers too. sign: 1 where it rises, −1 where it falls."""

    def followed(x: Any, *more: Any) -> Any:
        if not is_lazy(x):
            return original(x, *more)
        direction = -sign if more and more[0] < 1 else sign  # a logarithm of a base below 1 falls
        return x.unary(lambda value: original(value, *more), direction, (original, *more), float)

    return functools.wraps(original)(followed)


def wave(x: Lazy, function: Callable[[float], float], shift: float, sign: int, kind: Kind = float) -> Any:
    """Return a sine or cosine, of a type: on each of its half waves it is monotone, in turn rising and falling.

    sign: of the half wave with number 0, from −shift·π on. It is flat where half waves meet, so that the rounding of π
    does not matter there.
    """

    def half_wave(value: float) -> int:
        return math.floor(value / math.pi + shift)

    if any(abs(end) > PHASES for end in x.ends()):
        x.path.refuse("a sine or a cosine of a large number")
    number = x.split(half_wave, ("half wave", shift))
    x.stays_in(half_wave)
    return x.unary(function, sign if number % 2 == 0 else -sign, function, kind)


def _unless_lazy(original: Callable[..., Any], lazily: Callable[..., Any]) -> Callable[..., Any]:
    def followed(x: Any, *more: Any) -> Any:
        return lazily(x, *more) if is_lazy(x) else original(x, *more)

    return functools.wraps(original)(followed)


def _pow(x: Any, y: Any) -> Any:
    return x.of_kind(float) ** float(y) if y >= 0 else x.path.refuse("math.pow with a negative exponent")


def _copysign(x: Any, sign: Any) -> Any:
    if not (is_lazy(x) or is_lazy(sign)):
        return _python_copysign(x, sign)
    positive = sign.decide(_is_positive, _is_positive) if is_lazy(sign) else _is_positive(sign)
    return math.fabs(x) if positive else -math.fabs(x)


def _is_positive(value: Any) -> bool:
    return _python_copysign(1.0, value) > 0
