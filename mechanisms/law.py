"""Certified bounds on a discrete distribution, stored in runs. No law ever passes through a float."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, cast

import numpy as np
from numpy.typing import NDArray

from mechanisms.interface import O, Refused

Integers = Sequence[int] | NDArray[Any]  # Python integers of any size, or an int64 array

ABSENT = -1  # the run of an atom that a law does not have


@dataclass(frozen=True, slots=True, eq=False)
class Law(Generic[O]):
    """Bounds low ≤ P(atom) ≤ high on every atom, and `rest` on the mass outside the atoms.

    atoms: range(n) for indices, an array for floats. Run i is atoms[ends[i-1]:ends[i]], all equally likely, each with
    a probability between low[i]/denominator and high[i]/denominator; low == high where the law is exact.
    """

    atoms: Sequence[O | Refused]
    ends: Integers
    low: Integers
    high: Integers
    denominator: int
    rest: Fraction

    def __post_init__(self) -> None:
        if not len(self.ends) == len(self.low) == len(self.high):
            raise ValueError(f"as many ends as bounds, got {len(self.ends)}, {len(self.low)} and {len(self.high)}")
        if len(self.ends) == 0 or self.ends[-1] != len(self.atoms) or self.counts().min() <= 0:
            raise ValueError("ends must increase up to the number of atoms")
        if not isinstance(self.atoms, range) and len({identity(atom) for atom in self.atoms}) < len(self.atoms):
            raise ValueError("every atom may be named only once")
        low, high = integers(self.low), integers(self.high)
        if (low < 0).any() or (low > high).any():
            raise ValueError("every run needs 0 <= low <= high")
        least, most = self._weigh(self.counts())
        if least > self.denominator or most + self.rest * self.denominator < self.denominator:
            raise ValueError(f"no distribution has a mass between {least} and {most} + rest over {self.denominator}")

    def counts(self) -> NDArray[np.int64]:
        """Return the number of atoms of each run, shape (runs,)."""
        ends = np.asarray(self.ends, dtype=np.int64)
        return ends - np.append(np.int64(0), ends[:-1])

    def probability(self, outcome: O | Refused) -> tuple[Fraction, Fraction]:
        """Return certified lower and upper bounds on the probability of one outcome."""
        run = self.run_of(outcome)
        if run == ABSENT:
            return Fraction(0), self.rest
        return Fraction(int(self.low[run]), self.denominator), Fraction(int(self.high[run]), self.denominator)

    def run_of(self, outcome: O | Refused) -> int:
        """Return the index of the run that holds the outcome, or ABSENT."""
        wanted = identity(outcome)
        if isinstance(self.atoms, range):
            if type(wanted) is not int or wanted not in self.atoms:
                return ABSENT
            position = self.atoms.index(wanted)
        else:
            position = next((at for at, atom in enumerate(self.atoms) if identity(atom) == wanted), ABSENT)
            if position == ABSENT:
                return ABSENT
        return int(np.searchsorted(np.asarray(self.ends, dtype=np.int64), position, side="right"))

    def measure(self, members: NDArray[np.bool_]) -> tuple[int, int]:
        """Return bounds on the mass of the marked atoms (shape (atoms,)), over the denominator and without `rest`."""
        starts = np.asarray(self.ends, dtype=np.int64) - self.counts()
        return self._weigh(np.add.reduceat(members.astype(np.int64), starts))

    def _weigh(self, counts: NDArray[np.int64]) -> tuple[int, int]:
        low = _dot(counts, integers(self.low))
        return low, low if self.high is self.low else _dot(counts, integers(self.high))

    def alike(self) -> NDArray[np.int64]:
        """Return for every run the first run with the same bounds, shape (runs,)."""
        low = _first_alike(integers(self.low))
        if self.high is self.low:
            return low
        return _first_alike(low * np.int64(len(low)) + _first_alike(integers(self.high)))


def integers(values: Integers) -> NDArray[Any]:
    """Return integers as an int64 array where they are one already, else as Python integers: numpy never guesses."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return values
    return np.array([operator.index(value) for value in values], dtype=object)


