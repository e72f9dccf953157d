"""Permute-and-flip: its law against every order of the outcomes, its sampler against every string of bits."""

import itertools
import operator
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import permute_and_flip, permute_and_flip_law
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.privacy import Eta, selection_eta
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.normalized import uniform_below
from tests.support.walks import assert_within_the_law, law_of

ETAS = [Eta(1, 1, 1), Eta(3, 2, 1), Eta(255, 8, 2)]
VECTORS = [[0], [0, 1], [2, 0, 1], [1, 1, 1], [0, 3, 0, 1], [5, 0, 1, 0, 2], [-7, -5, -7, -6, -7, -6]]


def as_published(utilities: list[int], eta: Eta) -> list[Fraction]:
    """McKenna and Sheldon's Algorithm 1, followed along every order of the outcomes."""
    heads = [eta.base ** (utility - min(utilities)) for utility in utilities]
    orders = list(itertools.permutations(range(len(utilities))))
    probability = [Fraction(0)] * len(utilities)
    for order in orders:
        reached = Fraction(1, len(orders))
        for outcome in order:
            probability[outcome] += reached * heads[outcome]
            reached *= 1 - heads[outcome]
        assert reached == 0
    return probability


@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_the_law_is_that_of_every_order(eta: Eta) -> None:
    for utilities in VECTORS:
        law = permute_and_flip.law(utilities, eta)
        assert [law.probability(at) for at in range(len(utilities))] == [(p, p) for p in as_published(utilities, eta)]


