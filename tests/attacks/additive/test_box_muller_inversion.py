"""Box-Muller inversion: the truth is never excluded, the other world nearly always is, and nothing makes it raise."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.box_muller_inversion import (
    CANDIDATES,
    UnreachableByBoxMuller,
    _brackets,
    as_pairs,
    box_muller_inversion,
    reachable,
)
from subnormal.audit.model import Verdict
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, Refused
from subnormal.mechanisms.gaussian.naive import FLOAT32, FLOAT64, POLAR, box_muller
from tests.support.rows import distinguish

AnyMechanism = Mechanism[Any, Any, Any]

ALPHA = 1e-6  # the false-alarm rate of each statistical test
RUNS = 100_000
SIGMAS = (1.0, 20.0)


def outcomes(mechanism: AnyMechanism, sigma: float, data: Any, n: int, seed: int = 1) -> Any:
    parameters = GaussianParameters(sigma=sigma, delta=1e-6)
    return np.asarray(mechanism.sample(np.asarray(data, dtype=np.float64), parameters, seeded_bits(seed), n))


@pytest.mark.parametrize("data", [(1.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("sigma", SIGMAS)
def test_the_truth_is_never_excluded(sigma: float, data: tuple[float, float]) -> None:
    assert reachable(outcomes(FLOAT64, sigma, data, RUNS), data, sigma).all()


@pytest.mark.parametrize("sigma", [1.0, 20.0, 0.3, 2.0**-20, 2.0**-300, 2.0**300])
@pytest.mark.parametrize("data", [(0.0, 0.0), (1.0, -0.7), (1e6, 1e-9), (-3e-300, 0.0)])
def test_the_truth_is_not_excluded_at_the_edges(sigma: float, data: tuple[float, float]) -> None:
    """The least and largest uniforms, those about powers of two, and angles about every multiple of π/4."""
    last = 1 << 53
    radial = {step for power in (*range(54), 52.5) for step in range(int(2**power) - 1, int(2**power) + 2)}
    angular = {eighth * last // 8 + step for eighth in range(9) for step in range(-2, 3)}
    steps = [(one, other) for one, other in product(radial, angular) if 1 <= one <= last and 1 <= other <= last]
    bits = scripted_bits("".join(f"{one - 1:053b}{other - 1:053b}" for one, other in steps))
    pairs = data + np.asarray(box_muller(sigma, bits, len(steps)), dtype=np.float64)
    assert reachable(pairs, data, sigma).all()


def missed(sigma: float, data: tuple[float, float]) -> int:
    """Return how many brackets do not hold the uniforms that were drawn: another preimage could hide it."""
    drawn = seeded_bits(3).words(2 * RUNS, 53).astype(np.float64).reshape(RUNS, 2) + 1  # in steps of 2^−53
    pairs = data + np.asarray(box_muller(sigma, seeded_bits(3), RUNS), dtype=np.float64)
    brackets = _brackets(pairs, np.array(data), sigma)
    radial = drawn[:, 0] - brackets.first_radial
    angular = (drawn[:, 1] - brackets.first_angular) % 2.0**53
    held = (radial >= 0) & (radial < brackets.radial) & (angular < brackets.angular)
    too_wide = brackets.radial.astype(np.float64) * brackets.angular > CANDIDATES
    return int((~held & ~too_wide).sum())


@pytest.mark.parametrize("data", [(0.0, 0.0), (1.0, 0.0), (1000.0, -0.1)])
@pytest.mark.parametrize("sigma", [1.0, 20.0, 1e-3])
def test_the_brackets_hold_the_uniforms(sigma: float, data: tuple[float, float]) -> None:
    assert missed(sigma, data) == 0


@pytest.mark.parametrize("mechanism", [POLAR, FLOAT32], ids=lambda one: one.name)
def test_shows_nothing_of_noise_made_otherwise(mechanism: AnyMechanism) -> None:
    """Hardly any of its pairs is one of Box-Muller's, in either world."""
    evidence = distinguish(mechanism, box_muller_inversion(), runs=20_000, alpha=ALPHA)
    assert evidence.verdict is Verdict.NOT_REFUTED
    assert min(evidence.event_in[0], evidence.event_out[0]) > 0.93


def test_a_pair_is_reachable_iff_uniforms_lead_to_it() -> None:
    """Of the floats next to an output, most are no output; and the output's own last bit is what tells."""
    pairs = outcomes(FLOAT64, 1.0, (0, 0), 10_000)
    beside = np.nextafter(pairs, np.inf)
    assert reachable(pairs, (0.0, 0.0), 1.0).all()
    assert reachable(beside, (0.0, 0.0), 1.0).mean() < 0.2


def test_events_take_any_outcome() -> None:
    event = UnreachableByBoxMuller((0.0, 0.0), 1.0)
    pair = tuple(outcomes(FLOAT64, 1.0, (0, 0), 1)[0].tolist())
    beyond = (50.0, 50.0)
    outcomes_of_any_kind = [pair, Refused("ValueError"), beyond, 3.0, (1.0, 2.0, 3.0), (math.nan, 0.0)]
    assert np.flatnonzero(event(outcomes_of_any_kind)).tolist() == [2]
    assert event(np.array([[3, 4], [50, 2**60]])).tolist() == [True, True]
    extremes = np.array([[math.inf, 0], [math.nan, 1], [1e308, -1e308], [1e119, 1], [5e-324, 5e-324]])
    assert event(extremes).tolist() == [False, False, False, True, True]
    assert event(np.array([1.0, 2.0])).tolist() == [False, False]
    assert event(np.empty((0, 2))).tolist() == []
    assert event([]).tolist() == []
    assert event(np.array([[0.0, 0.0]])).tolist() == [False]  # U₁ = 1
    assert as_pairs([beyond, Refused("ValueError")]).shape == (2, 2)


def test_noise_next_to_nothing_excludes_nothing() -> None:
    """At 10^12 a float is 2^−13 away from the next, and σ = 2^−30 is lost: all uniforms lead to the same pair."""
    assert reachable(np.array([[1e12, 1e12]]), (1e12, 1e12), 2.0**-30).all()
    assert not reachable(np.array([[1e12, 1e12 + 1]]), (1e12, 1e12), 2.0**-30).any()
