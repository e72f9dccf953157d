"""Random numbers of each type beside constants of each type: the law is that of all their values, or there is none."""

import itertools
import math
import operator
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subnormal.audit.laws import followed
from subnormal.audit.laws.followed import law
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.values.outcomes import refused

RNG = np.random.default_rng()
VALUES = 8
FEW = 300  # powers of larger numbers are too long
DRAWN: dict[str, tuple[Callable[[], Any], Callable[[int], Any]]] = {  # a number, and the same one from its place
    "int": (lambda: random.getrandbits(3), int),
    "float": (lambda: random.getrandbits(3) / 8, lambda k: k / 8),
    "np.int64": (lambda: RNG.integers(0, VALUES), np.int64),
    "np.float64": (lambda: RNG.integers(0, VALUES) / 8, lambda k: np.float64(k / 8)),
    "of an array": (lambda: RNG.integers(0, VALUES, size=1)[0], np.int64),
    "of a mixed array": (lambda: np.array([random.getrandbits(3), 0.5])[0], np.float64),
}
CONSTANTS = [
    *(0, 1, 3, -2, True, 2**53 + 1, 2**62, 2**64, 0.0, -0.0, 0.5, -1.5, 1e200, 2.0**53),
    *map(np.int64, (0, 2, -3, 2**53 + 1, 2**62)),
    *map(np.float64, (0.0, -0.0, 0.25, -2.0, 1e200)),
    *(np.True_, np.float32(0.5), np.int32(7), np.uint8(200)),
]
SOME = [True, np.int64(3), -1.5]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")},
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "rshift")},
    "power of numpy": np.power,
    "larger": max,
    "smaller": min,
    "larger of numpy": np.maximum,
    "sum of numpy": lambda x, y: np.sum([x, y]),
    "rounded": lambda x, _: round(x),
    "digits": lambda x, _: round(x, 1),
    "rounded by numpy": lambda x, _: np.round(x),
    "size": lambda x, _: abs(x),
    "whole": lambda x, _: int(x),
    "negative": lambda x, _: -x,
    "text": lambda x, _: f"{x:.1f}",
    "floor": lambda x, _: math.floor(x),
    "trunc": lambda x, _: math.trunc(x),
    "fabs": lambda x, _: math.fabs(x),
    "sqrt": lambda x, _: math.sqrt(x),
    "exp": lambda x, _: math.exp(x),
    "floor of numpy": lambda x, _: np.floor(x),
    "rint of numpy": lambda x, _: np.rint(x),
    "size of numpy": lambda x, _: np.abs(x),
    "sqrt of numpy": lambda x, _: np.sqrt(x),
    "exp of numpy": lambda x, _: np.exp(x),
}
SECOND = "another random number"
STEPS = st.tuples(st.sampled_from([*OPERATIONS]), st.sampled_from([*CONSTANTS, SECOND]), st.booleans())
Steps = list[tuple[str, Any, bool]]


def released(x: Any, second: Any, steps: Steps) -> str:
    """Return what operations make of a number, as a text that tells its type."""
    for place, (name, constant, is_first) in enumerate(steps):
        if name.startswith("pow") and (place or constant is SECOND or abs(constant) > FEW):
            continue
        if name == "larger of numpy" and (constant is SECOND or constant == 0.0):
            continue  # of 0.0 and −0.0, it is either
        if constant is SECOND:
            constant = second
        x = OPERATIONS[name](constant, x) if is_first else OPERATIONS[name](x, constant)
    return repr(x)


def outcome(x: Any, second: Any, steps: Steps) -> Any:
    try:
        return released(x, second, steps)
    except Exception as error:
        return refused(error, None)


def check(kinds: tuple[str, str], steps: Steps, seconds: float = 5.0) -> bool:
    """Return whether a function is followed, and compare its law with the outcomes of all values."""
    (draw, of_place), (second, of_second) = (DRAWN[kind] for kind in kinds)
    try:
        found = law(lambda _: released(draw(), second(), steps), None, seconds=seconds)
    except NotFollowedError:
        return False
    places = itertools.product(range(VALUES), repeat=2)
    truth = Counter(outcome(of_place(one), of_second(other), steps) for one, other in places)
    for one, count in truth.items():
        low, high = found.probability(one)
        assert low <= Fraction(count, VALUES**2) <= high
    return True


@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore")
@given(kinds=st.tuples(*[st.sampled_from([*DRAWN])] * 2), steps=st.lists(STEPS, min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_the_law_of_several_operations_is_that_of_all_values(kinds: tuple[str, str], steps: Steps) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(followed, "_repeat", lambda *_: None)
        check(kinds, steps)


@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_law_of_an_operation_is_that_of_all_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "_repeat", lambda *_: None)
    for drawn, constant, is_first in itertools.product(DRAWN, SOME, (False, True)):
        check((drawn, "int"), [(name, constant, is_first)])


def test_these_are_followed() -> None:
    for name in ("add", "mul", "floordiv", "truediv", "lt", "rounded", "floor of numpy", "sum of numpy"):
        assert all(check((drawn, "int"), [(name, 3, False)]) for drawn in DRAWN)
