"""The discrete sparse vector mechanism: its law is its code's, and every stream keeps its claim, in rationals."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Eta, member
from subnormal.mechanisms.bits import scripted_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.sparse_vector import exact as sparse_vector_exact
from subnormal.mechanisms.sparse_vector.exact import EXACT, WITH_GAP, Setting
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters, on_grid
from subnormal.mechanisms.sparse_vector.lazy_threshold import lazy_threshold, working_precision
from tests.support.region_sums import get_sum
from tests.support.walks import assert_within_the_law

HALF, THREE_QUARTERS, SLOW = Eta(1, 1, 1), Eta(3, 2, 1), Eta(7, 3, 2)
VALUES = range(3)  # of a query
SETTINGS = [
    Setting(one, other, positives, 0, 2, width, width, gaps)
    for one, other in ((HALF, HALF), (THREE_QUARTERS, HALF), (HALF, SLOW))
    for positives, width, gaps in ((1, 1, None), (1, 2, None), (2, 1, None), (4, 2, None), (2, 2, (1, 2)))
]


def textbook(queries: tuple[int, ...], s: Setting) -> dict[tuple[int, ...], Fraction]:
    """The law from the definition: no table, no common denominator."""

    def chances(step: int, query: int) -> list[tuple[tuple[int, ...], Fraction]]:
        t, base = min(max(step - query, -s.clamp), s.clamp), s.answer_rate.base
        tails = [get_sum(base, t + offset, None) / (1 + base) for offset in (0, *(s.gaps or ()))] + [Fraction(0)]
        parts = [(1,) if s.gaps is None else (1, gap) for gap in (0, *(s.gaps or ()))]
        return [((0,), 1 - tails[0]), *zip(parts, (one - other for one, other in pairwise(tails)), strict=True)]

    first, last, base = s.lower - s.width, s.upper + s.width, s.threshold_rate.base
    found: dict[tuple[int, ...], Fraction] = {}
    for step in range(first, last + 1):
        ends = (None if step == first else step), (None if step == last else step)
        mass = get_sum(base, *ends) / (1 + base)
        streams: list[tuple[tuple[int, ...], int, Fraction]] = [((), s.positives, mass)]
        for query in queries:
            going, streams = streams, []
            for outcome, left, chance in going:
                if left == 0:
                    streams.append((outcome, left, chance))
                    continue
                streams += [(outcome + part, left - part[0], chance * own) for part, own in chances(step, query)]
        for outcome, _, chance in streams:
            found[outcome] = found.get(outcome, Fraction(0)) + chance
    return found


def masses(law: Law[Any]) -> dict[Any, Fraction]:
    assert law.low is law.high or list(law.low) == list(law.high)
    assert law.rest == 0
    return {atom: law.probability(atom)[0] for atom in law.atoms}


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of 12 bits: the noise, and one or two answers."""
    for positives, data, rest in ((1, [0], 0.03), (1, [1, -1], 0.035), (2, [0, 1], 0.25)):
        parameters = SparseVectorParameters(
            epsilon=8.0, positives=positives, lower=-1, upper=1, width=1, gaps=(1, 2), grid=0
        )
        assert_within_the_law(mechanism, np.array(data), parameters, rest)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_law_is_the_definition(setting: Setting) -> None:
    for queries in [(0,), (2, 0), (1, 1, 1), (0, 1, 2, 0)]:
        expected = {outcome: chance for outcome, chance in textbook(queries, setting).items() if chance}
        found = masses(sparse_vector_exact.law(queries, setting))
        assert {outcome: chance for outcome, chance in found.items() if chance} == expected


ABOVE, BELOW = (Setting(HALF, THREE_QUARTERS, 1, lower, lower + 1, 1, 1, None) for lower in (2, -3))  # no 0 for ρ


def test_the_law_is_the_definition_where_the_bounds_leave_0_out() -> None:
    for setting, queries in ((ABOVE, (2,)), (ABOVE, (3, 2, 3)), (BELOW, (-3,)), (BELOW, (-2, -3, -2))):
        expected = textbook(queries, setting)
        assert masses(sparse_vector_exact.law(queries, setting)) == expected


def neighbours(queries: tuple[int, ...], apart: int) -> Iterator[tuple[int, ...]]:
    return product(*([other for other in VALUES if abs(other - one) <= apart] for one in queries))


def largest_ratio(setting: Setting, apart: int, longest: int) -> Fraction:
    """The largest quotient of two probabilities of an outcome, over all streams and all their neighbours."""
    laws = {
        queries: masses(sparse_vector_exact.law(queries, setting))
        for length in range(1, longest + 1)
        for queries in product(VALUES, repeat=length)
    }
    worst = Fraction(0)
    for queries, own in laws.items():
        for other in neighbours(queries, apart):
            theirs = laws[other]
            assert all(theirs[outcome] > 0 or chance == 0 for outcome, chance in own.items())
            worst = max(worst, *(chance / theirs[outcome] for outcome, chance in own.items() if chance))
    return worst


def promised(setting: Setting, apart: int) -> Fraction:
    """2^(d·r₁ + 2cd·r₂), exactly."""
    answers = setting.answer_rate.base ** (2 * setting.positives * apart)
    return 1 / (setting.threshold_rate.base**apart * answers)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("apart", [1, 2])
def test_every_stream_and_every_neighbour_keeps_the_claim(setting: Setting, apart: int) -> None:
    """Streams of up to 4 queries (3 with gaps, and at distance 2): up to 2,401 pairs of them, in rationals."""
    longest = 4 if setting.gaps is None and apart == 1 else 3
    assert 1 < largest_ratio(setting, apart, longest) <= promised(setting, apart)


