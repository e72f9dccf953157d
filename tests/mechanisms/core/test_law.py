"""Laws are integers in blocks, two of them are aligned atom by atom, and independent ones make a product."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.core import law as core_law
from subnormal.mechanisms.core import outcome_identity
from subnormal.mechanisms.core.law import ABSENT, Law, exact_law
from subnormal.mechanisms.core.law_alignment import pair
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.core.product_law import Product


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
        ([1], [8], [8], 0),  # an atom without a block
        ([2, 2], [4, 4], [4, 4], 0),  # an empty block
        ([2], [4], [3], 0),  # bounds the wrong way round
        ([2], [-1], [9], 1),
        ([1, 2], [4], [4], 0),
    ],
)
def test_what_is_not_a_distribution_is_refused(ends: list[int], low: list[int], high: list[int], rest: int) -> None:
    with pytest.raises(ValueError, match=r"block|ends|distribution"):
        Law(range(2), ends, low, high, 8, Fraction(rest))


def test_blocks_over_indices_are_aligned_without_looking_at_each_index() -> None:
    law_in: Law[int] = exact_law(range(4_000_000), [1, 4_000_000], [1, 0], 1)
    law_out: Law[int] = exact_law(range(4_000_000), [3, 4_000_000], [1, 0], 3)
    paired = pair(law_in, law_out)
    found = {(int(i), int(j)): int(n) for n, i, j in zip(paired.count, paired.block_in, paired.block_out, strict=True)}
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
        seen = sum(n for n, block in zip(paired.count, paired.block_in, strict=True) if block != ABSENT)
        assert seen == len(law_in.atoms)
        seen = sum(n for n, block in zip(paired.count, paired.block_out, strict=True) if block != ABSENT)
        assert seen == len(law_out.atoms)
    assert pair(short, listed).count.sum() == 3
    assert pair(long, listed).count.sum() == 4


def test_blocks_are_alike_when_both_bounds_are() -> None:
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


def as_lists(law: Law[Any]) -> Law[Any]:
    """The same law with its atoms in a list, which is aligned by looking up each."""
    return Law(np.asarray(law.atoms).tolist(), law.ends, law.low, law.high, law.denominator, law.rest)


def pairs(law_in: Law[Any], law_out: Law[Any]) -> dict[tuple[int, int], int]:
    paired = pair(law_in, law_out)
    return {(int(i), int(j)): int(n) for n, i, j in zip(paired.count, paired.block_in, paired.block_out, strict=True)}


def a_law_on(array: Any, seed: int) -> Law[Any]:
    weights = np.random.default_rng(seed).integers(0, 4, len(array))
    return exact_law(array, np.arange(1, len(array) + 1), weights, int(weights.sum()))


ZEROS = np.array([-1.0, -0.0, 0.0, 0.5, np.nan, np.inf, 2.0])
SPARSE = np.unique(np.random.default_rng(1).integers(-3_000, 3_000, 2_000)) / 8
ARRAYS = {
    "ascending": (SPARSE, SPARSE[::3] + 0.125),
    "of two widths": (SPARSE.astype(np.float32), np.append(SPARSE[::2], 1e300)),
    "in no order": (np.random.default_rng(2).permutation(SPARSE), SPARSE[::2]),
    "zeros and NaN": (ZEROS, ZEROS[::2]),
    "one zero each": (np.array([-1.0, -0.0, 1.0]), np.array([0.0, 1.0, 3.0])),
    "another NaN": (ZEROS, np.array([0x7FF8000000000001, 0], dtype=np.uint64).view(np.float64)),
    "whole numbers": (np.arange(-5, 9), np.arange(3, 30, dtype=np.int32)),
    "signed and unsigned": (np.arange(-5, 9), np.arange(3, 30, dtype=np.uint64)),
    "few among many": (np.sort([*SPARSE[::-90], *SPARSE[::200] + 0.0625, 1e6, 2e6]), SPARSE),
    "near each other": (
        np.arange(-500, 500, dtype=np.float16) / 1024,
        np.arange(-200, 501, 3, dtype=np.float16) / 1024,
    ),
    "all of a byte": (np.arange(-128, 128, 3, dtype=np.int8), np.arange(-128, 128, 2, dtype=np.int8)),
    "beyond a sign": (
        np.arange(0, 600, 2, dtype=np.uint64) + 2**63 - 300,
        np.arange(0, 600, 3, dtype=np.uint64) + 2**63,
    ),
    "1 is not 1.0": (np.arange(5), np.arange(5.0)),
    "apart": (np.arange(5.0), np.arange(5.0) + 100),
    "equal": (ZEROS, ZEROS.copy()),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_aligned_as_lists_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome_identity, "CHUNK", 100)
    law_in, law_out = (a_law_on(array, seed) for seed, array in enumerate(ARRAYS[name]))
    for one, other in ((law_in, law_out), (law_out, law_in)):
        found = pairs(one, other)
        assert found == pairs(as_lists(one), as_lists(other)) == pairs(one, as_lists(other))
        assert sum(count for (block, _), count in found.items() if block != ABSENT) == len(one.atoms)


def test_blocks_of_all_kinds_are_counted_by_sorting_where_no_table_holds_them() -> None:
    numbers: Any = np.arange(1_000.0)
    weights = np.arange(1_000)
    law: Law[Any] = exact_law(numbers, weights + 1, weights, int(weights.sum()))
    moved: Law[Any] = exact_law(numbers + 1, weights + 1, weights, int(weights.sum()))
    assert pairs(law, moved) == {(at + 1, at): 1 for at in range(999)} | {(0, ABSENT): 1, (ABSENT, 999): 1}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_an_outcome_is_found_in_an_array(dtype: Any) -> None:
    numbers: Any = ZEROS.astype(dtype)
    law: Law[Any] = exact_law(numbers, np.arange(1, 8), np.arange(1, 8), 28)
    for position, atom in enumerate(ZEROS.tolist()):
        assert law.probability(atom) == (Fraction(position + 1, 28), Fraction(position + 1, 28))
        assert law.block_of(dtype(atom)) == position
    for other in (0, -1, True, 0.1, 1e300, "0.5", (0.5,), Refused("no"), 2, 10**400, None):
        assert law.block_of(other) == ABSENT
    whole: Law[Any] = exact_law(np.arange(3), [3], [1], 3)  # type: ignore[arg-type]
    assert [whole.block_of(outcome) for outcome in (1, np.int64(1), 1.0, True, 7, 10**40)] == [0, 0, *[ABSENT] * 4]


def test_an_atom_may_be_named_only_once_in_arrays_too() -> None:
    nan = np.array([0x7FF8000000000001, 0x7FF8000000000000], dtype=np.uint64).view(np.float64)
    for named in (np.array([0.5, 1.0, 0.5]), nan, np.array([3, 1, 3])):
        with pytest.raises(ValueError, match="every atom may be named only once"):
            exact_law(named, [len(named)], [1], len(named))  # type: ignore[arg-type]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_marked_atoms_are_weighed_exactly(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_law, "CHUNK", chunk)
    law = a_law_on(SPARSE, 7)
    marked = SPARSE > 17
    weights = np.asarray(law.low)
    assert law.measure(marked)[0] == sum(weights[marked].tolist())
    counts = np.random.default_rng(3).integers(1, 20, 60)
    blocks: Law[int] = exact_law(range(int(counts.sum())), np.cumsum(counts), weights[:60], int(counts @ weights[:60]))
    marked = np.random.default_rng(4).random(len(blocks.atoms)) < 0.5
    assert blocks.measure(marked)[0] == sum(np.repeat(weights[:60], counts)[marked].tolist())


def test_as_many_marks_as_atoms_are_weighed() -> None:
    law: Law[int] = exact_law(range(4), [4], [1], 4)
    for marks in (3, 5):
        with pytest.raises(ValueError, match="one mark for each of 4 atoms"):
            law.measure(np.ones(marks, dtype=bool))


def leaving(rest: int) -> Law[Any]:
    """A law of one value with `rest` quarters outside its atom."""
    return Law(["a"], [1], weights := [4 - rest], weights, 4, Fraction(rest, 4))


@pytest.mark.parametrize(("first", "second"), [(1, 1), (0, 1), (1, 0), (2, 1), (0, 0)])
def test_the_rest_is_all_but_what_no_key_leaves(first: int, second: int) -> None:
    law = Product({"x": leaving(first), "y": leaving(second)}).on(["x", "y"])
    assert law.probability((("x", "a"), ("y", "a")))[0] == 1 - law.rest == Fraction((4 - first) * (4 - second), 16)


def test_of_two_laws_that_leave_something_open_nobody_can_tell_that_they_are_equal() -> None:
    known, left = exact_law(["a", None], [1, 2], [1, 3], 4), leaving(1)
    one, other = Product({"x": known, "y": left}), Product({"x": exact_law(["a", None], [1, 2], [1, 3], 4), "y": left})
    assert one.differing(other) == []
    assert one.differing(Product({"x": known, "y": leaving(1)})) == ["y"]
