"""Certified bounds on the hockey-stick divergence between two laws, in integers."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.law import ABSENT, Law, integers
from subnormal.mechanisms.core.law_alignment import pair
from subnormal.mechanisms.numerics.mpfr import exp_bounds, gmp_integer, largest_ratio, log_ratio

CURVE_BITS = 256  # of the masses for a curve


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A non-negative rational that is never reduced, because a gcd of million-bit integers is too slow.

    Products are those of GMP, as Python's of such integers take twenty times as long.
    """

    numerator: int
    denominator: int

    def _over(self, other: Ratio | Fraction) -> int:
        """Return an integer with the sign of self − other."""
        if self.denominator == other.denominator:
            return self.numerator - other.numerator
        return int(gmp_integer(self.numerator) * other.denominator - gmp_integer(other.numerator) * self.denominator)

    def __lt__(self, other: Ratio | Fraction) -> bool:
        return self._over(other) < 0

    def __le__(self, other: Ratio | Fraction) -> bool:
        return self._over(other) <= 0

    def __gt__(self, other: Ratio | Fraction) -> bool:
        return self._over(other) > 0

    def __float__(self) -> float:
        return int(self.numerator) / int(self.denominator)  # Python's integer division is correctly rounded

    def plus(self, other: Ratio | Fraction) -> Ratio:
        """Return the sum."""
        if other.numerator == 0:
            return self
        numerator = gmp_integer(self.numerator) * other.denominator + gmp_integer(other.numerator) * self.denominator
        return Ratio(numerator, gmp_integer(self.denominator) * other.denominator)

    def above(self, other: Ratio | Fraction) -> Ratio:
        """Return the difference, or 0 if it is negative."""
        if other.numerator == 0:
            return self
        difference = gmp_integer(self.numerator) * other.denominator - gmp_integer(other.numerator) * self.denominator
        return Ratio(max(0, difference), gmp_integer(self.denominator) * other.denominator)

    def times(self, factor: Fraction) -> Ratio:
        """Return the product."""
        return Ratio(self.numerator * factor.numerator, self.denominator * factor.denominator)

    def complement(self) -> Ratio:
        """Return 1 minus the ratio."""
        return Ratio(self.denominator - self.numerator, self.denominator)


@dataclass(frozen=True, slots=True, eq=False)
class _Ordered:
    """Groups of atoms by descending mass/other, and the sums of the first ones of them, the empty sum first."""

    mass: Sequence[int]
    other: Sequence[int]
    masses: Sequence[int]
    others: Sequence[int]

    @classmethod
    def of(cls, count: NDArray[Any], mass: NDArray[Any], other: NDArray[Any]) -> _Ordered:
        """Return the groups in order. Two ratios that differ do so by more than 1 over both denominators."""
        shift = 2 * int(other.max(initial=0)).bit_length()

        def ratio(group: tuple[int, int, int]) -> float | int:
            return (group[1] << shift) // group[2] if group[2] else math.inf if group[1] else -1

        ordered = sorted(zip(count.tolist(), mass.tolist(), other.tolist(), strict=True), key=ratio, reverse=True)
        masses = accumulate((times * own for times, own, _ in ordered), initial=0)
        others = accumulate((times * least for times, _, least in ordered), initial=0)
        return cls([own for _, own, _ in ordered], [least for *_, least in ordered], list(masses), list(others))

    def excess(self, factor: Fraction) -> int:
        """Return Σ count·(mass − factor·other)₊, over the factor's denominator."""
        over, under = factor.numerator, factor.denominator
        places = range(len(self.mass))
        positive = bisect_left(places, True, key=lambda at: self.mass[at] * under <= self.other[at] * over)
        return self.masses[positive] * under - self.others[positive] * over


