"""Flawed steps of DP-SGD: what each flaw does to the law, by its derivation, and shuffling against Poisson sampling."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from subnormal import Gdp, Verdict, Zcdp, attack, member
from subnormal.attacks.dp_sgd.scaled_noise import batch_clipping, microbatch_noise
from subnormal.attacks.dp_sgd.shuffling import shuffling
from subnormal.audit.composition.leak_growth import both_directions
from subnormal.audit.evidence import exact
from subnormal.mechanisms.composition.closed_forms import gaussian, subsampled_gaussian
from subnormal.mechanisms.curves import SLACK
from subnormal.mechanisms.dp_sgd.accounting import accountant_claim, sound_claim
from subnormal.mechanisms.dp_sgd.exact import EXACT
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, adjacent
from subnormal.mechanisms.dp_sgd.flawed_steps import BATCH_CLIPPING, SHUFFLED, clipped_in_float16, mean_of_actual_batch
from tests.support.walks import evidence


def law(mechanism: Any, records: tuple[float, ...], parameters: DpSgdParameters) -> Any:
    return mechanism.law(np.array(records, dtype=np.float64).reshape(-1, 1), parameters)


@pytest.mark.parametrize(("multiplier", "delta"), [(1.5, 1e-3), (2.0, 1e-5), (1.0, 7.5e-3)])
def test_shuffled_batches_lose_more_than_poisson_accounting_claims(multiplier: float, delta: float) -> None:
    """Two records, batches of one, two steps: certified bounds, from the exact mixture over both orders.

    Poisson sampling keeps the same claim on every adjacent pair of at most two gradients from {−1, 0, 1}.
    """
    of = shuffling(multiplier, delta)
    parameters, (data_in, data_out) = of.parameters, of.worlds()
    told = SHUFFLED.claim(parameters, data_in, data_out)
    assert (told.epsilon, told.delta) == (accountant_claim(multiplier, 0.5, 2, delta, 1).epsilon, delta)
    shuffled = evidence(of, SHUFFLED)
    assert shuffled.verdict is Verdict.VIOLATED
    assert shuffled.delta > 1.6 * told.delta
    laws = {
        records: law(EXACT, records, parameters)
        for size in range(3)
        for records in combinations_with_replacement((-1.0, 0.0, 1.0), size)
    }
    tried = 0
    for one, other in combinations_with_replacement(laws, 2):
        worlds = [np.array(records).reshape(-1, 1) for records in (one, other)]
        if adjacent(parameters, worlds[0], worlds[1]):
            assert exact.compare(laws[one], laws[other], told).verdict is Verdict.HOLDS, (one, other)
            tried += 1
    assert tried > 20


def test_a_clipped_batch_has_the_sensitivity_of_all_its_records() -> None:
    """Of 4 records: discrete noise of σ = 1 is as private as the Gaussian whose records move the sum by 4."""
    found = evidence(batch_clipping(), BATCH_CLIPPING)
    assert found.delta == pytest.approx(Gdp(4.0).delta(accountant_claim(1.0, 1.0, 1, 1e-5).epsilon), abs=2e-3)


def test_the_events_have_the_probabilities_of_their_derivation() -> None:
    found = evidence(microbatch_noise(), member("dp-sgd-microbatch-noise"))
    assert found.event_in is not None
    assert found.event_out is not None
    for bounds, deviations in ((found.event_in, 3 / math.sqrt(2)), (found.event_out, 3.0)):
        assert bounds[0] == pytest.approx(math.erfc(deviations / math.sqrt(2)) / 2, rel=0.12)  # a step in 16


def test_a_mean_is_that_of_the_actual_batch_and_of_one_record_where_it_is_empty() -> None:
    released = mean_of_actual_batch(np.array([[6], [6]]), np.array([0, 3]), DpSgdParameters(multiplier=1.0, grid=-2))
    assert released.tolist() == [[1.5], [0.5]]


def test_what_overflows_in_float16() -> None:
    """A norm that overflows alone loses the gradient, an infinite coordinate makes NaN."""
    parameters = DpSgdParameters(multiplier=1.0)
    made = clipped_in_float16(np.array([[0.5, 0.0], [300.0, 300.0], [65_504.0, 0.0], [70_000.0, 0.0]]), parameters)
    assert made[0].tolist() == [0.5, 0.0]
    assert made[1].tolist() == made[2].tolist() == [0.0, 0.0]
    assert math.isnan(made[3, 0])


def test_shuffling_leaks_less_where_noise_is_small() -> None:
    """Poisson sampling may draw Alice twice: at σ = 0.7 that is worse, so this attack proves nothing there."""
    of = shuffling()
    of = replace(of, parameters=replace(of.parameters, multiplier=0.7))
    assert evidence(of, SHUFFLED).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("name", "needed"), [("batch-clipping", 63), ("microbatch-noise", 2), ("empty-batch", 7), ("unreachable-sums", 1)]
)
def test_how_many_of_a_thousand_steps_prove_it(name: str, needed: int) -> None:
    """σ = 16: the budget is that of all steps. The steps of the exact member do not exceed it."""
    of = attack(name, multiplier=16.0)
    told = accountant_claim(16.0, of.parameters.rate, 1_000, 1e-5)
    for mechanism, expected in ((member(of.breaks[0]), needed), (EXACT, None)):
        subject: Any = both_directions(name, mechanism, of, 2_000)
        assert subject.runs_beyond(told, 1_000) == expected


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
