"""Real numbers as intervals with directed rounding: a formula written once is a certified bound from both sides.

Numbers from e^(−7·10^8) to e^(7·10^8): what lies beyond is enclosed too, by 0 or ∞ on one side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import gmpy2

from subnormal.mechanisms.numerics.mpfr import Real

PRECISION = 192  # bits: differences of close numbers lose some
FAR = 10_000  # deviations, from which on three terms of Mills' ratio leave a relative error below 3·10^-16
_DOWN = gmpy2.context(precision=PRECISION, round=gmpy2.RoundDown)
_UP = gmpy2.context(precision=PRECISION, round=gmpy2.RoundUp)
_DOUBLE_DOWN = gmpy2.context(precision=53, round=gmpy2.RoundDown, emin=-1073, emax=1024, subnormalize=True)
_DOUBLE_UP = gmpy2.context(precision=53, round=gmpy2.RoundUp, emin=-1073, emax=1024, subnormalize=True)

Number: TypeAlias = "Interval | float | Fraction"  # int is a float to a type checker


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from low to high. An operation holds every result of numbers of its operands.

    It raises ArithmeticError where infinities meet, and ZeroDivisionError where the divisor may be 0.

    >>> third = interval(1) / 3
    >>> third.low < third.high, float((third * 3).high - 1) < 1e-50
    (True, True)
    """

    low: Real
    high: Real

    def __post_init__(self) -> None:
        if gmpy2.is_nan(self.low) or gmpy2.is_nan(self.high):
            raise ArithmeticError("infinities cancel, or a zero meets an infinity")

    def __add__(self, other: Number) -> Interval:
        that = interval(other)
        return Interval(_DOWN.add(self.low, that.low), _UP.add(self.high, that.high))

    def __neg__(self) -> Interval:
        return Interval(_DOWN.minus(self.high), _UP.minus(self.low))

    def __sub__(self, other: Number) -> Interval:
        return self + -interval(other)

    def __mul__(self, other: Number) -> Interval:
        that = interval(other)
        ends = [(one, two) for one in (self.low, self.high) for two in (that.low, that.high)]
        return Interval(min(_DOWN.mul(*pair) for pair in ends), max(_UP.mul(*pair) for pair in ends))

    def __truediv__(self, other: Number) -> Interval:
        that = interval(other)
        if that.low <= 0 <= that.high:
            raise ZeroDivisionError("the divisor may be 0")
        ends = [(one, two) for one in (self.low, self.high) for two in (that.low, that.high)]
        return Interval(min(_DOWN.div(*pair) for pair in ends), max(_UP.div(*pair) for pair in ends))

    def __radd__(self, other: Number) -> Interval:
        return self + other

    def __rsub__(self, other: Number) -> Interval:
        return interval(other) - self

    def __rmul__(self, other: Number) -> Interval:
        return self * other

    def __rtruediv__(self, other: Number) -> Interval:
        return interval(other) / self

    def floats(self) -> tuple[float, float]:
        """Return the largest float ≤ low and the least float ≥ high."""
        return float(_DOUBLE_DOWN.add(self.low, 0)), float(_DOUBLE_UP.add(self.high, 0))


def interval(value: Number) -> Interval:
    """Return the interval of one number: an int, a float (infinities too), a fraction, or an interval as it is."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, float):
        exact = gmpy2.mpfr(value, 53)
        return Interval(exact, exact)
    exact = gmpy2.mpq(value.numerator, value.denominator)
    ends = []
    for context in (_DOWN, _UP):
        with gmpy2.context(context):
            ends.append(gmpy2.mpfr(exact))
    return Interval(ends[0], ends[1])


def hull(low: Number, high: Number) -> Interval:
    """Return the interval from the low end of one number to the high end of another."""
    return Interval(interval(low).low, interval(high).high)


def _rising(name: str) -> Callable[[Number], Interval]:
    """Return a function of numbers that rises, on intervals."""
    down, up = getattr(_DOWN, name), getattr(_UP, name)

    def enclosed(value: Number) -> Interval:
        that = interval(value)
        return Interval(down(that.low), up(that.high))

    return enclosed


exp, expm1, log, log1p, sqrt = map(_rising, ("exp", "expm1", "log", "log1p", "sqrt"))  # the logarithm of 0 is −∞


def largest(*values: Number) -> Interval:
    """Return the largest of the numbers."""
    every = [interval(value) for value in values]
    return Interval(max(one.low for one in every), max(one.high for one in every))


def normal_tail(deviations: Number) -> Interval:
    """Return P(N(0, 1) ≥ deviations) = erfc(x/√2)/2."""
    root = interval(deviations) / sqrt(2)
    return Interval(_DOWN.div_2exp(_DOWN.erfc(root.high), 1), _UP.div_2exp(_UP.erfc(root.low), 1))


def normal_density(deviations: Number) -> Interval:
    """Return the density of N(0, 1)."""
    that = interval(deviations)
    return exp(-(that * that) / 2) / sqrt(2 * PI)


def mills_ratio(deviations: Number) -> Interval:
    """Return P(N(0, 1) ≥ x) over the density at x, for x > 0; far out by 1/x − 1/x³ + 3/x⁵ − …, which alternates."""
    that = interval(deviations)
    if that.low < FAR:
        return normal_tail(that) * sqrt(2 * PI) * exp(that * that / 2)
    inverse = 1 / that
    square = inverse * inverse
    least = inverse * (1 - square)
    return hull(least, least + 3 * inverse * square * square)


def divergence(share: Fraction, chance: Number) -> Interval:
    """Return KL(share, chance) in nats, of two coins by the probabilities of heads."""
    heads, total = interval(chance), interval(0)
    for one, other in ((share, heads), (1 - share, 1 - heads)):
        total = total + one * (log(one) - log(other)) if one else total
    return total


def log_factorial(value: int) -> Interval:
    """Return ln value!."""
    that = gmpy2.mpz(value + 1)
    return Interval(_DOWN.lngamma(that), _UP.lngamma(that)) if value > 1 else interval(0)


PI = Interval(_DOWN.const_pi(), _UP.const_pi())
