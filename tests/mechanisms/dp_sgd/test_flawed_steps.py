"""Flawed steps of DP-SGD: what each flaw does to the law, by its derivation, and shuffling against Poisson sampling."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from subnormal import Gdp, Verdict, attack, member
from subnormal.attacks.dp_sgd.scaled_noise import batch_clipping, microbatch_noise
from subnormal.attacks.dp_sgd.shuffling import shuffling
from subnormal.audit.composition.leak_growth import both_directions
from subnormal.audit.evidence import exact
from subnormal.mechanisms.dp_sgd.accounting import accountant_claim
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
