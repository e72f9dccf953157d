"""The published variants: their laws against an independent exact sum, and what Lyu, Su and Li prove of each."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, member
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.sparse_vector.published_variants import no_cutoff, noiseless_answers, noisy_value, unscaled_noise
from subnormal.audit.evidence import exact
from subnormal.audit.model import ExactEvidence, Verdict
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.sparse_vector import published_variants
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from tests.support import walks
from tests.support.walks import assert_within_the_law

HALF, NONE = Fraction(1, 2), Fraction(0)
NAMES = [
    f"sparse-vector-{name}" for name in ("algorithm-3", "algorithm-4", "algorithm-5", "algorithm-6", "clamped-noise")
]


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of 12 bits: the noise, and one or two answers."""
    parameters = SparseVectorParameters(epsilon=8.0, width=1)
    for data, rest in (([0], 0.05), ([1, -1], 0.2)):
        assert_within_the_law(mechanism, np.array(data), parameters, rest)


def law_of(name: str, data: list[int], parameters: SparseVectorParameters) -> Law[Any]:
    law = member(name).law
    assert law is not None
    return law(np.array(data), parameters)


def evidence(attack: Attack[Any, Any, Any]) -> ExactEvidence:
    (name,) = attack.breaks
    return walks.evidence(attack, member(name))


def probability(
    queries: list[int], answers: tuple[int, ...], q: Fraction, of_answers: Fraction, value: int | None = None
) -> Fraction:
    """P(answers) for rational weights q^|k| of the threshold's noise and of_answers^|k| of the answers', exactly.

    value: what Algorithm 3 releases for one query more. Independent of the code under test: Σ over ρ, one by one around
    the queries. Beyond them an answer's chance is c·x or 1 − c·x with x = of_answers^|ρ|: their product is a polynomial
    in x, and Σ q^|ρ|·x^k is geometric.
    """
    edge = max(map(abs, [*queries, value or 0])) + 1
    asked = list(zip(queries, answers, strict=False))

    def released(rho: int) -> Fraction:
        if value is None:
            return Fraction(1)
        return (1 - of_answers) / (1 + of_answers) * of_answers ** abs(value - queries[len(answers)]) * (rho <= value)

    def one_by_one(rho: int) -> Fraction:
        total = q ** abs(rho) * released(rho)
        for query, answer in asked:
            t = rho - query
            above = of_answers**t / (1 + of_answers) if t > 0 else 1 - of_answers ** (1 - t) / (1 + of_answers)
            total *= above if answer else 1 - above
        return total

    def beyond(side: int) -> Fraction:
        """Σ over ρ = side·edge, side·(edge + 1), …: where ⊤ is the rare answer above, and ⊥ below."""
        powers = [released(side * edge)]
        for query, answer in asked:
            rare = of_answers ** (-query if side > 0 else query + 1) / (1 + of_answers)
            first, second = (Fraction(0), rare) if answer == (side > 0) else (Fraction(1), -rare)
            powers = [a * first + b * second for a, b in zip([*powers, NONE], [NONE, *powers], strict=True)]
        ratios = [q * of_answers**k for k in range(len(powers))]
        return sum((one * r**edge / (1 - r) for one, r in zip(powers, ratios, strict=True)), Fraction(0))

    middle = sum((one_by_one(rho) for rho in range(1 - edge, edge)), Fraction(0))
    return (1 - q) / (1 + q) * (middle + beyond(1) + beyond(-1))


