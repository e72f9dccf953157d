"""Exact and directed-rounding real arithmetic. The only module that speaks to MPFR (through gmpy2)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from numbers import Integral, Rational
from typing import Any, NamedTuple, TypeAlias, cast

import gmpy2
import numpy as np

Real: TypeAlias = Any  # gmpy2.mpfr, which ships no type stubs


class InexactError(ArithmeticError):
    """Arithmetic that must be exact was not, at the working precision."""


def libraries() -> dict[str, str]:
    """Return the versions of the C libraries below: what they round correctly does not depend on them, bounds may."""
    return {"mpfr": gmpy2.mpfr_version().split()[-1], "gmp": gmpy2.mp_version().split()[-1]}


_EVENTS = ("inexact", "overflow", "underflow", "divzero", "invalid", "erange")
_TRAPPING = gmpy2.context(**{f"trap_{event}": True for event in _EVENTS})


@contextmanager
def exact(precision: int) -> Iterator[None]:
    """Make every MPFR operation inside exact at `precision` bits; raise InexactError where one is not.

    Traps inexact, overflow, underflow, division by zero, invalid and range errors. Raises ValueError for a precision
    below 1 bit.
    Source: Ilvento 2020, Section 3.2 ("inexact arithmetic is trapped").
    """
    if precision < 1:
        raise ValueError(f"precision must be at least 1 bit, got {precision}")
    try:
        with gmpy2.context(_TRAPPING, precision=precision):
            yield
    except (
        gmpy2.InexactResultError,
        gmpy2.OverflowResultError,
        gmpy2.UnderflowResultError,
        gmpy2.DivisionByZeroError,
        gmpy2.InvalidOperationError,
        gmpy2.RangeError,
    ) as error:
        raise InexactError(f"{error} at a working precision of {precision} bits") from None


def real(value: int) -> Real:
    """Return an integer as an MPFR number of the scope's precision."""
    return gmpy2.mpfr(value)


def scaled(value: int, exponent: int) -> Real:
    """Return value·2^exponent as an MPFR number of the scope's precision."""
    return gmpy2.mul_2exp(gmpy2.mpfr(value), exponent)


def power(base: Real, exponent: int) -> Real:
    """Return base^exponent, exponent ≥ 0, by repeated squaring: each product is exact or trapped.

    Raises ValueError for a negative exponent.
    """
    if exponent < 0:
        raise ValueError(f"exponent must not be negative, got {exponent}")
    result, square = gmpy2.mpfr(1), base
    while exponent:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return result


def cumulative(weights: Sequence[Real]) -> list[Real]:
    """Return the sequential partial sums of the weights."""
    return list(accumulate(weights))


def ceiling_log2(value: Real) -> int:
    """Return the least k with 2^k ≥ value > 0."""
    mantissa, exponent = value.as_mantissa_exp()
    return int(exponent) + int(mantissa - 1).bit_length()


def divided(value: Real, exponent: int) -> tuple[int, bool]:
    """Return the integer part of value/2^exponent, value ≥ 0, and whether anything is left.

    >>> divided(scaled(7, -2), -1)
    (3, True)
    """
    mantissa, own = value.as_mantissa_exp()
    shift = int(own) - exponent
    if shift >= 0:
        return int(mantissa << shift), False
    whole, left = gmpy2.f_divmod_2exp(mantissa, -shift)
    return int(whole), bool(left)


class _LowestTerms(NamedTuple):
    """A ratio that no number divides above and below. Fraction takes it as it is, without looking for a divisor."""

    numerator: int
    denominator: int


Rational.register(_LowestTerms)


def fraction(value: Real) -> Fraction:
    """Return an MPFR number as the rational that it is, in a time that is linear in its bits."""
    numerator, denominator = value.as_integer_ratio()
    return Fraction(cast("Any", _LowestTerms(int(numerator), int(denominator))))


def exp_bounds(exponent: Fraction, precision: int = 128) -> tuple[Fraction, Fraction]:
    """Return dyadic rationals low ≤ e^exponent ≤ high, about `precision` bits apart.

    Sound because both steps round outwards: the exponent to MPFR, then MPFR's correctly rounded exponential.

    >>> low, high = exp_bounds(Fraction(1, 2))
    >>> low < high and abs(float(low) - 1.6487212707001282) < 1e-15
    True
    """
    return _directed(gmpy2.exp, exponent, precision)


def log_bounds(value: Fraction, precision: int = 128) -> tuple[Fraction, Fraction]:
    """Return dyadic rationals low ≤ ln(value) ≤ high for value > 0, about `precision` bits apart.

    Raises ValueError for a value that is not positive.
    """
    if value <= 0:
        raise ValueError(f"value must be positive, got {value}")
    return _directed(gmpy2.log, value, precision)


def power_bounds(base: Fraction, exponent: int, precision: int = 128) -> tuple[Fraction, Fraction]:
    """Return dyadic rationals low ≤ base^exponent ≤ high for base > 0, exponent ≥ 0, about `precision` bits apart."""
    return _directed(lambda rounded: rounded**exponent, base, precision + 64)


def root_of_two_pi_bounds(value: Fraction, precision: int = 128) -> tuple[Fraction, Fraction]:
    """Return dyadic rationals low ≤ √(2π·value) ≤ high for value ≥ 0, about `precision` bits apart.

    Sound because π, both products and the root are rounded to the same side, and increase with what they are made of.

    >>> low, high = root_of_two_pi_bounds(Fraction(1))
    >>> low < high and abs(float(low) - 2.5066282746310002) < 1e-15
    True
    """
    return _directed(lambda rounded: gmpy2.sqrt(2 * gmpy2.const_pi() * rounded), value, precision)


