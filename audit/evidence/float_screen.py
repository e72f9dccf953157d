"""Ratios of probabilities for many pairs of laws at once, in floats with proved error bounds.

A probability n/D is kept as two floats of 53 bits, rounded down and up, with their exponents apart, so that nothing is
too small. A quotient of two of them is rounded once: within 2^−53 of itself. `SLACK` is many times that.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.law import Law, Powers, integers
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up, log_bounds
from subnormal.mechanisms.privacy import Claim

SLACK = 2.0**-48  # relative
EPSILON_MAX = 600.0  # nats: e^ε is a float
ATOMS_MAX = 1 << 13  # of a law
ENTRIES = 1 << 20  # ratios computed at a time

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LawFloats:
    """Bounds on the probabilities of a law's atoms, shape (atoms,), as m·2^e. No mass lies elsewhere."""

    atoms: tuple[Hashable, ...] | range
    low: Floats
    low_exponent: NDArray[np.int32]
    high: Floats
    high_exponent: NDArray[np.int32]
    powers: Powers | None  # with an entry for each atom


def floats_of(law: Any) -> LawFloats | None:
    """Return a law in floats; None where mass may lie outside its atoms, of many atoms, and for a product of laws."""
    if not isinstance(law, Law) or law.rest or len(law.atoms) > ATOMS_MAX:
        return None
    counts = law.counts()
    low, low_exponent = _rounded(integers(law.low).tolist(), law.denominator, up=False)
    high, high_exponent = _rounded(integers(law.high).tolist(), law.denominator, up=True)
    atoms = law.atoms if isinstance(law.atoms, range) else tuple(map(identity, law.atoms))
    powers = law.powers
    if powers is not None:
        powers = Powers(powers.rate, np.repeat(powers.exponents, counts), np.repeat(powers.constants, counts))
    return LawFloats(
        atoms,
        np.repeat(low, counts),
        np.repeat(low_exponent, counts),
        np.repeat(high, counts),
        np.repeat(high_exponent, counts),
        powers,
    )


