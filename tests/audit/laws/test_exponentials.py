"""Differences of exponentials in closed form: against counts of all numbers, strips, and exact logarithms."""

import itertools
import math
import operator
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import gmpy2
import numpy as np
import pytest
from scipy import stats

from subnormal.audit.laws import exponentials, sums
from subnormal.audit.laws.draws.quantiles import SIZE, exponential_quantile
from subnormal.audit.laws.exponentials import Difference, difference_of
from subnormal.audit.laws.followed import End, follow, law
from subnormal.audit.laws.lazy import Lazy
from subnormal.audit.laws.points import reversed_sub
from tests.audit.laws.short_uniforms import short_uniforms

UNIFORM = 1 << 53
SHORT = 64  # numbers of a uniform, of which all pairs are counted
generator = np.random.default_rng(1)


def _exponential(scale: float) -> float:
    return -scale * math.log(1.0 - random.random())


DIFFERENCES: dict[str, Callable[[float], Any]] = {
    "expovariate": lambda start: start + random.expovariate(0.5) - random.expovariate(0.5),
    "scaled": lambda start: start + 3 * (random.expovariate(1) - random.expovariate(1)),
    "other scales": lambda start: start + _exponential(2.0) - _exponential(0.25),
    "logarithms": lambda start: math.log(random.random()) + start - math.log(random.random()) * 0.3,
    "falling first": lambda start: (start - random.expovariate(2.0)) + random.expovariate(0.1) * 0.7,
    "a sum": lambda start: random.expovariate(1.3) + (start + -2 * random.expovariate(1)),
    "reversed": lambda start: (start - random.expovariate(3.0)) - (1.5 - random.expovariate(1.0)),
    "log1p": lambda start: math.log1p(-random.random()) - (start + math.log1p(-random.random()) / 3),
    "numpy's floats": lambda start: start + np.log(np.float64(1) - random.random()) + random.expovariate(2.0),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "a sum of exponentials": lambda: random.expovariate(1.0) + random.expovariate(1.0),
    "a product": lambda: random.expovariate(1.0) * -random.expovariate(1.0),
    "uniforms": lambda: random.random() - random.random(),
    "another base": lambda: math.log2(1.0 - random.random()) - math.log2(1.0 - random.random()),
    "a logarithm of more": lambda: math.log(1.5 - random.random()) - math.log(1.0 - random.random()),
    "a logarithm of 1 plus a uniform": lambda: math.log1p(random.random()) - math.log(1.0 - random.random()),
    "a square": lambda: random.expovariate(1.0) ** 2 - random.expovariate(1.0),
    "a quotient": lambda: 1.0 / (1.0 + random.expovariate(1.0)) - random.expovariate(1.0),
    "nothing of one": lambda: 0.0 * random.expovariate(1.0) - random.expovariate(1.0),
    "rounded coarsely": lambda: 2.0**40 + random.expovariate(1.0) - random.expovariate(1.0),
    "three": lambda: random.expovariate(1.0) - random.expovariate(1.0) - random.expovariate(1.0),
    "a half of one": lambda: (random.expovariate(1.0) if random.random() < 0.5 else 0.0) - _half(),
}


def _half() -> float:
    u = random.random()
    return -math.log(1.0 - u) if u < 0.75 else 5.0


def lazy_of(function: Callable[[], Any]) -> Lazy:
    ends, _, _ = follow(lambda _: function(), None, 10.0, 0.0, floats=True, most=1)
    return _number(ends[0])


def _number(end: End) -> Lazy:
    base, _ = end.outcome.base()
    assert isinstance(base, Lazy)
    return base


def found_of(lazy: Lazy) -> Difference | None:
    return difference_of(lazy, [lazy.path.boxes[at] for at in lazy.signs])


@pytest.mark.parametrize("value", [-20.0, -0.5, -0.4, 0.0, 0.2, 0.25, 0.7, 20.0])
def test_bounds_are_at_the_ends_of_the_intervals(value: float) -> None:
    start, rising, falling = (
        (Fraction(-1, 2), Fraction(1, 4)),
        (Fraction(1), Fraction(2)),
        (Fraction(1, 2), Fraction(3)),
    )
    low, high = Difference(start, rising, falling, Fraction(1, 64)).below(value)
    shares = [
        stats.laplace_asymmetric.cdf(value - float(at), math.sqrt(f / r), scale=math.sqrt(f * r))
        for at, r, f in itertools.product(start, rising, falling)
    ]
    assert low == pytest.approx(max(0.0, min(shares) - 1 / 64), abs=1e-12)
    assert high == pytest.approx(min(1.0, max(shares) + 1 / 64), abs=1e-12)


def test_what_is_below_a_value_may_be_rounded_to_it() -> None:
    one, start = (Fraction(1), Fraction(1)), (Fraction(1 << 52), Fraction(1 << 52))
    low, high = Difference(start, one, one, Fraction(0)).below(2.0**52)
    assert low == pytest.approx(math.exp(-0.5) / 2, abs=1e-14)  # 2^52 - 1/4 is rounded to 2^52
    assert low < math.exp(-0.5) / 2
    assert 0.5 < high < 0.5 + 1e-14