@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_a_long_law_is_enclosed(eta: Eta, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same vectors, and longer ones, with and without rationals; 70 of them fill more than a panel."""
    rng = np.random.default_rng(1)
    for utilities in [*VECTORS, rng.integers(0, 4, 70).tolist(), [0] + [1] * 90, [0] * 90 + [3], list(range(20))]:
        rational = permute_and_flip.law(utilities, eta)
        with monkeypatch.context() as patch:
            patch.setattr(permute_and_flip, "EXACT_WORK_MAX", -1)
            enclosure = permute_and_flip.law(utilities, eta)
        for outcome in range(len(utilities)):
            (truth, same), (low, high) = rational.probability(outcome), enclosure.probability(outcome)
            assert truth == same
            assert low <= truth <= high
            assert high - low <= truth / 2**90


@pytest.mark.parametrize("working", [6, 14, 60])
@pytest.mark.parametrize("panels", [1, 12])
def test_bounds_hold_at_any_precision(working: int, panels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So few bits that every rounding shows, and panels that end early: bounds grow apart, and hold."""
    monkeypatch.setattr(permute_and_flip_law, "PANELS", panels)
    rng = np.random.default_rng(working)
    for _ in range(40):
        sizes = rng.integers(1, 12, 3).tolist()
        distances = [0, *rng.integers(1, 4, 2).cumsum().tolist()]
        utilities = np.repeat(distances, sizes)
        law = permute_and_flip.law(utilities, Eta(5, 3, 1))
        chances = [weight_bounds(Eta(5, 3, 1), Fraction(distance), working + 5) for distance in distances]
        low, high, denominator = permute_and_flip_law.enclosed(sizes, chances, working + 5, working)
        for kind, outcome in enumerate(np.cumsum(sizes) - 1):
            truth = law.probability(int(outcome))[0]
            assert Fraction(low[kind], denominator) <= truth <= Fraction(high[kind], denominator)


@pytest.mark.parametrize("up", [False, True])
def test_every_step_is_rounded_its_way(up: bool) -> None:
    """Coefficients, products and integrals of a few bits, each against its rational."""
    side = operator.ge if up else operator.le
    rng = np.random.default_rng(2)
    for _ in range(300):
        end, width, low, count = (int(rng.integers(1, top)) for top in (33, 33, 32, 4))
        high = low + int(rng.integers(0, 2))
        given: Any = {"working": 5, "up": up}
        series = permute_and_flip_law._series((low, high), count, end=end, width=width, **given)
        for p in (Fraction(low, 32), Fraction(high, 32)):
            for r in range(count + 1):
                stays = max(Fraction(0), 1 - Fraction(end, 32) * p)
                truth = comb(count, r) * stays ** (count - r) * (Fraction(width, 32) * p) ** r
                assert side(Fraction(series[r], 32), truth)
        one, other = ([*rng.integers(0, 40, 4).tolist()] + [0] * 61 for _ in range(2))
        product = permute_and_flip_law._truncated_product(one, other, **given)
        for r, unrounded in enumerate(permute_and_flip_law._product(one, other)[: len(product)]):
            assert side(Fraction(product[r], 32), Fraction(unrounded, 32**2))
    for coins in (2, 3, 5, 6, 7):  # all certain: 1/coins
        (integral,) = permute_and_flip_law._integrals([coins], [(32, 32)], 5, up=up)
        assert side(Fraction(integral, 32), Fraction(1, coins))


def test_millions_of_outcomes_have_a_law_in_closed_form() -> None:
    """One best outcome among n others: (1 − (1 − p)^(n+1))/((n + 1)·p); k best ones alone: 1/k."""
    eta, others = Eta(255, 8, 1), 1 << 22
    law = permute_and_flip.law(np.r_[0, np.full(others, 2000)], eta)
    chance = eta.base**2000
    low, high = law.probability(0)
    expected = -np.expm1((others + 1) * np.log1p(-float(chance))) / ((others + 1) * float(chance))
    assert float(low) == pytest.approx(expected, rel=1e-12)
    assert high - low < Fraction(1, 2**90)
    assert low + others * law.probability(1)[0] <= 1 <= high + others * law.probability(1)[1]
    low, high = permute_and_flip.law(np.full(1 << 20, 7), eta).probability(5)
    assert low <= Fraction(1, 1 << 20) <= high < low * (1 + Fraction(1, 2**90))


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of 12 bits, a word of 2 for each coin; and the law is that of every order."""
    for data in ([0], [0, 1], [2, 0, 1], [1, 1, 1], [0, 3, 0, 0]):
        for epsilon in (0.3, 2.0):
            parameters = ExponentialParameters(epsilon, Limits(0, 2, 4))
            assert_within_the_law(mechanism, np.array(data), parameters, rest=1 / 8)
            law = law_of(mechanism, np.array(data), parameters)
            expected = as_published(np.minimum(data, 2).tolist(), selection_eta(epsilon))
            assert [law.probability(at)[0] for at in range(len(data))] == expected


def test_the_error_is_never_more_than_that_of_the_exponential_mechanism() -> None:
    from subnormal.mechanisms.exponential import base2

    for utilities in VECTORS:
        for eta in ETAS:
            ours, theirs = (
                sum(law.probability(at)[0] * utility for at, utility in enumerate(utilities))
                for law in (permute_and_flip.law(utilities, eta), base2.law(utilities, eta))
            )
            assert ours <= theirs


def test_coins_at_the_ends_of_their_type() -> None:
    """Utilities 2^64 − 1 apart; a chance of 1 − 2^−80; and a word that does not decide one of 2^−100."""
    magnitude = 2**63 - 1
    assert permute_and_flip.sample([-magnitude - 1, magnitude], Eta(1, 1, 1), seeded_bits(1), 50).tolist() == [0] * 50
    near = Eta(2**80 - 1, 80, 1)
    assert set(permute_and_flip.sample([0, 1], near, seeded_bits(1), 50).tolist()) == {0, 1}
    for heads, more in ((True, "0" * 64), (False, "1" * 64)):
        bits = scripted_bits("0" * 128 + more + "1" * 10)
        drawn = permute_and_flip.sample([0, 100], Eta(1, 1, 1), bits, 1)
        assert drawn.tolist() == [int(heads)]
        assert bits.consumed == 193


def test_a_million_outcomes_take_one_word_each() -> None:
    bits = seeded_bits(1)
    utilities = np.full(1 << 20, 40)
    utilities[12345] = 0
    assert permute_and_flip.sample(utilities, Eta(1, 1, 1), bits, 1).tolist() == [12345]
    assert bits.consumed < (65 << 20)


@pytest.mark.parametrize("counts", [[1], [1, 2, 3, 4, 5, 6, 7, 8], [3, 3]])
def test_uniform_integers_are_uniform(counts: list[int]) -> None:
    for width in (3, 4):
        for count in counts:
            walked = exhaustive.law(
                lambda bits, c=count, w=width: int(uniform_below(np.array([c]), w, bits)[0]),  # type: ignore[misc]
                depth=width,
            )
            decided = {walked.probability(value)[0] for value in range(count)}
            assert decided == {Fraction(1, 1 << (count - 1).bit_length())}
    drawn = uniform_below(np.array(counts * 50), 3, seeded_bits(1))
    assert (drawn < np.array(counts * 50)).all()


@pytest.mark.parametrize("count", [2**53 + 1, 2**60, 2**60 + 1, 2**61 - 1, 2**62])
def test_uniform_integers_below_what_a_float_does_not_hold(count: int) -> None:
    for word in (0, 1, count // 2, count - 1):
        words = [word] if count == 2**62 else [2**62 - 1, word]  # the first is rejected
        bits = scripted_bits("".join(f"{one:062b}" for one in words))
        assert uniform_below(np.array([count]), 62, bits) == [word]
