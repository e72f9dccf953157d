"""Distributions of operations on independent numbers, against a count of all numbers in small boxes."""

import functools
import itertools
import math
import operator
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from subnormal.audit.laws import followed, forest, sums
from subnormal.audit.laws.followed import law
from subnormal.audit.laws.lazy import Lazy, integer, uniform
from subnormal.audit.laws.path import Box, Path, StoppedError
from subnormal.audit.laws.sums import Table, below, steps, table
from tests.audit.laws.short_uniforms import short_uniforms

OPERATIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": lambda u: u[0] + u[1],
    "difference": lambda u: u[0] - 3.0 * u[1],
    "reversed difference": lambda u: (1.0 - u[0]) - (0.5 - u[1]),
    "product": lambda u: (u[0] + 0.5) * (u[1] - 0.25),
    "quotient": lambda u: (u[0] + 1.0) / (2.0 - u[1]),
    "of three": lambda u: (u[0] - u[1]) + u[2],
    "scaled": lambda u: 2.0 - 4.0 * (u[0] - u[1]),
}


def numbers(path: Path, boxes: list[Box], draw: Callable[..., Lazy]) -> list[Lazy]:
    path.boxes[:] = boxes
    return [draw(path) for _ in boxes]


def small_boxes(seed: int, width: int) -> list[Box]:
    draw = random.Random(seed)
    return [((first := draw.randrange(1 << 53 - width)), first + draw.randrange(2, width)) for _ in range(3)]


def counted(x: Lazy, boxes: list[Box]) -> np.ndarray[Any, Any]:
    points = list(itertools.product(*(range(*boxes[at]) for at in x.signs)))
    return np.array([x.f(dict(zip(x.signs, point, strict=True))) for point in points])


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("count", [2, 7, 64])
@pytest.mark.parametrize("seed", range(3))
def test_the_distribution_function_has_bounds_around_the_count(name: str, count: int, seed: int) -> None:
    boxes = small_boxes(seed, 20)
    x = OPERATIONS[name](numbers(Path(), boxes, uniform))
    found = table(x, [boxes[at] for at in x.signs], count)
    assert found is not None
    values = counted(x, boxes)
    assert (found.near <= found.far).all()
    assert (found.low[0], found.high[-1]) == (0.0, 1.0)
    for place in range(1, len(found.near)):
        before, least, most = found.far[place - 1], found.low[place], found.high[place]
        assert found.near[place] == math.nextafter(before, math.inf) or name == "scaled"
        assert np.mean(values < found.near[place]) - 1e-10 <= most
        assert np.mean(values <= before) + 1e-10 >= least
        assert most - least < (1e-9 if count == 64 and name != "of three" else 1.0)


def test_strips_meet_at_the_cuts() -> None:
    path = Path()
    x = numbers(path, [(0, 1 << 53)] * 2, uniform)
    found = table(x[0] - x[1], path.boxes, 4, (0.25, 0.5))
    assert found is not None
    for cut, truth in ((0.25, 1 - 0.75**2 / 2), (0.5, 1 - 0.5**3)):
        (place,) = np.flatnonzero(found.near == cut)
        assert found.low[place] <= truth <= found.high[place]
        assert found.far[place - 1] == math.nextafter(cut, 0.0)
        assert found.high[place] - found.low[place] < 1 / 8


def test_bounds_of_a_difference_are_as_near_as_its_strips_are_fine() -> None:
    path = Path()
    x = numbers(path, [(0, 1 << 53)] * 2, uniform)
    widths = []
    for finer in (1, 16, 256):
        found = table(x[0] - x[1], path.boxes, 1, (0.25,), finer)
        assert found is not None
        assert found.low[1] < 1 - 0.75**2 / 2 < found.high[1]
        widths.append(found.high[1] - found.low[1])
    assert widths[0] > 15 * widths[1] > 14 * 15 * widths[2]


