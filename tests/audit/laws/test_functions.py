"""The largest and the smallest of several random numbers: laws that are counted, ties included, on few paths."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.audit.laws.followed import law
from subnormal.audit.laws.functions import FALLING, RISING

SIZES = (3, 4, 3, 2)
CHOICES: dict[str, Callable[[list[Any]], Any]] = {
    "max": max,
    "min": min,
    "first place of the largest": lambda x: x.index(max(x)),
    "first place of the smallest": lambda x: min(range(len(x)), key=x.__getitem__),
    "largest of arguments": lambda x: max(*x),
    "largest of pairs": lambda x: max(enumerate(x), key=lambda pair: pair[1]),
    "argmax": lambda x: int(np.argmax(np.array(x))),
    "argmin": lambda x: int(np.array(x).argmin()),
    "amax": lambda x: int(np.array(x).max()),
    "least of an array": lambda x: int(np.min(np.array(x))),
    "both": lambda x: (max(x), min(x)),
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_outcome_has_the_share_of_its_numbers(name: str) -> None:
    choose = CHOICES[name]
    expected = Counter(choose(list(numbers)) for numbers in itertools.product(*map(range, SIZES)))
    found = law(lambda data: choose([random.randrange(size) for size in SIZES]), None, seconds=60.0)
    assert set(found.law.atoms) >= set(expected)
    for outcome in found.law.atoms:  # also those of paths that no numbers lead along
        low, high = found.probability(outcome)
        assert low <= Fraction(expected[outcome], math.prod(SIZES)) <= high <= low + Fraction(1, 10**9)


def test_a_path_for_each_number_that_may_be_the_largest() -> None:
    def noisy_maximum(scores: list[float]) -> int:
        noisy = [score - math.log(-math.log(1 - random.random())) for score in scores]
        return noisy.index(max(noisy))

    scores = [k % 2 for k in range(20)]
    found = law(noisy_maximum, scores, seconds=60.0, width=1e-2)
    assert found.paths <= 41  # and one for a logarithm of 0
    for place, score in enumerate(scores):
        low, high = found.probability(place)
        assert low <= math.exp(score) / sum(map(math.exp, scores)) <= high + Fraction(1, 10**12)
        assert high - low < 1e-2


def test_numbers_that_cannot_be_the_largest_have_no_path() -> None:
    assert law(lambda data: max(random.random() + shift for shift in (0, 0, 5)) > 4, None).paths == 1


def test_other_values_are_compared_as_ever() -> None:
    def function(data: Any) -> tuple[Any, ...]:
        u, v = random.random(), random.random()
        return max(u, 0.5) == 0.5, min("b", "a"), max([], default=3), max(u, v) >= u, max([2, 1], key=lambda x: -x)

    found = law(function, None, seconds=60.0)
    assert set(found.law.atoms) == {(answer, "a", 3, True, 1) for answer in (True, False)}
    low, high = found.probability((True, "a", 3, True, 1))
    assert low <= Fraction(1, 2) <= high < low + Fraction(1, 10**4)
    assert "TypeError" in str(law(lambda data: max(1, 2, other=3), None).law.atoms[0])  # type: ignore[call-overload]


OF_MATH = {name: (3, function) for name in RISING if (function := getattr(math, name, None))}
OF_MATH |= {name: (1, getattr(math, name)) for name in FALLING}


@pytest.mark.parametrize("name", OF_MATH)
def test_a_function_of_math_rises_or_falls(name: str) -> None:
    quarters, function = OF_MATH[name]
    end = function(0.25)
    found = law(lambda _: getattr(math, name)(random.random()) > end, None)  # looked up at each call
    low, high = found.probability(True)
    assert high - low < Fraction(1, 10**9)
    assert abs(low - Fraction(quarters, 4)) < Fraction(1, 10**9)  # 1/4 itself is a uniform, too
