"""Exact at the speed of floats: every decision against whole integers, on the same bits, at every word size."""

import itertools
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.cumulative_cells import DOUBTFUL, that_matter
from subnormal.mechanisms.exponential.level_draws import Levels
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import float_weights
from subnormal.mechanisms.samplers.float_weights import ROW

FURTHER = seeded_bits(9).take(512)  # bits that follow a word chosen by a test
ETAS = [Eta(1, 1, 1), Eta(3, 2, 1), Eta(255, 8, 1), Eta(5, 3, 2)]


def cells(utilities: NDArray[Any], eta: Eta) -> list[int]:
    """Return the ends of the outcomes' cells, in whole integers."""
    weights = powers(utilities, eta)
    common = lcm(*{weight.denominator for weight in weights})
    return list(itertools.accumulate(weight.numerator * (common // weight.denominator) for weight in weights))


def oracle(ends: list[int], bits: BitSource, n: int) -> list[int]:
    """Inverse transform in whole integers, in rounds of words: knows nothing of floats, errors or tables."""
    total, word = ends[-1], bits.word_bits
    chosen: list[int | None] = [None] * n
    drawn, known, pending = [0] * n, 0, list(range(n))
    while pending:
        fresh = bits.words(len(pending)).tolist()
        known += word
        for draw, bits_of_draw in zip(pending, fresh, strict=True):
            drawn[draw] = drawn[draw] << word | bits_of_draw
            # [d, d+1)/2^known lies in cell i when ends[i-1]·2^known <= d·total and (d+1)·total <= ends[i]·2^known.
            cell = bisect_right(ends, drawn[draw] * total >> known)
            if (drawn[draw] + 1) * total <= ends[cell] << known:
                chosen[draw] = cell
        pending = [draw for draw in pending if chosen[draw] is None]
    return [cell for cell in chosen if cell is not None]


def powers(utilities: NDArray[Any], eta: Eta) -> list[Fraction]:
    best = int(utilities.min())
    distinct = {utility: eta.base ** (utility - best) for utility in set(utilities.tolist())}
    return [distinct[utility] for utility in utilities.tolist()]


CASES: list[Callable[[np.random.Generator], NDArray[Any]]] = [
    lambda rng: np.arange(30),
    lambda rng: rng.permutation(200),
    lambda rng: rng.integers(0, 10, 100),
    lambda rng: np.zeros(7, dtype=np.int64),  # ties: all edges are multiples of 1/7
    lambda rng: np.array([0, 1, 1, 2, 2, 2, 2]),  # a total of 4: edges that are exact dyadics
    lambda rng: np.r_[0, np.full(300, 40)],  # one giant and many tiny
    lambda rng: np.r_[np.full(300, 40), 0],
    lambda rng: np.array([5]),
    lambda rng: rng.integers(-60, -40, 50),
    lambda rng: np.array([-3, 2500, -3, 2500]),  # weights below 2^−2000
]


@pytest.mark.parametrize(
    ("word_bits", "eta"),
    [*zip((1, 2, 3, 5, 7, 8, 16, 33), itertools.cycle(ETAS), strict=False), *((64, eta) for eta in ETAS)],
    ids=str,
)
def test_the_same_bits_give_the_outcome_of_the_integer_oracle(word_bits: int, eta: Eta) -> None:
    """12 settings of 10 vectors and 2,300 draws: a quarter of a million, none different."""
    rng = np.random.default_rng(word_bits)
    for number, case in enumerate(CASES):
        utilities = case(rng)
        ours, theirs = (seeded_bits(number, word_bits=word_bits) for _ in range(2))
        drawn = exponential_exact.sample(utilities, eta, ours, 2_300)
        assert drawn.tolist() == oracle(cells(utilities, eta), theirs, 2_300)
        assert ours.consumed == theirs.consumed


@pytest.mark.parametrize("word_bits", [3, 8, 64])
def test_single_draws_are_those_of_the_oracle_too(word_bits: int) -> None:
    rng = np.random.default_rng(1)
    for case, eta in itertools.product(CASES, ETAS[:2]):
        utilities = case(rng)
        ours, theirs = (seeded_bits(5, word_bits=word_bits) for _ in range(2))
        ends = cells(utilities, eta)
        for _ in range(10):
            drawn = exponential_exact.sample(utilities, eta, ours, 1)
            assert drawn.tolist() == oracle(ends, theirs, 1)


@pytest.mark.parametrize("size", [9_000, 20_000, 70_001, 140_000])
def test_every_size_class_decides_as_the_oracle(size: int) -> None:
    rng = np.random.default_rng(size)
    for utilities in (rng.permutation(size).clip(0, 300), rng.integers(0, 4, size), rng.integers(-5, 60, size)):
        ends, order = cells(utilities, Eta(1, 1, 1)), np.argsort(utilities, kind="stable")
        for n in (1, 300, 5_000):
            if size == 140_000 and n == 1:
                continue  # by trials: test_enclosed_law
            drawn = exponential_exact.sample(utilities, Eta(1, 1, 1), seeded_bits(n), n)
            if size == 20_000 == 4 * n and utilities.max() < 60:  # by levels
                places = oracle(cells(utilities[order], Eta(1, 1, 1)), seeded_bits(n), n)
                assert drawn.tolist() == order[places].tolist()
            else:
                assert drawn.tolist() == oracle(ends, seeded_bits(n), n)


@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_a_level_and_a_place_in_it_are_decided_rightly_or_not_at_all(eta: Eta) -> None:
    """Words at all distances from each edge, and any: against the edges as rationals."""
    rng = np.random.default_rng(3)
    for utilities in (
        rng.integers(-7, 3, 300),
        np.append(rng.integers(20, 25, 200), [10_000, -3]),
        np.zeros(7, np.int64),
    ):
        scale = float_weights.scale_of(eta, 1.0, "i", len(utilities).bit_length())
        levels = Levels.of(float_weights.Weighing.of(utilities, scale, False))
        if levels is None:
            assert len(scale.table if scale.table is not None else range(300)) > 256
            continue
        assert levels.order.tolist() == np.argsort(np.minimum(utilities, 1_000), kind="stable").tolist()
        edges = [Fraction(0), *edges_of(powers(utilities[levels.order], eta))]
        near = [
            int(edge * 2**64) + sign * (1 << shift)
            for edge in edges
            for shift in range(0, 48, 3)
            for sign in (-1, 0, 1)
        ]
        words = np.array([word for word in near if 0 <= word < 2**64], dtype=np.uint64)
        words = np.append(words, seeded_bits(1).words(2_000))
        places = np.empty(len(words), dtype=np.int64)
        levels.judge(words, places)
        decided = (places != DOUBTFUL).nonzero()[0].tolist()
        assert set(range(len(words) - 2_000, len(words))) <= set(decided)
        for at in decided:
            begin, end = Fraction(int(words[at]), 2**64), Fraction(int(words[at]) + 1, 2**64)
            assert edges[places[at]] <= begin
            assert end <= edges[places[at] + 1]


def test_a_draw_by_levels_that_floats_cannot_tell_is_decided_by_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    utilities, doubted = np.random.default_rng(1).integers(0, 4, 20_000), list[int]()
    drawn = exponential_exact.sample(utilities, Eta(1, 1, 1), seeded_bits(1), 5_000)
    judge = Levels.judge

    def doubting(self: Levels, words: NDArray[np.uint64], found: NDArray[np.int64]) -> None:
        judge(self, words, found)
        found[::1_000] = DOUBTFUL
        doubted.append(len(found[::1_000]))

    monkeypatch.setattr(Levels, "judge", doubting)
    assert exponential_exact.sample(utilities, Eta(1, 1, 1), seeded_bits(1), 5_000).tolist() == drawn.tolist()
    assert doubted == [5]


@pytest.mark.parametrize("size", [9_000, 16_384, 70_001])
def test_the_outcomes_that_matter_are_found_in_rows(size: int) -> None:
    """Wherever they are, the ends of rows and of the vector included; and not where they are more than few."""
    rng, scale = np.random.default_rng(size), float_weights.scale_of(Eta(1, 1, 1), 1.0, "i", size.bit_length())
    limit = int(scale.extent) + 2
    far = rng.integers(limit + 1, 10_000, size)
    for places in ([size - 1], [0, ROW - 1, ROW, size // ROW * ROW - 1, size // ROW * ROW % size], range(2, size, 40)):
        utilities = far.copy()
        utilities[list(places)] = rng.integers(2, limit, len(places))
        utilities[places[-1]] = 2
        found: Any = that_matter(float_weights.Weighing.of(utilities, scale, True))
        assert found.tolist() == (utilities <= limit).nonzero()[0].tolist()
    assert that_matter(float_weights.Weighing.of(np.zeros(70_001, dtype=np.int64), scale, True)) is None


def edges_of(weights: list[Fraction]) -> list[Fraction]:
    total = sum(weights)
    return [end / total for end in itertools.accumulate(weights)]


@pytest.mark.parametrize("eta", [*ETAS, Eta((1 << 40) - 1, 40, 1)], ids=str)
def test_no_edge_is_on_the_wrong_side(eta: Eta) -> None:
    """The words around an edge: the one before, the one that holds it, and the one after, in rationals."""
    rng = np.random.default_rng(2)
    for case in CASES:
        utilities = case(rng)
        if eta.y == 40:  # keeps the rationals small
            utilities = utilities.clip(utilities.min(), utilities.min() + 60)
        edges = [Fraction(0), *edges_of(powers(utilities, eta))]
        for edge in edges[1 : -1 : max(1, len(edges) // 25)]:
            holder = int(edge * 2**64)
            for word in {max(0, holder - 1), holder, min(2**64 - 1, holder + 1)}:
                begin, end = Fraction(word, 2**64), Fraction(word + 1, 2**64)
                cell = bisect_right(edges, begin) - 1
                inside = end <= edges[cell + 1]
                bits = scripted_bits(f"{word:064b}{FURTHER:0512b}")
                drawn = int(exponential_exact.sample(utilities, eta, bits, 1)[0])
                assert (bits.consumed == 64) == inside
                assert drawn == cell if inside else edges[drawn] <= end
                assert begin <= edges[drawn + 1]


@pytest.mark.parametrize("magnitude", [2**62, 2**63 - 1])
def test_utilities_at_the_ends_of_their_type(magnitude: int) -> None:
    utilities = np.array([-magnitude, magnitude, -magnitude, 0])
    for rate in (Eta(1, 1, 1), Eta(2**30 - 1, 30, 1), 0.5, 1e-17):
        law = {0, 2} if rate != 1e-17 else {0, 1, 2, 3}
        drawn = exponential_exact.sample(utilities, rate, seeded_bits(1), 5_000)
        assert set(drawn.tolist()) <= law
        assert 0.2 < (drawn == 0).mean() < 0.6
        assert exponential_exact.sample(utilities, rate, seeded_bits(1), 1)[0] in law


def test_an_edge_moved_by_a_weight_of_two_to_the_minus_two_to_the_62() -> None:
    # Outcomes 0 and 1 share all but 2^−(2^62): the edge lies strictly below 1/2, so a U of exactly 1/2 is past it.
    for utilities in ([0, 0, 2**62], [0, 0, 5_000]):
        assert exponential_exact.sample(utilities, Eta(1, 1, 1), scripted_bits("1" + "0" * 63), 1)[0] == 1
        for rate in (Eta(1, 1, 1), 1.0):
            below = exponential_exact.sample(utilities, rate, scripted_bits("0" + "1" * 63 + "0" * 64), 1)
            assert below[0] == 0
    # With the far weight first, the edge is above 1/2 by less than any word: U = 1/2 needs more bits to be before it.
    bits = scripted_bits("1" + "0" * 63 + "1" * 64)
    assert exponential_exact.sample([0, 2**62, 0], Eta(1, 1, 1), bits, 1)[0] == 2


def test_base_e_takes_float_utilities_as_the_rationals_that_they_are() -> None:
    utilities = np.array([0.1, 0.30000000000000004, 1e-300, 2.5, 1e300])
    law = exponential_exact.law(utilities[:4], 3.0)
    expected = np.exp(-1.5 * utilities[:4]) / np.exp(-1.5 * utilities[:4]).sum()
    for index in range(4):
        low, high = law.probability(index)
        assert 0 < high - low < low * Fraction(1, 2**120)
        assert float(low) == pytest.approx(expected[index], rel=1e-14)
    assert exponential_exact.sample(utilities, 3.0, seeded_bits(1), 1_000).max() < 4


def test_base_e_decides_the_words_around_each_edge_rightly() -> None:
    rng = np.random.default_rng(3)
    for utilities in (rng.random(40) * 30, np.array([0.0, 1e-12, 2e-12]), rng.integers(0, 50, 40), np.array([7.5])):
        law = exponential_exact.law(utilities, 0.7, precision=300)
        low_edge = high_edge = Fraction(0)
        for index in range(len(utilities) - 1):
            low, high = law.probability(index)
            low_edge, high_edge = low_edge + low, high_edge + high
            holder = int(low_edge * 2**64)
            assert holder == int(high_edge * 2**64)
            for word, expected in ((holder - 1, index), (holder + 1, index + 1)):
                bits = scripted_bits(f"{word:064b}")
                drawn = int(exponential_exact.sample(utilities, 0.7, bits, 1)[0])
                if low > Fraction(1, 2**62):
                    assert drawn == expected


def test_equal_utilities_in_base_e_have_rational_edges() -> None:
    assert exponential_exact.sample([0.5, 0.5], 1.0, scripted_bits("1" + "0" * 63), 1)[0] == 1
    assert exponential_exact.sample([0.5] * 4, 1.0, scripted_bits("01" + "0" * 62), 1)[0] == 1


def test_the_law_of_base_2_is_that_of_the_paper() -> None:
    for utilities in ([3, 0, 1], [5], [0] * 9):
        ours, theirs = (module.law(utilities, Eta(3, 2, 1)) for module in (exponential_exact, base2))
        for index in range(len(utilities)):
            assert ours.probability(index) == theirs.probability(index)


def test_the_enclosure_is_as_tight_as_asked() -> None:
    for precision in (8, 64, 500):
        low, high = exponential_exact.law([0.0, 700.0, 3.3], 1.0, precision=precision).probability(1)
        assert 0 < low < high < low * (1 + Fraction(1, 1 << (precision - 3)))


def test_the_last_word_ends_the_search() -> None:
    """All ones, times the total, may round up to the total, beyond which there is no cell: more cells and draws than a
    table of prefixes takes, and outcomes after the last that matters."""
    utilities = np.append(np.zeros(5_000, dtype=np.int64), np.full(3_000, 10**6))
    words = [2**64 - 1, *[12_345 << 40] * 4_999]
    bits = scripted_bits("".join(f"{word:064b}" for word in words) + f"{FURTHER:0512b}")
    drawn = exponential_exact.sample(utilities, Eta(1, 1, 1), bits, 5_000)
    assert drawn[0] == 4_999
    assert set(drawn[1:].tolist()) == {(12_345 << 40) * 5_000 >> 64}


@pytest.mark.parametrize("eta", [Eta(1, 1, 1), Eta(3, 2, 1), Eta(1023, 10, 1)], ids=str)
def test_the_table_of_powers_is_within_its_bound(eta: Eta) -> None:
    size = 3_000
    table, allowed = float_weights.power_table(eta, size), float_weights.power_error(size)
    exact = Fraction(1)
    for entry in table[:700]:
        assert abs(Fraction(entry) - exact) <= exact * allowed * Fraction(1, 2**53)
        exact *= eta.base
    for index in (1_023, 1_024, 2_047, 2_999):
        exact = eta.base**index
        if table[index] > 1e-300:
            assert abs(Fraction(table[index]) - exact) <= exact * allowed * Fraction(1, 2**53)
    assert table[size] == 0


def test_the_exponential_is_within_its_bound() -> None:
    rng = np.random.default_rng(4)
    arguments = np.concatenate(
        [rng.random(2_000) * 96, rng.random(500) * 1e-3, [0.0, 2.0**-15, 1 / 32, 95.999, 1e-300]]
    )
    results = float_weights.exponential(arguments.copy())
    for argument, result in zip(arguments.tolist(), results.tolist(), strict=True):
        low, high = exp_bounds(-Fraction(argument), 200)
        assert abs(Fraction(result) - low) <= high * float_weights.EXPONENTIAL_ERROR * Fraction(1, 2**53)
    assert float_weights.exponential(np.array([96.0, 1e300, np.inf])).tolist() == [0, 0, 0]