def _rounded(numerators: Sequence[int], denominator: int, *, up: bool) -> tuple[Floats, NDArray[np.int32]]:
    """Return significands m below or equal to 2^53 and exponents e, m·2^e being numerator/denominator rounded."""
    known: dict[int, tuple[int, int]] = {0: (0, 0)}
    for numerator in set(numerators) - {0}:
        shift = 52 + denominator.bit_length() - numerator.bit_length()
        scaled, unit = (numerator << shift, denominator) if shift >= 0 else (numerator, denominator << -shift)
        known[numerator] = -(-scaled // unit) if up else scaled // unit, -shift
    found = [known[numerator] for numerator in numerators]
    return np.array([one for one, _ in found], dtype=np.float64), np.array([one for _, one in found], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Screened:
    """Of every pair: a certified upper bound on its largest ratio, what floats decide, and the δ of violations, about.

    undecided: neither certainly within the claim nor certainly beyond. most: an upper bound on every loss, in nats.
    """

    ratio: Floats
    violated: NDArray[np.bool_]
    undecided: NDArray[np.bool_]
    delta: Floats
    most: float

    def largest(self, number: int) -> NDArray[np.bool_]:
        """Mark pairs whose ratio may be the largest, at most so many."""
        return _marked(np.flatnonzero(self.ratio >= self.ratio.max() * (1 - 8 * SLACK))[:number], len(self.ratio))

    def worst(self, number: int) -> NDArray[np.bool_]:
        """Mark violations: those with the largest δ and those with the largest ratios, at most so many of each."""
        found = np.flatnonzero(self.violated)
        by_delta = found[np.argsort(-self.delta[found], kind="stable")[:number]]
        by_ratio = found[np.argsort(-self.ratio[found], kind="stable")[:number]]
        return _marked(np.concatenate([by_delta, by_ratio]), len(self.ratio))


def _marked(places: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    marks = np.zeros(size, dtype=np.bool_)
    marks[places] = True
    return marks


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """Laws side by side, shape (laws, atoms), and bounds on e^ε.

    powers: the exact form of all laws, where they have one and list the same atoms in the same order. A loss is then a
    difference of exponents times the rate; of those that the claim allows `allowed` is the largest.
    """

    low: Floats
    low_exponent: NDArray[np.int32]
    high: Floats
    high_exponent: NDArray[np.int32]
    factor: tuple[float, float]
    powers: tuple[NDArray[np.int64], NDArray[np.int64]] | None
    allowed: int

    @classmethod
    def of(cls, laws: Sequence[LawFloats | None], claim: Claim) -> Screen | None:
        """Return the screen of a pure claim, ε at most 600; None for other claims, and where a law is not in floats."""
        if claim.delta > 0 or claim.epsilon > EPSILON_MAX:
            return None
        known = [law for law in laws if law is not None]
        if len(known) < len(laws):
            return None
        columns: dict[Hashable, int] = {}
        for law in known:
            for atom in law.atoms:
                columns.setdefault(atom, len(columns))
        kinds = (("low", np.float64), ("low_exponent", np.int32), ("high", np.float64), ("high_exponent", np.int32))
        tables = [np.zeros((len(known), len(columns)), dtype=kind) for _, kind in kinds]
        for row, law in enumerate(known):
            places = [columns[atom] for atom in law.atoms]
            for table, (name, _) in zip(tables, kinds, strict=True):
                table[row, places] = getattr(law, name)
        low, high = exp_bounds(Fraction(claim.epsilon))
        powers, allowed = _powers(known, claim)
        return cls(
            low=tables[0],
            low_exponent=tables[1],
            high=tables[2],
            high_exponent=tables[3],
            factor=(-float_up(-low), float_up(high)),
            powers=powers,
            allowed=allowed,
        )

    def compare(self, laws_in: NDArray[np.int64], laws_out: NDArray[np.int64]) -> Screened:
        """Return what is known of each pair of laws, in both directions."""
        step = max(1, ENTRIES // self.low.shape[1])
        parts = [
            self._compare(laws_in[start : start + step], laws_out[start : start + step])
            for start in range(0, len(laws_in), step)
        ]
        ratio, least, delta = (np.concatenate(column) for column in zip(*parts, strict=True))
        violated = least > self.factor[1]
        within = (ratio <= self.factor[0]) | self._within_by_powers(laws_in, laws_out, step)
        most = float(ratio.max())
        return Screened(
            ratio=ratio,
            violated=violated,
            undecided=~violated & ~within,
            delta=delta,
            most=float_up(log_bounds(Fraction(most))[1]) if most < np.inf else most,
        )

    def _within_by_powers(
        self, laws_in: NDArray[np.int64], laws_out: NDArray[np.int64], step: int
    ) -> NDArray[np.bool_]:
        """Mark the pairs whose constants cancel and whose exponents differ by no more than the claim allows."""
        within = np.zeros(len(laws_in), dtype=np.bool_)
        if self.powers is None:
            return within
        exponents, constants = self.powers
        for start in range(0, len(laws_in), step):
            here, there = laws_in[start : start + step], laws_out[start : start + step]
            near = (np.abs(exponents[here] - exponents[there]) <= self.allowed).all(axis=1)
            within[start : start + step] = near & (constants[here] == constants[there]).all(axis=1)
        return within

    def _compare(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """Return an upper and a lower bound on each pair's largest ratio, and the δ of violations, about."""
        most, least, delta = np.ones(len(one)), np.ones(len(one)), np.zeros(len(one))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            for here, there in ((one, other), (other, one)):
                upper = np.ldexp(self.high[here] / self.low[there], self.high_exponent[here] - self.low_exponent[there])
                lower = np.ldexp(self.low[here] / self.high[there], self.low_exponent[here] - self.high_exponent[there])
                # 0/0 is no outcome of either law; 0/p is 0.
                most = np.maximum(most, np.where(self.high[here] == 0, 0.0, upper).max(axis=1) * (1 + SLACK))
                least = np.maximum(least, np.where(self.low[here] == 0, 0.0, lower).max(axis=1) * (1 - SLACK))
            broken = np.flatnonzero(least > self.factor[1])
            for here, there in ((one[broken], other[broken]), (other[broken], one[broken])):
                of_here = np.ldexp(self.low[here], self.low_exponent[here])
                of_there = np.ldexp(self.high[there], self.high_exponent[there])
                beyond = np.maximum(of_here - self.factor[1] * of_there, 0.0).sum(axis=1)
                delta[broken] = np.maximum(delta[broken], beyond)
        return most, least, delta


def _powers(laws: Sequence[LawFloats], claim: Claim) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]] | None, int]:
    """Return the exponents and constants of all laws, shape (laws, atoms), and the largest difference of exponents that
    the claim allows. None where a law has no such form, or another rate or other atoms than the first."""
    first = laws[0]
    if first.powers is None:
        return None, 0
    exponents, constants = [], []
    for law in laws:
        if law.powers is None or law.powers.rate != first.powers.rate or law.atoms != first.atoms:
            return None, 0
        exponents.append(law.powers.exponents)
        constants.append(law.powers.constants)
    return (np.array(exponents), np.array(constants)), int(Fraction(claim.epsilon) / first.powers.rate)