def _directed(function: Callable[[Real], Real], argument: Fraction, precision: int) -> tuple[Fraction, Fraction]:
    bounds, ratio = [], gmpy2.mpq(argument.numerator, argument.denominator)
    for direction in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=precision, round=direction):
            bounds.append(fraction(function(gmpy2.mpfr(ratio))))
    return bounds[0], bounds[1]


def plain(name: str, value: Any) -> int | float | Fraction:
    """Return a finite number as Python's own int, float or Fraction: numpy's integers wrap around without a word.

    Raises ValueError, with the name, for what is not a finite number.
    """
    if type(value) is int or (type(value) is float and math.isfinite(value)):  # mostly: the checks below take long
        return value
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    if isinstance(value, Fraction):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value}")
    return value


def rational(name: str, value: Any) -> Fraction:
    """Return a finite number as the rational that it is. Raises ValueError, with the name, for anything else."""
    return Fraction(plain(name, value))


def own_number(name: str, value: Any) -> int | float:
    """Return a number as Python's own int or float, exactly; ∞ for one beyond the largest float.

    Raises TypeError, with the name, for what is no real number, and ValueError where no float is equal to it.

    >>> own_number("epsilon", Fraction(1, 2))
    0.5
    """
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, Integral | np.bool_):
        return int(value)
    if not isinstance(value, float | np.floating | Rational | Decimal):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}")
    try:
        own = float(value)
    except OverflowError:
        own = math.inf
    if not math.isfinite(own):
        return own
    ratio = value.as_integer_ratio() if isinstance(value, np.floating) else (value,)
    if Fraction(*ratio) != own:
        raise ValueError(f"{name} must be equal to a float, got {value}: the nearest one is {own}")
    return own


def float_up(value: Fraction) -> float:
    """Return the least float ≥ value: ∞ beyond the largest."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return math.nextafter(nearest, math.inf) if Fraction(nearest) < value else nearest


def gmp_integer(value: int) -> Any:
    """Return the same integer, whose products are those of GMP: of a million bits, in a twentieth of Python's time."""
    return gmpy2.mpz(value)


def largest_ratio(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the pair (n, d) of positive integers of any size whose n/d is largest; n/0 is ∞.

    Compared is n/d − 1, with a relative error below 2^-190: a ratio that is missed has the same logarithm as a float.
    """
    with gmpy2.context(precision=192):
        given = [(_rounded(*pair), pair) for pair in pairs]
        most = max(quotient for quotient, _ in given)
        # Rounding is monotone: the largest ratio has the largest quotient.
        near = [pair for quotient, pair in given if quotient == most]
        return max(near, key=lambda pair: gmpy2.mpfr(pair[0] - pair[1]) / gmpy2.mpfr(pair[1]))


def _rounded(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except (OverflowError, ZeroDivisionError):
        return math.inf


def log_ratio(numerator: int, denominator: int) -> float:
    """Return ln(numerator/denominator) in nats for positive integers of any size; ∞ where only the denominator is 0.

    At 192 bits the difference of two logarithms near 10^7 still has an absolute error below 2^-160; where it is small,
    its relative error is.
    """
    if denominator == 0:
        return math.inf
    with gmpy2.context(precision=192):
        if denominator < 2 * numerator < 4 * denominator:
            return float(gmpy2.log1p(gmpy2.mpfr(numerator - denominator) / gmpy2.mpfr(denominator)))
        return float(gmpy2.log(gmpy2.mpfr(numerator)) - gmpy2.log(gmpy2.mpfr(denominator)))


def nearest(value: Fraction, precision: int) -> float:
    """Return the float of `precision` ≤ 53 significant bits nearest to a rational, ties to even: rounded only once."""
    with gmpy2.context(precision=precision):
        return float(gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator)))


def above(value: Fraction, precision: int) -> float:
    """Return the least float of `precision` ≤ 53 significant bits that is ≥ value."""
    with gmpy2.context(precision=precision, round=gmpy2.RoundUp):
        return float(gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator)))


def nearest_exponentials(exponents: Iterable[Fraction]) -> list[float]:
    """Return the floats nearest to e^exponent rounded down to 128 bits, for exponents of at most 128 bits."""
    exp, ratio, real_of = gmpy2.exp, gmpy2.mpq, gmpy2.mpfr
    with gmpy2.context(precision=128, round=gmpy2.RoundDown):
        powers = [exp(real_of(ratio(one.numerator, one.denominator))) for one in exponents]
    with gmpy2.context():
        return [float(power) for power in powers]


def nearest_logs(significands: Sequence[int], shifts: Sequence[int], precision: int) -> list[float]:
    """Return ln(significand/2^shift), each correctly rounded (ties to even) to `precision` ≤ 53 significant bits.

    significands are positive and below 2^precision, so that the arguments are exact. Any shift: no binary64 is needed.
    """
    with gmpy2.context(precision=precision):
        log, ratio, real_of = gmpy2.log, gmpy2.div_2exp, gmpy2.mpfr
        return [float(log(ratio(real_of(one), shift))) for one, shift in zip(significands, shifts, strict=True)]
