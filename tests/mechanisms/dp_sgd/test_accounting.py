"""What accountants say, against certified lower bounds of the composition, and closed forms."""

import math
from fractions import Fraction
from itertools import product

import pytest

from subnormal.mechanisms.composition.closed_forms import gaussian, subsampled_gaussian
from subnormal.mechanisms.curves import SLACK, Gdp
from subnormal.mechanisms.dp_sgd.accounting import accountant_claim, sound_claim
from subnormal.mechanisms.privacy import Zcdp

CASES = [
    (1.0, 1.0, 1, 1e-5),
    (4.0, 1.0, 4, 1e-5),
    (0.5, 1.0, 2, 0.3),
    (1.0, 0.5, 2, 1e-2),
    (0.5, 0.5, 1, 1e-6),
    (0.125, 1.0, 1, 1e-3),  # losses of more than 37 nats: e^−37 is lost beside 1
    (0.125, 0.99, 2, 1e-3),
    (1.0, 1 / 64, 100, 1e-5),
    (8.0, 0.01, 1000, 1e-5),
]


@pytest.mark.parametrize(("multiplier", "rate", "steps", "delta"), CASES)
def test_the_accountant_is_nearly_tight_and_never_below(
    multiplier: float, rate: float, steps: int, delta: float
) -> None:
    ones = [gaussian(multiplier)]
    if rate < 1:
        ones = [subsampled_gaussian(multiplier, rate, "in"), subsampled_gaussian(multiplier, rate, "out")]
    low = max(one.compose(steps).epsilon(delta)[0] for one in ones)
    stated, sound = (claim(multiplier, rate, steps, delta).epsilon for claim in (accountant_claim, sound_claim))
    assert low <= stated <= low * 1.005 + 1e-4
    assert stated <= sound <= 1.5 * stated


@pytest.mark.parametrize(("multiplier", "steps", "delta"), [(1.0, 1, 1e-5), (4.0, 64, 1e-9), (0.125, 1, 1e-3)])
def test_without_sampling_the_accountant_meets_the_gaussian_curve(multiplier: float, steps: int, delta: float) -> None:
    stated = accountant_claim(multiplier, 1.0, steps, delta).epsilon
    assert 0.99 * delta < Gdp(math.sqrt(steps) / multiplier).delta(stated) <= delta + SLACK


def test_hardly_any_noise_shows_a_record_in_the_batch() -> None:
    """Its probability is δ at every ε: of 100 steps, 1 − 0.99^100 = 0.634."""
    least = 2.0**-8
    assert accountant_claim(least, 0.01, 1, 0.005) == sound_claim(least, 0.01, 1, 0.005)
    assert accountant_claim(least, 0.01, 1, 0.011).epsilon == accountant_claim(least, 0.01, 100, 0.64).epsilon == 0
    with pytest.raises(ValueError, match="epsilon must be at most"):
        accountant_claim(least, 0.01, 100, 0.63)


def test_little_noise_on_a_grid_hides_what_it_can() -> None:
    """Of four steps of the grid in C, noise of a quarter of one: nearly all of it is 0, and the loss is 1/2σ² = 128."""
    assert accountant_claim(1 / 16, 1 / 64, 1, 1e-3, 4).epsilon == pytest.approx(128 - math.log(64), abs=1.0)


@pytest.mark.parametrize("order", [2, 3, 7, 20])
def test_no_point_of_the_other_direction_has_a_larger_moment(order: int) -> None:
    """The inequality of the derivation, in rationals, on a grid of ratios and of sampling rates."""
    rates = [Fraction(k, 8) for k in range(9)]
    for ratio, rate in product((Fraction(p, q) for p in range(1, 9) for q in range(1, 9)), rates):
        u, v = 1 - rate + rate * ratio, 1 - rate + rate / ratio
        assert u**order + ratio * v**order >= u ** (1 - order) + ratio * v ** (1 - order)


def test_without_sampling_the_sound_claim_is_that_of_zcdp() -> None:
    assert sound_claim(2.0, 1.0, 8, 1e-6) == Zcdp(1.0).claim(1e-6)


def test_sampling_lowers_the_sound_claim() -> None:
    claims = [sound_claim(1.0, rate, 4, 1e-6).epsilon for rate in (1.0, 0.9, 0.5, 0.1, 0.001)]
    assert claims == sorted(claims, reverse=True)
    assert claims[-1] < claims[0] / 4


@pytest.mark.parametrize("rate", [2.0**-40, 0.01, 0.5, 1.0])
def test_at_the_ends_of_the_range_claims_are_sound_and_finite(rate: float) -> None:
    for multiplier in (2.0**-8, 2.0**30):
        sound = sound_claim(multiplier, rate, 1, 1e-5).epsilon
        for lattice in (0, 1):
            assert 0 <= accountant_claim(multiplier, rate, 1, 1e-5, lattice).epsilon <= sound * (1 + 1e-9) + 1e-9