def test_integers_are_counted_exactly() -> None:
    path = Path()
    x, y = integer(path, 6), integer(path, 4)
    found = table(x - y, path.boxes, 64)
    assert found is not None
    assert [type(value) for value in found.near[:1]] == [int]
    assert list(found.near) == list(found.far) == list(range(-3, 6))
    assert np.diff(found.low) == pytest.approx(np.array([1, 2, 3, 4, 4, 4, 3, 2, 1]) / 24, abs=1e-9)
    assert found.high == pytest.approx(found.low, abs=1e-9)


@pytest.mark.parametrize("shift", range(-7, 6))
def test_how_likely_one_number_is_below_another_is_known_about(shift: int) -> None:
    path = Path()
    x, y = integer(path, 6), integer(path, 6)
    first, second = table(x, path.boxes[:1], 64), table(y + shift, path.boxes[1:], 64)
    assert first is not None
    assert second is not None
    is_below, is_equal = (
        sum(compare(one, other + shift) for one in range(6) for other in range(6)) / 36
        for compare in (operator.lt, operator.eq)
    )
    assert is_below - 1e-6 <= below(first, second) <= is_below + is_equal + 1e-6
    assert 0.0 < below(first, second) < 1.0  # a guess, by which no path is left out


def test_numbers_near_the_largest_float_are_compared_without_a_warning() -> None:
    ends = np.array([-np.inf, 1e308]), np.array([1e308, np.inf])
    shares = np.array([0.0, 0.5, 1.0])
    wide, whole = Table(*ends, shares, shares), Table(ends[0][:1], ends[1][1:], shares[::2], shares[::2])
    with np.errstate(all="raise"):
        assert 0.0 < below(wide, wide) < 1.0
        assert below(whole, whole) == 0.5


@pytest.mark.parametrize("operation", [operator.add, operator.sub, lambda x, y: 3 - (y - x)])
@pytest.mark.parametrize("sizes", [(6, 4), (2, 1000), (300, 200), (9, 5, 7)])
def test_integers_are_convolved(operation: Callable[[Any, Any], Any], sizes: tuple[int, ...]) -> None:
    path = Path()
    number = functools.reduce(operation, [(0.3 * integer(path, size)).__floor__() for size in sizes])
    counts = Counter(
        functools.reduce(operation, [math.floor(0.3 * k) for k in drawn])
        for drawn in itertools.product(*map(range, sizes))
    )
    found = table(number, [path.boxes[at] for at in number.signs], 64)
    assert found is not None
    values, below = sorted(counts)[:: 1 if found.near[0] < found.near[-1] else -1], 0
    assert found.near.tolist() == found.far.tolist() == values
    for place, value in enumerate(values):
        truth = Fraction(below, counts.total())
        assert Fraction(float(found.low[place])) <= truth <= Fraction(float(found.high[place]))
        assert found.high[place] - found.low[place] < 1e-11
        below += counts[value]


def test_what_is_not_known_of_integers_counts_in_their_sum() -> None:
    values = np.arange(3.0)
    low, high = np.array([0.0, 0.2, 0.5, 1.0]), np.array([0.0, 0.4, 0.7, 1.0])
    one = Table(values, values, low, high)
    found = sums._convolved(operator.add, one, 1, one, 1)
    assert found is not None
    for first, second in itertools.product((low, high), repeat=2):
        truth = np.append(0.0, np.cumsum(np.convolve(np.diff(first), np.diff(second))))
        assert (found.low <= truth + 1e-12).all()
        assert (truth <= found.high + 1e-12).all()


def test_integers_that_are_apart_are_not_taken_for_neighbours() -> None:
    path = Path()
    number = 2 * (integer(path, 3) + integer(path, 2)) + integer(path, 3)
    found = table(number, path.boxes, 64)
    assert found is not None
    drawn = [2 * (one + bit) + other for one in range(3) for bit in range(2) for other in range(3)]
    for place, value in enumerate(found.near):
        assert found.low[place] <= sum(one < value for one in drawn) / 18 <= found.high[place]
    assert (found.near[0], found.far[-1]) == (0, 8)