def identity(atom: Any) -> Hashable:
    """Return what makes an outcome the same outcome: −0.0 is not 0.0, nor 1 or True 1.0, and every NaN is one NaN."""
    if isinstance(atom, np.generic):
        atom = atom.item()
    if isinstance(atom, bool):
        return ("bool", atom)
    if isinstance(atom, float):
        return ("float", atom.hex())  # "nan" whatever its bits
    if isinstance(atom, tuple):
        return ("tuple", *(identity(part) for part in atom))
    return cast("Hashable", atom)


def _dot(counts: NDArray[np.int64], values: NDArray[Any]) -> int:
    if values.dtype == np.int64 and np.dot(counts.astype(float), values.astype(float)) < 2.0**62:
        return int(np.dot(counts, values))
    return int(np.dot(counts.astype(object), values.astype(object)))


def _first_alike(values: NDArray[Any]) -> NDArray[np.int64]:
    if values.dtype == np.int64:
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        return first[inverse].astype(np.int64)
    seen: dict[int, int] = {}
    return np.array([seen.setdefault(value, run) for run, value in enumerate(values.tolist())], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Two laws over all their atoms: `count` atoms have the bounds of run `run_in` in one law and of run `run_out` in
    the other, ABSENT where a law does not have them. One entry for each pair of bounds, shape (pairs,)."""

    count: NDArray[np.int64]
    run_in: NDArray[np.int64]
    run_out: NDArray[np.int64]


def exact_law(atoms: Sequence[O | Refused], ends: Integers, weights: Integers, denominator: int) -> Law[O]:
    """Return the law with exactly the weights given, one to an atom of each run, over the denominator."""
    return Law(atoms, ends, weights, weights, denominator, Fraction(0))


def runs_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the ends of the runs of equal neighbours in a non-empty array.

    >>> runs_of(np.array([7, 7, 7, 2, 7])).tolist()
    [3, 4, 5]
    """
    return np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(values))


def pair(law_in: Law[Any], law_out: Law[Any]) -> Pairing:
    """Align two laws atom by atom. Two laws over indices are aligned run by run, whatever the number of indices."""
    if isinstance(law_in.atoms, range) and isinstance(law_out.atoms, range):
        count, run_in, run_out = _pair_ranges(law_in, law_out)
    else:
        count, run_in, run_out = _pair_atoms(law_in, law_out)
    run_in, run_out = (_representative(law, run) for law, run in ((law_in, run_in), (law_out, run_out)))
    width = len(law_out.ends) + 1
    keys, inverse = np.unique((run_in - ABSENT) * width + (run_out - ABSENT), return_inverse=True)
    sums = np.bincount(inverse, weights=count).astype(np.int64)  # exact: there are fewer than 2**53 atoms
    return Pairing(sums, keys // width + ABSENT, keys % width + ABSENT)


_Runs = NDArray[np.int64]


def _representative(law: Law[Any], runs: _Runs) -> _Runs:
    return np.where(runs == ABSENT, ABSENT, law.alike()[runs])


def _pair_ranges(law_in: Law[Any], law_out: Law[Any]) -> tuple[_Runs, _Runs, _Runs]:
    ends_in, ends_out = (np.asarray(law.ends, dtype=np.int64) for law in (law_in, law_out))
    ends = np.sort(np.concatenate([ends_in, ends_out]), kind="stable")  # merges two sorted runs
    ends = ends[runs_of(ends) - 1]
    runs = []
    for own in (ends_in, ends_out):
        run = np.searchsorted(own, ends - 1, side="right")
        runs.append(np.where(run == len(own), ABSENT, run))
    return np.diff(ends, prepend=0), runs[0], runs[1]


def _pair_atoms(law_in: Law[Any], law_out: Law[Any]) -> tuple[_Runs, _Runs, _Runs]:
    run_in, run_out = (np.repeat(np.arange(len(law.ends)), law.counts()) for law in (law_in, law_out))
    where_out = {identity(atom): position for position, atom in enumerate(law_out.atoms)}
    matches = np.array([where_out.pop(identity(atom), ABSENT) for atom in law_in.atoms], dtype=np.int64)
    only_out = np.fromiter(where_out.values(), dtype=np.int64, count=len(where_out))
    paired_in = np.append(run_in, np.full(len(only_out), ABSENT))
    paired_out = np.append(np.where(matches == ABSENT, ABSENT, run_out[matches]), run_out[only_out])
    return np.ones(len(paired_in), dtype=np.int64), paired_in, paired_out
