"""Two laws -> evidence. In integers throughout: no float before the last line, and no tolerance but `WITHIN`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attacks.events import Event, Releases
from audit.report import ExactEvidence, Interval, Verdict
from mechanisms.arithmetic import exp_bounds, float_up, log_ratio
from mechanisms.atoms import are_same
from mechanisms.interface import Refused
from mechanisms.law import ABSENT, Law, integers
from mechanisms.pairing import pair
from mechanisms.privacy import Claim
from mechanisms.product import Product

WITHIN = 1e-12  # an upper bound this far above the claimed δ still counts as HOLDS (an exact base-2 law needs 0)
CURVE_BITS = 256  # of the masses that a curve is computed from
WITHIN_SHARE = 0.01  # and no further than this part of a positive δ


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A non-negative rational that is never reduced: a gcd of million-bit integers costs more than all the rest."""

    numerator: int
    denominator: int

    def _over(self, other: Ratio | Fraction) -> int:
        """Return an integer with the sign of self − other."""
        if self.denominator == other.denominator:
            return self.numerator - other.numerator
        return self.numerator * other.denominator - other.numerator * self.denominator

    def __lt__(self, other: Ratio | Fraction) -> bool:
        return self._over(other) < 0

    def __le__(self, other: Ratio | Fraction) -> bool:
        return self._over(other) <= 0

    def __gt__(self, other: Ratio | Fraction) -> bool:
        return self._over(other) > 0

    def __float__(self) -> float:
        return self.numerator / self.denominator  # Python's integer division is correctly rounded

    def plus(self, other: Ratio | Fraction) -> Ratio:
        """Return the sum."""
        if other.numerator == 0:
            return self
        numerator = self.numerator * other.denominator + other.numerator * self.denominator
        return Ratio(numerator, self.denominator * other.denominator)

    def above(self, other: Ratio | Fraction) -> Ratio:
        """Return the difference, or 0 where it is negative."""
        if other.numerator == 0:
            return self
        difference = self.numerator * other.denominator - other.numerator * self.denominator
        return Ratio(max(0, difference), self.denominator * other.denominator)


def compare(
    law_in: Law[Any] | Product[Any], law_out: Law[Any] | Product[Any], claim: Claim, event: Event | None = None
) -> ExactEvidence:
    """Return what two laws prove about a claim on this pair of worlds, in both directions.

    Of two products only the keys that differ are multiplied out, and those that the event looks at.
    The event's own verdict is apart from the pair's: the worst pair may break a claim that this event never leaves.

    VIOLATED when Σ(l_out − e^ε·u_in)₊ > δ for certified bounds l ≤ P ≤ u, or the same with the worlds exchanged;
    HOLDS when the certified upper bound Σ(u_out − e^ε·l_in)₊ + rest exceeds δ by at most `WITHIN`; else UNRESOLVED.
    Mass that may be anywhere is weighed once in both bounds (see `Direction`), not once for each atom.
    Raises ValueError where both worlds refuse in every run: code that fails whatever its data would hold any claim.
    """
    law_in, law_out = multiplied(law_in, law_out, event)
    if _refuses(law_in) and _refuses(law_out):
        raise ValueError(f"both worlds refuse in every run, so nothing was tried; the first: {law_in.atoms[0].error}")
    both = directions(law_in, law_out)
    claimed, budget = Fraction(claim.delta), Fraction(claim.epsilon)
    lowest, highest = exp_bounds(budget)
    proved = max(direction.at_least(highest) for direction in both)
    within = max(direction.at_most(lowest) for direction in both).above(claimed)
    attained = _attained(law_in, law_out)
    if attained is not None and attained <= budget and not proved > claimed:
        verdict, within = Verdict.HOLDS, Ratio(0, 1)
    else:
        verdict = _verdict(proved, within, claimed)
    event_in, event_out = (None, None) if event is None else (_probability(law, event) for law in (law_in, law_out))
    return ExactEvidence(
        verdict=verdict,
        epsilon=max(direction.loss() for direction in both) if attained is None else float_up(attained),
        delta=float(proved),
        within=None if verdict is Verdict.VIOLATED else float(within),
        advantage=None if event_in is None or event_out is None else _advantage(event_in, event_out),
        total_variation=float(max(direction.at_least(Fraction(1)) for direction in both)),
        event_in=_floats(event_in),
        event_out=_floats(event_out),
        event_verdict=_of_event(verdict, event_in, event_out, claimed, lowest, highest),
    )