@dataclass(frozen=True, eq=False)
class Direction:
    """Bounds for one world P against the other Q, over a common denominator, for groups of atoms of both laws.

    The lower bounds l of a world leave one mass open, s = 1 − Σl, whose location is unknown. For a factor f ≥ 1:

    - On the atoms S with l_P > f·l_Q, P has at least l_P(S), and Q at most l_Q(S) + s_Q:
      Σ(P − f·Q)₊ ≥ P(S) − f·Q(S) ≥ Σ(l_P − f·l_Q)₊ − f·s_Q.
    - (x + e)₊ ≤ x₊ + e for e ≥ 0, so P's open mass adds at most s_P to Σ(l_P − f·l_Q)₊, and Q's adds nothing:
      Σ(P − f·Q)₊ ≤ Σ(l_P − f·l_Q)₊ + s_P.

    If the open mass may lie anywhere, as after a walk over strings that was cut off, both bounds are attained: the
    first if Q's open mass lies on S and P's where f·Q exceeds P, which has room for it since Σ(P − f·Q) = 1 − f ≤ 0;
    the second if both lie outside all atoms, on different outcomes. With an upper bound u for each atom, the sums over
    atoms of (l_P − f·u_Q)₊, and of (u_P − f·l_Q)₊ plus the rest, are bounds as well. The better one of both is used.
    """

    count: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    other_low: NDArray[Any]
    other_high: NDArray[Any]
    denominator: int
    alone_low: int  # the mass of atoms of this law only
    alone_high: int
    rest: Fraction
    other_rest: Fraction
    ordered: Mapping[tuple[str, str], _Ordered] | None = None  # the pairs of bounds, for many factors

    @cached_property
    def open_mass(self) -> int:
        """1 minus the lower bounds of this law, over the denominator."""
        return self.denominator - int(np.dot(self.count, self.low)) - self.alone_low

    @cached_property
    def other_open_mass(self) -> int:
        """1 minus the lower bounds of the other law, over the denominator."""
        return self.denominator - int(np.dot(self.count, self.other_low))

    def narrow(self) -> Direction:
        """Return the same bounds over 2^CURVE_BITS, rounded outwards, if that is shorter, for long curves."""
        if self.denominator.bit_length() <= CURVE_BITS:
            return self
        units = gmp_integer(self.denominator)

        def down(value: int) -> int:
            return int((gmp_integer(value) << CURVE_BITS) // units)

        def up(value: int) -> int:
            return -down(-value)

        def each(way: Callable[[int], int], values: NDArray[Any]) -> NDArray[Any]:
            return np.array(list(map(way, values.tolist())), dtype=object)

        return replace(
            self,
            low=each(down, self.low),
            high=each(up, self.high),
            other_low=each(down, self.other_low),
            other_high=each(up, self.other_high),
            alone_low=down(self.alone_low),
            alone_high=up(self.alone_high),
            denominator=1 << CURVE_BITS,
        )

    def at_least(self, factor: Fraction) -> Ratio:
        """Return a lower bound on the hockey-stick divergence Σ(P − factor·Q)₊."""
        # On all atoms that are not in Q's law, Q has at most its rest in total.
        alone = Ratio(self.alone_low, self.denominator)
        by_atoms = self._excess("low", "other_high", factor).plus(alone.above(factor * self.other_rest))
        if self.other_high is self.other_low:
            return by_atoms
        at_once = self._excess("low", "other_low", factor).plus(alone)
        anywhere = Ratio(factor.numerator * self.other_open_mass, factor.denominator * self.denominator)
        return max(by_atoms, at_once.above(anywhere))

    def at_most(self, factor: Fraction) -> Ratio:
        """Return an upper bound on the hockey-stick divergence."""
        by_atoms = self._excess("high", "other_low", factor).plus(Ratio(self.alone_high, self.denominator))
        by_atoms = by_atoms.plus(self.rest)
        if self.high is self.low:
            return by_atoms
        at_once = self._excess("low", "other_low", factor)
        return min(by_atoms, at_once.plus(Ratio(self.alone_low + self.open_mass, self.denominator)))

    def _excess(self, own: str, other: str, factor: Fraction) -> Ratio:
        """Return Σ count·(bound − factor·bound of the other)₊, the bounds given by their names."""
        denominator = self.denominator * factor.denominator
        if self.ordered is not None:
            return Ratio(self.ordered[own, other].excess(factor), denominator)
        difference = getattr(self, own) * factor.denominator - getattr(self, other) * factor.numerator
        positive = difference > 0
        return Ratio(int(np.dot(self.count[positive], difference[positive])), denominator)

    def in_order(self) -> Direction:
        """Return the same bounds for many factors: every group is looked at once, and few of them for a factor."""
        ordered: dict[tuple[str, str], _Ordered] = {}
        made: dict[tuple[int, int], _Ordered] = {}  # an exact law has one array for both of its bounds
        for own, other in (("low", "other_high"), ("low", "other_low"), ("high", "other_low")):
            bounds = getattr(self, own), getattr(self, other)
            key = id(bounds[0]), id(bounds[1])
            ordered[own, other] = made[key] = made.get(key) or _Ordered.of(self.count, *bounds)
        return replace(self, ordered=ordered)

    def loss(self) -> float:
        """Return the largest ln(P/Q) of an atom or a set of atoms, with P's lower and Q's upper bound; ∞ if Q is 0."""
        pairs = set(zip(self.low.tolist(), self.other_high.tolist(), strict=True))
        pairs.add((self.alone_low * self.other_rest.denominator, self.other_rest.numerator * self.denominator))
        if self.other_high is not self.other_low:
            pairs.add(self._at_once())
        return log_ratio(*largest_ratio([(1, 1), *(pair for pair in pairs if pair[0] > 0)]))

    def _at_once(self) -> tuple[int, int]:
        """Return (P, Q) of the atoms S at which l_P(S)/(l_Q(S) + s_Q) is largest, over the denominator.

        S = {l_P > f·l_Q} for the largest f that such a set proves. The loop starts at f = 1, and each set proves a
        larger f, whose set it contains.
        """
        best, count, low, other_low = (1, 1), self.count, self.low, self.other_low
        while True:
            chosen = low * best[1] > other_low * best[0]
            count, low, other_low = count[chosen], low[chosen], other_low[chosen]
            mass = int(np.dot(count, low)) + self.alone_low
            other = int(np.dot(count, other_low)) + self.other_open_mass
            if mass * best[1] <= other * best[0]:
                return best
            best = mass, other


@lru_cache(maxsize=1)
def directions(law_in: Law[Any], law_out: Law[Any]) -> tuple[Direction, Direction]:
    paired = pair(law_in, law_out)
    same = law_in.denominator == law_out.denominator
    scale_in, scale_out = (1, 1) if same else (gmp_integer(law_out.denominator), gmp_integer(law_in.denominator))
    denominator = int(law_in.denominator * scale_in)
    count = paired.count.astype(object)
    bounds_in = _gather(law_in, paired.block_in, scale_in)
    bounds_out = _gather(law_out, paired.block_out, scale_out)

    def direction(
        own: _BlockBounds, other: _BlockBounds, alone: NDArray[np.bool_], rest: Fraction, rest_other: Fraction
    ) -> Direction:
        alone_low, alone_high = (int(np.dot(count[alone], bound[alone])) for bound in own)
        low, other_low = own[0][~alone], other[0][~alone]
        return Direction(
            count=count[~alone],
            low=low,
            high=low if own[1] is own[0] else own[1][~alone],
            other_low=other_low,
            other_high=other_low if other[1] is other[0] else other[1][~alone],
            denominator=denominator,
            alone_low=alone_low,
            alone_high=alone_high,
            rest=rest,
            other_rest=rest_other,
        )

    return (
        direction(bounds_in, bounds_out, paired.block_out == ABSENT, law_in.rest, law_out.rest),
        direction(bounds_out, bounds_in, paired.block_in == ABSENT, law_out.rest, law_in.rest),
    )


def at_least(both: Sequence[Direction], factor: Fraction) -> Ratio:
    """Return a lower bound on the hockey-stick divergence, the larger of the two directions."""
    return max(direction.at_least(factor) for direction in both)


def at_most(both: Sequence[Direction], factor: Fraction) -> Ratio:
    """Return an upper bound on the hockey-stick divergence, the larger of the two directions."""
    return max(direction.at_most(factor) for direction in both)


def curve(
    law_in: Law[Any], law_out: Law[Any], epsilons: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return certified lower and upper bounds on δ(ε), the larger of the two directions, each of shape (epsilons,)."""
    both = [direction.narrow().in_order() for direction in directions(law_in, law_out)]
    lower, upper = np.empty(len(epsilons)), np.empty(len(epsilons))
    for place, epsilon in enumerate(epsilons):
        low, high = exp_bounds(Fraction(epsilon))
        lower[place], upper[place] = at_least(both, high), at_most(both, low)
    return lower, np.minimum(upper, 1.0)


_BlockBounds = tuple[NDArray[Any], NDArray[Any]]


def _gather(law: Law[Any], blocks: NDArray[np.int64], scale: int) -> _BlockBounds:
    """Return lower and upper bounds of the blocks, 0 for ABSENT, times the scale, as integers of any size."""

    def gathered(bounds: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
        values = integers(bounds)[blocks].astype(object)
        values[blocks == ABSENT] = 0
        return values if scale == 1 else np.array([scale * value for value in values.tolist()], dtype=object)

    low = gathered(law.low)
    return low, low if law.high is law.low else gathered(law.high)
