"""Counting trials: the law of the outcomes and of the traces by every string of bits, and what the traces tell."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from subnormal.attacks.side_channels.geometric_trials import geometric_trials
from subnormal.audit.evidence import exact, exhaustive, side_channels
from subnormal.audit.model import Verdict
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Trace
from subnormal.mechanisms.families import member
from subnormal.mechanisms.laplace import bernoulli_trials as laplace_bernoulli_trials
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.privacy import Claim, Eta
from subnormal.mechanisms.samplers import bernoulli
from tests.support.walks import laplace_members_at, one_draw, traces

AnyMechanism = Mechanism[Any, Any, Any]

DEPTH = 14
PARAMETERS = LaplaceParameters(epsilon=1.0, grid=-1, lower=-1.0, upper=1.5)
RATES = (Eta(1, 1), Eta(3, 2), Eta(1, 1, 2))  # of one or two bits a trial, so that every string can be walked


def check_law(mechanism: AnyMechanism) -> None:
    """The member takes its rate from ε; here it is told one that strings of 14 bits nearly decide."""
    assert mechanism.law is not None
    for eta in RATES:
        for data in (0, 0.75, -3):
            with laplace_members_at(eta):
                walked = exhaustive.law(partial(one_draw, mechanism, data, PARAMETERS), DEPTH)
            law = laplace_exact.law(data, eta, **PARAMETERS.grid_and_bounds())
            assert walked.rest < Fraction(1, 4)
            for atom in law.atoms:
                (low, high), decided = law.probability(atom), walked.probability(atom)[0]
                assert decided <= high
                assert low <= decided + walked.rest
    exact_twin = member("laplace-exact").law
    assert exact_twin is not None
    parameters = LaplaceParameters(epsilon=0.3, sensitivity=2.5)
    assert mechanism.law(1.25, parameters).low == exact_twin(1.25, parameters).low


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


def test_a_trace_is_the_magnitude_and_the_zeros_drawn_anew() -> None:
    bits = seeded_bits(1)
    for _ in range(500):
        tries, steps, consumed = bits.tries, bits.steps, bits.consumed
        noise = int(laplace_bernoulli_trials.sample(0, Eta(15, 4), bits, 1)[0])
        assert bits.steps - steps == abs(noise) + bits.tries - tries
        assert bits.consumed - consumed == 4 * (bits.steps - steps) + bits.tries - tries


def test_the_truth_is_read_off_the_output_and_the_trials() -> None:
    """With Alice the event has (1+q)/2; without her it takes one −0 and noise of 0 or less. Clamping aside."""
    attack = geometric_trials(epsilon=0.1)
    q = laplace_exact.member_eta(attack.parameters).base
    evidence = _evidence(member("laplace-textbook"))
    again = (1 - q) / 2
    clamped = 2 * q**64
    assert evidence.event_in is not None
    assert evidence.event_out is not None
    assert (1 + q) / 2 - clamped <= evidence.event_in[0] <= evidence.event_in[1] <= (1 + q) / 2
    expected = again * (1 - again) / (1 + q)
    assert expected - clamped <= evidence.event_out[0] <= evidence.event_out[1] <= expected + clamped
    assert (evidence.verdict, evidence.epsilon) == (Verdict.VIOLATED, math.inf)
    assert (evidence.advantage or 0) > 0.92
    assert Claim(0.1).advantage_allowed < 0.05


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("name", ["laplace-fixed-work", "laplace-exact", "laplace-exact-base-e"])
def test_fixed_work_tells_no_more_than_the_claim(name: str, epsilon: float) -> None:
    evidence = _evidence(member(name), epsilon)
    assert (evidence.verdict, evidence.within) == (Verdict.HOLDS, 0)
    assert evidence.epsilon <= epsilon * (1 + 1e-9)


def _evidence(mechanism: AnyMechanism, epsilon: float = 0.1) -> Any:
    attack = geometric_trials(epsilon)
    seen = side_channels.traced(mechanism, attack.channel)
    assert seen.law is not None
    law_in, law_out = (seen.law(data, attack.parameters) for data in attack.worlds())
    return exact.compare(law_in, law_out, seen.claim(attack.parameters, *attack.worlds()), attack.event)


def test_a_sampler_that_is_broken_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that is not counted, and a −0 that is kept: each changes the law of traces, or of the outcomes too."""
    counted = bernoulli.count_trials

    def one_less(succeeds: Any, bits: Any) -> int:
        bits.steps -= 1
        return counted(succeeds, bits)

    monkeypatch.setattr(laplace_bernoulli_trials, "count_trials", one_less)
    with pytest.raises(AssertionError):
        test_the_law_of_traces_is_that_of_the_code(RATES[0], 0)
    monkeypatch.setattr(
        laplace_bernoulli_trials, "count_trials", lambda succeeds, bits: max(1, counted(succeeds, bits))
    )
    with pytest.raises(AssertionError):
        check_law(member("laplace-textbook"))


def test_laws_too_large_to_write_down() -> None:
    with pytest.raises(NoLawError, match="magnitudes up to 60000"):
        laplace_bernoulli_trials.trace_law(0, Eta(255, 8), lower=-30_000, upper=30_000)
    with pytest.raises(NoLawError, match="probabilities of"):
        laplace_bernoulli_trials.trace_law(0, Eta(15, 4), lower=-1_000, upper=1_000)
    with pytest.raises(NoLawError, match="magnitudes up to"):
        laplace_bernoulli_trials.trace_law(0, Eta(2**40 - 1, 40), lower=-1, upper=1)
    with pytest.raises(NoLawError, match="a law has"):
        laplace_bernoulli_trials.trace_law(0, Eta(1, 1), lower=-(2**60), upper=2**60)


def test_noise_of_many_steps_is_not_sampled() -> None:
    runs = member("laplace-textbook").runs
    assert runs is not None
    assert runs(0, LaplaceParameters(epsilon=0.1)) > 0
    assert not runs(0, LaplaceParameters(epsilon=0.1, grid=-20, lower=-1, upper=1))


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="n must not be negative, got -1"):
        laplace_bernoulli_trials.sample(0, Eta(1, 1), seeded_bits(1), -1)