def _refuses(law: Law[Any]) -> bool:
    return all(isinstance(atom, Refused) for atom in law.atoms) and len(law.atoms) > 0


def _verdict(proved: Ratio, within: Ratio, claimed: Fraction) -> Verdict:
    """Return what a certified lower bound, and the upper bound's excess, say of a claimed δ."""
    if proved > claimed:
        return Verdict.VIOLATED
    near = within <= Fraction(WITHIN) and (claimed == 0 or within <= Fraction(WITHIN_SHARE) * claimed)
    return Verdict.HOLDS if near else Verdict.UNRESOLVED


def _of_event(
    of_pair: Verdict, event_in: _Bounded | None, event_out: _Bounded | None, claimed: Fraction, *factors: Fraction
) -> Verdict | None:
    """Return whether p > e^ε·q + δ for the event or its complement, in either direction. factors: bounds on e^ε."""
    if event_in is None or event_out is None:
        return None
    if of_pair is Verdict.HOLDS:
        return Verdict.HOLDS  # of every event
    lowest, highest = factors
    complements = [(_complement(high), _complement(low)) for low, high in (event_in, event_out)]
    pairs = [pair for one, other in ((event_in, event_out), complements) for pair in ((one, other), (other, one))]
    proved = max(one[0].above(_times(other[1], highest)) for one, other in pairs)
    within = max(one[1].above(_times(other[0], lowest)) for one, other in pairs).above(claimed)
    return _verdict(proved, within, claimed)


def _complement(share: Ratio) -> Ratio:
    return Ratio(share.denominator - share.numerator, share.denominator)


def _times(share: Ratio, factor: Fraction) -> Ratio:
    return Ratio(share.numerator * factor.numerator, share.denominator * factor.denominator)


def _attained(law_in: Law[Any], law_out: Law[Any]) -> Fraction | None:
    """Return the largest loss exactly, where all probabilities are constants times powers of the same e^−rate.

    The constants cancel, so a loss is a difference of exponents times the rate: a rational, compared with no rounding.
    """
    one, other = law_in.powers, law_out.powers
    if law_in.rest or law_out.rest:
        return None
    if one is None or other is None or one.rate != other.rate or not are_same(law_in.atoms, law_out.atoms):
        return None
    counts_in, counts_out = law_in.counts(), law_out.counts()
    if not np.array_equal(np.repeat(one.constants, counts_in), np.repeat(other.constants, counts_out)):
        return None
    apart = np.abs(np.repeat(one.exponents, counts_in) - np.repeat(other.exponents, counts_out))
    return int(apart.max()) * one.rate


def multiplied(
    law_in: Law[Any] | Product[Any], law_out: Law[Any] | Product[Any], event: Event | None = None
) -> tuple[Law[Any], Law[Any]]:
    """Return two laws as they are, and of two products those of the keys that differ, or that the event looks at."""
    if isinstance(law_in, Law) and isinstance(law_out, Law):
        return law_in, law_out
    if not (isinstance(law_in, Product) and isinstance(law_out, Product)):
        raise TypeError("two laws or two products can be compared, not one of each")
    keys = set(law_in.differing(law_out))
    if isinstance(event, Releases):
        keys.add(event.key)
    elif event is not None:
        keys |= {*law_in.parts, *law_out.parts}
    return law_in.on(keys), law_out.on(keys)