def test_many_integers_are_not_taken_for_one() -> None:
    path = Path()
    number = integer(path, 1 << 20) - integer(path, 3)
    found = table(number, path.boxes, 1, (1 << 18,))
    assert found is not None
    (place,) = np.flatnonzero(found.near == 1 << 18)
    assert found.low[place] <= (3 * (1 << 18) + 3) / (3 << 20) <= found.high[place]


@pytest.mark.parametrize("least", [True, False])
def test_roundings_of_a_sum_of_weights_count_against_the_bound(least: bool) -> None:
    draw, before = np.random.default_rng(1), np.linspace(0.0, 1.0, 8)
    for _ in range(200):
        weights = draw.uniform(size=7)
        truth = sum(
            Fraction(w) * (Fraction(b) - Fraction(a)) for w, a, b in zip(weights, before[:-1], before[1:], strict=True)
        )
        (bound,) = Table(weights, weights, before, before).total(weights, np.array([0]), np.array([7]), least=least)
        assert truth - Fraction(1, 10**12) <= bound <= truth if least else truth <= bound <= truth + Fraction(1, 10**12)


@pytest.mark.parametrize("least", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_sums_of_weights_bound_every_distribution_between_the_bounds(least: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 9))
    low, high = np.sort([np.sort(draw.uniform(size=count + 1)) for _ in range(2)], axis=0)
    low[0] = high[0] = 0.0
    low[-1] = high[-1] = 1.0
    weights = draw.uniform(size=count)
    between = np.maximum.accumulate(low + draw.uniform(size=count + 1) * (high - low))
    between = np.minimum(between, high)
    first, end = (draw.integers(0, count + 1, 30) for _ in range(2))
    found = Table(weights, weights, low, high).total(weights, first, end, least=least)
    truth = [float(weights[a:b] @ np.diff(between)[a:b]) for a, b in zip(first, end, strict=True)]
    assert (found <= truth if least else found >= truth).all()
    exact = Table(weights, weights, between, between).total(weights, first, end, least=least)
    assert exact == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_counts_are_those_of_all_pairs(operation: Callable[[Any, Any], Any]) -> None:
    draw = np.random.default_rng(1)
    own = np.sort(draw.uniform(0.5, 2, 40)).round(1)
    others = np.sort(draw.uniform(0.5, 2, 50)).round(1)
    others = others[::-1] if operation in (operator.sub, operator.truediv) else others  # the result rises
    for value in (-9.0, 0.1, 0.30000000000000004, 1.0, 1.5, 9.0):
        expected = (operation(own[:, None], others[None, :]) < value).sum(axis=1)
        assert (sums._counts(operation, own, others, value) == expected).all()


def test_numbers_that_depend_on_each_other_have_no_table() -> None:
    path = Path()
    x, y = (uniform(path) for _ in range(2))
    assert table((x + y) + x, path.boxes, 8) is None
    with pytest.raises(StoppedError):
        assert x / 1e-320 - y / 1e-320  # infinite


def test_a_number_of_two_uniforms_takes_the_place_of_one() -> None:
    """P(x − y < z) = 5/6 for uniforms. Where z is compared with x as well, boxes are halved."""
    boxes: list[Box] = [(0, 1 << 53)] * 3
    below_third: Callable[[list[Lazy]], bool] = lambda u: u[0] - u[1] < u[2]  # noqa: E731
    below_half: Callable[[list[Lazy]], bool] = lambda u: u[0] - u[1] < 0.5  # noqa: E731
    for questions, truth in (([below_third], 5 / 6), ([below_third, below_half], 5 / 6 - 1 / 24)):
        path = Path(boxes=list(boxes), answers={0: True, 1: True})
        u = [uniform(path) for _ in boxes]
        for question in questions:
            assert question(u)
        low, high = forest.bounds(path.boxes, path.constraints, 1 << 10)
        assert low < truth < high
        assert high - low < 0.01


def test_a_difference_of_exponentials_has_the_law_of_laplace_noise() -> None:
    def noisy(x: int) -> int:
        return round(x + 2 * random.expovariate(1) - 2 * random.expovariate(1))

    found = law(noisy, 0, seconds=20.0, width=1e-2)
    for outcome in range(-3, 4):
        low, high = found.probability(outcome)
        edge = math.exp(-(abs(outcome) - 0.5) / 2) / 2
        truth = 1 - math.exp(-0.25) if outcome == 0 else edge - edge * math.exp(-0.5)
        assert low < truth < high
        assert high - low < 1e-3


