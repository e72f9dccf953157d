"""Laws are integers in runs, and two of them are aligned atom by atom."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechanisms.interface import Refused
from mechanisms.law import ABSENT, Law, exact_law, pair, runs_of


def test_probabilities_are_looked_up_by_outcome() -> None:
    law = exact_law(range(5), [2, 5], [1, 2], 8)
    assert law.probability(1) == (Fraction(1, 8), Fraction(1, 8))
    assert law.probability(4) == (Fraction(1, 4), Fraction(1, 4))
    assert law.probability(9) == (0, 0)


def test_atoms_may_be_floats_or_anything_hashable() -> None:
    assert exact_law(np.array([0.5, 2.0]), [1, 2], [1, 3], 4).probability(2.0) == (Fraction(3, 4), Fraction(3, 4))  # type: ignore[arg-type]
    refused = Refused("ValueError: no")
    assert exact_law([(1, 2), refused], [1, 2], [1, 3], 4).probability(refused)[0] == Fraction(3, 4)


def test_the_rest_bounds_what_the_atoms_leave() -> None:
    law = Law(range(2), [2], [1], [2], 8, Fraction(1, 2))
    assert law.probability(1) == (Fraction(1, 8), Fraction(1, 4))
    assert law.probability(7) == (0, Fraction(1, 2))
    assert law.measure(np.array([True, False])) == (1, 2)


@pytest.mark.parametrize(
    ("ends", "low", "high", "rest"),
    [
        ([2], [5], [5], 0),  # more than everything
        ([2], [3], [3], 0),  # mass missing
        ([1], [8], [8], 0),  # an atom without a run
        ([2, 2], [4, 4], [4, 4], 0),  # an empty run
        ([2], [4], [3], 0),  # bounds the wrong way round
        ([2], [-1], [9], 1),
        ([1, 2], [4], [4], 0),
    ],
)
def test_what_is_not_a_distribution_is_refused(ends: list[int], low: list[int], high: list[int], rest: int) -> None:
    with pytest.raises(ValueError, match=r"run|ends|distribution"):
        Law(range(2), ends, low, high, 8, Fraction(rest))


def test_integers_beyond_64_bits_are_kept() -> None:
    huge = 10**40
    law = exact_law(range(3), [1, 3], [huge, 1], huge + 2)
    assert law.measure(np.array([True, True, False]))[0] == huge + 1


def test_runs_over_indices_are_aligned_without_looking_at_each_index() -> None:
    law_in: Law[int] = exact_law(range(4_000_000), [1, 4_000_000], [1, 0], 1)
    law_out: Law[int] = exact_law(range(4_000_000), [3, 4_000_000], [1, 0], 3)
    paired = pair(law_in, law_out)
    found = {(int(i), int(j)): int(n) for n, i, j in zip(paired.count, paired.run_in, paired.run_out, strict=True)}
    assert found == {(0, 0): 1, (1, 0): 2, (1, 1): 3_999_997}


def test_equal_bounds_are_grouped_wherever_they_stand() -> None:
    law: Law[int] = exact_law(range(4), np.array([1, 2, 3, 4]), np.array([1, 2, 1, 2]), 6)
    assert pair(law, law).count.tolist() == [2, 2]
    listed: Law[int] = exact_law(range(4), [1, 2, 3, 4], [1, 2, 1, 2], 6)
    assert pair(listed, listed).count.tolist() == [2, 2]


def test_ranges_of_different_lengths_and_unlike_atoms_are_aligned() -> None:
    short, long = exact_law(range(1), [1], [1], 1), exact_law(range(3), [3], [1], 3)
    listed = exact_law([2, 0, "other"], [1, 2, 3], [1, 1, 1], 3)
    for law_in, law_out in ((short, long), (short, listed), (long, listed)):
        paired = pair(law_in, law_out)
        seen = sum(n for n, run in zip(paired.count, paired.run_in, strict=True) if run != ABSENT)
        assert seen == len(law_in.atoms)
        seen = sum(n for n, run in zip(paired.count, paired.run_out, strict=True) if run != ABSENT)
        assert seen == len(law_out.atoms)
    assert pair(short, listed).count.sum() == 3
    assert pair(long, listed).count.sum() == 4


def test_runs_of() -> None:
    assert runs_of(np.array([5])).tolist() == [1]
    assert runs_of(np.array([1, 1, 2])).tolist() == [2, 3]


def test_runs_are_alike_when_both_bounds_are() -> None:
    low, high = [1, 1, 2, 1], [2, 3, 2, 2]
    law: Law[int] = Law(range(4), [1, 2, 3, 4], low, high, 8, Fraction(1))
    assert law.alike().tolist() == [0, 1, 2, 0]
    arrays: Law[int] = Law(range(4), np.arange(1, 5), np.array(low), np.array(high), 8, Fraction(1))
    assert arrays.alike().tolist() == [0, 1, 2, 0]


def test_sums_beyond_64_bits_do_not_wrap() -> None:
    law: Law[int] = exact_law(range(4), np.array([4]), np.array([1 << 62]), 1 << 64)
    assert law.measure(np.ones(4, dtype=bool)) == (1 << 64, 1 << 64)


def test_an_atom_may_be_named_only_once() -> None:
    with pytest.raises(ValueError, match="every atom may be named only once"):
        exact_law([0, 1, 0], [3], [1], 3)
    assert exact_law([0.0, -0.0], [2], [1], 2).probability(-0.0) == (Fraction(1, 2), Fraction(1, 2))


def test_bounds_are_integers_and_nothing_else() -> None:
    with pytest.raises(TypeError):
        exact_law([0, 1], [2], [0.5], 1)  # type: ignore[list-item]
    huge: Any = [np.int64(1 << 62)] * 4  # numpy's own integers, in a list, must not wrap either
    assert exact_law(range(4), [1, 2, 3, 4], huge, 1 << 64).probability(0)[0] == Fraction(1, 4)