def curve(
    law_in: Law[Any] | Product[Any], law_out: Law[Any] | Product[Any], epsilons: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return certified lower and upper bounds on δ(ε), the larger of the two directions, each of shape (epsilons,)."""
    both = [direction.narrow() for direction in directions(*multiplied(law_in, law_out))]
    bounds = [exp_bounds(Fraction(epsilon)) for epsilon in epsilons]
    lower = [float(max(direction.at_least(high) for direction in both)) for _, high in bounds]
    upper = [float(max(direction.at_most(low) for direction in both)) for low, _ in bounds]
    return np.array(lower), np.minimum(np.array(upper), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """One world P against the other Q, over a common denominator: bounds for the atoms that both laws name, grouped.

    What the lower bounds l leave open in a world is one mass s = 1 − Σl, wherever it lies. So, for a factor f ≥ 1:

    - Of the atoms S with l_P > f·l_Q, P has at least l_P(S), and Q at most l_Q(S) + s_Q:
      Σ(P − f·Q)₊ ≥ P(S) − f·Q(S) ≥ Σ(l_P − f·l_Q)₊ − f·s_Q.
    - (x + e)₊ ≤ x₊ + e for e ≥ 0, so P's open mass adds to Σ(l_P − f·l_Q)₊ what it weighs, and Q's adds nothing:
      Σ(P − f·Q)₊ ≤ Σ(l_P − f·l_Q)₊ + s_P.

    Where the open mass may lie anywhere, as after a walk over strings that was cut off, both are attained: Q's falls on
    S while P's falls where f·Q exceeds P, which has room for it since Σ(P − f·Q) = 1 − f ≤ 0; or both fall outside all
    atoms, apart. Where each atom's own upper bound u says more, so do the sums over atoms of (l_P − f·u_Q)₊, and of
    (u_P − f·l_Q)₊ with the rest. Either way of counting is sound: the bounds are the better of both.
    """

    count: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    other_low: NDArray[Any]
    other_high: NDArray[Any]
    denominator: int
    alone_low: int  # mass of the atoms that only this law names
    alone_high: int
    rest: Fraction
    other_rest: Fraction
    left: int  # what the lower bounds of this law leave open: 1 less all of them
    other_left: int

    def narrow(self) -> Direction:
        """Return the same over 2^CURVE_BITS, rounded outwards where that is shorter: a long curve stays affordable."""
        if self.denominator.bit_length() <= CURVE_BITS:
            return self
        down = {
            name: (getattr(self, name) << CURVE_BITS) // self.denominator for name in ("low", "other_low", "alone_low")
        }
        up = {
            name: -((-getattr(self, name) << CURVE_BITS) // self.denominator)
            for name in ("high", "other_high", "alone_high")
        }
        atoms = int(self.count.sum()) + 1  # each lower bound is rounded down by less than one unit
        left = {
            name: -((-getattr(self, name) << CURVE_BITS) // self.denominator) + atoms for name in ("left", "other_left")
        }
        return replace(self, **down, **up, **left, denominator=1 << CURVE_BITS)

    def at_least(self, factor: Fraction) -> Ratio:
        """Return a lower bound on the hockey-stick divergence Σ(P − factor·Q)₊."""
        # On the atoms that Q's law does not name, Q has at most its rest, and has that only once.
        alone = Ratio(self.alone_low, self.denominator)
        by_atoms = self._excess(self.low, self.other_high, factor).plus(alone.above(factor * self.other_rest))
        if self.other_high is self.other_low:
            return by_atoms
        at_once = self._excess(self.low, self.other_low, factor).plus(alone)
        anywhere = Ratio(factor.numerator * self.other_left, factor.denominator * self.denominator)
        return max(by_atoms, at_once.above(anywhere))

    def at_most(self, factor: Fraction) -> Ratio:
        """Return an upper bound on it."""
        by_atoms = self._excess(self.high, self.other_low, factor).plus(Ratio(self.alone_high, self.denominator))
        by_atoms = by_atoms.plus(self.rest)
        if self.high is self.low:
            return by_atoms
        at_once = self._excess(self.low, self.other_low, factor)
        return min(by_atoms, at_once.plus(Ratio(self.alone_low + self.left, self.denominator)))

    def _excess(self, mass: NDArray[Any], other: NDArray[Any], factor: Fraction) -> Ratio:
        difference = mass * factor.denominator - other * factor.numerator
        positive = difference > 0
        total = int(np.dot(self.count[positive], difference[positive]))
        return Ratio(total, self.denominator * factor.denominator)

    def loss(self) -> float:
        """Return the largest ln(P/Q) of an atom or of atoms at once, of the lower bound over the upper: ∞ where only Q
        is impossible.

        The logarithms have an absolute error below 2^−160, so the largest of them is that of the largest ratio.
        """
        pairs = set(zip(self.low.tolist(), self.other_high.tolist(), strict=True))
        pairs.add((self.alone_low * self.other_rest.denominator, self.other_rest.numerator * self.denominator))
        if self.other_high is not self.other_low:
            pairs.add(self._at_once())
        return max([0.0, *(log_ratio(mass, other) for mass, other in pairs if mass > 0)])

    def _at_once(self) -> tuple[int, int]:
        """Return (P, Q) of the atoms S at which l_P(S)/(l_Q(S) + s_Q) is largest, over the denominator.

        S = {l_P > f·l_Q} at the largest f that any such set proves: from a smaller f, each set proves a larger one.
        """
        best = 1, 1
        while True:
            chosen = self.low * best[1] > self.other_low * best[0]
            mass = int(np.dot(self.count[chosen], self.low[chosen])) + self.alone_low
            other = int(np.dot(self.count[chosen], self.other_low[chosen])) + self.other_left
            if mass * best[1] <= other * best[0]:
                return best
            best = mass, other


@lru_cache(maxsize=1)
def directions(law_in: Law[Any], law_out: Law[Any]) -> tuple[Direction, Direction]:
    paired = pair(law_in, law_out)
    same = law_in.denominator == law_out.denominator
    scale_in, scale_out = (1, 1) if same else (law_out.denominator, law_in.denominator)
    denominator = law_in.denominator * scale_in
    count = paired.count.astype(object)
    bounds_in = _gather(law_in, paired.run_in, scale_in)
    bounds_out = _gather(law_out, paired.run_out, scale_out)

    def direction(
        own: _Bounds, other: _Bounds, alone: NDArray[np.bool_], rest: Fraction, rest_other: Fraction
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
            left=denominator - int(np.dot(count, own[0])),
            other_left=denominator - int(np.dot(count, other[0])),
        )

    return (
        direction(bounds_in, bounds_out, paired.run_out == ABSENT, law_in.rest, law_out.rest),
        direction(bounds_out, bounds_in, paired.run_in == ABSENT, law_out.rest, law_in.rest),
    )


_Bounds = tuple[NDArray[Any], NDArray[Any]]
_Bounded = tuple[Ratio, Ratio]  # a probability


def _gather(law: Law[Any], runs: NDArray[np.int64], scale: int) -> _Bounds:
    """Return lower and upper bounds of the runs, 0 for ABSENT, times the scale, as Python integers."""

    def gathered(bounds: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
        values = integers(bounds)[runs].astype(object)
        values[runs == ABSENT] = 0
        scaled: NDArray[Any] = values * scale
        return scaled

    low = gathered(law.low)
    return low, low if law.high is law.low else gathered(law.high)


def _probability(law: Law[Any], event: Event) -> _Bounded:
    members = event(law.atoms)
    low, high = law.measure(members)
    others = law.measure(~members)[0]  # at least, so that the event has at most what is left of 1
    return Ratio(low, law.denominator), min(
        Ratio(high, law.denominator).plus(law.rest), Ratio(law.denominator - others, law.denominator)
    )


def _advantage(event_in: _Bounded, event_out: _Bounded) -> float:
    return float(max(event_in[0].above(event_out[1]), event_out[0].above(event_in[1])))


def _floats(bounds: _Bounded | None) -> Interval | None:
    return None if bounds is None else (float(bounds[0]), float(bounds[1]))
