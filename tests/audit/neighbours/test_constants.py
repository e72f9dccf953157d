"""What stands in the code of a function is found, and drawn as values of records and as numbers of records."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal.audit.check.search import Pair, search
from subnormal.audit.neighbours import relations
from subnormal.audit.neighbours.constants import MOST, constants_of
from tests.support.checked_functions import lap

LIMIT = 451
TABLE = {"rare": 7_007}


def in_code(records: list[int]) -> bool:
    """A docstring is no constant: 99."""
    return 77_777 in records


def in_a_default(records: list[int], limit: int = 77_777) -> bool:
    return limit in records


def in_a_global(records: list[int]) -> bool:
    return len(records) > LIMIT


def in_a_dictionary(records: list[int]) -> bool:
    return TABLE["rare"] in records


def in_another_function(records: list[int]) -> bool:
    return in_code(records)


def in_a_lambda_inside(records: list[int]) -> bool:
    return any(map(lambda one: one == 77_777, records))  # noqa: C417


def in_a_closure() -> Callable[[list[int]], bool]:
    limit = 77_777
    return lambda records: limit in records


class Attribute:
    def __init__(self) -> None:
        self.limit = 77_777

    def __call__(self, records: list[int]) -> bool:
        return self.limit in records

    def method(self, records: list[int]) -> bool:
        return self.limit in records


@pytest.mark.parametrize(
    ("function", "constant"),
    [
        (in_code, 77_777),
        (in_a_default, 77_777),
        (in_a_global, 451),
        (in_a_dictionary, 7_007),
        (in_another_function, 77_777),
        (in_a_lambda_inside, 77_777),
        (in_a_closure(), 77_777),
        (Attribute(), 77_777),
        (Attribute().method, 77_777),
        (partial(in_a_default, limit=11), 11),
    ],
)
def test_a_constant_is_found_with_the_values_beside_it(function: Callable[..., Any], constant: int) -> None:
    assert {constant - 1, constant, constant + 1} <= set(constants_of(function))


def test_floats_have_the_next_ones_beside_them_and_texts_stand_alone() -> None:
    def function(record: Any) -> bool:
        return record in (0.3, "rare", "a long text " * 9, math.inf, True, None)

    found = constants_of(function)
    assert {0.3, math.nextafter(0.3, 0), math.nextafter(0.3, 1), "rare"} <= set(found)
    assert not {True, math.inf, "a long text " * 9} & {one for one in found if not isinstance(one, int)}


def test_other_peoples_code_has_no_constants_of_the_user() -> None:
    def function(records: list[float]) -> float:
        return float(np.median(records) + random.gauss(0.0, 1.0) + math.fsum(records))

    assert set(constants_of(function)) == {0.0, 5e-324, -5e-324, 1.0, math.nextafter(1, 0), math.nextafter(1, 2)}
    assert constants_of(len) == ()
    assert constants_of(np.random.default_rng(1).laplace) == ()


def test_objects_whose_module_is_no_text_and_proxies_are_no_mistake() -> None:
    class Odd:
        __module__ = 7  # type: ignore[assignment]

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

        def __call__(self, records: list[int]) -> bool:
            return 77_777 in records

    odd = Odd()
    assert isinstance(constants_of(odd), tuple)
    assert 11 in constants_of(lambda records: odd(records) or 11 in records)


def test_of_many_constants_the_nearest_are_taken() -> None:
    many = {str(number): number for number in range(10_000)}
    assert len(constants_of(lambda records: many.get(records[0], 123_456))) <= MOST
    assert 123_456 in constants_of(lambda records: many.get(records[0], 123_456))


def drawn(data: st.SearchStrategy[Any], function: Callable[..., Any], examples: int) -> list[Pair]:
    pairs = list[Pair]()
    strategy = relations.pairs(data, relations.add_or_remove(), constants_of(function))
    search(strategy, lambda pair: pairs.append(pair) or 0.0, seed=1, seconds=60, examples=examples)  # type: ignore[func-returns-value]
    return pairs


def test_constants_are_values_of_records() -> None:
    """By chance, one of 300 pairs has the record 77,777 with probability .015. All inputs lie in the domain."""
    pairs = drawn(st.lists(st.integers(0, 10**5), max_size=5), in_code, 300)
    assert sum((77_777 in one) != (77_777 in other) for one, other in pairs) >= 1
    assert sum(77_777 in one or 77_777 in other for one, other in pairs) >= 3
    assert all(0 <= record <= 10**5 for pair in pairs for data in pair for record in data)
    assert not any(77_777 in data for pair in drawn(st.lists(st.integers(0, 9)), in_code, 100) for data in pair)


def test_constants_are_numbers_of_records() -> None:
    pairs = drawn(st.lists(st.just(1)), in_a_global, 300)
    assert {451, 452} in [{len(one), len(other)} for one, other in pairs]


def test_texts_in_the_code_are_drawn() -> None:
    def function(records: list[str]) -> float:
        return lap(1.0) + 10 * records.count("Robert'); DROP TABLE")

    pairs = drawn(st.lists(st.text()), function, 300)
    assert any("Robert'); DROP TABLE" in data for pair in pairs for data in pair)
