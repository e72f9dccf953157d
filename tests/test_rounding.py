"""Randomized rounding: exact thresholds, integers untouched, monotone."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import rounding
from mechanisms.bits import scripted_bits, seeded_bits

UTILITIES = np.array(
    [0.5, -0.5, 2.25, -2.25, 1 / 3, -1 / 3, 1e-18, -1e-18, 2**-80, -(2**-80), 3.0, -4.0, 0.0, 1e15 + 0.5]
)


@pytest.mark.parametrize("precision", [1, 4, 53, 64])
def test_thresholds_are_the_exact_fractions_rounded_down(precision: int) -> None:
    expected = [math.floor((Fraction(u) - math.floor(Fraction(u))) * 2**precision) for u in UTILITIES.tolist()]
    assert rounding.thresholds(UTILITIES, precision).tolist() == expected


@pytest.mark.parametrize("word", range(16))
def test_every_word_rounds_to_a_neighbour_and_in_order(word: int) -> None:
    ordered = np.sort(UTILITIES)
    rounded = rounding.randomized(ordered, scripted_bits(f"{word:04b}" * len(ordered)), precision=4)
    assert ((rounded == np.floor(ordered)) | (rounded == np.ceil(ordered))).all()
    assert (np.diff(rounded) >= 0).all()  # Lemma A.1


def test_the_chance_of_rounding_up_is_the_fraction_by_every_word() -> None:
    up = [rounding.randomized(np.array([2.3125]), scripted_bits(f"{word:04b}"), 4)[0] == 3 for word in range(16)]
    assert Fraction(sum(up), 16) == Fraction(5, 16)


def test_an_integer_stays_itself_always() -> None:
    integers = np.array([-3.0, 0.0, 5.0, 2.0**53])
    assert all((rounding.randomized(integers, seeded_bits(seed)) == integers).all() for seed in range(50))


def test_the_bits_taken_do_not_depend_on_the_data() -> None:
    for utilities in ([1.0, 2.0], [0.1, 0.9]):
        bits = seeded_bits(1)
        rounding.randomized(np.array(utilities), bits)
        assert bits.consumed == 128


def test_bad_input_is_named_with_its_value() -> None:
    with pytest.raises(ValueError, match="precision must be between 1 and 64, got 65"):
        rounding.thresholds(UTILITIES, 65)
