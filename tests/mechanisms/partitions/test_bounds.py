"""Bounds for frequency lists: what they hold, what reading them off the data costs, and the family's parameters."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.partitions.bounds import (
    around,
    by_total,
    negligible_claim,
    noisy,
    weight_beyond,
    weight_outside,
    within_distance,
)
from subnormal.mechanisms.partitions.family import PartitionParameters, adjacent, partitions_between
from subnormal.mechanisms.privacy import Claim, Eta, noise_claim, selection_claim
from tests.mechanisms.partitions.test_exact import all_partitions

HALF = Eta(1, 1, 1)
LISTS = [(5, 2, 1, 0), (3, 3, 3, 3), (0, 0, 0, 0), (9, 1, 1, 0), (4, 3, 2, 1)]


@pytest.mark.parametrize("data", LISTS)
@pytest.mark.parametrize("distance", [0, 1, 2, 3, 6, 9])
def test_extremes_within_a_distance_are_those_of_brute_force(data: tuple[int, ...], distance: int) -> None:
    outer = ([0] * 4, [max(data) + distance] * 4)
    near = partitions_between(*outer)
    near = near[np.abs(near - np.array(data)).sum(axis=1) <= distance]
    lower, upper = within_distance(data, distance)
    assert lower.tolist() == near.min(axis=0).tolist()
    assert upper.tolist() == near.max(axis=0).tolist()


@pytest.mark.parametrize("eta", [HALF, Eta(3, 2, 1)], ids=str)
def test_the_weight_outside_is_that_of_brute_force(eta: Eta) -> None:
    outer = by_total(14, 4)
    for data in LISTS[:1] + LISTS[4:]:
        lower, upper = within_distance(data, 3)
        inner = lower, np.minimum(upper, outer[1])
        law = partitions_exact.law(data, eta, lower=outer[0], upper=outer[1])
        mass = np.repeat(np.array(law.low, dtype=object), law.counts())
        lists = np.array(law.atoms)
        outside = ~((inner[0] <= lists) & (lists <= inner[1])).all(axis=1)
        share = Fraction(sum(mass[outside].tolist()), law.denominator)
        bound = weight_outside(data, eta, inner, outer)
        assert 0 < share <= bound <= share + Fraction(1, 1 << 100)


def test_the_weight_beyond_a_distance_is_bounded_for_every_list_of_a_total() -> None:
    """Against brute force over all lists of up to 3 records, and outcomes of up to 60: what is left out weighs less."""
    eta, total, rows = Eta(1, 3, 1), 3, 12
    outcomes = np.array([one for n in range(22) for one in all_partitions(n, 22, rows)])
    for n in range(total + 1):
        for data in all_partitions(n, n, rows):
            distances = np.abs(outcomes - data).sum(axis=1)
            weight = {
                int(d): eta.base ** int(d) * int(count)
                for d, count in zip(*np.unique(distances, return_counts=True), strict=True)
            }
            whole = sum(weight.values(), Fraction(0))
            for distance in (8, 12):
                beyond = sum((mass for d, mass in weight.items() if d > distance), Fraction(0)) / whole
                assert beyond <= weight_beyond(total, eta, distance) < 1
    assert weight_beyond(100, HALF, 5) == 1
    million = weight_beyond(10**6, Eta.from_epsilon(0.5), 5_400)
    assert 0 < million < Fraction(1, 10**9)
    assert weight_beyond(10**6, Eta.from_epsilon(0.5), 5_500) < million


def test_bounds_from_the_data_keep_a_claim_with_a_delta_and_no_pure_one() -> None:
    outer = by_total(12, 4)
    found, claim = [], None
    for data in (one for n in range(6) for one in all_partitions(n, n, 4)):
        for at in range(4):
            other = np.array(data) + (np.arange(4) == at)
            if (np.diff(other) > 0).any():
                continue
            laws, beyond = [], Fraction(0)
            for one in (np.array(data), other):
                lower, upper = within_distance(one, 4)
                inner = lower, np.minimum(upper, outer[1])
                beyond = max(beyond, weight_outside(one, HALF, inner, outer))
                laws.append(partitions_exact.law(one, HALF, lower=inner[0], upper=inner[1]))
            claim = negligible_claim(HALF, beyond)
            assert exact.compare(laws[0], laws[1], claim).verdict is Verdict.HOLDS
            found.append(exact.compare(laws[0], laws[1], selection_claim(HALF)))
    assert {one.verdict for one in found} == {Verdict.VIOLATED, Verdict.HOLDS}  # these where the bounds agree
    assert {one.epsilon for one in found if one.verdict is Verdict.VIOLATED} == {np.inf}
    assert claim is not None
    assert claim.epsilon == selection_claim(HALF).epsilon
    assert 0 < claim.delta < 0.5


def test_the_delta_is_rounded_up() -> None:
    claim = negligible_claim(HALF, Fraction(1, 1000))
    assert Fraction(claim.delta) >= (1 + exp_bounds(Fraction(claim.epsilon))[0]) / 1000
    assert claim.delta == pytest.approx(0.005)
    assert negligible_claim(HALF, Fraction(1, 2)).delta == 1


def test_bounds_of_noise_are_bounds_of_a_list_and_say_what_they_spend() -> None:
    data = [50, 20, 3, 1, 0, 0]
    for seed in range(20):
        lower, upper = noisy(data, HALF, 8, seeded_bits(seed))
        assert (lower >= 0).all()
        assert (upper - lower == 7).all()
        assert (np.diff(lower) <= 0).all()
        assert (np.diff(upper) <= 0).all()
    assert noise_claim(HALF) == Claim(HALF.nats)
    centres = [noisy(data, HALF, 1, seeded_bits(seed))[0][0] for seed in range(400)]
    assert abs(np.mean(centres) - 50) < 0.5  # 5 standard errors of √(2·½)/(1 − ½)/√400 = 0.1


def test_around() -> None:
    lower, upper = around([40, 3, 0], 64)
    assert lower.tolist() == [8, 0, 0]
    assert upper.tolist() == [71, 63, 63]


def test_adjacent_lists_are_one_record_apart() -> None:
    parameters = PartitionParameters(1.0, (0, 0), (5, 2))
    for one, other, expected in (
        ([3, 1], [3, 1], True),
        ([3, 1], [3, 2], True),
        ([3, 1], [2, 1], True),
        ([3, 1], [2, 2], False),
        ([3, 1], [3], False),
        ([3, 1], [3, 4], False),  # no frequency list
        ([3, 1], [3.0, 1.0], False),
    ):
        assert adjacent(parameters, np.array(one), np.array(other)) is expected
    wider: Any = PartitionParameters(1.0, (0, 0), (5, 2), sensitivity=2.0)
    assert adjacent(wider, np.array([3, 1]), np.array([2, 2]))
