"""The difference of two exponential random numbers, such as Laplace noise: its distribution function in closed form.

A number is recognised by the operations that make it: a logarithm of a uniform, or numpy's exponential, and then sums
and products with constants. Each rounding widens an interval, so that the number lies between low + slope · E at two
ends, where E is a standard exponential up to the steps of the uniform. That functions of `math` and numpy err by
`LOGARITHM` at most, relatively, is assumed. The bounds lie some 2^−50 apart, where strips leave some 2^−17 (`sums`).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from subnormal.audit.laws.draws.quantiles import exponential_quantile
from subnormal.audit.laws.path import Box
from subnormal.audit.laws.points import reversed_sub
from subnormal.mechanisms.numerics.mpfr import exp_bounds

if TYPE_CHECKING:
    from subnormal.audit.laws.lazy import Lazy

LOGARITHM = Fraction(1, 1 << 48)  # 16 units in the last place: libraries promise 1 to 4
ROUNDING = Fraction(1, 1 << 53)  # of one operation, relatively
LEAST = Fraction(1, 1 << 1074)  # more than what an operation loses below the normal floats
NEAR = Fraction(1, 1 << 20)  # how far from exponentials numbers are, at most: strips are as near
PRECISION = 80  # bits of an exponential
SLACK = 2.0**-51  # more than the rounding of a probability to a float
LOGARITHMS, LOGARITHMS_OF_1_PLUS = ((math.log,), np.log), ((math.log1p,), np.log1p)
NEGATED = (operator.neg, "uniform")
UNIFORMS = ("uniform", *(((reversed_sub, kind, repr(kind(1))), "uniform") for kind in (int, float)))

Interval = tuple[Fraction, Fraction]
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Exponential:
    """A number between the two ends of start + slope · E, where the distribution function of E is that of a standard
    exponential up to `apart`. The ends of the slope have one sign."""

    start: Interval
    slope: Interval
    apart: Fraction


@dataclass(frozen=True, slots=True)
class Difference:
    """rising − falling, rounded, where both are exponential random numbers."""

    start: Interval
    rising: Interval
    falling: Interval
    apart: Fraction

    def below(self, value: float) -> Bounds:
        """Return bounds on the probability that the difference is below a value.

        P(r·E − f·E' < v) is f/(r + f) · e^(v/f) for v < 0, and 1 − r/(r + f) · e^(−v/r) from there on. It rises with f
        and v, and falls with r.
        """
        (first, last), (r_low, r_high), (f_low, f_high) = self.start, self.rising, self.falling
        before = Fraction(math.nextafter(value, -math.inf))  # what is below it may be rounded to the value
        low, _ = _share(before - last, r_high, f_low)
        _, high = _share(Fraction(value) - first, r_low, f_high)
        return max(0.0, float(low - self.apart) - SLACK), min(1.0, float(high + self.apart) + SLACK)


def _share(value: Fraction, rising: Fraction, falling: Fraction) -> Interval:
    if value < 0:
        low, high = exp_bounds(value / falling, PRECISION)
        share = falling / (rising + falling)
        return share * low, share * high
    low, high = exp_bounds(-value / rising, PRECISION)
    share = rising / (rising + falling)
    return 1 - share * high, 1 - share * low


def difference_of(lazy: Lazy, boxes: Sequence[Box]) -> Difference | None:
    """Return a number as the difference of two exponentials, which differs from one by little; None of others.

    boxes: of its uniforms, in their order.
    """
    if lazy.parts is None:
        return None
    operation, left, _, right, _ = lazy.parts
    if operation not in (operator.add, operator.sub):
        return None
    one, other = _exponential(left, boxes[0]), _exponential(right, boxes[-1])
    if one is None or other is None:
        return None
    if operation is operator.sub:
        other = _opposite(other)
    if (one.slope[0] > 0) == (other.slope[0] > 0):
        return None
    rising, falling = (one.slope, other.slope) if one.slope[0] > 0 else (other.slope, one.slope)
    first, last = _plus(one.start, other.start)
    if last - first > NEAR * min(rising[0], -falling[1]):
        return None
    return Difference((first, last), rising, _negated(falling), one.apart + other.apart)


def _exponential(lazy: Lazy, box: Box) -> Exponential | None:
    """Return a number of one uniform as an exponential one; None where it is not known to be one."""
    if len(lazy.signs) != 1:
        return None
    (at,) = lazy.signs
    size = lazy.path.sizes[at]
    apart = Fraction(2 * (size - (box[1] - box[0])) + 2, size)
    return _of_key(lazy.key, apart) if apart <= NEAR else None


@functools.lru_cache(maxsize=1 << 8)
def _of_key(key: Any, apart: Fraction) -> Exponential | None:
    """Return an exponential number by the key of a lazy one, which tells its operations, the last one first."""
    if key is exponential_quantile:
        return Exponential((Fraction(0), Fraction(0)), (1 - LOGARITHM, 1 + LOGARITHM), apart)
    if not isinstance(key, tuple) or len(key) != 2:
        return None
    step, inner = key
    if (step in LOGARITHMS and inner in UNIFORMS) or (step in LOGARITHMS_OF_1_PLUS and inner == NEGATED):
        return Exponential((Fraction(0), Fraction(0)), (-1 - LOGARITHM, -1 + LOGARITHM), apart)
    made = _of_key(inner, apart)
    if made is None:
        return None
    if step is operator.neg:
        return _opposite(made)
    if not isinstance(step, tuple) or len(step) != 3 or step[1] not in (int, float):
        return None
    operation, _, text = step
    return _after(made, operation, float(text))


def _after(made: Exponential, operation: Any, constant: float) -> Exponential | None:
    """Return what an operation with a constant makes of an exponential number; None where it is not known."""
    if not math.isfinite(constant):
        return None
    made = _opposite(made) if operation is reversed_sub else made
    start, slope, other = made.start, made.slope, Fraction(constant)
    if operation in (operator.add, reversed_sub):
        start = _plus(start, (other, other))
    elif operation is operator.sub:
        start = _plus(start, (-other, -other))
    elif operation in (operator.mul, operator.truediv) and constant:
        factor = other if operation is operator.mul else 1 / other
        start, slope = _times(start, factor), _times(slope, factor)
    else:
        return None
    (first, last), (least, most) = _rounded(start), _rounded(slope)
    return Exponential((first - LEAST, last + LEAST), (least, most), made.apart)


def _opposite(one: Exponential) -> Exponential:
    return Exponential(_negated(one.start), _negated(one.slope), one.apart)


def _rounded(ends: Interval) -> Interval:
    low, high = ends
    return low - ROUNDING * abs(low), high + ROUNDING * abs(high)


def _plus(one: Interval, other: Interval) -> Interval:
    return one[0] + other[0], one[1] + other[1]


def _negated(ends: Interval) -> Interval:
    return -ends[1], -ends[0]


def _times(ends: Interval, factor: Fraction) -> Interval:
    low, high = sorted((ends[0] * factor, ends[1] * factor))
    return low, high