def test_integers_of_a_uniform_are_told_apart_exactly() -> None:
    path = Path()
    x = uniform(path)
    for lazy, count in (((4 * x).__ceil__(), 5), ((-4 * x).__floor__(), 5)):
        found = table(lazy, path.boxes, 2)
        assert found is not None
        assert list(found.near) == list(found.far) == sorted(found.near)
        assert len(found.near) == count
        shares = np.diff(found.low)
        assert (found.low == found.high).all()
        assert sorted(shares) == pytest.approx([2.0**-53, *[0.25] * 4], abs=3e-16)


def integer_noise(x: int) -> int:
    first, second = np.random.geometric(0.5, 2)
    return x + int(first - second)


def test_a_difference_of_geometric_numbers_is_one_number() -> None:
    """Of n outcomes, n and not n² are followed: int(x) is no reason to tell both numbers apart."""
    found = law(integer_noise, 0, seconds=20.0, rest=1e-6)
    for outcome in range(-4, 5):
        low, high = found.probability(outcome)
        assert low <= 2.0 ** -abs(outcome) / 3 <= high
        assert high - low < 1e-6
    assert found.paths < 400


def test_strips_reach_into_the_tails() -> None:
    path = Path()
    one, other = (-uniform(path).unary(math.log, 1, math.log, float) for _ in range(2))
    found = table(one - other, [(1, 1 << 53)] * 2, 1 << 8)
    assert found is not None
    masses = found.high[1:] - found.low[:-1]
    assert masses[found.near > 4.0].max() < 3e-3
    assert masses[found.far < -4.0].max() < 3e-3


def _difference() -> Any:
    return 5 * (random.random() - random.random())


def _of_one(*roundings: Callable[[Any], Any]) -> Callable[[], Any]:
    def rounded() -> Any:
        x = _difference()
        return tuple(one(x) for one in roundings)

    return rounded


def _of_two_numbers() -> Any:
    x, y = _difference(), _difference()
    return x < 2, y < 3, x < 1, y < 1


def _of_two_sums() -> Any:
    a, b = random.random(), random.random()
    x, y = a - b, 2 * a - b
    return x < 0.2, y < 0.3, x < 0.4, y < 0.6


def _remainder_of_pieces() -> Any:
    n, b = random.random(), random.random() / 2
    if n < 0.125 or 0.25 <= n < 0.375:
        return n < 0.125, (4 * n + b) % 1.0 < 0.4
    return None


def _gap_of_two_numbers() -> Any:
    x, y = _difference(), _difference()
    return math.floor(x - y) if x >= y else math.ceil(y - x)


def _gap_after_a_comparison() -> Any:
    threshold, x, y = random.random(), random.random(), random.random()
    return x < threshold, math.floor(4 * (y - threshold)), y > 0.3


def _gap_that_boxes_deny() -> Any:
    x, y = random.random(), random.random()
    if x >= y and x < 0.3 and y > 0.5:
        return math.floor(8 * (x - y)), x - y < 0.1
    return x < y


