"""The walk visits every string once and says what it did not decide."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

import pytest

from audit import exhaustive
from mechanisms.bits import BitSource, OutOfBitsError
from mechanisms.interface import Refused


def uniform_of_three(bits: BitSource) -> int:
    while (drawn := bits.take(2)) == 3:
        pass
    return drawn


def test_rejection_leaves_exactly_its_rest() -> None:
    law = exhaustive.law(uniform_of_three, depth=6)
    assert law.rest == Fraction(1, 64)
    assert law.probability(0) == (Fraction(21, 64), Fraction(21, 64))
    assert law.probability("never")[1] == law.rest  # type: ignore[arg-type]


def test_the_number_of_bits_has_a_law_too() -> None:
    law = exhaustive.bits_consumed(uniform_of_three, depth=6)
    assert [law.probability(bits)[0] for bits in (2, 4, 6)] == [Fraction(3, 4), Fraction(3, 16), Fraction(3, 64)]


def test_a_sampler_that_someone_else_wrote_by_words() -> None:
    law = exhaustive.law(lambda bits: int(bits.words(2).sum()), depth=6, word_bits=3)
    assert law.probability(14)[0] == Fraction(1, 64)
    assert law.probability(7)[0] == Fraction(8, 64)


def test_each_leaf_is_visited_once() -> None:
    runs = count()

    def sampler(bits: BitSource) -> int:
        next(runs)
        return 0 if bits.take(1) == 0 else bits.take(3)

    exhaustive.law(sampler, depth=12)
    assert next(runs) == 1 + 8 + 1  # and the first string once more


def test_an_exception_is_an_outcome() -> None:
    law = exhaustive.law(lambda bits: 1 // bits.take(1), depth=1)
    refused = Refused("ZeroDivisionError: integer division or modulo by zero")
    assert law.probability(refused)[0] == Fraction(1, 2)


def swallowing(bits: BitSource) -> int:
    try:
        return bits.take(4)
    except OutOfBitsError:
        return 0


@pytest.mark.parametrize("sampler", [swallowing, lambda bits: bits.take(4)])
def test_nothing_is_concluded_from_a_sampler_that_ran_out(sampler: Callable[[BitSource], int]) -> None:
    with pytest.raises(ValueError, match="no string of depth = 3 bits decides an outcome"):
        exhaustive.law(sampler, depth=3)


def test_a_sampler_with_randomness_of_its_own_is_refused() -> None:
    state = count()
    with pytest.raises(ValueError, match="it read '001' once and '0' later"):
        exhaustive.law(lambda bits: bits.take(3 if next(state) < 2 else 1), depth=3)


def test_the_first_string_is_tried_twice() -> None:
    state = count()
    with pytest.raises(ValueError, match="two runs on the same ones differ"):
        exhaustive.law(lambda bits: next(state), depth=3)


def test_a_typing_mistake_is_no_outcome() -> None:
    with pytest.raises(AttributeError, match="tak"):
        exhaustive.law(lambda bits: bits.tak(1), depth=3)  # type: ignore[attr-defined]


def test_a_sampler_without_randomness_is_certain() -> None:
    assert exhaustive.law(lambda bits: "always", depth=0).probability("always") == (1, 1)


def test_bad_input_is_named_with_its_value() -> None:
    with pytest.raises(ValueError, match="depth must not be negative, got -1"):
        exhaustive.law(lambda bits: 0, depth=-1)
