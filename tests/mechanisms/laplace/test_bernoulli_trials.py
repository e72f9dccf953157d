"""Counting trials: the law of the outcomes and of the traces by every string of bits, and what the traces tell."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from subnormal import Claim, Eta, Verdict, member
from subnormal.audit.evidence import exact, exhaustive
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Trace
from subnormal.mechanisms.laplace import bernoulli_trials as laplace_bernoulli_trials
from subnormal.mechanisms.laplace import exact as laplace_exact
from tests.support.walks import assert_between, laplace_members_at, law_of, one_draw, traces

AnyMechanism = Mechanism[Any, Any, Any]

DEPTH = 14
PARAMETERS = LaplaceParameters(epsilon=1.0, grid=-1, lower=-1.0, upper=1.5)
RATES = (Eta(1, 1), Eta(3, 2), Eta(1, 1, 2))  # of one or two bits a trial, so that every string can be walked


def check_law(mechanism: AnyMechanism) -> None:
    """The member takes its rate from ε; here it is told one that strings of 14 bits nearly decide."""
    for eta in RATES:
        for data in (0, 0.75, -3):
            with laplace_members_at(eta):
                walked = exhaustive.law(partial(one_draw, mechanism, data, PARAMETERS), DEPTH)
            assert_between(walked, laplace_exact.law(data, eta, **PARAMETERS.grid_and_bounds()), rest=1 / 4)
    exact_twin: Any = member("laplace-exact").law
    parameters = LaplaceParameters(epsilon=0.3, sensitivity=2.5)
    assert law_of(mechanism, 1.25, parameters).low == exact_twin(1.25, parameters).low


@pytest.mark.parametrize("eta", RATES)
@pytest.mark.parametrize("data", [0, 0.75, -3])
def test_the_law_of_traces_is_that_of_the_code(eta: Eta, data: float) -> None:
    """A trace says how many bits it took, so every string that leaves it is as long, and the laws are equal."""
    options = PARAMETERS.grid_and_bounds()
    walked = traces(lambda bits: laplace_bernoulli_trials.sample(data, eta, bits, 1, **options)[0].item(), DEPTH)
    law: Law[Any] = laplace_bernoulli_trials.trace_law(data, eta, **options, apart=2)
    pairs: Sequence[Any] = [*walked.atoms, *law.atoms]
    assert law.rest < Fraction(1, 2**39)
    for atom in {pair for pair in pairs if pair[1].bits <= DEPTH}:
        low, high = law.probability(atom)
        assert low == walked.probability(atom)[0]
        assert high == low + (law.rest if atom not in law.atoms else 0)


def test_pairs_that_only_a_neighbour_has_are_impossible() -> None:
    """Named with probability 0, for both neighbours: so the loss is infinite, and not that of a rest."""
    law_in, law_out = (
        laplace_bernoulli_trials.trace_law(value, Eta(3, 2), lower=-4, upper=4, apart=2) for value in (0, 2)
    )
    assert law_in.probability((2, Trace(1, 3, 1))) == (0, 0)
    assert law_out.probability((2, Trace(1, 3, 1)))[0] > 0
    evidence = exact.compare(law_in, law_out, Claim(10.0))
    assert (evidence.verdict, evidence.epsilon) == (Verdict.VIOLATED, math.inf)


def test_noise_of_many_steps_is_not_sampled() -> None:
    runs: Any = member("laplace-textbook").runs
    assert runs(0, LaplaceParameters(epsilon=0.1)) > 0
    assert not runs(0, LaplaceParameters(epsilon=0.1, grid=-20, lower=-1, upper=1))
