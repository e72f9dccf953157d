"""One run of a mechanism in buckets, from whatever is known of its worlds: probability vectors, laws, counts."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.evidence.hockey_stick_bounds import directions
from subnormal.audit.statistics.binomial import clopper_pearson_all
from subnormal.mechanisms.composition.composition import COUNT, Composition
from subnormal.mechanisms.composition.fft_convolution import UNIT, Floats
from subnormal.mechanisms.composition.privacy_buckets import Grid, Masses, fill_buckets
from subnormal.mechanisms.core.law import Law

COUNTS_MAX = 1 << 53  # runs: a float holds every integer up to this one
WHOLE = 1e-9  # the largest distance from 1 of the sum of a vector of floats

Vector = Sequence[float | Fraction] | NDArray[np.float64]


def buckets(
    p: Vector | Law[Any], q: Vector | Law[Any], *, count: int = COUNT, factor: float | None = None
) -> Composition:
    """Return one run of a mechanism whose worlds A and B are two probability vectors over the same atoms, or two laws.

    Vectors are divided by their sum, which may differ from 1 by 10^-9, because the difference would grow with the runs.
    count: the largest number of buckets. factor: f of one run; None: the least for which the buckets reach all finite
    losses. δ is that of one direction, Σ(p − e^ε·q)₊.

    Raises ValueError if p and q are not of one kind, not over the same atoms, or do not sum up to 1.

    >>> four = buckets([0.6, 0.3, 0.1], [0.3, 0.5, 0.2], count=1_000, factor=1.01).compose(4)
    >>> low, up = four.delta(0.5)
    >>> round(low, 8), round(up, 8)
    (0.33720203, 0.33720203)
    """
    if isinstance(p, Law) and isinstance(q, Law):
        a, b = _of_laws(p, q)
    elif isinstance(p, Law) or isinstance(q, Law):
        raise ValueError("p and q must both be laws, or both vectors")
    elif len(p) != len(q):
        raise ValueError(f"p and q must be over the same atoms, got {len(p)} and {len(q)} masses")
    else:
        a, b = probabilities("p", p), probabilities("q", q)
    return Composition(fill_buckets(a, b, count, None if factor is None else Grid.of_factor(factor, count)))


def probabilities(name: str, values: Vector) -> Masses:
    """Return bounds on probabilities, divided by their sum. name: how an error names the vector.

    Raises ValueError where the vector holds no probabilities, or their sum is not 1.
    """
    floats = np.array([float(value) if -1 <= value <= 2 else math.nan for value in values])
    total = math.fsum(floats)
    if not len(floats) or not (np.isfinite(floats) & (floats >= 0)).all() or abs(total - 1) > WHOLE:
        raise ValueError(f"{name} must hold probabilities that sum up to 1, got {reprlib.repr(list(values))}")
    positive = np.array([value > 0 for value in values])
    made = Masses.near(floats / total, 8 * UNIT)  # each float, their sum, the quotient, and the product here
    return Masses(np.nextafter(made.low, 0.0), np.where(positive, np.nextafter(made.high, 2.0), 0.0))


def count_bounds(name: str, counts: Sequence[int], alpha: float) -> Masses:
    """Return Clopper-Pearson bounds on the probabilities of atoms with these counts, jointly at confidence 1 − alpha.

    The result has one atom more than counts, for outcomes that never occurred. name: how an error names the vector.
    Raises ValueError where the vector holds no counts, or their sum is 0 or above 2^53.
    """
    runs = sum(counts)
    if min(counts, default=0) < 0 or not 1 <= runs <= COUNTS_MAX:
        raise ValueError(
            f"{name} must hold counts of 0 or more, from 1 to 2^53 in all, got {reprlib.repr(list(counts))}"
        )
    tail = alpha / (2 * (len(counts) + 1))
    return Masses(*clopper_pearson_all(np.array([*counts, 0], dtype=np.int64), runs, tail))


def _of_laws(law_in: Law[Any], law_out: Law[Any]) -> tuple[Masses, Masses]:
    """Return the masses of groups of atoms with equal probabilities in both laws, rounded outwards to floats."""
    one = directions(law_in, law_out)[0].narrow()

    def masses(sides: tuple[NDArray[Any], NDArray[Any]], alone: tuple[Fraction, Fraction], rest: Fraction) -> Masses:
        low, high = (
            [Fraction(int(n * mass), one.denominator) for n, mass in zip(one.count, side, strict=True)]
            for side in sides
        )
        return Masses(_rounded([*low, alone[0], Fraction(0)], down=True), _rounded([*high, alone[1], rest], down=False))

    own = Fraction(one.alone_low, one.denominator), Fraction(one.alone_high, one.denominator)
    # On atoms that only A's law names, B has at most its rest. On atoms of no law, A has its rest, and B may have 0.
    a = masses((one.low, one.high), own, one.rest)
    return a, masses((one.other_low, one.other_high), (Fraction(0), one.other_rest), Fraction(1))


def _rounded(values: list[Fraction], *, down: bool) -> Floats:
    floats = np.array([float(value) for value in values])
    away = np.nextafter(floats, 0.0 if down else 2.0)
    return np.where(np.array([value == 0 for value in values]), 0.0, away)
