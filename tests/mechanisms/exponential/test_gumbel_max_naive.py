"""Noisy max in floats: its law against every string of bits, and the ties of the attack by two derivations."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import gumbel_max_naive
from tests.support.walks import law_of

CASES = [([0, 0, 0], 4), ([1, 0, 0], 4), ([0, 1, 0, 1], 3), ([2, 0, 2], 4), ([0] * 6, 2), ([5, 5], 6), ([7], 3)]
CASES += [([0, 3000], 6), ([1, 0, 0, 1, 1, 1], 2)]


def counted(utilities: list[int], float_type: Any, width: int) -> list[Fraction]:
    """Return the probability of each outcome, by every string of bits through the sampler."""
    depth = width * len(utilities)
    script = "".join(f"{string:0{depth}b}" for string in range(1 << depth))
    options: Any = {"float_type": float_type, "uniform_bits": width}
    drawn = Counter(gumbel_max_naive.sample(utilities, 1.0, scripted_bits(script), 1 << depth, **options).tolist())
    return [Fraction(drawn[outcome], 1 << depth) for outcome in range(len(utilities))]


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """The member only adapts parameters, so its functions are walked on lattices where every string can be."""
    kind = {"noisy-max-naive-float32": np.float32}[mechanism.name]
    for utilities, width in CASES:
        law = gumbel_max_naive.law(utilities, 1.0, float_type=kind, uniform_bits=width)
        for outcome, truth in enumerate(counted(utilities, kind, width)):
            low, high = law.probability(outcome)
            assert low <= truth <= high
            assert high - low < Fraction(1, 2**110)
    attack = gumbel_ties()
    data = attack.worlds()[1]
    ours, theirs = law_of(mechanism, data, attack.parameters), gumbel_max_naive.law(data, 2e-4, float_type=kind)
    assert ours.low == theirs.low


def test_blocks_of_several_outcomes_bound_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks for each group, and the scores that hardly ever win left out: bounds that are wide, and hold."""
    monkeypatch.setattr(gumbel_max_naive, "BLOCKS", 2)
    monkeypatch.setattr(gumbel_max_naive, "TAIL", 3)
    for utilities, width in [([0] * 6, 2), ([0, 0, 0, 1], 3), ([1, 1, 0, 0, 0, 0], 2)]:
        law = gumbel_max_naive.law(utilities, 1.0, float_type=np.float32, uniform_bits=width)
        assert len(law.ends) < len(utilities)
        for outcome, truth in enumerate(counted(utilities, np.float32, width)):
            low, high = law.probability(outcome)
            assert low <= truth <= high


def test_noise_never_decreases_with_the_uniform() -> None:
    """All 2^24 of float32, and the ends of float64."""
    noise = gumbel_max_naive._noises("float32", 24)
    assert len(noise) == 1 << 24
    assert noise[0] == -np.inf
    assert (noise[1:] >= noise[:-1]).all()
    assert noise[-1] == pytest.approx(24 * math.log(2), rel=1e-6)
    top = np.array([0, 1, (1 << 53) - 2, (1 << 53) - 1])
    assert (np.diff(gumbel_max_naive.gumbel(top, float_type=np.float64, uniform_bits=53)) > 0).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_sample_is_that_of_the_exponential_mechanism(kind: Any) -> None:
    """Four outcomes, in floats to within what 50,000 draws can tell: a false-alarm rate of 1e-6 (chi-square)."""
    from scipy import stats

    utilities = np.array([3, 0, 1, 1])
    drawn = gumbel_max_naive.sample(utilities, 2.0, seeded_bits(3), 50_000, float_type=kind)
    weights = np.exp(-1.0 * utilities)
    expected = 50_000 * weights / weights.sum()
    assert stats.chisquare(np.bincount(drawn, minlength=4), expected).pvalue > 1e-6


def test_levels_that_hardly_ever_win_cost_nothing() -> None:
    """Two million equal scores with forty worse ones behind them, none of which reaches the points that are summed."""
    usual = 1 << 21
    utilities = np.append(np.zeros(usual, dtype=np.int64), 1000 * np.arange(1, 41))
    law = gumbel_max_naive.law(utilities, 1.0, float_type=np.float32)
    for outcome, gain in ((0, 1), (usual - 1, -1)):  # of ties, which have 1/16 of the mass, the first wins
        low, high = (bound * usual for bound in law.probability(outcome))
        assert (
            1 + gain * Fraction(1, 16) - Fraction(1, 200) < low < high < 1 + gain * Fraction(1, 16) + Fraction(1, 200)
        )
    assert law.probability(usual + 39)[1] < Fraction(1, 1 << 50)
