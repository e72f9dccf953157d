"""The exact mechanism over frequency lists: its dynamic program against brute force, its floats against integers."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.partitions import weight_sums
from subnormal.mechanisms.partitions.bounds import around, by_total
from subnormal.mechanisms.partitions.family import PartitionParameters, as_problem
from subnormal.mechanisms.privacy import Eta
from tests.support.walks import assert_within_the_law

HALF, THREE_QUARTERS, SLOW = Eta(1, 1, 1), Eta(3, 2, 1), Eta(1020, 10, 1)
RECORDS = 12


@cache
def all_partitions(records: int, largest: int, rows: int) -> list[tuple[int, ...]]:
    """Every partition of so many records into `rows` counts, zeros included, by the textbook's recursion."""
    if rows == 0:
        return [()] if records == 0 else []
    return [
        (first, *rest)
        for first in range(min(records, largest) + 1)
        for rest in all_partitions(records - first, first, rows - 1)
    ]


@cache
def outcomes_of(total: int, rows: int) -> NDArray[np.int64]:
    """All lists with y_i ≤ ⌊total/i⌋, by brute force: of partitions of any size, those that fit."""
    upper = by_total(total, rows)[1]
    every = np.array([one for n in range(int(upper.sum()) + 1) for one in all_partitions(n, total, rows)])
    return every[(every <= upper).all(axis=1)]


