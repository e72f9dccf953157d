"""Each call gets a copy of its input, of the input's own type; what cannot be copied is an error, and no outcome."""

import random
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, assert_private, check, conforms, stability
from subnormal.audit.check.function import copied
from subnormal.mechanisms.bits import BitSource

pytestmark = pytest.mark.usefixtures("own_clock")


class Person(NamedTuple):
    age: int
    income: int


class Cohort(list[int]):
    """A list with a method of its own."""

    def total(self) -> int:
        return sum(self)


class Tagged(str):
    """A text with a place for more."""

    tags: list[str]


class Record:
    """A record with a lock, as a session has one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def laplace(scale: float) -> float:
    return random.expovariate(1 / scale) - random.expovariate(1 / scale)


def noisy_count(records: Any) -> float:
    """Keeps ε = 1/5, and never raises."""
    return round(len(records) + laplace(5.0), 2)


@pytest.mark.parametrize(
    ("function", "pair"),
    [
        (lambda person: person.age, (Person(30, 1), Person(40, 1))),
        (lambda people: people.total(), (Cohort([1, 2]), Cohort([1, 12]))),
    ],
    ids=["named tuple", "list"],
)
def test_a_function_gets_inputs_of_their_own_type(function: Callable[[Any], int], pair: tuple[Any, Any]) -> None:
    """Without their methods every run would raise, and there would be no verdict."""
    found = check(lambda data: round(function(data) + laplace(1.0), 2), pairs=[pair], claim=Claim(1.0), seconds=5)
    assert found.verdict is Verdict.VIOLATED
    far = stability(function, pairs=[pair], bound=9).evidence["exact"]
    assert far.distance == 10  # type: ignore[union-attr]  # evidence of two outputs


def holding(part: Any) -> Any:
    made = np.zeros(1, dtype=[("part", object)])
    made["part"][0] = part
    return made


def tagged(part: list[str]) -> Any:
    made = Tagged("a")
    made.tags = part
    return made


@pytest.mark.parametrize("made", [holding, tagged, lambda part: Cohort([part]), lambda part: [tagged(part)]])
def test_a_copy_shares_no_part_that_can_be_changed(made: Callable[[Any], Any]) -> None:
    part = ["x"]
    data = made(part)
    own: Any = copied(data)
    assert type(own) is type(data)
    first = own[0] if type(own) is list else own
    inside = first.tags if isinstance(first, Tagged) else first["part"][0] if isinstance(own, np.ndarray) else first[0]
    inside.append("y")
    assert part == ["x"]


def test_a_tuple_is_copied_with_what_can_be_changed_in_it() -> None:
    part = ["x"]
    for data in ([(1, part)], [(1, 2), part], [(1, (2, part))], ((part,),), [(1, 2), (3, part)]):
        copies: list[Any] = [copied(data)]
        while copies:
            one = copies.pop()
            assert one is not part
            copies += one if isinstance(one, list | tuple) else []


@pytest.mark.parametrize(
    ("data", "told"),
    [([Record()], "type list .*cannot pickle '_thread.lock'"), ({"a": 1}.keys(), "type dict_keys ")],
    ids=["lock", "keys"],
)
def test_an_input_that_cannot_be_copied_is_an_error_and_no_refusal(data: Any, told: str) -> None:
    def sampler(data: Any, bits: BitSource) -> int:
        return bits.take(1)

    asked: list[Callable[[], object]] = [
        lambda: check(noisy_count, pairs=[(data, [])], claim=Claim(1.0), seconds=5),
        lambda: assert_private(noisy_count, data, [], epsilon=1.0, runs=1_000),
        lambda: stability(len, pairs=[(data, [])], bound=9),
        lambda: conforms(sampler, st.just(data), law=lambda data: {0: 0.5, 1: 0.5}, seconds=5),
    ]
    for each in asked:
        with pytest.raises(TypeError, match=f"data of {told}"):
            each()


def test_outcomes_of_a_walk_that_cannot_be_compared_are_an_error_and_no_refusal() -> None:
    with pytest.raises(TypeError, match=r"outcomes of type .*generator cannot be told apart"):
        conforms(
            lambda data, bits: (one for one in "a") if bits.take(1) else 0,
            st.just(0),
            law=lambda data: {0: 0.5, 1: 0.5},
            seconds=5,
        )