def test_clamping_no_further_than_the_noise_is_what_the_proof_needs() -> None:
    """The tester is tested: let ρ end before the clamp does, and a stream of 4 queries exceeds the claim."""
    broken = Setting(HALF, HALF, 1, 0, 2, 0, 2)
    assert largest_ratio(broken, 1, 4) > promised(broken, 1)
    with pytest.raises(ValueError, match="clamp must be at most width = 0, got 2"):
        sparse_vector_exact.claim(broken, 1)


def test_half_the_noise_for_the_answers_is_too_little() -> None:
    """The factor 2 of 2cΔ is needed: a claim of d·r₁ + cd·r₂ would be false."""
    setting = SETTINGS[1]
    too_little = 1 / (setting.threshold_rate.base * setting.answer_rate.base)
    assert largest_ratio(setting, 1, 4) > too_little


@pytest.mark.parametrize("eta", [HALF, THREE_QUARTERS, SLOW])
def test_region_sums_are_exact_at_the_working_precision(eta: Eta) -> None:
    lazy = lazy_threshold(eta, 5)
    unit = 1 << (eta.y * eta.z * 6)
    assert [Fraction(one, unit) for one in lazy.sums] == [get_sum(eta.base, t, None) for t in range(-5, 6)]
    assert Fraction(lazy.total, unit) == get_sum(eta.base, None, None)
    quotients = [get_sum(eta.base, t, None) / (1 + eta.base) for t in range(-5, 6)]
    assert lazy.heads.tolist() == [int(quotient * (1 << 64)) for quotient in quotients]
    assert lazy.total.bit_length() <= working_precision(eta, 5)


def test_a_word_on_a_boundary_takes_more_bits() -> None:
    """64 bits of U leave a draw open when they are those of the quotient: then the next ones decide, exactly."""
    lazy = lazy_threshold(HALF, 2)  # P(noise ≥ 0) = 2/3
    head = int(lazy.heads[2])
    assert Fraction(head, 1 << 64) < Fraction(2, 3) < Fraction(head + 1, 1 << 64)
    follow = int(Fraction(2, 3) * (1 << 128)) & ((1 << 64) - 1)
    for word, expected in ((follow - 1, 1), (follow + 1, 0)):
        bits = scripted_bits(f"{head:064b}{word:064b}")
        assert lazy.levels(np.array([0]), (0,), bits).tolist() == [expected]
        assert bits.consumed == 128
    for t, boundary in zip(range(-2, 3), lazy.heads.tolist(), strict=True):
        bits = scripted_bits(f"{boundary - 1:064b}{boundary + 1:064b}")
        assert lazy.levels(np.array([t, t]), (0,), bits).tolist() == [1, 0]
        assert bits.consumed == 128


def test_without_gaps_it_is_the_same_mechanism() -> None:
    parameters = SparseVectorParameters(epsilon=1.0, positives=2, lower=-4, upper=4, width=4)
    data = np.array([0, 2, -1])
    assert EXACT.law is not None
    assert WITH_GAP.law is not None
    plain, told = (masses(one.law(data, parameters)) for one in (EXACT, WITH_GAP) if one.law is not None)
    summed: dict[Any, Fraction] = {}
    for outcome, chance in told.items():
        answers, numbers = [], list(outcome)
        while numbers:
            answers.append(numbers.pop(0))
            if answers[-1]:
                numbers.pop(0)
        summed[tuple(answers)] = summed.get(tuple(answers), Fraction(0)) + chance
    assert summed == plain


def test_rounding_costs_what_is_missing_to_the_next_step() -> None:
    """Queries Δ apart land at most ⌈Δ/γ⌉ steps apart, wherever they lie; and so many are paid for."""
    for sensitivity, apart in ((1.0, 2), (0.75, 2), (0.5, 1), (0.3, 1)):
        parameters = SparseVectorParameters(epsilon=1.0, sensitivity=sensitivity, grid=-1, threshold=0.125)
        assert parameters.apart == apart
        lows = [Fraction(n, 16) for n in range(-16, 17)]
        rounded = [
            [on_grid(np.array([float(one)]), parameters)[0] for one in (low, low + Fraction(sensitivity))]
            for low in lows
        ]
        assert max(above - below for below, above in rounded) == apart
    parameters = SparseVectorParameters(epsilon=1.0, sensitivity=0.3, lower=-4, upper=4, width=4)
    rounded_law = masses(member("sparse-vector-exact").law(np.array([0.4, -0.5]), parameters))  # type: ignore[misc]
    assert rounded_law == masses(member("sparse-vector-exact").law(np.array([0, 0]), parameters))  # type: ignore[misc]


def test_the_members_spend_their_shares() -> None:
    for share in (0.5, 0.25):
        parameters = SparseVectorParameters(epsilon=1.0, positives=3, sensitivity=2.0, threshold_share=share)
        setting = sparse_vector_exact._setting(parameters, with_gap=False)
        assert 1 - 1e-8 < sparse_vector_exact.claim(setting, parameters.apart).epsilon <= 1
        assert sparse_vector_exact.claim(setting, 1).epsilon == pytest.approx(0.5)
        assert 2 * setting.threshold_rate.nats == pytest.approx(share)
    assert EXACT.claim(parameters, np.zeros(1), np.zeros(1)) == Claim(1.0)


def test_large_integers_are_not_rounded() -> None:
    parameters = SparseVectorParameters(epsilon=1.0, threshold=1 << 62)
    assert on_grid(np.array([(1 << 62) - 1, 1 << 62, -(1 << 63)]), parameters) == [-1, 0, -(1 << 61)]
