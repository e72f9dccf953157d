"""The base-2 mechanism: exact, private on every small pair, and indifferent to the data in what it refuses."""

import itertools
from typing import Any

import numpy as np
import pytest

from subnormal import Eta, Verdict
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family, member
from tests.support.walks import law_of

ETAS = [Eta(1, 1, 1), Eta(3, 2, 1), Eta(5, 3, 2), Eta(1, 2, 3)]


@pytest.mark.parametrize("eta", ETAS)
def test_the_law_is_the_formula(eta: Eta) -> None:
    utilities = [-3, 0, 2, 2, 7]
    weights = [eta.base**u for u in utilities]
    law = base2.law(np.array(utilities), eta)
    assert [law.probability(index)[0] for index in range(5)] == [weight / sum(weights) for weight in weights]


def test_the_theoretical_precision_is_the_bound_of_lemma_3_4() -> None:
    """(max(1,|u_max|) + max(1,|u_min|))·z·(y + b_x) + o_max; the span is what counts once u_min is subtracted."""
    for limits, expected in ((Limits(0, 10, 5), 49), (Limits(-3, 4, 2), 30), (Limits(0, 0, 1), 9)):
        assert base2.theoretical_precision(Eta(3, 2, 1), limits) == expected  # b_x = 2
    assert base2.theoretical_precision(Eta(5, 3, 2), Limits(0, 10, 5)) == 137  # (10 + 1)·2·(3 + 3) + 5
    assert base2.working_precision(Eta(5, 3, 2), Limits(90, 100, 5)) == 137


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("limits", [Limits(0, 1, 1), Limits(0, 9, 100), Limits(-4, 4, 7), Limits(0, 30, 1000)])
def test_the_empirical_precision_suffices_and_half_of_it_does_not(eta: Eta, limits: Limits) -> None:
    precision = base2.working_precision(eta, limits, "empirical")
    span = limits.utility_max - limits.utility_min
    worst = np.arange(span + 1)
    sums = sum(base2.weights(worst, eta, precision))
    assert sums > 0
    assert base2.working_precision(eta, limits, "theoretical") * 2 >= precision
    shifted = Limits(0, span, limits.max_outcomes)
    if precision > 1:
        assert not base2._worst_cases_exact(eta, shifted, precision // 2)


@pytest.mark.parametrize("method", ["theoretical", "empirical"])
@pytest.mark.parametrize("sampler", ["all-bits", "bit-by-bit"])
def test_no_data_within_the_limits_are_ever_inexact(method: base2.PrecisionMethod, sampler: base2.Sampler) -> None:
    limits = Limits(-2, 6, 4)
    options: Any = {"limits": limits, "precision_method": method, "sampler": sampler}
    for utilities in itertools.product((-2, 0, 5, 6), repeat=3):
        drawn = base2.sample([*utilities, 6], Eta(5, 3, 1), seeded_bits(2), 2, **options)
        assert ((drawn >= 0) & (drawn < 4)).all()


@pytest.mark.parametrize("sensitivity", [0.125, 0.25, 0.5, 1.0, 1.5, 2.0])
def test_the_member_keeps_its_claim_for_real_utilities_of_any_sensitivity(sensitivity: float) -> None:
    """Real utilities Δ apart may be rounded to integers ⌈Δ⌉ apart: the worst pairs, by their exact laws."""
    mechanism = member("exponential-base2")
    parameters = ExponentialParameters(2.0, Limits(0, 4, 11), sensitivity)
    for start in (0.5, 1.0, 1.25):
        data_in = np.array([start] + [start + sensitivity] * 8)
        data_out = np.array([start + sensitivity] + [start] * 8)
        assert family("exponential").adjacent(parameters, data_in, data_out)
        claim = mechanism.claim(parameters, data_in, data_out)
        evidence = exact.compare(law_of(mechanism, data_in, parameters), law_of(mechanism, data_out, parameters), claim)
        assert evidence.verdict is Verdict.HOLDS


def test_rounding_is_drawn_anew_for_every_draw() -> None:
    # η = 10: a utility of 0 against 0 ties, 1 against 0 loses nearly always; so index 0 comes a quarter of the time.
    # False-alarm rate: 6 standard deviations, 2e-9. One rounding for all draws would give 0 or a half.
    drawn = base2.sample([0.5, 0.0], Eta(1, 10, 1), seeded_bits(3), 2_000, limits=Limits(0, 1, 2))
    assert abs((drawn == 0).sum() - 500) < 6 * np.sqrt(2_000 * 3 / 16)


def test_equal_bounds_on_the_utilities_leave_room_for_the_sum() -> None:
    for outcomes in (1, 3, 7, 15, 100):
        limits = Limits(4, 4, outcomes)
        drawn = base2.sample(
            [9] * outcomes, Eta(1, 1, 1), seeded_bits(1), 5, limits=limits, precision_method="empirical"
        )
        assert ((drawn >= 0) & (drawn < outcomes)).all()