@pytest.mark.parametrize("m", [2, 3, 12])
def test_algorithm_3_at_a_claim_of_one(m: int) -> None:
    """In base e, ε = 1: certified enclosures of the ratios hold e^((m−1)/2) and e^((m+1)/2), within 10^−40."""
    attack = noisy_value(1.0, negatives=m)
    worlds = [data.tolist() for data in attack.worlds()]
    law_in, law_out = (law_of("sparse-vector-algorithm-3", data, attack.parameters) for data in worlds)
    for value, loss in ((0, Fraction(m - 1, 2)), (1, Fraction(m + 1, 2))):
        (low, high), (other_low, other_high) = (law.probability((*((0,) * m), 1, value)) for law in (law_in, law_out))
        expected_low, expected_high = exp_bounds(loss, 400)
        assert low / other_high <= expected_low
        assert expected_high <= high / other_low
        assert high / other_low - low / other_high < Fraction(1, 10**40) * expected_low
    found = exact.compare(law_in, law_out, Claim(1.0), attack.event)
    assert found.verdict is Verdict.VIOLATED
    assert found.epsilon == (m + 1) / 2


def test_algorithm_4_tends_to_its_own_bound() -> None:
    """(1+6c)/4·ε is what it does promise (Lyu, Su, Li 2017, Section 3.3): nearly all of it is lost."""
    for positives in (1, 2, 3):
        found = evidence(unscaled_noise(1.0, negatives=8, positives=positives))
        assert found.verdict is Verdict.VIOLATED
        assert 0.99 * (1 + 6 * positives) / 4 < found.epsilon < (1 + 6 * positives) / 4


def test_algorithm_5_loses_everything() -> None:
    found: Any = evidence(noiseless_answers())
    assert (found.verdict, found.epsilon) == (Verdict.VIOLATED, math.inf)
    assert found.event_out[1] < 1e-60  # the atom itself has 0; what enclosures leave is no outcome's
    q = math.exp(-0.5)
    assert found.event_in[0] == pytest.approx(q * (1 - q) / (1 + q))  # ρ = 1


def test_algorithm_6_loses_more_with_every_pair() -> None:
    losses = [evidence(no_cutoff(1.0, negatives=m)).epsilon for m in range(1, 5)]
    assert all(loss > m / 2 for m, loss in enumerate(losses, start=1))
    assert losses == sorted(losses)
    assert [round(loss, 3) for loss in losses] == [0.739, 1.548, 2.398, 3.277]


@pytest.mark.parametrize("name", NAMES[1:])
def test_enclosures_are_narrow_and_sum_to_one(name: str) -> None:
    parameters = SparseVectorParameters(epsilon=1.0, positives=2, width=6)
    for data in ([0], [3, -1, 0], [0, 0, 1, 1]):
        law = law_of(name, data, parameters)
        bounds = [law.probability(atom) for atom in law.atoms]
        assert sum(low for low, _ in bounds) <= 1 <= sum(high for _, high in bounds)
        assert max(high - low for low, high in bounds) < Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("number", "rates"), [(3, (HALF, HALF)), (4, (Fraction(1, 4), Fraction(3, 4))), (6, (HALF, HALF))]
)
def test_enclosures_hold_the_independent_sum(number: int, rates: tuple[Fraction, Fraction]) -> None:
    """At rational weights 2^−256 from those of base e, which moves no probability by more than 2^−200."""
    q, of_answers = (exp_bounds(-rate, 256)[0] for rate in rates)
    slack = Fraction(1, 1 << 200)
    for data in ([0, 1], [2, 0, -1]):
        law: Law[Any] = law_of(f"sparse-vector-algorithm-{number}", data, SparseVectorParameters(epsilon=1.0))
        atoms: list[Any] = list(law.atoms)
        for atom in atoms:
            answers, value = (atom[:-2], atom[-1]) if number == 3 and 1 in atom[-2:-1] else (atom, None)
            if value is None or abs(value) < 9:
                low, high = law.probability(atom)
                assert low - slack <= probability(data, answers, q, of_answers, value) <= high + slack


def test_a_noisy_value_is_given_in_the_queries_units() -> None:
    parameters = SparseVectorParameters(epsilon=1.0, threshold=10, grid=-1)
    assert published_variants._positive(True, parameters)(3) == (1, 11.5)
    assert published_variants._positive(True, replace(parameters, threshold=10.5))(3) == (1, 12)
    assert published_variants._positive(False, parameters)(3) == (1,)
