"""The law of a mapping whose keys are released independently: one law a key, never multiplied out whole.

An outcome is the sorted items of what is released. A key whose part is None in an outcome is not in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Generic

import numpy as np

from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import NoLawError, O
from subnormal.mechanisms.core.outcome_identity import are_same

ATOMS_MAX = 1 << 18  # combinations of the parts' atoms that are multiplied out

NEVER: Law[Any] = exact_law([None], [1], [1], 1)  # the part of a key that is never released


@dataclass(frozen=True, slots=True, eq=False)
class Product(Generic[O]):
    """A law for each key, of its released value, or None where it is not released. Other keys are never released.

    Two parts count as equal when they are one object, or exact with equal atoms and probabilities. Two different
    enclosures never count as equal.
    """

    parts: Mapping[Any, Law[O | None]]

    def part(self, key: Any) -> Law[O | None]:
        """Return the law of one key."""
        return self.parts.get(key, NEVER)

    def probability(self, outcome: Any) -> tuple[Fraction, Fraction]:
        """Return certified lower and upper bounds on the probability of one outcome."""
        released = dict(outcome)
        bounds = [self.part(key).probability(released.get(key)) for key in {**self.parts, **released}]
        return prod((low for low, _ in bounds), start=Fraction(1)), prod(
            (high for _, high in bounds), start=Fraction(1)
        )

    def on(self, keys: Collection[Any]) -> Law[Any]:
        """Return the law of the outcome restricted to these keys: the product of their parts.

        Raises NoLawError for more than 2^18 combinations.
        """
        ordered = sorted(keys)
        laws = [self.part(key) for key in ordered]
        combinations = prod(len(law.atoms) for law in laws)
        if combinations > ATOMS_MAX:
            raise NoLawError(f"{len(laws)} keys with {combinations} outcomes together, more than {ATOMS_MAX}")
        atoms = [
            tuple((key, value) for key, value in zip(ordered, values, strict=True) if value is not None)
            for values in product(*(law.atoms for law in laws))
        ]
        low, high = ([prod(bounds) for bounds in product(*(_each(law, side) for law in laws))] for side in (0, 1))
        covered = prod(1 - law.rest for law in laws)
        high = low if all(law.high is law.low for law in laws) else high
        return Law(
            atoms, range(1, len(atoms) + 1), low, high, prod(law.denominator for law in laws), 1 - Fraction(covered)
        )

    def differing(self, other: Product[Any]) -> list[Any]:
        """Return the keys whose parts differ, sorted: all other parts cancel in every ratio."""
        keys = {**self.parts, **other.parts}
        return sorted(key for key in keys if not _equal(self.part(key), other.part(key)))


def _each(law: Law[Any], side: int) -> list[int]:
    """Return the lower (side 0) or upper bounds, one to an atom."""
    bounds = law.high if side else law.low
    return [int(bound) for bound, count in zip(bounds, law.counts().tolist(), strict=True) for _ in range(count)]


def _equal(one: Law[Any], other: Law[Any]) -> bool:
    if one is other:
        return True
    exact = all(law.low is law.high and law.rest == 0 for law in (one, other))
    if not exact or len(one.atoms) != len(other.atoms) or one.denominator != other.denominator:
        return False
    return are_same(one.atoms, other.atoms) and np.array_equal(_each(one, 0), _each(other, 0))
