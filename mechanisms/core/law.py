"""Certified bounds on a discrete distribution, as integers, for blocks of equally likely atoms. No law holds floats."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.mechanism import O, Refused
from subnormal.mechanisms.core.outcome_identity import are_distinct, identity, position_of

Integers = Sequence[int] | NDArray[Any]  # Python integers of any size, or an int64 array

T = TypeVar("T")

ABSENT = -1  # the block of an atom that a law does not have
CHUNK = 1 << 16  # atoms at a time: what a cache holds


@dataclass(frozen=True, slots=True, eq=False)
class Powers:
    """The exact form of an enclosure's probabilities: an atom of block i has constant·e^(−rate·exponents[i]).

    Equal entries of `constants` stand for the same real number, in every law with this rate (nats). So a loss in base e
    that equals the claim is decided by comparing integers.
    """

    rate: Fraction
    exponents: NDArray[np.int64]
    constants: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Law(Generic[O]):
    """Bounds low ≤ P(atom) ≤ high on every atom, and `rest` on the mass outside the atoms.

    Mass that may lie on an atom or outside of all, such as that of draws that were not followed to their end, counts in
    `rest` and in each `high`. It is still one mass: the lower bounds leave 1 − Σ low undecided in all.

    atoms: range(n) for indices, an array for floats. Block i is atoms[ends[i-1]:ends[i]], all equally likely, each with
    a probability between low[i]/denominator and high[i]/denominator; low == high where the law is exact. Raises
    ValueError where the ends do not increase up to the number of atoms, an atom is named twice, or no distribution has
    these bounds.
    """

    atoms: Sequence[O | Refused]
    ends: Integers
    low: Integers
    high: Integers
    denominator: int
    rest: Fraction
    powers: Powers | None = None

    def __post_init__(self) -> None:
        if not len(self.ends) == len(self.low) == len(self.high):
            raise ValueError(f"as many ends as bounds, got {len(self.ends)}, {len(self.low)} and {len(self.high)}")
        if len(self.ends) == 0 or self.ends[-1] != len(self.atoms) or self.counts().min() <= 0:
            raise ValueError("ends must increase up to the number of atoms")
        if not are_distinct(self.atoms):
            raise ValueError("every atom may be named only once")
        low = integers(self.low)
        if (low < 0).any() or (self.high is not self.low and (low > integers(self.high)).any()):
            raise ValueError("every block needs 0 <= low <= high")
        least, most = self._weigh(self.counts())
        if least > self.denominator or most + self.rest * self.denominator < self.denominator:
            sums = f"low sums to {least} and high to {most} over all atoms, with a rest of {self.rest}"
            raise ValueError(f"{sums}: no distribution has these bounds over the denominator {self.denominator}")

    def counts(self) -> NDArray[np.int64]:
        """Return the number of atoms of each block, shape (blocks,)."""
        ends = np.asarray(self.ends, dtype=np.int64)
        counts = ends.copy()
        counts[1:] -= ends[:-1]
        return counts

    def probability(self, outcome: O | Refused) -> tuple[Fraction, Fraction]:
        """Return certified lower and upper bounds on the probability of one outcome."""
        block = self.block_of(outcome)
        if block == ABSENT:
            return Fraction(0), self.rest
        return Fraction(int(self.low[block]), self.denominator), Fraction(int(self.high[block]), self.denominator)

    def block_of(self, outcome: O | Refused) -> int:
        """Return the index of the block that holds the outcome, or ABSENT."""
        position = position_of(outcome, self.atoms)
        if position is None:
            return ABSENT
        return int(np.searchsorted(np.asarray(self.ends, dtype=np.int64), position, side="right"))

    def measure(self, members: NDArray[np.bool_]) -> tuple[int, int]:
        """Return bounds on the mass of the marked atoms (shape (atoms,)), over the denominator and without `rest`.

        Raises ValueError for marks of another shape.
        """
        marked, ends = np.asarray(members, dtype=np.bool_), np.asarray(self.ends, dtype=np.int64)
        if marked.shape != (len(self.atoms),):
            raise ValueError(f"one mark for each of {len(self.atoms)} atoms, got an array of shape {marked.shape}")
        until, before, first = np.empty(len(ends), dtype=np.int64), 0, 0
        for start in range(0, len(marked), CHUNK):
            chunk = marked[start : start + CHUNK]
            last = int(ends.searchsorted(start + len(chunk), side="right"))
            if last > first:
                until[first:last] = np.cumsum(chunk, dtype=np.int64)[ends[first:last] - (start + 1)] + before
            before, first = before + int(np.count_nonzero(chunk)), last
        until[1:] -= until[:-1].copy()
        return self._weigh(until)

    def least(self) -> int:
        """Return the sum of all lower bounds, over the denominator."""
        return self._weigh(self.counts())[0]

    def _weigh(self, counts: NDArray[np.int64]) -> tuple[int, int]:
        low = _dot(counts, integers(self.low))
        return low, low if self.high is self.low else _dot(counts, integers(self.high))

    def alike(self) -> NDArray[np.int64]:
        """Return for every block the first block with the same bounds, shape (blocks,)."""
        low = _first_alike(integers(self.low))
        if self.high is self.low:
            return low
        return _first_alike(low * np.int64(len(low)) + _first_alike(integers(self.high)))


def integers(values: Integers) -> NDArray[Any]:
    """Return an int64 array unchanged, other integers as an array of Python integers: numpy never guesses."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return values
    return np.array(list(map(operator.index, values)), dtype=object)


