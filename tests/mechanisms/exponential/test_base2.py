"""The base-2 mechanism: exact, private on every small pair, and indifferent to the data in what it refuses."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import exact, exhaustive
from subnormal.audit.model import Verdict
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family, member
from subnormal.mechanisms.numerics.mpfr import InexactError
from subnormal.mechanisms.privacy import Eta

ETAS = [Eta(1, 1, 1), Eta(3, 2, 1), Eta(5, 3, 2), Eta(1, 2, 3)]


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("outcomes", [1, 2, 3, 4])
def test_every_adjacent_pair_of_small_vectors_stays_within_the_claim(eta: Eta, outcomes: int) -> None:
    allowed = eta.base**-2  # 2^(2η)
    laws = {}
    for vector in itertools.product(range(5), repeat=outcomes):
        law = base2.law(np.array(vector), eta)
        laws[vector] = [law.probability(index)[0] for index in range(outcomes)]
    for vector, probabilities in laws.items():
        near = [[u for u in (v - 1, v, v + 1) if 0 <= u <= 4] for v in vector]
        for neighbour in itertools.product(*near):
            assert all(p <= allowed * q for p, q in zip(probabilities, laws[neighbour], strict=True))


@pytest.mark.parametrize("eta", ETAS)
def test_the_law_is_the_formula(eta: Eta) -> None:
    utilities = [-3, 0, 2, 2, 7]
    weights = [eta.base**u for u in utilities]
    law = base2.law(np.array(utilities), eta)
    assert [law.probability(index)[0] for index in range(5)] == [weight / sum(weights) for weight in weights]


def test_utilities_are_clamped_to_the_limits() -> None:
    limits = Limits(0, 2, 3)
    law = base2.law([-5, 1, 50], Eta(1, 1, 1), limits=limits)
    assert [law.probability(index)[0] for index in range(3)] == [Fraction(4, 7), Fraction(2, 7), Fraction(1, 7)]
    assert set(base2.sample([-5, 1, 50], Eta(1, 1, 1), seeded_bits(1), 100, limits=limits).tolist()) == {0, 1, 2}


def test_negative_utilities_are_exact() -> None:
    drawn = base2.sample([-7, -7, -6], Eta(3, 2, 2), seeded_bits(1), 50, limits=Limits(-7, -2, 3))
    assert drawn.dtype == np.int64
    assert drawn.shape == (50,)


@pytest.mark.parametrize(("limits", "expected"), [(Limits(0, 10, 5), 49), (Limits(-3, 4, 2), 30), (Limits(0, 0, 1), 9)])
def test_the_theoretical_precision_is_the_bound_of_lemma_3_4(limits: Limits, expected: int) -> None:
    # (max(1,|u_max|) + max(1,|u_min|))·z·(y + b_x) + o_max with x = 3 (b_x = 2), y = 2, z = 1.
    assert base2.theoretical_precision(Eta(3, 2, 1), limits) == expected


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("limits", [Limits(0, 1, 1), Limits(0, 9, 100), Limits(-4, 4, 7), Limits(0, 30, 1000)])
def test_the_empirical_precision_suffices_and_half_of_it_does_not(eta: Eta, limits: Limits) -> None:
    precision = base2.working_precision(eta, limits, "empirical")
    span = limits.utility_max - limits.utility_min
    worst = np.arange(span + 1)
    sums = sum(base2.weights(worst, eta, precision))
    assert sums > 0
    assert base2.working_precision(eta, limits, "theoretical") * 2 >= precision
    shifted = Limits(0, span, limits.max_outcomes)
    if precision > 1:
        assert not base2._worst_cases_exact(eta, shifted, precision // 2)


@pytest.mark.parametrize("method", ["theoretical", "empirical"])
@pytest.mark.parametrize("sampler", ["all-bits", "bit-by-bit"])
def test_no_data_within_the_limits_are_ever_inexact(method: base2.PrecisionMethod, sampler: base2.Sampler) -> None:
    limits = Limits(-2, 6, 4)
    for utilities in itertools.product((-2, -1, 0, 5, 6), repeat=4):
        drawn = base2.sample(
            np.array(utilities),
            Eta(5, 3, 1),
            seeded_bits(2),
            2,
            limits=limits,
            precision_method=method,
            sampler=sampler,
        )
        assert ((drawn >= 0) & (drawn < 4)).all()


def test_too_small_a_precision_raises_a_named_error() -> None:
    with pytest.raises(InexactError, match="working precision of 4 bits"):
        base2.weights(np.array([9]), Eta(3, 2, 1), 4)


@pytest.mark.parametrize("sampler", ["all-bits", "bit-by-bit"])
def test_randomized_rounding_has_the_law_of_the_mixture(sampler: base2.Sampler) -> None:
    limits, utilities, eta = Limits(0, 1, 2), np.array([0.25, 0.0]), Eta(1, 1, 1)
    law = base2.law(utilities, eta, rounding_precision=2)
    expected = Fraction(3, 4) * Fraction(1, 2) + Fraction(1, 4) * Fraction(1, 3)
    assert law.probability(0)[0] == expected

    def draw(bits: BitSource) -> int:
        return int(base2.sample(utilities, eta, bits, 1, limits=limits, sampler=sampler, rounding_precision=2)[0])

    walked = exhaustive.law(draw, depth=18)
    for index in (0, 1):
        low = walked.probability(index)[0]
        assert low <= law.probability(index)[0] <= low + walked.rest
    assert walked.rest < Fraction(1, 20)


def test_the_law_of_randomized_rounding_is_enumerated_up_to_a_limit() -> None:
    with pytest.raises(ValueError, match="up to 12 fractional utilities, got 13"):
        base2.law(np.full(13, 0.5), Eta(1, 1, 1))


@pytest.mark.parametrize(
    ("utilities", "message"),
    [
        ([0.0, np.nan], r"utilities must be finite, got utilities\[1\] = nan"),
        ([np.inf], r"utilities must be finite, got utilities\[0\] = inf"),
        ([], r"utilities must not be empty, got shape \(0,\)"),
        ([[1, 2]], r"utilities must be a vector, got shape \(1, 2\)"),
        (["1"], "utilities must be 64-bit integers or floats"),
        ([2**63], "utilities must fit a signed 64-bit integer, got 9223372036854775808"),
        ([2**70], "utilities must be 64-bit integers or floats"),
        ([1, 2, 3, 4], "max_outcomes = 3, got 4 utilities"),
    ],
)
def test_bad_utilities_are_named_with_their_value(utilities: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        base2.sample(utilities, Eta(1, 1, 1), seeded_bits(1), 1, limits=Limits(0, 4, 3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((3, 2, 1), "utility_min = 3 must not be above utility_max = 2"),
        ((0, 1, 0), "max_outcomes must be at least 1, got 0"),
        ((0.5, 1, 1), "utility_min must be an integer, got 0.5"),
    ],
)
def test_bad_limits_are_named_with_their_value(limits: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(*limits)


@pytest.mark.parametrize("sensitivity", [0.125, 0.25, 0.5, 1.0, 1.5, 2.0])
def test_the_member_keeps_its_claim_for_real_utilities_of_any_sensitivity(sensitivity: float) -> None:
    """Real utilities Δ apart may be rounded to integers ⌈Δ⌉ apart: the worst pairs, by their exact laws."""
    mechanism = member("exponential-base2")
    assert mechanism.law is not None
    parameters = ExponentialParameters(2.0, Limits(0, 4, 11), sensitivity)
    for start in (0.5, 1.0, 1.25):
        data_in = np.array([start] + [start + sensitivity] * 8)
        data_out = np.array([start + sensitivity] + [start] * 8)
        assert family("exponential").adjacent(parameters, data_in, data_out)
        claim = mechanism.claim(parameters, data_in, data_out)
        evidence = exact.compare(mechanism.law(data_in, parameters), mechanism.law(data_out, parameters), claim)
        assert evidence.verdict is Verdict.HOLDS


def test_rounding_is_drawn_anew_for_every_draw() -> None:
    # η = 10: a utility of 0 against 0 ties, 1 against 0 loses nearly always; so index 0 comes a quarter of the time.
    # False-alarm rate: 6 standard deviations, 2e-9. One rounding for all draws would give 0 or a half.
    drawn = base2.sample([0.5, 0.0], Eta(1, 10, 1), seeded_bits(3), 2_000, limits=Limits(0, 1, 2))
    assert abs((drawn == 0).sum() - 500) < 6 * np.sqrt(2_000 * 3 / 16)


def test_the_minimum_of_tries_reaches_the_sampler() -> None:
    limits = Limits(0, 1, 2)
    for tries in (1, 3):
        bits = seeded_bits(1)
        base2.sample([0, 0], Eta(1, 1, 1), bits, 1, limits=limits, minimum_tries=tries)
        assert bits.consumed == tries * base2.working_precision(Eta(1, 1, 1), limits)


def test_the_theoretical_precision_counts_every_factor() -> None:
    # (10 + 1)·2·(3 + 3) + 5 with x = 5, y = 3, z = 2; and the span is what counts once u_min is subtracted.
    assert base2.theoretical_precision(Eta(5, 3, 2), Limits(0, 10, 5)) == 137
    assert base2.working_precision(Eta(5, 3, 2), Limits(90, 100, 5)) == 137


def test_equal_bounds_on_the_utilities_leave_room_for_the_sum() -> None:
    for outcomes in (1, 3, 7, 15, 100):
        limits = Limits(4, 4, outcomes)
        drawn = base2.sample(
            [9] * outcomes, Eta(1, 1, 1), seeded_bits(1), 5, limits=limits, precision_method="empirical"
        )
        assert ((drawn >= 0) & (drawn < outcomes)).all()


def draw(utilities: Any, limits: Limits, n: int = 1, **options: Any) -> object:
    return base2.sample(utilities, Eta(1, 1, 1), seeded_bits(1), n, limits=limits, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw([0.5], Limits(2**53, 2**53 + 1, 1)), "with float utilities they lie within"),
        (lambda: base2.law([1e300, 1.0], Eta(1, 1, 1)), r"float utilities must lie within ±2\^53, got 1e\+300"),
        (lambda: draw([1], Limits(0, 10**9, 2)), "bits of working precision"),
        (lambda: draw([1], Limits(0, 1, 1), n=-1), "n must not be negative, got -1"),
        (lambda: draw([1], Limits(0, 1, 1), sampler="x"), "sampler must be one of all-bits, bit-by-bit, .*, got 'x'"),
        (lambda: draw([1], Limits(0, 1, 1), precision_method="x"), "precision_method must be"),
        (lambda: Limits(0, 2**63, 1), "utility_max must fit a signed 64-bit integer"),
        (lambda: draw(np.array([1], np.longdouble), Limits(0, 1, 1)), "must be 64-bit integers or floats"),
    ],
)
def test_what_cannot_be_exact_is_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
