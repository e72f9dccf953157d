"""Score functions: the notes' tables, every small data set by brute force, and every pair of neighbours."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.exponential import base2, score_functions
from subnormal.mechanisms.privacy import Eta

DOMAIN = range(5)
CANDIDATES = np.arange(-1, 6)  # with values that no record has, on both sides
MILLION = 1_000_000


def replacements(records: Sequence[int], others: Sequence[int]) -> int:
    """The least number of records to replace to make one multiset of another of its size."""
    return (Counter(records) - Counter(others)).total()


def data_sets(size: int, domain: Sequence[int] = DOMAIN) -> Iterator[tuple[int, ...]]:
    """Every multiset of a size."""
    return itertools.combinations_with_replacement(domain, size)


def neighbours_by_replacement(records: tuple[int, ...], domain: Sequence[int] = DOMAIN) -> Iterator[list[int]]:
    for at, value in itertools.product(range(len(records)), domain):
        yield [*records[:at], value, *records[at + 1 :]]


def neighbours_by_removal(records: tuple[int, ...]) -> Iterator[list[int]]:
    for at in range(len(records)):
        yield [*records[:at], *records[at + 1 :]]


def test_the_first_table_of_the_notes() -> None:
    scored = -score_functions.median([1, 100, 102, 104, 105, 200, 365], range(100, 106))
    assert dict(zip(range(100, 106), scored.tolist(), strict=True)) == {
        100: -4,
        101: -4,
        102: -2,
        103: -2,
        104: 0,
        105: -2,
    }


def test_the_second_table_of_the_notes() -> None:
    """At 10^6 it is −2 too: four records lie below it, one more than may."""
    records = [0, 0, 0, 0, MILLION, MILLION, MILLION]
    scored = -score_functions.median(records, np.arange(-1, MILLION + 2))
    assert scored[1] == 0
    assert (scored[2:-2] == -2).all()  # 1 to 10^6 − 1
    assert scored[-2] == -2
    assert (scored[0], scored[-1]) == (-8, -8)  # beyond all records: four of the seven


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_rank_arithmetic_is_the_search_over_all_replacements(size: int) -> None:
    """Every data set, every data set that replacing could make of it, every rank, every candidate."""
    domain = range(-1, 6)
    for records in data_sets(size):
        for rank in range(1, size + 1):
            best = dict.fromkeys(domain, size + 1)
            for others in data_sets(size, domain):
                best[others[rank - 1]] = min(best[others[rank - 1]], replacements(records, others))
            assert score_functions.quantile(records, CANDIDATES, rank).tolist() == [2 * best[r] for r in domain]
            if 2 * rank == size + 1:
                assert (
                    score_functions.median(records, CANDIDATES) == score_functions.quantile(records, CANDIDATES, rank)
                ).all()


def test_the_notes_proof_has_another_distance_than_their_table() -> None:
    """Where B may have any size (median: the lower middle record), 101 is 3 records away from the table's data; with
    the size kept, and a replacement counting 2, it is 4."""
    records = Counter([1, 100, 102, 104, 105, 200, 365])
    kept = [list(some) for size in range(8) for some in itertools.combinations(records.elements(), size)]
    nearest = min(
        sum((records - Counter(some)).values()) + added
        for some in kept
        for added in range(1, 8)
        if sorted([*some, *[101] * added])[(len(some) + added - 1) // 2] == 101
    )
    assert nearest == 3
    assert score_functions.median(list(records.elements()), [101])[0] == 4


def largest_move(score: Callable[[Any], Any], records: tuple[int, ...], others: Iterator[list[int]]) -> int:
    own = score(records)
    return max((int(np.abs(own - score(other)).max()) for other in others), default=0)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_the_sensitivity_of_ranks_by_every_replacement(size: int) -> None:
    for rank in range(1, size + 1):
        score = partial(score_functions.quantile, candidates=CANDIDATES, rank=rank)
        moves = [largest_move(score, one, neighbours_by_replacement(one)) for one in data_sets(size)]
        assert max(moves) == score_functions.RANK_SENSITIVITY


def test_the_sensitivity_of_mode_and_price_by_every_neighbour() -> None:
    prices = [0, 1, 3, 4]
    asked: list[tuple[Callable[[Any], Any], int]] = [
        (lambda records: score_functions.mode(records, [4, 0, 2, 9]), 1),
        (lambda bids: score_functions.price(bids, prices), score_functions.price_sensitivity(prices)),
    ]
    assert score_functions.price_sensitivity(prices) == 4
    for score, sensitivity in asked:
        for relation in (neighbours_by_replacement, neighbours_by_removal):
            moves = [largest_move(score, records, relation(records)) for records in data_sets(4)]
            assert max(moves) == sensitivity


def test_the_sensitivity_of_count_by_every_neighbour() -> None:
    moved = [
        np.abs(score_functions.count(n, CANDIDATES) - score_functions.count(n + 1, CANDIDATES)).max()
        for n in range(-3, 9)
    ]
    assert max(moved) == min(moved) == 1


def test_mode_and_price_by_counting() -> None:
    rng = np.random.default_rng(1)
    records = rng.integers(0, 12, 200)
    categories = rng.permutation(np.arange(-2, 10))
    assert score_functions.mode(records, categories).tolist() == [-int((records == one).sum()) for one in categories]
    assert score_functions.mode(records.astype(str), ["3", "10", "x"]).tolist() == [
        -int((records == 3).sum()),
        -int((records == 10).sum()),
        0,
    ]
    prices = rng.integers(0, 15, 30)
    for bids in (records, records + 0.5):
        assert score_functions.price(bids, prices).tolist() == [-int(p * (bids >= p).sum()) for p in prices]


def test_floats_and_integers_are_compared_as_the_numbers_they_are() -> None:
    assert score_functions.median([0.5, 1.5, 2.5], [0, 1, 2, 3]).tolist() == [4, 2, 2, 4]
    assert score_functions.median([0.5, 1.5, 2.5], [1.5]).tolist() == [0]
    large = np.array([2**60, 2**60 + 1, 2**60 + 2])
    assert score_functions.median(large, large).tolist() == [2, 0, 2]


ETAS = [Eta(1, 1, 1), Eta(3, 2, 1), Eta(5, 3, 2)]


@pytest.mark.parametrize("eta", ETAS, ids=str)
@pytest.mark.parametrize("counted", [-2, 0, 3, 9])
def test_selection_by_count_is_discrete_laplace(eta: Eta, counted: int) -> None:
    """Utilities 2|count − r|, as the notes have them, on the integers from −4 to 9. In rationals, with q = B²:

    on the range, P(r) = q^|count−r| / Σ q^|count−s|: discrete Laplace given that it falls there, not clamped to it
    (clamping puts the tails on the two ends). By the closed sums of the geometric series over the range.
    """
    low, high, ratio = -4, 9, eta.base**2
    law = base2.law(2 * score_functions.count(counted, range(low, high + 1)), eta)
    laplace = [(1 - ratio) / (1 + ratio) * ratio ** abs(counted - r) for r in range(low, high + 1)]
    beyond = (ratio ** (counted - low + 1) + ratio ** (high - counted + 1)) / (1 + ratio)
    assert sum(laplace) == 1 - beyond
    for at, probability in enumerate(laplace):
        assert law.probability(at) == (probability / (1 - beyond),) * 2
    clamped = laplace[0] + ratio ** (counted - low + 1) / (1 + ratio)
    assert law.probability(0)[0] < clamped


@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_over_all_integers_it_is_discrete_laplace_in_the_limit(eta: Eta) -> None:
    """On count ± m every probability is (1−q)/(1+q)·q^|k| times 1/(1 − 2q^(m+1)/(1+q)), a factor that falls to 1."""
    ratio, factors = eta.base**2, []
    for m in (1, 4, 16):
        law = base2.law(2 * score_functions.count(7, range(7 - m, 8 + m)), eta)
        factor = 1 / (1 - 2 * ratio ** (m + 1) / (1 + ratio))
        for k in range(-m, m + 1):
            assert law.probability(k + m)[0] == (1 - ratio) / (1 + ratio) * ratio ** abs(k) * factor
        factors.append(factor)
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] - 1 < Fraction(1, 50)


def test_the_general_analysis_loses_a_factor_of_two_on_laplace() -> None:
    """The largest ratio of neighbouring counts' probabilities, from exact laws: e^ε = 16/9, where the analysis has its
    square. Only at the edge of a range, where the totals differ, does it come between the two."""
    eta = Eta(3, 2, 1)
    for m in (2, 8, 32):
        laws = [base2.law(2 * score_functions.count(n, range(-m, m + 2)), eta) for n in (0, 1)]
        ratios = [laws[0].probability(at)[0] / laws[1].probability(at)[0] for at in range(2 * m + 2)]
        assert max(ratios) == 1 / min(ratios) == Fraction(16, 9)  # the range is symmetrical about the two counts
    at_the_edge = [base2.law(2 * score_functions.count(n, range(33)), eta).probability(0)[0] for n in (0, 1)]
    assert Fraction(16, 9) < at_the_edge[0] / at_the_edge[1] < Fraction(16, 9) ** 2
