"""Noisy max in floats: its law against every string of bits, and the ties of the attack by two derivations."""

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.exponential import gumbel_max_naive
from subnormal.mechanisms.families import member

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
    assert mechanism.law is not None
    data = attack.worlds()[1]
    ours, theirs = mechanism.law(data, attack.parameters), gumbel_max_naive.law(data, 2e-4, float_type=kind)
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


def test_a_million_ties_by_hand() -> None:
    """Σ_j (F(j)^k − F(j−1)^k)² over the top of the lattice, and tanh(k/2^25): the advantage lies at both."""
    attack = gumbel_ties()
    law_in, law_out = (gumbel_max_naive.law(data, 2e-4, float_type=np.float32) for data in attack.worlds())
    claim = member("noisy-max-naive-float32").claim(attack.parameters, *attack.worlds())
    evidence = exact.compare(law_in, law_out, claim, attack.event)
    assert evidence.verdict is Verdict.VIOLATED
    k, lattice = 1 << 20, 1 << 24
    powers = [math.exp(k * math.log1p(-place / lattice)) for place in range(800)]
    tie = sum((upper - lower) ** 2 for upper, lower in pairwise(powers))
    assert tie == pytest.approx(math.tanh(k / 2**25), abs=1e-7)
    assert evidence.advantage == pytest.approx(tie, abs=1e-4)
    assert (evidence.advantage or 1) < tie
    assert evidence.event_in is not None
    assert evidence.event_out is not None
    assert evidence.event_in[0] <= (1 + tie) / 2 <= evidence.event_in[1]
    assert evidence.event_out[0] <= (1 - tie) / 2 <= evidence.event_out[1]
    assert claim.advantage_allowed == pytest.approx(1e-4)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_sample_is_that_of_the_exponential_mechanism(kind: Any) -> None:
    """Four outcomes, in floats to within what 50,000 draws can tell: a false-alarm rate of 1e-6 (chi-square)."""
    from scipy import stats

    utilities = np.array([3, 0, 1, 1])
    drawn = gumbel_max_naive.sample(utilities, 2.0, seeded_bits(3), 50_000, float_type=kind)
    weights = np.exp(-1.0 * utilities)
    expected = 50_000 * weights / weights.sum()
    assert stats.chisquare(np.bincount(drawn, minlength=4), expected).pvalue > 1e-6


def test_the_first_of_equal_scores_wins() -> None:
    bits = scripted_bits("0101" * 3)
    assert gumbel_max_naive.sample([4, 4, 4], 1.0, bits, 1, float_type=np.float32, uniform_bits=4).tolist() == [0]


@pytest.mark.parametrize("outcomes", [2, 100, 100_000])
def test_few_outcomes_may_have_their_maximum_anywhere(outcomes: int) -> None:
    with pytest.raises(NoLawError, match=f"{outcomes} outcomes: the maximum may lie on"):
        gumbel_max_naive.law(np.zeros(outcomes, dtype=np.int64), 1.0, float_type=np.float32)
    with pytest.raises(NoLawError, match=r"2\^53 uniforms for every outcome"):
        gumbel_max_naive.law(np.zeros(outcomes, dtype=np.int64), 1.0)


@pytest.mark.parametrize(
    ("utilities", "epsilon", "terms"),
    [
        (np.append(0, np.full(1 << 22, 33272)), 1e-3, r"1\d{7}"),  # the only outcome of its score wins with any noise
        (np.append(0, np.full(1 << 22, 10)), 1.0, r"\d{5}"),
        (np.arange(1 << 20) % 2, 1.0, "1152"),  # few terms, for each of a million groups of equal neighbours
    ],
)
def test_a_law_of_many_terms_is_refused_before_it_is_computed(
    utilities: Any, epsilon: float, terms: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gumbel_max_naive, "_powers", None)  # what takes time and memory
    with pytest.raises(NoLawError, match=rf"outcomes: the maximum may lie on {terms} points of the lattice"):
        gumbel_max_naive.law(utilities, epsilon, float_type=np.float32)


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


def test_scores_that_are_not_finite_have_no_law() -> None:
    with pytest.raises(NoLawError, match="scores beyond the largest float"):
        gumbel_max_naive.law([0, 1 << 62], 1e30, float_type=np.float32, uniform_bits=4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gumbel_ties(epsilon=0.07), r"epsilon must be below group/2\^24 = 0.0625, got 0.07"),
        (lambda: gumbel_ties(group=0), "group must be at least 1, got 0"),
        (lambda: gumbel_max_naive.sample([1], 0.0, seeded_bits(1), 1), "epsilon must be positive and finite, got 0.0"),
        (lambda: gumbel_max_naive.sample([1], 1.0, seeded_bits(1), -1), "n must not be negative, got -1"),
    ],
)
def test_bad_input_is_named_with_its_value(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
