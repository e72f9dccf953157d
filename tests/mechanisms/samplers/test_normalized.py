"""Every bit string through Algorithms 2 and 4 and through the inverse transform, against rationals."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor
from typing import Any

import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.numerics import mpfr
from subnormal.mechanisms.numerics.mpfr import exact
from subnormal.mechanisms.samplers import discrete_gaussian, normalized
from subnormal.mechanisms.samplers.inverse_transform import WORD, DistributionBounds, Table

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


MASSES = [Fraction(1, 7), Fraction(1, 3), Fraction(1, 1000), Fraction(1, 4)]  # of −3, …, 0; the rest is 1's
MASSES.append(1 - sum(MASSES, Fraction(0)))


def rational_bounds(precision: int) -> DistributionBounds:
    """The distribution function itself, rounded outwards; its value at −4 is 0 and at 1 is 1, so all is decided."""
    values = [Fraction(0), *accumulate(MASSES)]
    scaled = [value * 2**precision for value in values]
    return DistributionBounds(-4, precision, [floor(value) for value in scaled], [ceil(value) for value in scaled])


def oracle(word: int, known: int) -> int | None:
    """Return the integer whose step holds the interval, in rationals; None where a step's end lies inside it."""
    begin, end = Fraction(word, 2**known), Fraction(word + 1, 2**known)
    before = Fraction(0)
    for integer, mass in zip(range(-3, 2), MASSES, strict=True):
        if before <= begin and end <= before + mass:
            return integer
        before += mass
    return None


def words(values: list[int]) -> BitSource:
    return scripted_bits("".join(f"{value:064b}" for value in values))


def test_every_short_string_is_decided_as_in_rationals() -> None:
    table = Table.of(rational_bounds)
    for word_bits in (1, 2, 3, 5):
        walked = exhaustive.law(lambda bits: int(table.draw(bits, 1)[0]), depth=15, word_bits=word_bits)
        assert walked.rest <= Fraction(4, 2 ** (15 - 15 % word_bits))  # four boundaries, each in one interval
        for integer, mass in zip(range(-3, 2), MASSES, strict=True):
            low = walked.probability(integer)[0]
            assert low <= mass <= low + walked.rest


def test_words_around_every_boundary() -> None:
    table = Table.of(rational_bounds)
    for value in accumulate(MASSES[:-1]):
        near = floor(value * 2**WORD)
        for word in range(near - 3, near + 4):
            expected = oracle(word, WORD)
            if expected is not None:
                source = words([word])
                assert table.draw(source, 1)[0] == expected
                assert source.consumed == WORD
            else:  # the next bits of U decide: all zeros lie below the boundary, all ones above
                zeros, ones = words([word, 0]), words([word, 2**64 - 1])
                assert oracle(word << 64, 128) == table.draw(zeros, 1)[0]
                assert oracle((word << 64) + 2**64 - 1, 128) == table.draw(ones, 1)[0]
                assert zeros.consumed == ones.consumed == 2 * WORD


def test_the_first_and_the_last_word() -> None:
    table = Table.of(rational_bounds)
    assert table.draw(words([0, 2**64 - 1, 2**64 - 2]), 3).tolist() == [-3, 1, 1]


def test_many_draws_equal_the_oracle() -> None:
    drawn = seeded_bits(1).words(100_000)
    expected = [oracle(int(word), WORD) for word in drawn[:20_000]]
    assert Table.of(rational_bounds).draw(seeded_bits(1), 100_000)[:20_000].tolist() == expected


def test_a_wide_enclosure_is_made_narrower_and_no_bits_are_wasted() -> None:
    """Bounds that know nothing below a precision of 256 bits: every draw goes there, with one word each."""

    def vague(precision: int) -> DistributionBounds:
        sharp = rational_bounds(precision)
        if precision >= 256:
            return sharp
        size = len(sharp.low)
        return DistributionBounds(-4, precision, [0] * size, [1 << precision] * size)

    source = seeded_bits(2)
    drawn = Table.of(vague).draw(source, 200)
    assert source.consumed == 200 * WORD
    assert drawn.tolist() == Table.of(rational_bounds).draw(seeded_bits(2), 200).tolist()


@pytest.mark.parametrize(
    "table", [Table.of(rational_bounds), discrete_gaussian.gaussian(Fraction(9, 2)).coarse], ids=["own", "bell"]
)
def test_the_words_that_decide_at_once_are_counted(table: Table) -> None:
    """Between two boundaries every word does: the first and the last of them, and not the words beside them."""
    first, counts = table.decided()
    bounds = table.bounds(WORD)
    assert table.undecided() == 1 - Fraction(sum(counts), 2**WORD)
    for integer, count, begin in zip(range(first, first + len(counts)), counts, bounds.high, strict=False):
        for word, inside in ((begin - 1, False), (begin, True), (begin + count - 1, True), (begin + count, False)):
            if count == 0 or not 0 <= word < 2**WORD:
                continue
            source = scripted_bits(f"{word:064b}{'01' * 64}")
            drawn = int(table.draw(source, 1)[0])
            assert ((drawn, source.consumed, source.steps) == (integer, WORD, 1)) == inside


def test_a_step_is_counted_for_every_draw_however_it_is_decided() -> None:
    table, many = Table.of(rational_bounds), seeded_bits(1)
    table.draw(many, 5_000)
    assert (many.consumed, many.steps) == (5_000 * WORD, 5_000)


def test_many_draws_leave_the_words_of_a_boundary_to_more_bits() -> None:
    table = Table.of(rational_bounds)
    boundaries = [int(low) for low in table.low if 0 < low < 2**WORD - 1]
    assert boundaries
    for boundary in boundaries:
        for more in (0, 2**WORD - 1):
            many = table.draw(words([boundary, boundary, more, more]), 2)
            assert many.tolist() == [oracle((boundary << WORD) + more, 2 * WORD)] * 2
