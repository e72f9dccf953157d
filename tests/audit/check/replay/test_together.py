"""Losses of several releases add up only where the outcome shows each of them, whatever the other ones are."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from subnormal import Claim
from subnormal.audit.check.replay.readable import _combinations, _Seen
from tests.support.replays import Pair, accused, laplace

BOUND = 1.001  # relative: a claim so much larger than the loss is kept, and the loss itself is not above it

Bits = tuple[int, ...]


def noises(scale: float, size: int) -> Any:
    return np.random.laplace(0.0, scale, size)


def named_first(bits: Sequence[int]) -> dict[str, bool]:
    """Name one item at most: the first whose noisy count exceeds 5."""
    named = [place for place, one in enumerate(np.array(bits, float) + noises(1.0, len(bits))) if one > 5][:1]
    return {f"item{place}": place in named for place in range(len(bits))}


def named_last(bits: Sequence[int]) -> dict[str, bool]:
    named = [place for place, one in enumerate(np.array(bits, float) + noises(1.0, len(bits))) if one > 5][-1:]
    return {f"item{place}": place in named for place in range(len(bits))}


def law_of_first(bits: Sequence[int]) -> list[float]:
    """Return the probability that each item is named, and that none is."""
    law, none_before = [], 1.0
    for bit in bits:
        above = math.exp(bit - 5) / 2
        law.append(none_before * above)
        none_before *= 1 - above
    return [*law, none_before]


def loss_of_first(pair: tuple[Sequence[int], Sequence[int]]) -> float:
    return max(abs(math.log(one / other)) for one, other in zip(*map(law_of_first, pair), strict=True))


def pairs_of(size: int) -> list[tuple[Bits, Bits]]:
    zeros, ones, turns = (0,) * size, (1,) * size, tuple(place % 2 for place in range(size))
    return [(zeros, ones), (ones, zeros), (turns, tuple(1 - bit for bit in turns))]


@pytest.mark.parametrize("pair", [pair for size in (2, 4) for pair in pairs_of(size)])
def test_of_items_of_which_one_is_named_the_losses_do_not_add(pair: tuple[Bits, Bits]) -> None:
    assert 1 < loss_of_first(pair) * BOUND < 1.07
    for function, worlds in ((named_first, pair), (named_last, (pair[0][::-1], pair[1][::-1]))):
        assert not accused(function, Claim(loss_of_first(pair) * BOUND), worlds, range(6))
        assert accused(function, Claim(1 / BOUND), worlds, range(2))


def test_the_worst_loss_over_all_pairs_of_four_items() -> None:
    worst = max(loss_of_first(pair) for pair in combinations(product((0, 1), repeat=4), 2))
    assert worst == pytest.approx(1.0174760463522)


@pytest.mark.parametrize(
    ("draw", "law"), [(lambda: np.random.laplace(0.0, 1.0), laplace_law), (lambda: random.gauss(0.0, 1.0), norm)]
)
@pytest.mark.parametrize("moved", [1, 0])
def test_an_item_that_another_hides_is_not_named_as_often_as_its_release_is_large(
    draw: Callable[[], float], law: Any, moved: int
) -> None:
    """At δ > 0 the event "the second is named" needs a first count of at most 1/2 too."""

    def function(x: Sequence[float]) -> list[bool]:
        first, second = x[0] + draw() > 0.5, x[1] + draw() > 0.5
        return [first, second and not first]

    pair = (0.0, 0.0), (1.0 - moved, float(moved))
    alone = law.sf(0.5, 1) - math.exp(0.5) * law.sf(0.5, 0)
    delta = alone * (law.cdf(0.5) if moved else 1.0)
    assert 0 < delta < 0.9
    assert not accused(function, Claim(0.5, delta * BOUND), pair)
    assert accused(function, Claim(0.5, delta / BOUND), pair) is not bool(moved)  # what another hides is not read


@pytest.mark.parametrize("pair", [((0.0, 0.0), (-1.0, -1.0)), ((-1.0, -1.0), (0.0, 0.0))])
def test_the_losses_of_items_that_only_a_positive_sum_shows_do_not_add(pair: Pair) -> None:
    """Both lie around 4. The sum is not positive where both are below −1, so one of them at most is named."""

    def function(x: Sequence[float]) -> list[bool]:
        one, other = 4 + np.array(x) + noises(1.0, 2)
        return [bool(low < -1 and one + other > 0) for low in (one, other)]

    def law(x: Sequence[float]) -> list[float]:
        grid = np.linspace(-60.0, -1.0, 200_001)
        one, other = (
            float(np.trapezoid(laplace_law.pdf(grid, 4 + at) * laplace_law.sf(-grid, 4 + beside), grid))
            for at, beside in (x, x[::-1])
        )
        return [one, other, 1 - one - other]

    worst = max(abs(math.log(one / other)) for one, other in zip(*map(law, pair), strict=True))
    assert worst < 1.3
    assert not accused(function, Claim(worst * BOUND), pair)


def test_the_divergences_of_gaussian_releases_do_not_add_where_one_clamps_the_other() -> None:
    def step(x: float) -> float:
        return round((x + random.gauss(0.0, 1.0)) * 20) / 20

    def function(x: float) -> list[float]:
        one, other = step(x), step(x)
        return [one, min(other, 0.0) if one > 0 else other]

    cells = np.arange(-180, 221) / 20
    laws = []
    for at in (0.0, 2.0):
        chance = np.diff(norm.cdf(np.append(cells - 0.025, cells[-1] + 0.025), at))
        law = np.outer(chance, chance)
        law[181:, 180] += law[181:, 181:].sum(axis=1)
        law[181:, 181:] = 0.0
        laws.append(law)
    claim = Claim(1.0, BOUND * max(np.maximum(0.0, one - math.e * other).sum() for one, other in (laws, laws[::-1])))
    assert not accused(function, claim, (0.0, 2.0), range(9))
    assert accused(lambda x: [step(x), step(x)], claim, (0.0, 2.0), range(9))


ALONE = laplace_law.sf(0.5, 1) - math.exp(0.5) * laplace_law.sf(0.5)  # δ(1/2) of whether a release exceeds 1/2
ABOVE = laplace_law.sf(0.5)  # the probability that noise exceeds 1/2


def moved_elsewhere(x: float) -> list[float]:
    first, second = 0.0 + laplace(), 0.0 + laplace()
    return [first, second, (0.0 if first > 0.5 and second > 0.5 else x) + laplace()]


def drawn_otherwise(x: float) -> list[float]:
    first, second = 0.0 + laplace(), 0.0 + laplace()
    return [first, second, 0.0 + np.random.normal() if first > 0.5 and second > 0.5 else x + laplace()]


def drawn_once_more(x: float) -> list[float]:
    released = [0.0 + laplace(), 0.0 + laplace(), x + laplace()]
    if min(released[:2]) > 0.5:
        np.random.random()
    return released


def hidden_by_three(x: float) -> list[bool]:
    one, two, three = (0.0 + laplace() > 0.5 for _ in range(3))
    return [one, two, three, x + laplace() > 0.5 and not (one and not two and not three)]


@pytest.mark.parametrize(
    ("function", "rare"),
    [
        (moved_elsewhere, ABOVE**2),
        (drawn_otherwise, ABOVE**2),
        (drawn_once_more, ABOVE**2),
        (hidden_by_three, ABOVE * (1 - ABOVE) ** 2),
    ],
)
@pytest.mark.parametrize("pair", [(0.0, 1.0), (1.0, 0.0)])
def test_a_release_that_several_others_decide_together_does_not_count(
    function: Callable[[Any], Any], rare: float, pair: Pair
) -> None:
    best = 1 - math.exp(-1 / 4)  # δ(1/2) of all events, which is attained at 3/4
    delta = (ALONE if function is hidden_by_three else best) * (1 - rare)
    assert not accused(function, Claim(0.5, delta * BOUND), pair)


@pytest.mark.parametrize(
    ("hides", "pair", "is_read"),
    [
        (lambda x, first: False, ((0.0, 0.0), (0.2, 1.0)), True),
        (lambda x, first: first < -3.5, ((0.0, 0.0), (0.2, 1.0)), False),
        (lambda x, first: 0.5 < first < 0.501, ((0.0, 0.0), (0.2, 1.0)), False),
        (lambda x, first: 0.499 < first < 0.5, ((0.0, 0.0), (0.2, 1.0)), False),
        (lambda x, first: first > 5.5, ((0.0, 0.0), (0.2, 1.0)), False),
        (lambda x, first: -0.001 < first < 0.001, ((0.0, 0.0), (0.0, 1.0)), False),
        (lambda x, first: first > 0.5 and x[1] > 0, ((0.0, 0.0), (0.2, 1.0)), False),
        (lambda x, first: first > 0.5 and x[1] > 0, ((0.2, 1.0), (0.0, 0.0)), False),
    ],
)
def test_what_another_release_hides_at_one_of_its_levels_is_not_read(
    hides: Callable[[Any, float], bool], pair: Pair, is_read: bool
) -> None:
    def function(x: Sequence[float]) -> list[bool]:
        first, second = x[0] + laplace(), x[1] + laplace()
        return [first > 0.5, second > 0.5 and not hides(x, first)]

    assert accused(function, Claim(0.5, ALONE / BOUND), pair) is is_read


@pytest.mark.parametrize("low", [0.0, 9.0])
def test_what_another_release_hides_between_its_outer_thresholds_is_not_read(low: float) -> None:
    def function(x: Sequence[float]) -> list[float]:
        first, second = x[0] + laplace(), x[1] + laplace()
        return [round(first, 1), second > 0.5 and not low < first < low + 0.19]

    assert accused(function, Claim(0.5, ALONE / BOUND), ((0.0, 0.0), (0.2, 1.0))) is (low > 0)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 64])
def test_every_two_releases_meet_at_every_two_of_their_levels(size: int) -> None:
    levels = {(place, 0): [10.0 * place + level for level in range(5)] for place in range(size)}
    tried = list(_combinations(levels))
    for one, other in combinations(levels, 2):
        met = {(values[one], values[other]) for values in tried}
        assert met >= set(product(levels[one][:4], levels[other][:4]))
    assert {values[0, 0] for values in tried} == set(levels[0, 0])


def test_one_release_meets_no_other() -> None:
    assert not list(_combinations({(0, 0): [1.0, 2.0, 3.0, 4.0]}))


def test_the_levels_lie_around_the_thresholds_or_at_the_location() -> None:
    nothing: Any = None
    seen = _Seen(nothing, nothing, nothing, (0, 0), [(-6.0, 0.0), (0.5, 6.0)], [], {}, set(), set(), set())
    assert seen.levels(((1.0, 2.0), (3.0, 4.0))) == [-6.0, 1.0, 4.0, 6.0, 1.0, 2.0, 3.0, 4.0]
    assert seen.levels(()) == [-6.0, 0.0, 0.5, 6.0, 0.0, 0.5]