@pytest.mark.parametrize("constant", [0.1, -0.1, 3.0, -1e6])
@pytest.mark.parametrize("start", [0.3, -0.7, 5e-324])
@pytest.mark.parametrize("operation", [operator.add, operator.sub, reversed_sub, operator.mul, operator.truediv])
def test_an_operation_with_a_constant_is_rounded(operation: Callable[..., Any], start: float, constant: float) -> None:
    for slope in (0.25, -0.25):
        given = exponentials.Exponential((Fraction(start),) * 2, (Fraction(slope),) * 2, Fraction(0))
        made = exponentials._after(given, operation, constant)
        assert made is not None
        for number in range(40):
            value = Fraction(start) + Fraction(slope) * number
            if value == Fraction(float(value)):
                low, high = (at + by * number for at, by in zip(made.start, made.slope, strict=True))
                assert low <= Fraction(operation(float(value), constant)) <= high
                assert (
                    high - low <= Fraction(1, 1 << 50) * (abs(high) + 2 * abs(made.start[0])) + 3 * exponentials.LEAST
                )


@pytest.mark.parametrize(("operation", "constant"), [(operator.mul, 0.0), (operator.add, math.inf), (max, 1.0)])
def test_an_operation_that_is_not_known_makes_no_exponential(operation: Any, constant: float) -> None:
    one = (Fraction(1), Fraction(1))
    assert exponentials._after(exponentials.Exponential(one, one, Fraction(0)), operation, constant) is None


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_bounds_are_around_a_count_of_all_numbers(name: str) -> None:
    with short_uniforms(SHORT), patch.object(exponentials, "NEAR", Fraction(1)):
        lazy = lazy_of(lambda: DIFFERENCES[name](0.25))
        found = found_of(lazy)
        assert found is not None
        boxes = [range(*lazy.path.boxes[at]) for at in lazy.signs]
        assert found.apart == sum(Fraction(2 * (SHORT - len(box)) + 2, SHORT) for box in boxes)
        values = sorted(lazy.f(dict(zip(lazy.signs, one, strict=True))) for one in itertools.product(*boxes))
        for value in list(dict.fromkeys(values))[:: len(values) // 500]:
            low, high = found.below(value)
            assert low <= np.searchsorted(values, value) / len(values) <= high
            assert high - low < 20 / SHORT


@pytest.mark.parametrize("start", [0.0, -7.25, 1e6])
@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_bounds_meet_those_of_strips_and_are_nearer(name: str, start: float) -> None:
    lazy = lazy_of(lambda: DIFFERENCES[name](start))
    found = found_of(lazy)
    assert found is not None
    boxes = [lazy.path.boxes[at] for at in lazy.signs]
    with patch.object(sums, "difference_of", lambda *_: None):
        strips = sums._table(lazy, boxes, 64, (), 8)
    assert strips is not None
    bounds = [found.below(value) for value in strips.near[1:].tolist()]
    low, high = np.array(bounds).T
    assert (low <= strips.high[1:-1]).all()
    assert (high >= strips.low[1:-1]).all()
    assert (high - low < (1e-13 if abs(start) < 10 else 1e-8)).all()


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_a_number_lies_between_the_ends_of_its_exponential(name: str) -> None:
    lazy = lazy_of(lambda: DIFFERENCES[name](0.7))
    assert lazy.parts is not None
    draw = random.Random(name)
    for part in (lazy.parts[1], lazy.parts[3]):
        (at,) = part.signs
        low, high = lazy.path.boxes[at]
        found = exponentials._exponential(part, (low, high))
        assert found is not None
        of_1_minus = "1.0" in repr(part.key) or "log1p" in repr(part.key)
        near = [end for scale in range(53) for end in (low + (1 << scale), high - (1 << scale))]
        for number in {low, high - 1, *near, *(draw.randrange(low, high) for _ in range(500))}:
            if low <= number < high:
                uniform = Fraction(UNIFORM - number if of_1_minus else number, UNIFORM)
                _is_between(found, part.f({at: number}), uniform)


def test_the_quantile_of_the_exponential_lies_between_its_ends() -> None:
    found = exponentials._of_key(exponential_quantile, Fraction(0))
    assert found is not None
    draw = random.Random(5)
    for number in {0, 1, SIZE - 1, SIZE // 2, SIZE // 2 - 1, *(draw.randrange(SIZE) for _ in range(500))}:
        _is_between(found, exponential_quantile(number), 1 - (number + Fraction(1, 2)) / SIZE)


def _is_between(found: exponentials.Exponential, value: float, uniform: Fraction) -> None:
    with gmpy2.context(precision=300):
        exact = -Fraction(gmpy2.mpq(gmpy2.log(gmpy2.mpfr(gmpy2.mpq(uniform)))))
    low, high = (start + slope * exact for start, slope in zip(found.start, found.slope, strict=True))
    assert low <= Fraction(float(value)) <= high
    assert high - low <= Fraction(1, 1 << 42) * (exact + 8)


@pytest.mark.parametrize("value", [-30.0, -2.0, -1e-9, 0.0, 1e-9, 0.5, 30.0])
def test_the_distribution_function_is_that_of_laplace_noise(value: float) -> None:
    found = found_of(lazy_of(lambda: random.expovariate(0.5) - random.expovariate(0.5)))
    assert found is not None
    low, high = found.below(value)
    assert low <= stats.laplace.cdf(value, scale=2.0) <= high
    assert high - low < 1e-14


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_what_is_no_difference_of_two_exponentials_is_not_taken_for_one(name: str) -> None:
    lazy = lazy_of(OTHERS[name])
    assert found_of(lazy) is None


def test_a_rounded_count_has_its_law() -> None:
    found = law(lambda count: round(count + random.expovariate(0.5) - random.expovariate(0.5)), 3)
    for outcome in range(-20, 26):
        low, high = found.probability(outcome)
        apart = abs(outcome - 3) / 2
        true = math.exp(-apart) * math.sinh(0.25) if apart else -math.expm1(-0.25)
        assert low - 1e-13 <= true <= high + 1e-13
        assert high - low < 1e-12
