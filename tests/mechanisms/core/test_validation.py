"""Neighbours are told by exact distances, whatever the types of their numbers."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.core.validation import nowhere_beyond
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

KINDS = (np.int8, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64, object)
LARGEST = float(np.finfo(np.float64).max)
NUMBERS = (
    *(0, 1, -1, 0.5, -0.5, 2.0**-80, 5e-324, 1 + 2.0**-52, 1 - 2.0**-53, -(2.0**-80), 0.1, 0.3, 127, -128, 255, 32767),
    *(2**31 - 1, -(2**31), 2**32 - 1, 2**53, 2**53 + 1, 2.0**53 + 2, 2**62 + 511, 2**62, 2.0**62, 2**63 - 1, -(2**63)),
    *(2.0**63, 2**64 - 1, LARGEST, -LARGEST, np.nextafter(LARGEST, 0), 1e308),
)
ALLOWED = (*map(Fraction, (1, 0.2, 511, 5e-324, 2**64 - 1)), Fraction(1, 3), 2 * Fraction(LARGEST))


def held(kind: Any, number: float) -> Any:
    """Return the array of one number, or None where the type does not hold it."""
    if kind is object:
        return np.array([number], dtype=object)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.array([number], dtype=kind)
        return array if Fraction(array.tolist()[0]) == Fraction(number) else None
    except OverflowError:
        return None


HELD = [(number, array) for kind in KINDS for number in NUMBERS if (array := held(kind, number)) is not None]


def test_distances_are_compared_as_rationals_are() -> None:
    for (one, first), (other, second) in itertools.combinations_with_replacement(HELD, 2):
        distance = abs(Fraction(one) - Fraction(other))
        for allowed in ALLOWED:
            assert nowhere_beyond(allowed, first, second) is (distance <= allowed), (allowed, first, second)


def test_one_number_among_many_decides() -> None:
    rng = np.random.default_rng(1)
    near = rng.normal(size=1_000) * 2.0 ** rng.integers(-60, 60, 1_000)
    for number in (-1.0, 0.3, 2.0**53):
        apart = np.array([float(abs(Fraction(a) - Fraction(b))) for a, b in zip(near, near + 1, strict=True)])
        exact = [abs(Fraction(a) - Fraction(b)) <= 1 for a, b in zip(near.tolist(), (near + 1).tolist(), strict=True)]
        assert 0 < sum(exact) < 1_000
        assert (apart <= 1).sum() > sum(exact)  # rounded, more of them look near enough
        kept = np.array(exact)
        data_in, data_out = np.append(near[kept], number), np.append(near[kept] + 1, number)
        assert nowhere_beyond(Fraction(1), data_in, data_out)
        for far in near[~kept]:
            assert not nowhere_beyond(Fraction(1), np.append(data_in, far), np.append(data_out, far + 1))


def exponential(one: Any, other: Any) -> bool:
    return family("exponential").adjacent(ExponentialParameters(1.0, Limits(0, 1, 3)), one, other)


def test_utilities_of_two_types_are_not_rounded_to_one() -> None:
    large = np.array([2**62 + 511, 2**62])
    assert not exponential(large, large.astype(np.float64))
    assert not family("private-selection").adjacent(
        PrivateSelectionParameters(1.0, 0, 1), large, large.astype(np.float64)
    )
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8):
        assert exponential(np.array([1, 0, 1, 1], dtype=kind), np.array([0, 1, 1, 0], dtype=kind))
        assert not exponential(np.array([2, 0, 1], dtype=kind), np.array([0, 1, 1], dtype=kind))
    assert not exponential(np.array([-128], dtype=np.int8), np.array([127], dtype=np.int8))
    assert not exponential(np.array([0, 2**64 - 1], dtype=np.uint64), np.array([0, -1]))
    assert exponential(np.array([2**64 - 1], dtype=np.uint64), np.array([2**64], dtype=object))


def test_values_and_records_of_two_types_are_not_rounded_to_one() -> None:
    of_integers = ThresholdParameters("laplace", 1.0, 10, "float64", (1, 1, 1), -4)
    assert not family("threshold").adjacent(of_integers, {"a": np.int64(2**62 + 511)}, {"a": 2.0**62})
    assert not family("threshold").adjacent(of_integers, {"a": np.int8(-128)}, {"a": np.int8(127)})
    assert family("threshold").adjacent(of_integers, {"a": np.int8(-128)}, {"a": -127.0})
    summed = LaplaceParameters(epsilon=1.0, query="sum")
    one, other = np.array([2**62 + 511, 5]), np.array([2.0**62, 5.0])
    records = np.array([np.int64(2**62 + 511), np.int64(5)], dtype=object)
    for adjacent in (family("laplace").adjacent, family("gaussian").adjacent):
        assert not adjacent(summed, one, other)
        assert not adjacent(summed, records, other)
        assert adjacent(summed, records, one)
        assert not adjacent(LaplaceParameters(epsilon=1.0), one, other)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_has_no_neighbours(number: float) -> None:
    for data in (
        np.array([0.0, number]),
        np.array([0.0, number], dtype=np.float16),
        np.array([0, number], dtype=object),
    ):
        with pytest.raises(ValueError, match=f"data must be .*finite number.*, got {number}"):
            exponential(data, np.array([0, 0]))
