"""Fixed work: its law and its one trace by every string of bits, and its promise, failures included."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Eta, Verdict, member
from subnormal.audit.evidence import exact, exhaustive
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.core.mechanism import Mechanism, Trace
from subnormal.mechanisms.laplace import bernoulli_trials as laplace_bernoulli_trials
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace import fixed_work
from tests.support.walks import laplace_members_at, law_of, one_draw, traces

AnyMechanism = Mechanism[Any, Any, Any]

PARAMETERS = LaplaceParameters(epsilon=1.0, grid=-1, lower=-1.0, upper=1.5)
SMALL = ((Eta(1, 1), 4), (Eta(3, 2), 1), (Eta(1, 2), 2))  # with the bits of failure that leave a few trials


def check_law(mechanism: AnyMechanism) -> None:
    """Every string of all trials: nothing is left over, and the laws are equal."""
    for eta, failure_bits in SMALL:
        with laplace_members_at(eta) as patch:
            patch.setattr(laplace_bernoulli_trials, "FAILURE_BITS", failure_bits)
            depth = 2 * laplace_bernoulli_trials.trials_for(eta) * eta.y
            assert depth <= 12
            for data in (0, 0.75, -3):
                walked = exhaustive.law(partial(one_draw, mechanism, data, PARAMETERS), depth)
                law = law_of(mechanism, data, PARAMETERS)
                assert walked.rest == law.rest == 0
                assert [law.probability(atom) for atom in law.atoms] == [walked.probability(atom) for atom in law.atoms]


@pytest.mark.parametrize(("eta", "failure_bits"), SMALL)
def test_there_is_only_one_trace(eta: Eta, failure_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_bernoulli_trials, "FAILURE_BITS", failure_bits)
    mechanism, trials = member("laplace-fixed-work"), laplace_bernoulli_trials.trials_for(eta)
    assert mechanism.trace_law is not None
    with laplace_members_at(eta):
        walked = traces(partial(one_draw, mechanism, 0.5, PARAMETERS), 2 * trials * eta.y)
        law = mechanism.trace_law(0.5, PARAMETERS)
    pairs: Sequence[Any] = walked.atoms
    assert {trace for _, trace in pairs} == {Trace(0, 2 * trials * eta.y, 2 * trials)}
    for atom in {*walked.atoms, *law.atoms}:
        assert walked.probability(atom) == law.probability(atom)


@pytest.mark.parametrize(("eta", "failure_bits"), [*SMALL, (Eta(7, 3), 6), (Eta(1, 1), 40)])
def test_the_promise_contains_what_fails(eta: Eta, failure_bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In rationals: no further from the exact law than the stated failure, and within the claim; not without its δ."""
    monkeypatch.setattr(laplace_bernoulli_trials, "FAILURE_BITS", failure_bits)
    trials = laplace_bernoulli_trials.trials_for(eta)
    either = 1 - (1 - eta.base**trials) ** 2  # of two magnitudes
    assert either <= fixed_work.failure(eta) <= Fraction(2, 1 << failure_bits)
    far = 3 * trials
    for data in (0, 1, far):
        law = fixed_work.law(data, eta, lower=-far, upper=far)
        sound = laplace_exact.law(data, eta, lower=-far, upper=far)
        apart = sum(abs(law.probability(one)[0] - sound.probability(one)[0]) for one in law.atoms)
        assert 0 < apart / 2 <= fixed_work.failure(eta)
    laws = [fixed_work.law(data, eta, lower=-far, upper=far) for data in (0, 1)]
    promised = fixed_work.claim(eta, 1.0)
    evidence = exact.compare(laws[0], laws[1], promised)
    assert (evidence.verdict, evidence.within) == (Verdict.HOLDS, 0)
    assert exact.compare(laws[0], laws[1], Claim(promised.epsilon)).verdict is Verdict.VIOLATED


def test_the_member_promises_its_failures() -> None:
    mechanism, parameters = member("laplace-fixed-work"), LaplaceParameters(epsilon=0.5)
    one, pair = (mechanism.claim(parameters, data, data) for data in (0.0, np.array([0.0, 1.0])))
    assert one.epsilon == pair.epsilon == 0.5
    assert 0 < one.delta < 2**-36
    assert 2 * one.delta <= pair.delta < 2**-35
    assert mechanism.claim(LaplaceParameters(epsilon=90_000.0, grid=0), 0, 0).delta <= 1