ROUNDED: dict[str, Callable[[], Any]] = {
    "round and floor": _of_one(round, math.floor, math.ceil),
    "quotients": _of_one(lambda x: x // 2, lambda x: x // 3, lambda x: x // -2.0),
    "digits": _of_one("{:.0f}".format, "{:.1f}".format),
    "functions that raise": _of_one(lambda x: _is_refused(math.log, x), lambda x: _is_refused(math.log, x + 2)),
    "two numbers": _of_two_numbers,
    "a gap of two numbers": _gap_of_two_numbers,
    "a gap after a comparison": _gap_after_a_comparison,
    "a gap that boxes deny": _gap_that_boxes_deny,
    "pieces of a remainder": _remainder_of_pieces,
    "two sums of the same numbers": _of_two_sums,
}


def _is_refused(function: Callable[[float], float], value: Any) -> bool:
    try:
        function(value)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("name", sorted(ROUNDED))
def test_comparisons_of_one_sum_are_told_apart(name: str) -> None:
    size, draws = 8, 4 if "two numbers" in name else 3 if "comparison" in name else 2
    with short_uniforms(size):
        found = law(lambda _: ROUNDED[name](), None)
    counts = Counter[Any]()
    for numbers in itertools.product(range(size), repeat=draws):
        drawn = (number / size for number in numbers)
        with patch.object(random, "random", lambda drawn=drawn: next(drawn)):
            counts[ROUNDED[name]()] += 1
    assert len(counts) == len([atom for atom in found.law.atoms if found.probability(atom)[1] > 1e-9])
    for outcome, count in counts.items():
        low, high = found.probability(outcome)
        assert low - Fraction(1, 1 << 30) <= Fraction(count, size**draws) <= high + Fraction(1, 1 << 30)
        assert high - low < 1e-6


GENERATOR = np.random.default_rng()


def _noise(scale: float) -> Any:
    ratio = 1 - math.exp(-1 / scale)
    return GENERATOR.geometric(ratio) - GENERATOR.geometric(ratio)


def _gap(queries: list[int]) -> Any:
    threshold = _noise(1.0)
    for query in queries:
        noisy = query + _noise(2.0)
        if noisy >= threshold:
            return noisy - threshold
    return None


def test_the_gap_to_a_threshold_of_several_numbers_is_narrow() -> None:
    found = law(_gap, [0, -30], rest=2.0**-16, seconds=60.0)
    assert found.rest < 2.0**-15
    assert {atom for atom in found.law.atoms if atom is not None} <= set(range(300))
    low, high = found.probability(0)
    assert high - low < 1e-6


def test_a_uniform_is_cut_where_an_integer_made_of_it_changes() -> None:
    path = Path()
    number, large = integer(path, 1000), integer(path, 5000)
    found = steps(3 - math.floor(number / 300.0), (100, 1000))
    assert found is not None
    assert found.near.tolist() == [100, 300, 600, 900]
    assert found.far.tolist() == [299, 599, 899, 999]
    assert found.low.tolist() == found.high.tolist() == [0, 200 / 900, 500 / 900, 800 / 900, 1]
    assert steps(large, (0, 5000)) is None
    assert steps(0.5 * number, (0, 1000)) is None


def _place_of_largest(queries: list[int]) -> Any:
    noisy = queries + GENERATOR.geometric(1 - math.exp(-1 / 2), len(queries))
    return max(range(len(queries)), key=lambda at: noisy[at])


def test_strips_of_integers_are_their_steps() -> None:
    found = law(_place_of_largest, [0, 0, 1, 0], rest=2.0**-40)
    probability = [Fraction(0)] * 4  # of the first place with the largest number
    ratio = math.exp(-1 / 2)
    tail = [[min(1.0, ratio ** (value - query)) for query in (0, 0, 1, 0)] for value in range(200)]
    for value in range(1, 199):
        at_least, more = tail[value - 1], tail[value]  # P(number > value - 1) and P(number > value)
        for place in range(4):
            others = [1 - (at_least if at < place else more)[at] for at in range(4) if at != place]
            probability[place] += Fraction((at_least[place] - more[place]) * math.prod(others))
    for place in range(4):
        low, high = found.probability(place)
        assert high - low < 1e-11
        assert low - Fraction(1, 10**12) <= probability[place] <= high + Fraction(1, 10**12)


def test_a_poor_guess_of_what_is_likely_loses_nothing() -> None:
    guessed = Table.share

    def poor(known: Table, low: Any, cut: Any, high: Any) -> float:
        return 2.0**-20 if low > -6 and high < 6 else guessed(known, low, cut, high)

    with patch.object(Table, "share", poor), patch.object(followed, "MANY", 16):
        found = law(lambda _: round(random.expovariate(0.3) - random.expovariate(0.3)), None, rest=2.0**-15)
    assert found.rest < 2.0**-14
