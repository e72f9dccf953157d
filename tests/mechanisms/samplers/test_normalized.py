"""Every bit string through Algorithms 2 and 4, against the rationals that they promise."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.numerics import mpfr
from subnormal.mechanisms.numerics.mpfr import exact
from subnormal.mechanisms.samplers import normalized

Sampler = Callable[[list[Any], BitSource, int], int]

# Integer weights and the fractional bits of their unit: ties, one giant, zero weights, powers of two as totals and not.
WEIGHTS = [
    ([1], 0),
    ([1, 1], 0),
    ([3, 1], 0),
    ([1, 2, 5], 1),
    ([5, 0, 2, 0], 3),
    ([1, 1, 1, 1, 1], 2),
    ([13, 1, 1, 1], 4),
    ([1, 14], 0),
]


def sums_of(weights: Sequence[int], fraction_bits: int) -> list[Any]:
    with exact(64):
        return mpfr.cumulative([mpfr.scaled(weight, -fraction_bits) for weight in weights])


def first_try(sampler: Sampler, weights: Sequence[int], fraction_bits: int, precision: int) -> Law[int]:
    sums = sums_of(weights, fraction_bits)
    return exhaustive.law(lambda bits: sampler(sums, bits, precision), depth=precision)


def all_bits(sums: list[Any], bits: BitSource, precision: int) -> int:
    return normalized.all_bits(sums, bits, precision, 1)[0]


def bit_by_bit(sums: list[Any], bits: BitSource, precision: int) -> int:
    return normalized.bit_by_bit(sums, bits, precision, 1)[0]


def assert_conditioned_on_acceptance_equals_the_law(sampler: Sampler, weights: list[int], fraction: int) -> None:
    for precision in (4, 5, 7):
        law = first_try(sampler, weights, fraction, precision)
        accepted = sum(law.probability(index)[0] for index in range(len(weights)))
        for index, weight in enumerate(weights):
            assert law.probability(index)[0] / accepted == Fraction(weight, sum(weights))


@pytest.mark.parametrize(("weights", "fraction"), WEIGHTS)
def test_the_first_try_of_algorithm_2_has_exactly_the_law(weights: list[int], fraction: int) -> None:
    assert_conditioned_on_acceptance_equals_the_law(all_bits, weights, fraction)


@pytest.mark.parametrize("sampler", [all_bits, bit_by_bit])
@pytest.mark.parametrize(("weights", "fraction"), WEIGHTS)
def test_at_any_depth_the_law_lies_between_what_is_decided_and_what_is_not(
    sampler: Sampler, weights: list[int], fraction: int
) -> None:
    sums = sums_of(weights, fraction)
    for depth in (4, 7, 12, 15):
        try:
            law = exhaustive.law(lambda bits: sampler(sums, bits, 4), depth=depth)
        except ValueError:  # too shallow to decide anything
            assert depth < 8
            continue
        for index, weight in enumerate(weights):
            low, _ = law.probability(index)
            assert low <= Fraction(weight, sum(weights)) <= low + law.rest


@pytest.mark.parametrize("word_bits", [1, 2, 3])
@pytest.mark.parametrize(("weights", "fraction"), WEIGHTS)
def test_two_draws_by_their_first_bits_are_independent_and_have_the_law(
    weights: list[int], fraction: int, word_bits: int
) -> None:
    sums, total = sums_of(weights, fraction), sum(weights)

    def pair(bits: BitSource) -> tuple[int, ...]:
        bits.word_bits = word_bits
        return tuple(normalized.all_bits(sums, bits, 4, 2))

    law = exhaustive.law(pair, depth=12)
    assert law.rest == 0 if total.bit_count() == 1 else law.rest < Fraction(1, 2)  # rejections are cut off at 12 bits
    for one, other in itertools.product(range(len(weights)), repeat=2):
        low, _ = law.probability((one, other))
        assert low <= Fraction(weights[one] * weights[other], total**2) <= low + law.rest


def test_of_many_draws_few_take_more_than_a_word() -> None:
    sums, bits = sums_of([1, 1, 1], 900), seeded_bits(1, "", "", "", 0)
    with exact(1000):
        drawn = normalized.all_bits(sums, bits, 1000, 10_000)
    assert set(drawn) == {0, 1, 2}
    assert bits.consumed == 62 * bits.tries  # no word in 2^60 leaves a draw undecided
    assert bits.tries > 10_000


def test_the_power_of_two_above_the_total_is_the_least() -> None:
    # A total that is a power of two is accepted at once: no try is ever lost.
    law = exhaustive.bits_consumed(lambda bits: all_bits(sums_of([3, 1], 0), bits, 4), depth=8)
    assert law.probability(4) == (1, 1)
    law = exhaustive.bits_consumed(lambda bits: all_bits(sums_of([4, 1], 0), bits, 4), depth=12)
    assert law.probability(4)[0] == Fraction(5, 8)
    assert law.probability(8)[0] == Fraction(3, 8) * Fraction(5, 8)


def test_at_least_the_minimum_of_tries_is_made() -> None:
    sums = sums_of([4, 1], 0)
    law = exhaustive.bits_consumed(lambda bits: normalized.all_bits(sums, bits, 4, 1, minimum_tries=3), depth=16)
    assert law.probability(12)[0] == 1 - Fraction(3, 8) ** 3
    assert law.probability(16)[0] == Fraction(3, 8) ** 3 * Fraction(5, 8)
    outcome = exhaustive.law(lambda bits: normalized.all_bits(sums, bits, 4, 1, minimum_tries=2)[0], depth=8)
    assert outcome.probability(0)[0] / outcome.probability(1)[0] == 4


@pytest.mark.parametrize("sampler", [all_bits, bit_by_bit])
def test_too_few_bits_to_decide_are_an_error_with_a_name(sampler: Sampler) -> None:
    law = first_try(sampler, [5, 3], 0, precision=2)  # 8 cells of the total, 4 strings
    refused = [atom for atom in law.atoms if not isinstance(atom, int)]
    assert len(refused) == 1
    assert "InsufficientPrecisionError" in refused[0].error