def _dot(counts: NDArray[np.int64], values: NDArray[Any]) -> int:
    if values.dtype == np.int64:
        no_overflow = int(counts.sum()) * int(values.max()) < 1 << 62
        if no_overflow or np.dot(counts.astype(float), values.astype(float)) < 2.0**62:
            return int(np.dot(counts, values))
    return int(np.dot(counts.astype(object), values.astype(object)))


def _first_alike(values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype == np.int64:
        if values.min() >= 0 and values.max() < len(values):  # a table is faster than a sort
            table = np.empty(len(values), dtype=np.int64)
            table[values[::-1]] = np.arange(len(values) - 1, -1, -1)  # what is written last stays: the first
            first_of: NDArray[np.int64] = table[values]
            return first_of
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        return first[inverse].astype(np.int64)
    seen: dict[int, int] = {}
    return np.array([seen.setdefault(value, block) for block, value in enumerate(values.tolist())], dtype=np.int64)


def exact_law(atoms: Sequence[O | Refused], ends: Integers, weights: Integers, denominator: int) -> Law[O]:
    """Return the law with exactly the weights given, one to an atom of each block, over the denominator."""
    return Law(atoms, ends, weights, weights, denominator, Fraction(0))


def image(law: Law[O], function: Callable[[Any], T], outside: Callable[[T], bool] = lambda mapped: True) -> Law[T]:
    """Return the law of function(outcome): atoms with the same image become one, and their bounds add.

    An outcome outside the law's atoms may have the image of an atom; the upper bound then includes `rest`.
    outside(image) returns whether that is possible.

    >>> image(exact_law([0, 1, 2], [3], [1], 3), lambda outcome: outcome > 0).probability(True)[0]
    Fraction(2, 3)
    """
    exact = law.high is law.low and law.rest == 0
    images: dict[Hashable, T] = {}
    low: dict[Hashable, int] = {}
    high: dict[Hashable, int] = {}
    bounds = zip(law.counts().tolist(), integers(law.low).tolist(), integers(law.high).tolist(), strict=True)
    of_atoms = ((least, most) for count, least, most in bounds for _ in range(count))
    for atom, (least, most) in zip(law.atoms, of_atoms, strict=True):
        mapped = function(atom)
        key = identity(mapped)
        images.setdefault(key, mapped)
        low[key] = low.get(key, 0) + least
        high[key] = high.get(key, 0) + most
    lowest = list(low.values())
    rest, left = ceil(law.rest * law.denominator), law.denominator - sum(lowest)
    if not exact:
        high = {key: most + (rest if outside(images[key]) else 0) for key, most in high.items()}
    highest = lowest if exact else [min(high[key], least + left) for key, least in low.items()]
    return Law(list(images.values()), range(1, len(images) + 1), lowest, highest, law.denominator, law.rest)


def block_ends(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the ends of the blocks of equal neighbours in a non-empty array.

    >>> block_ends(np.array([7, 7, 7, 2, 7])).tolist()
    [3, 4, 5]
    """
    last = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    ends = np.flatnonzero(last)
    ends += 1
    return ends
