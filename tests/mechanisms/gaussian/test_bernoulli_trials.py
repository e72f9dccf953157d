"""Rejection from counted trials: its law by strings of bits, and what it tells."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import BitSource, scripted_bits
from subnormal.mechanisms.core.mechanism import Mechanism, Trace
from subnormal.mechanisms.families import member
from subnormal.mechanisms.gaussian import bernoulli_trials as gaussian_bernoulli_trials
from tests.support.walks import assert_within_the_law, one_draw, traces

AnyMechanism = Mechanism[Any, Any, Any]

PARAMETERS = GaussianParameters(sigma=0.75, delta=1e-6, grid=0, lower=-30.0, upper=30.0)


def check_law(mechanism: AnyMechanism) -> None:
    """Rejections and undecided words leave much of so few bits over; see the test below for what they are made of."""
    for data in (0, 1):
        parameters = GaussianParameters(sigma=0.75, delta=1e-6, grid=0, lower=-2.0, upper=3.0)
        assert_within_the_law(mechanism, data, parameters, rest=0.35, word_bits=1)


def test_a_candidate_is_kept_as_the_source_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fair coin for each Bernoulli trial, the law of what is kept at once is exact; and the exponents that the
    trials were given make it the Gaussian's: m/t + (m − σ²/t)²/(2σ²) is m²/(2σ²) and a constant."""
    asked = []

    def coin(exponent: Fraction, bits: BitSource) -> bool:
        asked.append(exponent)
        return bits.take(1) == 1

    variance, depth = Fraction(49, 4), 9
    monkeypatch.setattr(gaussian_bernoulli_trials, "_bernoulli", coin)
    walked = traces(lambda bits: int(gaussian_bernoulli_trials.GaussianTrials(variance).draw(bits, 1)[0]), depth)
    for magnitude in range(depth - 2):
        for noise in {magnitude, -magnitude}:
            pair = (noise, Trace(1, magnitude + 3, magnitude + 1))
            assert walked.probability(pair)[0] == Fraction(1, 2) ** (magnitude + 3)
    trial = Fraction(1, 4)  # ⌊3.5⌋ + 1 = 4
    asked.clear()
    for magnitude in range(6):
        gaussian_bernoulli_trials.GaussianTrials(variance).draw(scripted_bits("1" * magnitude + "001"), 1)
        *trials, kept = asked
        assert trials == [trial] * (magnitude + 1)
        assert magnitude * trial + kept - magnitude**2 / (2 * variance) == variance * trial**2 / 2
        asked.clear()


def test_steps_bound_the_magnitude_and_give_it_where_the_first_candidate_is_kept() -> None:
    walked = traces(partial(one_draw, member("gaussian-textbook"), 0, PARAMETERS), depth=14, word_bits=2)
    pairs: Sequence[Any] = walked.atoms
    assert {trace.tries for _, trace in pairs} >= {1, 2}
    for noise, trace in pairs:
        assert abs(noise) + trace.tries <= trace.steps
        assert trace.tries > 1 or abs(noise) + 1 == trace.steps


def test_noise_of_many_steps_is_not_sampled() -> None:
    runs: Any = member("gaussian-textbook").runs
    assert runs(0, PARAMETERS) > 0
    assert not runs(0, GaussianParameters(sigma=1.0, delta=1e-6, grid=-11, lower=-1.0, upper=1.0))
