"""The textbook's sparse vector technique in floats: absorbed by a large threshold; and what clamping alone does."""

import math
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.core.attack import Attack, first_positive
from subnormal.attacks.sparse_vector.absorbed_threshold import absorbed_threshold
from subnormal.attacks.sparse_vector.clamped_noise import clamped_noise, finite_threshold
from subnormal.audit.model import ExactEvidence, Verdict
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Refused
from subnormal.mechanisms.families import member
from subnormal.mechanisms.sparse_vector import naive as sparse_vector_naive
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from tests.support import walks
from tests.support.walks import law_of


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """2^53 strings a noise are too many, but sums are monotone in the noise: its extremes speak for all of them."""
    attack = absorbed_threshold()
    for data in (*attack.worlds(), np.array([1 << 62, 0]), np.array([0, 1 << 63 - 1, 1 << 62])):
        (expected,) = law_of(mechanism, data, attack.parameters).atoms
        ends = [f"{index:053b}" for index in (0, (1 << 52) - 1, 1 << 52, (1 << 53) - 1)]
        for rho in ends:
            for nu in ends:
                assert mechanism.sample(data, attack.parameters, scripted_bits(rho + len(data) * nu), 1) == [expected]


def evidence(attack: Attack[Any, Any, Any], name: str) -> ExactEvidence:
    return walks.evidence(attack, member(name))


def test_the_floats_of_an_absorbed_threshold() -> None:
    """The spacing below 2^62 is 512: 257 is beyond the half, 256 a tie."""
    assert [float(data[0]) for data in absorbed_threshold().worlds()] == [2.0**62 - 512, 2.0**62]


def test_it_takes_an_epsilon_from_which_on_the_noise_is_absorbed() -> None:
    naive = sparse_vector_naive.law
    for epsilon, absorbed in ((0.564, True), (0.563, False)):
        attack = absorbed_threshold(epsilon)
        if absorbed:
            assert naive(attack.worlds()[0], attack.parameters).atoms == [(0,)]
        else:
            with pytest.raises(NoLawError, match="the answers depend on the noise"):
                naive(attack.worlds()[0], attack.parameters)


def test_the_textbooks_scales() -> None:
    parameters = SparseVectorParameters(epsilon=0.5, positives=3, sensitivity=2.0)
    assert sparse_vector_naive.scales(parameters) == (8.0, 48.0)


def test_samples_are_those_of_the_textbook() -> None:
    """Beside numpy's own Laplace noise: shares of each outcome within 5 standard errors, with a fixed seed."""
    parameters, runs = SparseVectorParameters(epsilon=1.0, positives=2, threshold=3), 40_000
    data, rng = np.array([2.0, 5.0, 3.0]), np.random.default_rng(1)
    drawn = sparse_vector_naive.sample(data, parameters, seeded_bits(1), runs)
    above = data + rng.laplace(0, 8, (runs, 3)) >= 3 + rng.laplace(0, 2, (runs, 1))
    expected = [tuple(row) if sum(row[:2]) < 2 else tuple(row[:2]) for row in above.astype(int).tolist()]
    assert set(drawn) == set(expected)
    for outcome in set(drawn):
        one, other = drawn.count(outcome), expected.count(outcome)
        assert abs(one - other) < 5 * math.sqrt(one + other)


def test_a_largest_noise_without_a_partner_is_an_infinite_loss() -> None:
    for width in (1, 4, 9):
        attack = clamped_noise(1.0, width=width)
        found: Any = evidence(attack, "sparse-vector-clamped-noise")
        assert (found.verdict, found.epsilon) == (Verdict.VIOLATED, math.inf)
        largest = math.exp(-width / 2) / (1 + math.exp(-1 / 2))  # ρ = w
        least = math.exp(-width / 4) / (1 + math.exp(-1 / 4))  # ν = −w
        assert found.event_in[0] == pytest.approx(largest * least)
        assert found.event_out[1] < 1e-60
        assert evidence(attack, "sparse-vector-exact").verdict is Verdict.HOLDS


def test_a_finite_threshold_alone_loses_without_bound_but_rarely() -> None:
    """Each further ⊥ costs ln of the two chances of ⊥ at the largest ρ. Nothing is impossible, and most of it rare."""
    attacks = [finite_threshold(1.0, queries=m, width=1) for m in (63, 64)]
    losses = [evidence(attack, "sparse-vector-unclamped").epsilon for attack in attacks]
    q = math.exp(-1 / 4)
    below = [1 - q**t / (1 + q) for t in (2, 1)]
    assert losses[1] - losses[0] == pytest.approx(math.log(below[0] / below[1]), rel=1e-3)
    assert losses[1] > 10
    attack = finite_threshold()
    found = evidence(attack, "sparse-vector-unclamped")
    assert found.epsilon == pytest.approx(3.484, abs=1e-3)
    assert found.delta < 2e-3
    held = evidence(attack, "sparse-vector-exact")
    assert (held.verdict, held.within) == (Verdict.HOLDS, 0)
    assert held.epsilon == pytest.approx(0.5)  # η₁: all that ⊥s cost


def test_the_statistic_counts_the_answers_before_the_first_positive() -> None:
    assert first_positive([(0, 0, 1), (1, 3.5), (0, 0), Refused("x")]).tolist() == [2, 0, 2, -1]
    assert first_positive(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist() == [1, 0]
