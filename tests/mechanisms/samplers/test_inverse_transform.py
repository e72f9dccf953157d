"""Exact inversion: the table, the scalar path and rationals agree, draw by draw."""

from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.samplers import discrete_gaussian
from subnormal.mechanisms.samplers.inverse_transform import WORD, DistributionBounds, Table

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
