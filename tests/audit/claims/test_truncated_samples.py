"""Truncated Poisson samples: the bounds enclose what every pair of small datasets shows, batch by batch."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal.audit.claims.kinds import kind
from subnormal.audit.claims.truncated_kinds import chances

TRUNCATED = kind("truncated-sample-gaussian")
CELLS = {1: 0.004, 2: 0.03}  # of one step, and of two: the error of a kink is of second order


def batches(records: int, batch: int, chance: Fraction) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield every batch of every Poisson sample, with its probability."""
    for size in range(records + 1):
        likely = chance**size * (1 - chance) ** (records - size)
        for sample in combinations(range(records), size):
            kept = min(size, batch)
            for taken in combinations(sample, kept):
                yield taken, likely / comb(size, kept)


@pytest.mark.parametrize(("batch", "records"), [(1, 2), (1, 5), (2, 5), (3, 4), (5, 5), (4, 7)])
@pytest.mark.parametrize("chance", [0.25, 0.5, 0.875, 1.0])
def test_the_chances_of_a_truncated_batch_in_rationals(batch: int, records: int, chance: float) -> None:
    """By every sample of all records, and of all but the first."""
    share, others = Fraction(chance), batches(records - 1, records, Fraction(chance))
    cut = sum(likely for taken, likely in others if len(taken) >= batch)
    without_cut = sum(share**k * (1 - share) ** (records - 1 - k) * comb(records - 1, k) for k in range(batch)) * share
    taking = sum(likely for taken, likely in batches(records, batch, share) if 0 in taken)
    for bounds, exact in zip(chances(chance, batch, records), (cut, taking - without_cut), strict=True):
        low, high = bounds.floats()
        assert low <= exact <= high
        assert high - low <= 1e-12


def test_the_chances_far_out_are_those_of_the_binomial_law() -> None:
    for batch, records, chance in (
        (100, 5_000, 0.01),
        (2_000, 20_000, 0.1),
        (64, 100_000, 0.0007),
        (9, 100_000, 0.0002),
    ):
        low, high = chances(chance, batch, records)[0].floats()
        assert low <= high <= low * (1 + 1e-12)
        assert low == pytest.approx(stats.binom.sf(batch - 1, records - 1, chance), rel=1e-9)


def step(values: tuple[int, ...], batch: int, chance: float, sigma: float, cell: float) -> NDArray[np.float64]:
    """Return the masses of cells: noise around the sum of every batch."""
    places = np.arange(-14, 14, cell) + cell / 2
    made = np.zeros(len(places))
    for taken, likely in batches(len(values), batch, Fraction(chance)):
        made += float(likely) * cell * stats.norm(sum(values[one] for one in taken), sigma).pdf(places)
    return made


def leak(one: NDArray[Any], other: NDArray[Any], epsilon: float) -> float:
    return float(np.maximum(0.0, one - math.exp(epsilon) * other).sum())


@pytest.mark.parametrize(("batch", "records", "chance"), [(1, 3, 0.5), (2, 3, 0.25), (2, 4, 0.75), (1, 4, 0.875)])
@pytest.mark.parametrize("steps", [1, 2])
def test_no_pair_of_datasets_exceeds_the_bounds_and_one_reaches_the_lower(
    batch: int, records: int, chance: float, steps: int
) -> None:
    """All others' values −1, 0 and 1; the record is 1. By quadrature; its error is below the slack of 1e-6."""
    delta, sigma = 0.02, 1.0
    low, up = TRUNCATED.bounds(sigma=sigma, sampling=chance, batch=batch, records=records, steps=steps, delta=delta)
    at_low, at_up = [], []
    for others in product((-1, 0, 1), repeat=records - 1):
        worlds = [step(values, batch, chance, sigma, CELLS[steps]) for values in ((1, *others), others)]
        if steps == 2:
            worlds = [np.outer(one, one).ravel() for one in worlds]
        for one, other in (worlds, worlds[::-1]):
            at_low.append(leak(one, other, low))
            at_up.append(leak(one, other, up))
    assert max(at_up) <= delta * (1 + 1e-6)
    assert max(at_low) >= delta * (1 - 1e-6)


def test_the_bounds_meet_where_nothing_or_everything_is_truncated() -> None:
    same: dict[str, Any] = {"sigma": 1.0, "steps": 10, "delta": 1e-5}
    whole = kind("sampled-gaussian").bounds(sampling=0.1, **same)
    assert TRUNCATED.bounds(sampling=0.1, batch=50, records=50, **same) == whole
    rare = TRUNCATED.bounds(sampling=0.1, batch=60, records=200, **same)  # truncated with probability 3e-14
    assert rare == pytest.approx(whole, rel=1e-3)
    some: dict[str, Any] = {"sigma": 2.0, "sampling": 0.01, "steps": 1_000}  # what is truncated reveals all
    spare = 1e-6 - 1_000 * chances(0.01, 100, 5_000)[0].floats()[1]
    truncated = TRUNCATED.bounds(batch=100, records=5_000, delta=1e-6, **some)
    assert truncated[1] == pytest.approx(kind("sampled-gaussian").bounds(delta=spare, **some)[1], rel=1e-9)
    small: dict[str, Any] = {"steps": 1, "delta": 1e-5}  # noise: then that of a replaced record without sampling
    gaussian = kind("gaussian").bounds(sigma=0.02, **small)
    assert TRUNCATED.bounds(sigma=0.04, sampling=0.5, batch=2, records=9, **small)[1] == gaussian[1]
    always = TRUNCATED.bounds(sampling=0.5, batch=20, records=1_000, **same)
    twice = kind("sampled-gaussian").bounds(sampling=0.02, **(same | {"sigma": 0.5}))
    assert always == pytest.approx(twice, rel=5e-3)