def chain(data: Any, eta: Eta, lower: Any, upper: Any, lists: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numerators and denominators of what the dynamic program gives each list, at a precision that is exact."""
    problem = as_problem(data, lower, upper)
    above, numerator, denominator = np.full(len(lists), problem[2][0]), 1, 1
    for row in range(lists.shape[1]):
        low, high, _ = weight_sums.integer_sums(eta, *problem, row, 1 << 7)
        assert (low == high).all()
        edges = np.append(low // int(np.gcd.reduce(low)), 0)  # [-1] is that before the first
        cell = lists[:, row] - problem[1][row]
        numerator = numerator * (edges[cell] - edges[cell - 1])
        denominator = denominator * edges[np.minimum(above, problem[2][row]) - problem[1][row]]
        above = lists[:, row]
    return np.asarray(numerator), np.asarray(denominator)


def test_the_law_is_brute_force_for_all_partitions_of_up_to_12_records() -> None:
    """Of at most four values: the outcomes are a thirtieth of those below, and a law names each of them."""
    (lower, upper), outcomes = by_total(RECORDS, 4), outcomes_of(RECORDS, 4)
    position = {tuple(one): at for at, one in enumerate(outcomes.tolist())}
    for data in (one for n in range(RECORDS + 1) for one in all_partitions(n, n, 4)):
        law = partitions_exact.law(data, HALF, lower=lower, upper=upper)
        distances = np.abs(outcomes - data).sum(axis=1)
        farthest = int(distances.max())
        expected = [1 << (farthest - distance) for distance in distances.tolist()]
        assert len(law.atoms) == len(outcomes)
        assert law.denominator == sum(expected)
        found = np.repeat(np.array(law.low, dtype=object), law.counts()).tolist()
        assert found == [expected[position[atom]] for atom in law.atoms]  # type: ignore[index]


def test_the_dynamic_program_is_brute_force_for_all_partitions_of_up_to_12_records() -> None:
    """The products of the conditional probabilities that it draws by, list by list, in integers."""
    for n in range(1, RECORDS + 1):
        bounds, outcomes = by_total(n, n), outcomes_of(n, n)
        for data in all_partitions(n, n, n):
            distances = np.abs(outcomes - data).sum(axis=1)
            weight = np.array([1 << (64 - distance) for distance in range(65)], dtype=object)[distances]
            numerator, denominator = chain(data, HALF, *bounds, outcomes)
            assert (numerator * weight.sum() == denominator * weight).all()


def test_lists_beyond_the_bounds_have_the_law_of_the_list_at_the_bounds() -> None:
    bounds = {"lower": [3, 1, 0], "upper": [4, 3, 1]}
    beyond, at = (partitions_exact.law(data, HALF, **bounds) for data in ([9, 2, 2], [4, 2, 1]))
    assert all(beyond.probability(atom) == at.probability(atom) for atom in at.atoms)


PROBLEMS: list[tuple[list[int], Any]] = [
    ([5, 3, 3, 1, 0], by_total(13, 5)),
    ([40, 20, 20, 7, 1, 1, 1, 0], around([41, 19, 19, 8, 1, 1, 1, 0], 9)),
    ([90, 3, 2], ([10, 2, 0], [95, 2, 1])),  # the second count cannot be as large as the first's least
    ([1] * 600, around([1] * 600, 4)),  # 2^−600 is the weight of falling to 0 at once
    ([60] * 40, ([0] * 40, [66] * 40)),  # 2^−2400
]


def power_near(ratio: Fraction) -> Fraction:
    """Return the power of two nearest to a positive rational."""
    guess = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    powers = [Fraction(2) ** exponent for exponent in (guess - 1, guess, guess + 1)]
    return min(powers, key=lambda power: abs(ratio / power - 1))


@pytest.mark.parametrize("eta", [HALF, THREE_QUARTERS, SLOW], ids=str)
@pytest.mark.parametrize("case", range(len(PROBLEMS)))
def test_floats_are_as_near_to_integers_as_they_say(case: int, eta: Eta) -> None:
    data, bounds = PROBLEMS[case]
    problem = as_problem(data, *bounds)
    table = weight_sums.sums(eta, *problem)
    rows = sorted({0, 1, len(data) // 2, len(data) - 1})
    for row in rows:
        low, high, _ = weight_sums.integer_sums(eta, *problem, row, 2_600 if max(data) == 60 else 800)
        scale = power_near(Fraction(table.row(row)[-1]) / int(low[-1]))
        for value, least, most in zip(table.row(row).tolist(), low.tolist(), high.tolist(), strict=True):
            slack = Fraction(table.errors[row]) * Fraction(value) + Fraction(table.floors[row])
            assert Fraction(value) - slack <= least * scale
            assert most * scale <= Fraction(value) + slack
    assert table.errors.max() < 1e-10


class Prepared:
    """A source of given words, a row of them for every row of a list, and of no more."""

    word_bits = 64
    steps = 0

    def __init__(self, words: list[int]) -> None:
        self.prepared = words
        self.asked = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        assert count == len(self.prepared)
        return np.array(self.prepared, dtype=np.uint64)

    def take(self, count: int) -> int:
        self.asked += 1
        return 0  # the next bits of U


@pytest.mark.parametrize("case", range(3))
def test_no_edge_is_on_the_wrong_side(case: int) -> None:
    """The words around each edge of the last row, given the others: decided as in rationals."""
    data, bounds = PROBLEMS[case]
    lower, upper = (np.asarray(bound) for bound in bounds)
    eta = THREE_QUARTERS
    middle = [1 << 63] * (len(data) - 1)
    problem = as_problem(data, lower, upper)
    for row in range(len(data)):
        before = partitions_exact.sample(data, eta, Prepared([1 << 63] * len(data)), 1, lower=lower, upper=upper)[0]  # type: ignore[arg-type]
        above = int(before[row - 1]) if row else int(upper[0])
        at = weight_sums.bounds(eta, *problem, row, above, 512)
        for value in at.low[1:-1]:
            for word in range((value >> 448) - 2, (value >> 448) + 3):
                if not 0 <= word < 1 << 64:
                    continue
                words = [*middle[:row], word, *middle[row:]]
                source = Prepared(words)
                found = partitions_exact.sample(data, eta, source, 1, lower=lower, upper=upper)[0]  # type: ignore[arg-type]
                expected = at.find(word, 64)
                assert found[row] == (at.find(word << 400, 464) if expected is None else expected)


def test_integers_and_floats_decide_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    data, (lower, upper) = PROBLEMS[1]
    by_floats = partitions_exact.sample(data, THREE_QUARTERS, seeded_bits(1), 200, lower=lower, upper=upper)
    monkeypatch.setattr(partitions_exact, "COMPARED", 2.0**60)
    by_integers = partitions_exact.sample(data, THREE_QUARTERS, seeded_bits(1), 200, lower=lower, upper=upper)
    assert (by_floats == by_integers).all()


def test_floats_decide_nearly_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2·10^4 lists of 8 counts none needs integers: a chance below 10^−8 that one does."""

    def never(*arguments: Any) -> Any:
        raise AssertionError("the slow path")

    monkeypatch.setattr(partitions_exact, "settle", never)
    data, (lower, upper) = PROBLEMS[1]
    drawn = partitions_exact.sample(data, THREE_QUARTERS, seeded_bits(1), 20_000, lower=lower, upper=upper)
    assert drawn.shape == (20_000, 8)


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every string of 12 bits, two a word. A row of two cells has one edge, so 4 bits a row leave at most 1/16 each."""
    for lower, upper in (((1, 0, 0), (2, 1, 1)), ((2, 1), (3, 2)), ((0,), (2,))):
        parameters = PartitionParameters(1.0, lower, upper)
        for data in (lower, upper):
            edges = sum(most - least for least, most in zip(lower, upper, strict=True))
            assert_within_the_law(mechanism, np.array(data), parameters, rest=edges / 16)


def test_the_bias_is_that_of_the_law() -> None:
    data, (lower, upper) = [9, 4, 4, 1, 0], by_total(19, 5)
    law = partitions_exact.law(data, THREE_QUARTERS, lower=lower, upper=upper)
    mass = np.repeat(np.array(law.low, dtype=object), law.counts())
    means = [Fraction(int((mass * column).sum()), law.denominator) for column in np.array(law.atoms).T.astype(object)]
    expected = [float(mean - count) for mean, count in zip(means, data, strict=True)]
    assert partitions_exact.bias(data, THREE_QUARTERS, lower=lower, upper=upper) == pytest.approx(expected, abs=1e-12)
    assert expected[-1] > 0  # the last count can only grow
