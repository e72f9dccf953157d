"""Functions of sums that are monotone on pieces alone, or whose zeros have signs: bounds hold the truth, or it is said
that the function is not followed."""

import math
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.audit.laws.followed import law
from subnormal.audit.laws.path import NotFollowedError

uniform = random.random
RISES, FALLS, AGAIN = (angle / 5 for angle in (math.asin(0.3), math.pi - math.asin(0.3), math.pi + math.asin(0.3)))
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float]] = {  # with the probability of True
    "a number against its negative": (lambda d: d < -d, 1 / 2),
    "a number against a function of it": (lambda d: d < 1 - 3 * d, 23 / 32),
    "a product": (lambda d: d > 0 and d * d > 1e-4, (1 - 0.01) ** 2 / 2),
    "a quotient": (lambda d: d > 0.25 and uniform() / d < 3.5, 3.5 * (2 / 49 - 8 / 1029 - 1 / 32 + 1 / 192) + 25 / 98),
    "a reciprocal": (lambda d: d > 0.25 and 1 / d < 50 * uniform(), 0.75**2 / 2 - (math.log(4) - 0.75) / 50),
    "a square": (lambda d: d > 0 and d**2 < uniform(), 5 / 12),
    "a sine": (
        lambda d: math.sin(5 * d) > 0.3,
        FALLS - FALLS**2 / 2 - RISES + RISES**2 / 2 + (1 - AGAIN) ** 2 / 2,
    ),
    "infinite numbers": (lambda d: uniform() / 1e-320 - uniform() / 1e-320 < 0, 0.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bounds_of_a_difference_of_uniforms_hold_the_truth(name: str) -> None:
    test, truth = FUNCTIONS[name]
    with suppress(NotFollowedError):
        low, high = law(lambda _: bool(test(uniform() - uniform())), None, seconds=5.0, width=1e-2).probability(True)
        assert low - Fraction(1, 1000) <= truth <= high + Fraction(1, 1000)


def test_a_number_is_compared_with_a_function_of_it() -> None:
    for name in ("a number against its negative", "a number against a function of it"):
        test, truth = FUNCTIONS[name]

        def asked(_: Any, test: Callable[[Any], Any] = test) -> Any:
            return test(uniform() - uniform())

        low, high = law(asked, None, seconds=5.0, width=1e-2).probability(True)
        assert low < truth < high < low + 0.01


def test_remainders_of_a_sum_are_not_in_order() -> None:
    with suppress(NotFollowedError):
        found = law(lambda _: uniform() * 0.7 < (uniform() + uniform()) % 0.7, None, seconds=5.0, width=1e-2)
        low, high = found.probability(True)
        assert low <= 1 / 0.7 - (1 - 0.7**2 / 2) - 0.6**2 / 2 <= high


def test_integer_remainders_of_a_sum_are_followed() -> None:
    found = law(lambda _: (random.getrandbits(3) + random.getrandbits(3)) % 5, None)
    for outcome in range(5):
        low, high = found.probability(outcome)
        assert low <= Fraction(sum((i + j) % 5 == outcome for i in range(8) for j in range(8)), 64) <= high < low + 1e-6


def test_paths_are_disjoint_where_a_box_is_split_after_a_question_about_a_sum() -> None:
    """What is asked of the sum depends on the box: the path of its other part asks the same."""

    def asked(_: Any) -> tuple[int, int]:
        x, y = (random.getrandbits(3) / 8 for _ in range(2))
        return round(2 * (y - x)), round(2 * x)

    found = law(asked, None, width=1e-6)
    pairs = [(round(2 * (j - i) / 8), round(2 * i / 8)) for i in range(8) for j in range(8)]
    for pair in set(pairs):
        low, high = found.probability(pair)
        assert low <= Fraction(pairs.count(pair), 64) <= high < low + 1e-6


def test_the_sign_of_a_zero_that_is_a_sum_is_not_taken_for_plus() -> None:
    def signed(_: Any) -> float:
        return math.copysign(1.0, -(random.getrandbits(1) * 1.0) - (random.getrandbits(2) - 2) * 1.0)

    with suppress(NotFollowedError):
        low, high = law(signed, None).probability(1.0)
        assert low <= Fraction(1, 2) <= high


def test_numpy_has_no_logarithm_of_a_negative_number() -> None:
    def asked(_: Any) -> bool:
        with np.errstate(all="ignore"):
            return bool(np.log(np.array([uniform()]) - 0.5)[0] < -1)

    found = law(asked, None)
    assert float(found.probability(True)[0]) == pytest.approx(math.exp(-1))


def test_a_power_of_floats_is_not_that_of_integers() -> None:
    bound, near = (2**39 + 1) ** 2, 2**39 - 3  # bound is no float: it is rounded down
    for exponent, name in ((2, "int"), (2.0, "float")):

        def asked(_: Any, exponent: Any = exponent) -> bool:
            return bool(random.getrandbits(40) ** exponent < bound)

        below = sum(k**exponent < bound for k in range(near, near + 9))
        assert law(asked, None).probability(True)[0] == Fraction(near + below, 2**40), name


def test_false_and_zero_are_printed_with_their_own_probabilities() -> None:
    said = str(law(lambda _: 0 if uniform() < 0.25 else False, None))
    assert "False: 0.75\n" in said
    assert "0: 0.25\n" in said


class Kept:
    """Functions that a module holds in other ways than by their names."""

    @property
    def of_property(self) -> bool:
        return isinstance(3, int)

    @staticmethod
    def of_class() -> bool:
        return isinstance(3, int)


KEPT: dict[str, Callable[[Any], Any]] = {
    "dictionary": lambda _: isinstance(3, int),
    "property": lambda _: Kept().of_property,
    "class": lambda _: Kept.of_class(),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_type_int_is_itself_where_a_function_needs_it(name: str) -> None:
    assert law(KEPT[name], None).probability(True)[0] == 1


def test_the_type_int_is_itself_in_a_function_that_no_module_holds() -> None:
    asked = eval("lambda _: isinstance(3, int)", {"__name__": "elsewhere"})
    assert law(asked, None).probability(True)[0] == 1


def test_int_takes_all_its_arguments() -> None:
    names: dict[str, Any] = {"__name__": "elsewhere"}
    for text, value in (("int('101', base=2)", 5), ("int()", 0), ("int('11', 2)", 3)):
        assert law(eval(f"lambda _: {text}", names), None).probability(value)[0] == 1
